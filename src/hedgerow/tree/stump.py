"""A decision tree with a single split."""

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
"""Parameters of trees that have no effect on a single split."""

_RULES = {name: rule for name, rule in CLASS_RULES.items() if name not in _FIXED}


@stateful(_RULES, **FITTED_CLASS_RULES)
class DecisionStump(ClassTree):
    """A decision tree for classification with a single split.

    It is a :class:`DecisionTreeClassifier` of depth 1, the weak learner of boosting. The stump for
    regression is ``DecisionTreeRegressor(max_depth=1)``.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity of class proportions p: "gini" is sum p (1 - p), "entropy" and "log_loss" are
        -sum p log2 p, "misclassification" is 1 - max p.
    splitter : {"best", "random", "mean", "median"}, default="best"
        Where a feature is split: at the best threshold, at a random one, or at the mean or the
        median of its values in the node, which needs no search. The best feature is then chosen.
        Categories are split by a random set with "random", otherwise by the best one.
    min_samples_leaf : int or float, default=1
        The minimum number of rows in a leaf; a float is a fraction of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        The minimum weight of a leaf, as a fraction of the weight of all rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        The number of features considered for each split, drawn at random among those that vary in
        the node; a float is a fraction of all, None means all.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random draws. With all features and ``splitter`` other than "random" nothing is
        random.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
        A list has one dictionary per output.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None, default=None
        For each feature, whether the probability of the second of two classes must not decrease (1)
        or not increase (-1) with it.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        The categorical columns. "from_dtype": columns of text, booleans or a categorical type, in
        a data frame or an array of objects. A list of names, of positions, or of one boolean per
        column: these as well. None: no column; all must be numeric.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Time limit of a fit in seconds; nodes not split by then become leaves.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list with one per output
        The labels, sorted.
    n_classes_ : int, or ndarray of int of shape (n_outputs,)
        The number of classes.
    n_outputs_ : int
        The number of columns of y.
    n_features_in_, feature_names_in_
        The columns seen in fit.
    categories_ : tuple of ndarray
        For every feature its categories, sorted; an empty array for numeric features.
    max_features_ : int
        The number of features considered for each split.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the impurity decrease.
    tree_ : Tree
        The tree, as flat arrays.
    status_ : str
        "grown", or why growth stopped early: "time_limit", "interrupted" by Ctrl-C, or
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
        """Declare that a single split cannot separate many classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
