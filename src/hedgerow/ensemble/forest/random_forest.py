"""Random forests: trees on bootstraps of the rows, each split tried on a few features.

L. Breiman, "Random forests", Machine Learning 45, 2001.
"""

from __future__ import annotations

from typing import Any

from sklearn import ensemble

from hedgerow._base.state import stateful
from hedgerow.ensemble.forest.classification import (
    FITTED_FOREST_CLASSIFIER_RULES,
    FOREST_CLASSIFIER_RULES,
    ForestClassifierBase,
)
from hedgerow.ensemble.forest.regression import (
    FITTED_FOREST_REGRESSOR_RULES,
    FOREST_REGRESSOR_RULES,
    ForestRegressorBase,
)

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


@stateful(FOREST_CLASSIFIER_RULES, **FITTED_FOREST_CLASSIFIER_RULES)
class RandomForestClassifier(ForestClassifierBase):
    """A random forest for classification: trees grown on bootstrap samples of the rows.

    Each split is the best among a few features, drawn at random for every node, and trees are not
    pruned. The errors that single trees make by chance average out.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees; the maximum if growth stops early.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        The impurity of class proportions p: "gini" is sum p (1 - p), "entropy" and "log_loss" are
        -sum p log2 p, "misclassification" is 1 - max p.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`DecisionTreeClassifier`.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        The number of features considered for each split, drawn at random among those that vary in
        the node; a float is a fraction of all, None means all.
    bootstrap : bool, default=True
        Whether each tree is grown on a sample of the rows, drawn with replacement; otherwise on
        all rows.
    oob_score : bool, str or callable, default=False
        Whether to compute out-of-bag scores: True means the accuracy, a name means that scorer of
        scikit-learn, and a callable takes true and predicted labels.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the samples and of the features considered.
    verbose : bool or int, default=0
        Whether to log the fit.
    warm_start : bool, default=False
        Whether a fit adds trees to those of the previous fit, up to ``n_estimators``; the result
        is the same as that of a single fit.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight,
        "balanced_subsample" does so in the sample of every tree. A list has one dictionary per
        output.
    max_samples : int, float or None, default=None
        The number of rows drawn for a tree; a float is a fraction of all.
    splitter : {"best", "random", "mean", "median"}, default="best"
        Where a feature is split: at the best threshold, at a random one, or at the mean or the
        median of its values in the node, which needs no search. The best feature is then chosen.
    voting : {"soft", "hard"}, default="soft"
        "soft" averages the class proportions in the leaves, as in scikit-learn; with "hard" each
        tree has one vote.
    stop_when_flat : float, dict or None, default=None
        Stop when the mean out-of-bag error of the last 10 trees is not below that of the 10 trees
        before by at least this much. A dictionary {"tol": 0.001, "n_trees": 10} sets both numbers.
    max_time : float or None, default=None
        Time limit of a fit in seconds; the trees completed by then are kept.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list with one per output
        The labels, sorted.
    n_classes_ : int, or ndarray of int of shape (n_outputs,)
        The number of classes.
    n_outputs_ : int
        Columns of y.
    n_features_in_, feature_names_in_
        The columns seen in fit.
    categories_ : tuple of ndarray
        For every feature its categories, sorted; an empty array for numeric features.
    estimator_ : DecisionTreeClassifier
        An unfitted tree with the parameters of the trees of the forest.
    estimators_ : list of DecisionTreeClassifier
        The trees, each created on access. Changing the list changes the forest.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, drawn again from the seed.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the impurity decrease, averaged over trees.
    oob_ : OutOfBag
        The out-of-bag results: two errors, the curve over the number of trees, and any metric with
        an interval.
    oob_score_ : float
        Its score.
    oob_decision_function_ : ndarray of shape (n_samples, n_classes)
        The out-of-bag class proportions; NaN for rows that are in every sample.
    max_features_ : int
        The number of features considered for each split.
    status_ : str
        "grown", or why growth stopped early: "flat", "time_limit", "interrupted" by Ctrl-C,
        or "stopped" by a callback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_.vote_error <= forest.oob_.tree_error)
    True
    """

    _rules = FOREST_CLASSIFIER_RULES
    _sklearn_name = "RandomForestClassifier"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "best",
        categorical_features: Any = "from_dtype",
        voting: str = "soft",
        stop_when_flat: Any = None,
        max_time: float | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.voting = voting
        self.stop_when_flat = stop_when_flat
        self.max_time = max_time


@stateful(FOREST_REGRESSOR_RULES, **FITTED_FOREST_REGRESSOR_RULES)
class RandomForestRegressor(ForestRegressorBase):
    """Many trees for numbers, each grown on a bootstrap of the rows; their mean is the prediction.

    Parameters
    ----------
    n_estimators : int, default=100
        The number of trees; the maximum if growth stops early.
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity of numbers, as in :class:`DecisionTreeRegressor`.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, \
min_impurity_decrease, ccp_alpha, monotonic_cst, categorical_features
        As in :class:`DecisionTreeRegressor`.
    max_features : int, float, {"sqrt", "log2"} or None, default=1.0
        The number of features considered for each split, drawn at random among those that vary in
        the node; a float is a fraction of all, None means all.
    bootstrap : bool, default=True
        Whether each tree is grown on a sample of the rows, drawn with replacement; otherwise on
        all rows.
    oob_score : bool, str or callable, default=False
        Whether rows are judged by the trees whose samples lack them: True by R^2, a name by that
        scorer of scikit-learn's, a callable of true and predicted numbers by what it returns.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the samples and of the features considered.
    verbose : bool or int, default=0
        Whether to log the fit.
    warm_start : bool, default=False
        Whether a fit adds trees to those of the previous fit, up to ``n_estimators``; the result
        is the same as that of a single fit.
    max_samples : int, float or None, default=None
        The number of rows drawn for a tree; a float is a fraction of all.
    splitter : {"best", "random", "mean", "median"}, default="best"
        Where a feature is split: at the best threshold, at a random one, or at the mean or the
        median of its values in the node, which needs no search. The best feature is then chosen.
    stop_when_flat : float, dict or None, default=None
        Growth stops when the out-of-bag error no longer falls: when its mean over the last 10 trees
        is not lower, by so much of the variance of y, than its mean over the 10 before. A
        dictionary {"tol": 0.001, "n_trees": 10} says both.
    keep_targets : "auto" or bool, default="auto"
        Whether the targets in the leaves are kept for ``predict_quantiles`` and
        ``predict_interval``. Leaves of one target need nothing, so that full-grown trees keep next
        to nothing. "auto": if those of the first tree take no more bytes than the tree itself.
    max_time : float or None, default=None
        Time limit of a fit in seconds; the trees completed by then are kept.

    Attributes
    ----------
    n_outputs_ : int
        Columns of y.
    n_features_in_, feature_names_in_
        The columns seen in fit.
    categories_ : tuple of ndarray
        For every feature its categories, sorted; an empty array for numeric features.
    estimator_ : DecisionTreeRegressor
        An unfitted tree with the parameters of the trees of the forest.
    estimators_ : list of DecisionTreeRegressor
        The trees, each created on access. Changing the list changes the forest.
    estimators_samples_ : list of ndarray
        The rows that each tree was grown on, drawn again from the seed.
    feature_importances_ : ndarray of shape (n_features,)
        The share of each feature in the impurity decrease, averaged over trees.
    oob_ : OutOfBag
        The out-of-bag results: two errors, the curve over the number of trees, and any metric with
        an interval.
    oob_score_ : float
        Its score.
    oob_prediction_ : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Its numbers; NaN for rows that are in every sample.
    leaf_targets_ : LeafTargets
        What is kept of the targets in the leaves, if they are.
    max_features_ : int
        The number of features considered for each split.
    status_ : str
        "grown", or why growth stopped early: "flat", "time_limit", "interrupted" by Ctrl-C,
        or "stopped" by a callback.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from hedgerow import RandomForestRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> forest = RandomForestRegressor(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.5)
    True
    """

    _rules = FOREST_REGRESSOR_RULES
    _sklearn_name = "RandomForestRegressor"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "best",
        categorical_features: Any = "from_dtype",
        stop_when_flat: Any = None,
        keep_targets: bool | str = "auto",
        max_time: float | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.stop_when_flat = stop_when_flat
        self.keep_targets = keep_targets
        self.max_time = max_time


# scikit-learn lets "recursion" be the method of partial_dependence for regressors of its own class alone.
# Ours has all that is asked of them there, categories included.
ensemble.RandomForestRegressor.register(RandomForestRegressor)
