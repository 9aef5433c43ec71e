"""The decision tree for values."""

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
    r"""A tree of questions whose leaves hold values.

    Each node asks whether a number is at most a threshold, or whether a category is in a set. It is
    the question that lowers the impurity I most:

    .. math:: I(node) - \frac{w_{left}}{w} I(left) - \frac{w_{right}}{w} I(right)

    where w is the weight of the rows of a node. Rows with a missing value go to the side where they
    lower it more.

    Parameters
    ----------
    criterion : {"squared_error", "absolute_error", "poisson"}, default="squared_error"
        The impurity of the values y of a node: their variance, and leaves predict the mean; their mean
        distance to the median, which leaves predict; or mean(y log(y / mean)), half the Poisson
        deviance, and the mean. "variance" and "friedman_mse" are other names of "squared_error".
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
    ccp_alpha : float, default=0.0
        What a leaf costs in cost-complexity pruning, which follows the growth; 0 prunes nothing.
    monotonic_cst : array of -1, 0 and 1 of shape (n_features,), or None, default=None
        For each feature, whether the prediction must not fall (1) or must not rise (-1) with it.
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
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows; values may be missing, and columns of a dataframe or of objects may be categories.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The values.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows: a weight of 2 is the same as giving the row twice, but for what counts
            rows; a row of weight 0 is as if absent.

        Returns
        -------
        self
            Fitted.
        """
        self._check()
        source = view_table(X)
        targets = value_targets(self, y, sample_weight, source.shape[0])
        self._keep(*self._grow(source, targets))
        return self

    def predict(self, X: Any) -> Vector:
        """Return the value of each row's leaf.

        Parameters
        ----------
        X : array, dataframe or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The values.
        """
        leaves = self.apply(X)
        values = self.tree_.value[leaves, :, 0]
        return values[:, 0] if values.shape[1] == 1 else values

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Vector:
        """Return what ``sklearn.inspection.partial_dependence`` asks of regressors it knows."""
        points, features = read_points(self.category_columns_, grid, target_features)
        return partial_dependence(self.tree_, points, features)[:, 0, 0]

    def __sklearn_tags__(self) -> Any:
        """Say what input and targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags
