"""What all forests share: trees that are asked together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._engine import check_n_threads
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.jackknife import JackknifeVariance
from hedgerow.ensemble.forest.node_impurity import with_impurities
from hedgerow.ensemble.forest.proximity import LeafProximity
from hedgerow.ensemble.forest.replace_trees import Members, replace_trees
from hedgerow.ensemble.forest.to_sklearn import forest_to_sklearn
from hedgerow.ensemble.forest.tree_estimators import TreeOrigin
from hedgerow.ensemble.importance.measure import importances_of_forest
from hedgerow.ensemble.importance.record import Importances
from hedgerow.ensemble.out_of_bag import Metric, OutOfBag
from hedgerow.ensemble.sampling import known_sampler
from hedgerow.errors import UnavailableError
from hedgerow.tree._table import prediction_blocks

__all__ = ["Forest"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

WORTH_THREADS = 2**14
"""Rows times trees from which on predictions are made by several threads."""

_SHARED = ("n_features_in_", "feature_names_in_", "category_columns_", "max_features_", "classes_")
"""What a tree knows of the table as its forest does."""


class Forest(LeafProximity, JackknifeVariance):
    """Many trees, each grown on a sample of the rows; a class of its own says what they tell together."""

    _sklearn_name: ClassVar[str]
    """What scikit-learn calls a forest of such trees."""

    @property
    def n_outputs_(self) -> int:
        """How many targets a row has."""
        return self.trees_.n_outputs

    @property
    def estimator_(self) -> Any:
        """An unfitted tree with the parameters of the trees of the forest."""
        check_fitted(self)
        return self._tree_class()(**self._tree_parameters())

    @property
    def estimators_(self) -> Members:
        """The trees as estimators, each made when it is asked for.

        It is a list of trees to whoever changes it: the forest then consists of the trees that are in
        it, which may come from other forests with the same columns, classes and outputs.
        """
        check_fitted(self)
        return Members(self)

    @estimators_.setter
    def estimators_(self, trees: Any) -> None:
        check_fitted(self)
        if not (isinstance(trees, Members) and trees.forest is self):  # else they are there already
            replace_trees(self, list(trees))

    @property
    def estimators_samples_(self) -> list[NDArray[Any]]:
        """The rows that each tree was grown on, drawn again; each as often as it is in the sample."""
        check_fitted(self)
        sampler = known_sampler(self, "estimators_samples_")
        return [sampler.rows(number) for number in range(len(self.trees_))]

    @property
    def feature_importances_(self) -> Vector:
        """How much each feature lowers the impurity, averaged over trees; they sum to 1, or are 0."""
        check_fitted(self)
        mean = self.tree_importances_.mean("impurity")
        total = mean.sum()
        return mean / total if total > 0 else mean

    @property
    def oob_score_(self) -> float:
        """The score of rows by trees that have not seen them: ``oob_.score``."""
        return self._out_of_bag("oob_score_").score

    def __len__(self) -> int:
        """Return how many trees there are."""
        return len(self.estimators_)

    def __getitem__(self, number: Any) -> Any:
        """Return a tree, or a list of trees."""
        return self.estimators_[number]

    def __iter__(self) -> Iterator[Any]:
        """Yield the trees."""
        return iter(self.estimators_)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each tree that each row falls into.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        leaves : ndarray of int64 of shape (n_samples, n_trees)
            Numbers of nodes.
        """
        blocks = [
            self.trees_.core.leaves(rows, self._n_threads(len(rows)))
            for rows in prediction_blocks(self, X)
        ]
        return np.concatenate(blocks).astype(np.int64)

    def decision_path(self, X: Any) -> tuple[Any, Indices]:
        """Return the nodes of all trees that each row passes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        passes : CSR matrix of shape (n_samples, n_nodes)
            1 where the row passes the node; the nodes of all trees, one tree after the other.
        n_nodes_ptr : ndarray of int64 of shape (n_trees + 1,)
            Where the nodes of each tree begin, and the last end.
        """
        source = view_table(X)
        paths = [tree.decision_path(source) for tree in self.estimators_]
        starts = np.cumsum([0, *(path.shape[1] for path in paths)])
        if not paths:  # of a fit that was stopped before its first tree
            return sp.csr_matrix((source.shape[0], 0)), starts
        return sp.hstack(paths).tocsr(), starts

    def importances(
        self,
        kind: str = "impurity",
        X: Any = None,
        y: Any = None,
        *,
        groups: Any = None,
        n_repeats: int = 1,
        metric: Metric | None = None,
        random_state: Any = None,
        sample_weight: Any = None,
        correlation: float | None = 0.9,
    ) -> Importances:
        """Return the importance of each feature, with its standard deviation over trees.

        Parameters
        ----------
        kind : {"occurrences", "impurity", "node_average", "permutation", "impurity_debiased"}
            "occurrences": the number of nodes per tree that split on the feature. "impurity": its
            share of the impurity decrease, which is ``feature_importances_``. "node_average": the
            mean score of the nodes that split on it, as a share. "permutation": the increase of
            the loss of a tree (misclassified rows, or squared error; the mean over outputs) on its
            out-of-bag rows when the values of the feature are shuffled among them.
            "impurity_debiased": the impurity decrease, estimated with out-of-bag rows (Li et al.
            2019): 0 on average for a feature without influence.
        X, y : array, data frame or sparse matrix; array
            For the last two kinds the X and y of the fit, the same rows in the same order. The
            others do not need X, but report correlated features if it is given.
        groups : dict of str to list, or list of lists, default=None
            Features, by name or number, that are evaluated together: shuffled together, or their
            importances added up. Features in no group are evaluated individually.
        n_repeats : int, default=1
            The number of times each feature is shuffled for each tree.
        metric : str, callable or None, default=None
            For "permutation": the name of a scikit-learn scorer, or a function of true and
            predicted targets that is larger for better predictions; the importance is its
            decrease.
        random_state : int, RandomState, Generator or None, default=None
            Seed of the shuffling.
        sample_weight : array of shape (n_samples,) or None
            The weights of the fit, for the last two kinds.
        correlation : float or None, default=0.9
            The rank correlation from which on features are reported as correlated; None turns this
            off.

        Returns
        -------
        Importances
            The values, their spread, and a note if correlated features share their importance.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> table = load_iris(as_frame=True)
        >>> forest = RandomForestClassifier(random_state=0).fit(table.data, table.target)
        >>> found = forest.importances("permutation", table.data, table.target, random_state=0)
        >>> found.correlated
        (('petal length (cm)', 'petal width (cm)'),)
        """
        return importances_of_forest(
            self,
            kind,
            X,
            y,
            sample_weight,
            groups=groups,
            n_repeats=n_repeats,
            metric=metric,
            random_state=random_state,
            correlation=correlation,
        )

    def to_sklearn(self, X: Any = None) -> Any:
        """Return scikit-learn's own forest with the same trees, for tools that check the class.

        scikit-learn rounds X to single precision, and compares the rounded numbers with the
        thresholds. So both predict the same, bit for bit, unless a number differs from a threshold
        by less than single precision tells apart. If you give the X of the fit, thresholds are
        placed so that this does not happen to its rows. Missing values take the same ways.

        With ``voting="hard"`` the leaves hold votes instead of shares. Parameters that scikit-learn
        does not have are left out; so are the samples of rows, which scikit-learn would draw
        otherwise. ``n_node_samples`` of a tree's node is its weight, rounded.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features), default=None
            Rows that must take the same ways, as those of the fit.

        Returns
        -------
        forest : RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier or ExtraTreesRegressor
            Fitted, of ``sklearn.ensemble``; a balanced forest becomes a RandomForestClassifier. A
            forest with columns of categories has no such form, and UnavailableError says so.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
        >>> bool((forest.to_sklearn().predict_proba(X) == forest.predict_proba(X)).all())
        True
        """
        import sklearn.ensemble

        return forest_to_sklearn(self, getattr(sklearn.ensemble, self._sklearn_name), X)

    @abstractmethod
    def _member_class(self) -> type:
        """Return the class of the trees."""

    @abstractmethod
    def _tree_class(self) -> type:
        """Return the class of single trees like those of the forest."""

    def _out_of_bag(self, name: str) -> OutOfBag:
        """Return what is known out of bag, for an attribute of that name."""
        check_fitted(self)
        if "oob_" not in vars(self):
            msg = (
                f"{name} is not available: the forest was fitted with oob_score=False, or its estimators_ "
                "were changed since; set oob_score and fit again"
            )
            raise UnavailableError(msg)
        return self.oob_

    def _member(self, number: int) -> Any:
        """Return one of the trees as an estimator."""
        sampler, targets = vars(self).get("sampler_"), vars(self).get("leaf_targets_")
        seed = None if sampler is None else sampler.fit_seed(number)
        member: Any = self._member_class()(**self._tree_parameters(), random_state=seed)
        for name in _SHARED:
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        packed = self.trees_.tree(number, self.category_columns_.n_categories)
        member.tree_ = with_impurities(packed, self.criterion, self._n_classes(), targets, number)
        member._origin = TreeOrigin(
            self.tree_importances_.measures_of(number),
            self.trees_.core.is_single_precision,
            number,
            sampler,
            targets,
        )
        member.status_ = "grown"
        return member

    def _tree_parameters(self) -> dict[str, Any]:
        """Return the parameters that the forest shares with its trees."""
        cls: Any = self._tree_class()
        given = self.get_params(deep=False)
        names = set(cls._get_param_names()) - {"class_weight", "max_time", "random_state"}
        return {name: given[name] for name in names if name in given}

    def _n_classes(self) -> Indices:
        """Return how many classes each output has; 1 for regression."""
        counts = [len(labels) for labels in self._known_classes()]
        return np.array(counts or [1] * self.n_outputs_, dtype=np.int64)

    def _sums(self, X: Any) -> Vector:
        """Return the sums of all trees' shares, votes or numbers, of shape (n_rows, n_outputs, width)."""
        check_fitted(self)
        blocks = [self._block_sums(rows) for rows in prediction_blocks(self, X)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _block_sums(self, rows: NDArray[Any]) -> Vector:
        return self.trees_.sums(rows, self._n_threads(len(rows)))

    def _n_threads(self, n_rows: int) -> int:
        """Return how many threads predict so many rows."""
        is_worthwhile = n_rows * len(self.trees_) >= WORTH_THREADS
        return check_n_threads(self.n_jobs, is_worthwhile=is_worthwhile)
