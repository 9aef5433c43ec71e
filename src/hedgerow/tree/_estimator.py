"""What single trees share: growing one, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, clone, is_classifier
from sklearn.utils import Bunch

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import Rule, check_parameters, check_seed, short_text, whole_number
from hedgerow._base.state.rules import (
    AttributeRule,
    Shaped,
    Sizes,
    expectation,
    instance_of,
    optional,
)
from hedgerow._engine import check_n_threads
from hedgerow.data.row_sketch import RowSketch
from hedgerow.data.table import TableView
from hedgerow.data.training_data import check_fitted
from hedgerow.monitor import CallbackSupport, current
from hedgerow.tree._categories import Categories
from hedgerow.tree._growth import CRITERIA, Growth, grow, n_features_tried, settings_of
from hedgerow.tree._routing import router_of
from hedgerow.tree._table import FeatureTable, encode, prediction_blocks, remember_table
from hedgerow.tree._to_sklearn import tree_to_sklearn
from hedgerow.tree._training import Targets
from hedgerow.tree.importance import impurity_importance
from hedgerow.tree.pruning import Pruning, cost_complexity_path, prune, prune_cost_complexity
from hedgerow.tree.tree import Tree

__all__ = ["FITTED_RULES", "PRUNABLE_RULES", "DecisionTree", "PrunableTree", "TakesTables"]

Vector = NDArray[np.float64]

WORTH_THREADS = 2048
"""Rows from which on leaves are found by several threads."""


def _sound_tree() -> Shaped:
    """Allow a tree of our sizes whose nodes lead down to leaves, so that it can be walked."""
    of_size = instance_of(
        Tree,
        features=lambda tree: tree.n_features,
        outputs=lambda tree: tree.n_outputs,
        width=lambda tree: tree.max_n_classes,
    )

    def expected(value: Any, sizes: Sizes) -> str | None:
        found = expectation(of_size, value, sizes)
        if found is None:
            try:
                router_of(value)
            except ValueError:
                found = "a Tree whose nodes lead down to leaves"
        return found

    return Shaped(expected)


FITTED_RULES: Mapping[str, AttributeRule] = {
    "category_columns_": instance_of(Categories, features=lambda found: found.n_features),
    "row_sketch_": optional(instance_of(RowSketch)),
    "tree_": _sound_tree(),
    "max_features_": whole_number(1),
    "status_": short_text,
}
"""Rules of the fitted attributes that every tree has."""

PRUNABLE_RULES: Mapping[str, AttributeRule] = {"pruning_": optional(instance_of(Pruning))}
"""Rules of those that trees which can be pruned have besides."""


class TakesTables:
    """An estimator that takes tables with categories and missing values."""

    category_columns_: Categories

    def _state_problem(self) -> str | None:
        """Say if the trees have other categories than the table."""
        known = self._categories_of_trees()
        fine = known is None or np.array_equal(known, self.category_columns_.n_categories)
        return None if fine else "the trees have other categories than the columns of the table"

    def _categories_of_trees(self) -> NDArray[np.int64] | None:
        """Return how many categories each feature has by the trees, None if they cannot tell."""
        raise NotImplementedError

    @property
    def categories_(self) -> tuple[NDArray[Any], ...]:
        """For every feature its categories, sorted; an empty array for numeric features."""
        return self.category_columns_.by_feature

    def __sklearn_tags__(self) -> Any:
        """Say what input is welcome."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class DecisionTree(TakesTables, MultiOutputMixin, CallbackSupport, Estimator):
    """One tree; a class of its own gives the parameters and says what a leaf predicts."""

    _rules: ClassVar[Mapping[str, Rule]]

    _takes_any: ClassVar[bool] = False
    """Whether of equally good features any is taken, as in forests, and not the first."""

    criterion: str
    splitter: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: int | float | str | None
    max_leaf_nodes: int | None
    min_impurity_decrease: float
    random_state: Any
    ccp_alpha: float
    monotonic_cst: Any
    categorical_features: Any
    n_jobs: int | None

    tree_: Tree
    max_features_: int
    status_: str

    def _categories_of_trees(self) -> NDArray[np.int64]:
        return self.tree_.n_categories

    @property
    def n_outputs_(self) -> int:
        """How many targets a row has."""
        return self.tree_.n_outputs

    @property
    def feature_importances_(self) -> Vector:
        """How much each feature lowers the impurity, of all that the tree does; they sum to 1, or are 0."""
        check_fitted(self)
        return impurity_importance(self.tree_)

    def get_depth(self) -> int:
        """Return the depth of the tree.

        Returns
        -------
        int
            The largest number of splits between the root and a leaf.
        """
        check_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            The number of leaves.
        """
        check_fitted(self)
        return self.tree_.n_leaves

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row falls into, by its number among the nodes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        leaves : ndarray of int64 of shape (n_samples,)
            Numbers of nodes of ``tree_``.
        """
        blocks = [self._leaves(rows) for rows in prediction_blocks(self, X)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that each row passes on its way to its leaf.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        passes : CSR matrix of shape (n_samples, n_nodes)
            1 where the row passes the node.
        """
        leaves = self.apply(X)
        return self.tree_.paths_to(leaves)

    def to_sklearn(self, X: Any = None) -> Any:
        """Return scikit-learn's own tree with the same nodes, for tools that check the class.

        scikit-learn rounds X to single precision, and compares the rounded numbers with the
        thresholds. So both predict the same, bit for bit, unless a number differs from a threshold
        by less than single precision tells apart. If you give the X of the fit, thresholds are
        placed so that this does not happen to its rows. Missing values take the same ways.
        Parameters that scikit-learn does not have are left out.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features), default=None
            Rows that must take the same ways, as those of the fit.

        Returns
        -------
        tree : sklearn.tree.DecisionTreeClassifier or sklearn.tree.DecisionTreeRegressor
            Fitted. A tree with columns of categories has no such form, and UnavailableError says so.

        Examples
        --------
        >>> from hedgerow import DecisionTreeRegressor
        >>> model = DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 6.0])
        >>> model.to_sklearn().predict([[1.2], [7.0]])
        array([0., 6.])
        """
        import sklearn.tree

        name = "DecisionTreeClassifier" if is_classifier(self) else "DecisionTreeRegressor"
        return tree_to_sklearn(self, getattr(sklearn.tree, name), X)

    def _check(self) -> None:
        """Refuse parameters that cannot be."""
        check_parameters(self, self._rules)

    def _grow(self, source: TableView, targets: Targets) -> tuple[FeatureTable, Growth]:
        """Grow the tree of a table."""
        current().report(0, 1)
        n_threads = check_n_threads(self.n_jobs)
        table = encode(source, self.categorical_features, n_threads, may_stop=True)
        task = targets.task(table, CRITERIA.get(self.criterion, self.criterion))
        settings = settings_of(self, table, targets, in_any_order=self._takes_any)
        return table, grow(task, settings, table, check_seed(self.random_state))

    def _keep(self, table: FeatureTable, growth: Growth) -> None:
        """Set the fitted attributes."""
        remember_table(self, table)
        self.tree_ = growth.tree
        self.max_features_ = n_features_tried(self.max_features, table.n_features)
        self.status_ = growth.status

    def _leaves(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Return the leaves of rows that have been checked."""
        n_threads = check_n_threads(self.n_jobs, is_worthwhile=len(rows) >= WORTH_THREADS)
        return router_of(self.tree_).leaves(rows, n_threads).astype(np.int64)


class PrunableTree(DecisionTree):
    """A tree of any depth, which can be pruned."""

    pruning_: Pruning

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Grow a tree and return the alphas at which cost-complexity pruning takes a split off it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows.

        Returns
        -------
        path : Bunch
            ``ccp_alphas``, ascending, and ``impurities``, of all leaves of the tree for each.
        """
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        path = cost_complexity_path(whole.tree_)
        return Bunch(ccp_alphas=path.alphas, impurities=path.impurities)

    def prune(self, method: str = "significance", **options: Any) -> Self:
        """Return the model with splits taken off its tree; this one stays as it is.

        Parameters
        ----------
        method : {"significance", "reduced_error", "cost_complexity", "equal_leaves"}
            How splits are judged; see :func:`hedgerow.tree.prune`.
        **options
            Those of the method, and ``merge_equal``.

        Returns
        -------
        model
            A new one of the same class; its ``pruning_`` says what was done.
        """
        check_fitted(self)
        return prune(self, method, **options)

    def _keep(self, table: FeatureTable, growth: Growth) -> None:
        """Set the fitted attributes, the tree pruned if ``ccp_alpha`` asks for it."""
        super()._keep(table, growth)
        if hasattr(self, "pruning_"):
            del self.pruning_
        if self.ccp_alpha > 0.0:
            self.tree_ = prune_cost_complexity(self.tree_, float(self.ccp_alpha))
