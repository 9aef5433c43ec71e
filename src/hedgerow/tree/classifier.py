"""The decision tree for classes."""

from __future__ import annotations

from typing import Any

from hedgerow._base.state import stateful
from hedgerow.tree._class_tree import CLASS_RULES, FITTED_CLASS_RULES, ClassTree
from hedgerow.tree._estimator import PRUNABLE_RULES, PrunableTree

__all__ = ["DecisionTreeClassifier"]


@stateful(CLASS_RULES, **FITTED_CLASS_RULES, **PRUNABLE_RULES)
class DecisionTreeClassifier(ClassTree, PrunableTree):
    r"""A tree of questions whose leaves hold shares of classes.

    Each node asks whether a number is at most a threshold, or whether a category is in a set. It is
    the question that lowers the impurity I most:

    .. math:: I(node) - \frac{w_{left}}{w} I(left) - \frac{w_{right}}{w} I(right)

    where w is the weight of the rows of a node. Rows with a missing value go to the side where they
    lower it more.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity of shares p: sum p (1 - p); -sum p log2 p, which has two names; 1 - max p.
    splitter : {"best", "random", "mean", "median"}, default="best"
        How a feature is split: where the criterion is best; at random; or at the mean or the median of
        its values in the node, which takes no search. Among the features the best is taken. Categories
        are split by a random set with "random", else by the best one.
    max_depth : int or None, default=None
        Most splits between the root and a leaf.
    min_samples_split : int or float, default=2
        Fewest rows of a node that is split; a float is a share of all rows, rounded up.
    min_samples_leaf : int or float, default=1
        Fewest rows of a leaf; a float is a share of all rows, rounded up.
    min_weight_fraction_leaf : float, default=0.0
        Least weight of a leaf, as a share of the weight of all rows.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        How many features are tried for each split, drawn anew each time among those that vary in the
        node; a float is a share of all, None means all.
    random_state : int, RandomState, Generator or None, default=None
        Seeds what is drawn. With all features and ``splitter`` other than "random" nothing is.
    max_leaf_nodes : int or None, default=None
        Most leaves; the split that lowers the impurity most is then made first.
    min_impurity_decrease : float, default=0.0
        Least that a split must take off the impurity, times the node's share of the weight.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors on the weights of the rows of each class; "balanced" gives all classes equal weight. A
        list has a dictionary an output.
    ccp_alpha : float, default=0.0
        What a leaf costs in cost-complexity pruning, which follows the growth; 0 prunes nothing.
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
    pruning_ : Pruning
        Of a model that ``prune`` returned: what was done.

    Examples
    --------
    >>> from hedgerow import DecisionTreeClassifier
    >>> X, y = [[1.0, "oak"], [2.0, "elm"], [3.0, "oak"], [4.0, "elm"]], ["low", "low", "high", "high"]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.predict([[1.5, "elm"], [9.0, "oak"]])
    array(['low', 'high'], dtype='<U4')
    >>> model.tree_.threshold[0]
    np.float64(2.5)
    """

    _rules = CLASS_RULES

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.max_time = max_time
