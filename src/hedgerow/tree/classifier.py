"""The decision tree for classification."""

from __future__ import annotations

from typing import Any

from hedgerow._base.state import stateful
from hedgerow.tree._class_tree import CLASS_RULES, FITTED_CLASS_RULES, ClassTree
from hedgerow.tree._estimator import PRUNABLE_RULES, PrunableTree

__all__ = ["DecisionTreeClassifier"]


@stateful(CLASS_RULES, **FITTED_CLASS_RULES, **PRUNABLE_RULES)
class DecisionTreeClassifier(ClassTree, PrunableTree):
    r"""A decision tree for classification.

    Each node tests whether a number is at most a threshold, or whether a category is in a set. It
    makes the split with the largest decrease of the impurity I:

    .. math:: I(node) - \frac{w_{left}}{w} I(left) - \frac{w_{right}}{w} I(right)

    where w is the weight of the rows of a node. Rows with a missing value go to the side that
    gives the larger decrease.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity of class proportions p: "gini" is sum p (1 - p), "entropy" and "log_loss" are
        -sum p log2 p, "misclassification" is 1 - max p.
    splitter : {"best", "random", "mean", "median"}, default="best"
        Where a feature is split: at the best threshold, at a random one, or at the mean or the
        median of its values in the node, which needs no search. The best feature is then chosen.
        Categories are split by a random set with "random", otherwise by the best one.
    max_depth : int or None, default=None
        The maximum depth of the tree.
    min_samples_split : int or float, default=2
        The minimum number of rows of a node to be split; a float is a fraction of all rows, rounded
        up.
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
    max_leaf_nodes : int or None, default=None
        The maximum number of leaves; the tree is then grown best-first.
    min_impurity_decrease : float, default=0.0
        The minimum impurity decrease of a split, times the node's share of the weight.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
        A list has one dictionary per output.
    ccp_alpha : float, default=0.0
        The cost of a leaf in cost-complexity pruning after growth; 0 prunes nothing.
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
    pruning_ : Pruning
        A record of the pruning, if ``prune`` returned the model.

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
