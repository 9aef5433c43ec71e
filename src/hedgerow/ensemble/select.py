"""A forest as a selector of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

from hedgerow._base.estimator import Estimator
from hedgerow._base.parameters import (
    Rule,
    any_of,
    check_parameters,
    check_seed,
    is_number,
    is_whole,
    one_of,
    real_number,
    short_text,
    shown,
    true_or_false,
    whole_number,
)
from hedgerow._base.sparse import checked_sparse
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import instance_of, optional, truths
from hedgerow.data.rows import check_columns, remember_columns
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.base import Forest
from hedgerow.ensemble.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.ensemble.importance.by_tree import MeasureByTree
from hedgerow.ensemble.importance.feature_groups import FeatureGroups
from hedgerow.ensemble.importance.measure import ImportanceRequest
from hedgerow.ensemble.importance.record import KINDS, Importances
from hedgerow.ensemble.importance.thresholds import is_above, threshold_of, threshold_rule
from hedgerow.errors import DataError, ParameterError, warn_user
from hedgerow.monitor import CallbackSupport, current, member_of, monitored_fit
from hedgerow.resampling.seeded import seeded_clone

__all__ = ["SelectFromForest"]

Members: TypeAlias = list[tuple[int, ...]]
Truths: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = NDArray[np.float64]

CORRELATION = 0.9
"""The default correlation from which on features count as correlated."""


def _forest_or_none(value: Any) -> str | None:
    """Allow None and forests."""
    fine = value is None or isinstance(value, Forest)
    return None if fine else "a forest, such as RandomForestClassifier(), or None"


def _number_of_features(value: Any) -> str | None:
    """Allow what ``max_features`` may be."""
    fine = value is None or callable(value) or (is_whole(value) and value >= 0)
    return None if fine else "None, an integer of at least 0, or a function of X"


def _stand_ins(value: Any) -> str | None:
    """Allow names for names."""
    fine = isinstance(value, dict) and all(
        isinstance(name, str) for pair in value.items() for name in pair
    )
    return None if fine else "a dictionary of names"


_RULES: dict[str, Rule] = {
    "estimator": _forest_or_none,
    "kind": one_of(*KINDS),
    "threshold": threshold_rule,
    "max_features": _number_of_features,
    "one_of_each": any_of(true_or_false, real_number(0, 1, open_low=True)),
    "prefit": true_or_false,
    "n_repeats": whole_number(1),
}


@stateful(
    _RULES,
    estimator_=instance_of(Forest, features=lambda forest: forest.n_features_in_),
    importances_=instance_of(Importances, features=lambda found: len(found.names)),
    group_importances_=optional(instance_of(Importances)),
    support_=truths("features"),
    left_out_=_stand_ins,
    status_=short_text,
)
class SelectFromForest(SelectorMixin, CallbackSupport, Estimator):
    """Select features by their importance to a forest, optionally one of each correlated group.

    Parameters
    ----------
    estimator : forest, default=None
        The forest, which is cloned and fitted. None means ``RandomForestClassifier()`` or, if y is
        continuous, ``RandomForestRegressor()``.
    kind : str, default="permutation"
        The importance measure: "permutation" or "impurity_debiased", which need a forest whose trees
        leave rows out; "impurity", "occurrences" or "node_average".
    threshold : str, float or None, default=None
        The minimum importance of a feature: a number, "mean", "median", or a multiple such as
        "1.25*mean" or "3*standard_error"; the latter must be exceeded. None means "2*standard_error" for
        the two kinds whose values are 0 on average for useless features, and "mean" for the others.
    max_features : int, callable or None, default=None
        The maximum number of features to keep, or a function of X that returns it. To keep this many
        whatever their importance, set ``threshold=-np.inf``.
    one_of_each : bool or float, default=False
        Whether to keep only the most important one of correlated features. A group of correlated features
        is evaluated as a whole, as each may seem useless while the others are present. A number is the
        correlation threshold; True means 0.9.
    prefit : bool, default=False
        Whether ``estimator`` is already fitted; ``fit`` then needs the rows of that fit.
    n_repeats : int, default=1
        The number of times each feature is shuffled for each tree.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the shuffling, and of a forest without a seed.
    max_time : float or None, default=None
        Time limit of a fit in seconds, half of which is for the forest. If no tree could be measured, every
        feature is kept.

    Attributes
    ----------
    estimator_ : forest
        The fitted forest.
    importances_ : Importances
        The importance of each single feature.
    group_importances_ : Importances
        With ``one_of_each``: the importances of the groups of correlated features and of all other
        features, which decide.
    threshold_ : float or ndarray
        The minimum importance; with standard errors, one for each feature or group.
    support_ : ndarray of bool of shape (n_features,)
        Which features are kept.
    left_out_ : dict of str to str
        For every feature dropped because of its correlation, the one that represents it.
    n_features_in_, feature_names_in_
        The columns seen in fit.
    status_ : str
        "fitted", or why fit stopped early: "time_limit", "interrupted" by Ctrl-C, or "stopped" by a
        callback.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import SelectFromForest
    >>> table = load_iris(as_frame=True)
    >>> selector = SelectFromForest(one_of_each=True, random_state=0).fit(table.data, table.target)
    >>> selector.get_feature_names_out().tolist()
    ['sepal length (cm)', 'sepal width (cm)', 'petal width (cm)']
    >>> selector.left_out_
    {'petal length (cm)': 'petal width (cm)'}
    """

    estimator_: Any
    importances_: Importances
    group_importances_: Importances
    support_: Truths
    left_out_: dict[str, str]
    status_: str

    def __init__(
        self,
        estimator: Any = None,
        *,
        kind: str = "permutation",
        threshold: Any = None,
        max_features: Any = None,
        one_of_each: bool | float = False,
        prefit: bool = False,
        n_repeats: int = 1,
        random_state: Any = None,
        max_time: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.kind = kind
        self.threshold = threshold
        self.max_features = max_features
        self.one_of_each = one_of_each
        self.prefit = prefit
        self.n_repeats = n_repeats
        self.random_state = random_state
        self.max_time = max_time

    @monitored_fit
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, oob_group: Any = None
    ) -> Self:
        """Fit the forest, unless ``prefit=True``, and select the features.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        sample_weight : array of shape (n_samples,) or None
            Sample weights.
        oob_group : "equal rows", array of shape (n_samples,) or None
            Rows that are in the sample of a tree, or out of it, together; see ``fit`` of the forest.

        Returns
        -------
        SelectFromForest
            The fitted selector itself.
        """
        check_parameters(self, _RULES)
        seed = check_seed(self.random_state)
        forest = self._forest(X, y, sample_weight, oob_group, seed)
        question = ImportanceRequest.read(
            forest,
            self.kind,
            X,
            y,
            sample_weight,
            n_repeats=self.n_repeats if self.kind == "permutation" else 1,
            random_state=seed,
            correlation=self._correlation,
        )
        self._choose(question, self._most(X, forest.n_features_in_))
        remember_columns(self, _names(forest), forest.n_features_in_)
        self.estimator_ = forest
        was_cut = not self.prefit and forest.status_ not in ("grown", "flat")
        self.status_ = current().reason or (forest.status_ if was_cut else "fitted")
        return self

    def transform(self, X: Any) -> Any:
        """Return the selected features.

        Parameters
        ----------
        X : array, data frame, mapping or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        X : same type as X
            The selected columns; a data frame stays one, unless ``set_output`` says otherwise.
        """
        check_fitted(self)
        source = view_table(X)
        check_columns(self, source.names, source.shape[1])
        places = np.flatnonzero(self.support_)
        if not len(places):
            msg = "No features were selected: none is important enough; lower the threshold"
            warn_user(msg, UserWarning)
        return _columns(X, places)

    @property
    def threshold_(self) -> float | Vector:
        """The minimum importance; with standard errors, one for each feature or group."""
        check_fitted(self)
        return threshold_of(self.threshold, self._judged)

    def _get_support_mask(self) -> Truths:
        check_fitted(self)
        return self.support_

    @property
    def _judged(self) -> Importances:
        return self.group_importances_ if "group_importances_" in vars(self) else self.importances_

    @property
    def _correlation(self) -> float:
        """The correlation threshold; correlated features are reported in any case."""
        return float(self.one_of_each) if is_number(self.one_of_each) else CORRELATION

    # ---------------------------------------------------------------------------------------- fit

    def _forest(self, X: Any, y: Any, sample_weight: Any, oob_group: Any, seed: int) -> Any:
        """Return the fitted forest."""
        if self.prefit:
            return self._fitted_already()
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None; give one label per row"
            raise DataError(msg)
        forest = seeded_clone(_usual(y) if self.estimator is None else self.estimator, seed)
        with current().part("", 0.5), member_of(self, forest):
            return forest.fit(X, y, sample_weight=sample_weight, oob_group=oob_group)

    def _fitted_already(self) -> Any:
        try:
            check_fitted(self.estimator)
        except (NotFittedError, TypeError) as error:
            msg = (
                f"SelectFromForest(prefit=True) needs a fitted forest, but "
                f"estimator={self.estimator!r} is not fitted; fit it first, or set prefit=False"
            )
            raise NotFittedError(msg) from error
        return self.estimator

    def _most(self, X: Any, n_features: int) -> int:
        """Return the most features that may be kept."""
        most = self.max_features(X) if callable(self.max_features) else self.max_features
        if most is None:
            return n_features
        if not is_whole(most) or not 0 <= most <= n_features:
            msg = f"max_features is {shown(most)} but X has {n_features} features; give a number from 0 to {n_features}"
            raise ParameterError(msg)
        return int(most)

    def _choose(self, question: ImportanceRequest, most: int) -> None:
        """Set the importances, and which features are kept."""
        names, n_features = question.names, len(question.names)
        alone: Members = [(j,) for j in range(n_features)]
        groups: Members = (
            [each.features for each in question.correlated] if self.one_of_each else []
        )
        by_tree = question.by_tree([*alone, *groups], are_features=not groups)
        self.importances_ = question.record(
            by_tree.columns(slice(0, n_features)), FeatureGroups(names, alone, n_features)
        )
        if hasattr(self, "group_importances_"):
            del self.group_importances_
        members = alone
        if self.one_of_each:
            members = _in_place(groups, n_features)
            self.group_importances_ = question.record(*_grouped(by_tree, members, groups, names))
        self._keep(members, self._enough(most), names)

    def _enough(self, most: int) -> list[int]:
        """Return the numbers of what is important enough, at most so many."""
        judged = self._judged
        order = np.argsort(-judged.values, kind="stable")
        enough = is_above(self.threshold, judged)
        return [int(block) for block in order[:most] if enough[block]]

    def _keep(self, members: Members, blocks: list[int], names: list[str]) -> None:
        """Keep the most important feature of each of some blocks; all, if none was measured."""
        values = self.importances_.values
        was_measured = self.importances_.by_tree.shape[0] > 0
        self.support_ = np.full(len(names), not was_measured)
        self.left_out_ = {}
        for block in blocks if was_measured else []:
            first = max(members[block], key=lambda j: (values[j], -j))
            self.support_[first] = True
            self.left_out_ |= {names[j]: names[first] for j in members[block] if j != first}

    def __sklearn_tags__(self) -> Any:
        """Take what the forest takes; y must be given."""
        tags = super().__sklearn_tags__()
        forest = RandomForestClassifier() if self.estimator is None else self.estimator
        tags.input_tags = get_tags(forest).input_tags
        tags.target_tags.required = True
        return tags


def _usual(y: Any) -> Any:
    """Return the forest for targets of this kind."""
    is_number_like = type_of_target(y).startswith("continuous")
    return RandomForestRegressor() if is_number_like else RandomForestClassifier()


def _names(forest: Any) -> list[str] | None:
    names = getattr(forest, "feature_names_in_", None)
    return None if names is None else list(names)


def _in_place(groups: Members, n_features: int) -> Members:
    """Return groups and single features in the order of their first features."""
    grouped = {j for group in groups for j in group}
    alone = [(j,) for j in range(n_features) if j not in grouped]
    return sorted([*groups, *alone])


def _grouped(
    by_tree: MeasureByTree, members: Members, groups: Members, names: list[str]
) -> tuple[MeasureByTree, FeatureGroups]:
    """Return the measure of groups and single features; the columns of groups come after all features."""
    n_features = len(names)
    column = {group: n_features + k for k, group in enumerate(groups)}
    chosen = [column.get(block, block[0]) for block in members]
    labels = [" + ".join(names[j] for j in block) for block in members]
    table = by_tree.table[:, chosen]
    return MeasureByTree(table, by_tree.is_counted, by_tree.total), FeatureGroups(
        labels, members, n_features
    )


def _columns(X: Any, places: NDArray[np.int64]) -> Any:
    """Return some columns of a table, as the kind of table that it is."""
    if sp.issparse(X):
        matrix = checked_sparse(X)
        return (matrix if matrix.format in ("csr", "csc") else matrix.tocsr())[:, places]
    if hasattr(X, "iloc"):
        return X.iloc[:, places]  # keeps the index, also of no columns
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[:, places.tolist()].to_native()
    if isinstance(X, Mapping):
        names = list(X)
        return {names[j]: X[names[j]] for j in places}
    array = np.asanyarray(X)
    return (np.asanyarray(X, dtype=object) if array.dtype.kind in "US" else array)[:, places]
