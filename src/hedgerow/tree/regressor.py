"""The decision tree for regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from hedgerow._base.parameters import one_of
from hedgerow._base.state import stateful
from hedgerow.data.table import view_table
from hedgerow.monitor import monitored_fit
from hedgerow.tree._estimator import FITTED_RULES, PRUNABLE_RULES, PrunableTree
from hedgerow.tree._growth import GROWTH_RULES
from hedgerow.tree._partial_dependence import partial_dependence, read_points
from hedgerow.tree._training import value_targets

__all__ = ["DecisionTreeRegressor"]

Vector = NDArray[np.float64]

_CRITERIA = ("squared_error", "absolute_error", "poisson", "variance", "friedman_mse")
_RULES = {"criterion": one_of(*_CRITERIA), **GROWTH_RULES}


@stateful(_RULES, **FITTED_RULES, **PRUNABLE_RULES)
class DecisionTreeRegressor(RegressorMixin, PrunableTree):
    r"""A decision tree for regression.

    Each node tests whether a number is at most a threshold, or whether a category is in a set. It
    makes the split with the largest decrease of the impurity I:

    .. math:: I(node) - \frac{w_{left}}{w} I(left) - \frac{w_{right}}{w} I(right)

    where w is the weight of the rows of a node. Rows with a missing value go to the side that
    gives the larger decrease.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity of the targets y of a node: "squared_error" is the variance, and leaves
        predict the mean; "absolute_error" is the mean distance to the median, and leaves predict
        the median; "poisson" is mean(y log(y / mean)), half the Poisson deviance, and leaves
        predict the mean. "variance" and "friedman_mse" are other names of "squared_error".
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
    ccp_alpha : float, default=0.0
        The cost of a leaf in cost-complexity pruning after growth; 0 prunes nothing.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None, default=None
        For each feature, whether the prediction must not decrease (1) or not increase (-1) with it.
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
    >>> from hedgerow import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 6.0, 7.0])
    >>> model.predict([[0.0], [2.5], [2.6]])
    array([0.5, 0.5, 6.5])
    """

    _rules = _RULES

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
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
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows; values may be missing, and columns of a data frame or of objects may
            be categorical.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array of shape (n_samples,) or None
            Sample weights: a weight of 2 is the same as giving the row twice, except where rows
            are counted; a row of weight 0 is ignored.

        Returns
        -------
        DecisionTreeRegressor
            The fitted tree itself.
        """
        self._check()
        source = view_table(X)
        targets = value_targets(self, y, sample_weight, source.shape[0])
        self._keep(*self._grow(source, targets))
        return self

    def predict(self, X: Any) -> Vector:
        """Return the prediction for each row.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions.
        """
        leaves = self.apply(X)
        values = self.tree_.value[leaves, :, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Vector:
        """Return the partial dependence, as ``sklearn.inspection.partial_dependence`` calls it."""
        points, features = read_points(self.category_columns_, grid, target_features)
        return partial_dependence(self.tree_, points, features)[:, 0, 0]

    def __sklearn_tags__(self) -> Any:
        """Declare the supported input and targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
