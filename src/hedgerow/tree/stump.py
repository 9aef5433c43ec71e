"""A tree of one question."""

from __future__ import annotations

from typing import Any

from hedgerow._base.state import stateful
from hedgerow.tree._class_tree import CLASS_RULES, FITTED_CLASS_RULES, ClassTree

__all__ = ["DecisionStump"]

_FIXED = (
    "max_depth",
    "min_samples_split",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
)
"""Parameters of trees that mean nothing, or nothing new, for a tree of one question."""

_RULES = {name: rule for name, rule in CLASS_RULES.items() if name not in _FIXED}


@stateful(_RULES, **FITTED_CLASS_RULES)
class DecisionStump(ClassTree):
    """A tree of one question: the best single split into classes.

    It is a :class:`DecisionTreeClassifier` of depth 1, the weak learner of boosting. The one for values
    is ``DecisionTreeRegressor(max_depth=1)``.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity of shares p: sum p (1 - p); -sum p log2 p, which has two names; 1 - max p.
    splitter : {"best", "random", "mean", "median"}, default="best"
        How a feature is split: where the criterion is best; at random; or at the mean or the median of
        its values in the node, which takes no search. Among the features the best is taken. Categories
        are split by a random set with "random", else by the best one.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf; a float is a share of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a share of the weight of all rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many features are tried for each split, drawn anew each time among those that vary in the
        node; a float is a share of all, None means all.
    random_state : int, RandomState, Generator or None, default=None
        Seeds what is drawn. With all features and ``splitter`` other than "random" nothing is.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced" gives all classes equal weight. A
        list has a dictionary an output.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None, default=None
        For each feature, whether the probability of the second of two classes must not fall (1) or must not rise (-1) with it.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categories. "from_dtype": text, truth values and types for categories, of a
        dataframe or of an array of objects. A list of names, of places, or of a truth value a column:
        these too. None: no column is, and all must hold numbers.
    n_jobs : int or None, default=None
        Threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Seconds that a fit may take; nodes that are not split by then are leaves.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of one an output
        The labels, sorted.
    n_classes_ : int, or ndarray of int of shape (n_outputs,)
        How many there are.
    n_outputs_ : int
        Columns of y.
    n_features_in_, feature_names_in_
        The columns seen in fit.
    categories_ : tuple of ndarray
        For every feature the values of its categories, sorted; an empty array for numbers.
    max_features_ : int
        How many features are tried for each split.
    feature_importances_ : ndarray of shape (n_features,)
        How much of the impurity's decrease each feature brings.
    tree_ : Tree
        The tree, as flat arrays.
    status_ : str
        "grown", or why growth stopped before its end: "time_limit", "interrupted" by Ctrl-C, or
        "stopped" by a callback.

    Examples
    --------
    >>> from hedgerow import DecisionStump
    >>> stump = DecisionStump().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "a"])
    >>> stump.predict_proba([[0.0], [9.0]])
    array([[1. , 0. ],
           [0.5, 0.5]])
    """

    _rules = _RULES
    _for_values = "DecisionTreeRegressor(max_depth=1)"

    max_depth = 1
    min_samples_split = 2
    max_leaf_nodes = None
    min_impurity_decrease = 0.0
    ccp_alpha = 0.0

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        class_weight: Any = None,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.class_weight = class_weight
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.max_time = max_time

    def __sklearn_tags__(self) -> Any:
        """Say that one question cannot tell many classes apart."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
