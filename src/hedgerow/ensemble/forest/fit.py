"""Fitting a forest: from a table to trees that are kept, or added to those there are."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin
from sklearn.metrics import get_scorer_names

from hedgerow import _core
from hedgerow._base.estimator import Estimator
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.parameters import (
    Rule,
    any_of,
    check_parameters,
    check_seed,
    is_whole,
    none,
    real_number,
    short_text,
    true_or_false,
    verbosity,
    whole_number,
)
from hedgerow._base.state.rules import AttributeRule, instance_of, optional
from hedgerow._engine import check_n_threads
from hedgerow.data.row_sketch import RowSketch
from hedgerow.data.table import TableView, view_table
from hedgerow.ensemble.forest.builder import ForestBuilder, TreeEnsemble
from hedgerow.ensemble.forest.leaf_targets import LeafTargetRecorder
from hedgerow.ensemble.forest.training import ForestTrainingData
from hedgerow.ensemble.importance.impurity import ForestImportances
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.row_groups import read_groups
from hedgerow.ensemble.sampling import (
    RowSampler,
    all_rows_sampler,
    bootstrap_sampler,
    known_sampler,
)
from hedgerow.ensemble.stopping import PlateauRule, plateau_rule
from hedgerow.errors import DataError, ParameterError, warn_user
from hedgerow.monitor import CallbackSupport, current
from hedgerow.tree._categories import Categories
from hedgerow.tree._estimator import TakesTables
from hedgerow.tree._growth import GROWTH_RULES, n_features_tried
from hedgerow.tree._table import (
    FeatureTable,
    encode,
    prediction_rows,
    remember_table,
)

__all__ = ["FITTED_RULES", "FOREST_RULES", "ForestFit"]

Indices: TypeAlias = NDArray[np.int64]

_log = logging.getLogger("hedgerow")


def _metric(value: Any) -> str | None:
    """Allow what ``oob_score`` may be."""
    fine = isinstance(value, bool | np.bool_ | str) or callable(value)
    return None if fine else "True, False, the name of a scorer, or a function of y and predictions"


def _multiple(value: Any) -> str | None:
    """Allow floats: how many times as many rows are drawn as there are."""
    if is_whole(value):
        return "a float above 0"
    return real_number(0, MOST_TIMES, open_low=True)(value)


MOST_DRAWN, MOST_TIMES = 2**31 - 1, 1000
"""Rows that a tree is grown from, and how many times that may be all rows."""

FOREST_RULES: Mapping[str, Rule] = {
    **GROWTH_RULES,
    "n_estimators": whole_number(1),
    "bootstrap": true_or_false,
    "oob_score": _metric,
    "verbose": verbosity,
    "warm_start": true_or_false,
    "max_samples": any_of(none, whole_number(1, MOST_DRAWN), _multiple),
    "stop_when_flat": plateau_rule,
}
"""Rules of the parameters that every forest has."""

FITTED_RULES: Mapping[str, AttributeRule] = {
    "category_columns_": instance_of(Categories, features=lambda found: found.n_features),
    "row_sketch_": optional(instance_of(RowSketch)),
    "trees_": instance_of(
        PackedTrees,
        trees=len,
        features=lambda packed: packed.n_features,
        outputs=lambda packed: packed.n_outputs,
        width=lambda packed: packed.width,
    ),
    "tree_importances_": instance_of(
        ForestImportances,
        trees=lambda found: len(found.ends),
        features=lambda found: found.n_features,
    ),
    "sampler_": optional(
        instance_of(
            RowSampler,
            trees=lambda sampler: len(sampler.tree_numbers) or None,
            rows=lambda sampler: sampler.n_rows,
        )
    ),
    "oob_": optional(
        instance_of(
            OutOfBag,
            rows=lambda oob: len(oob.y),
            trees=lambda oob: oob.n_trees,
            outputs=lambda oob: oob.sums.shape[1],
            width=lambda oob: oob.sums.shape[2],
        )
    ),
    "max_features_": whole_number(1),
    "status_": short_text,
}
"""Rules of the fitted attributes that every forest has."""


class ForestFit(TakesTables, MultiOutputMixin, CallbackSupport, Estimator):
    """An estimator whose fit grows trees, each on a sample of the rows."""

    _rules: ClassVar[Mapping[str, Rule]]

    n_estimators: int
    criterion: str
    max_features: Any
    min_weight_fraction_leaf: float
    bootstrap: bool
    oob_score: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    ccp_alpha: float
    max_samples: Any
    categorical_features: Any
    stop_when_flat: Any

    trees_: PackedTrees
    tree_importances_: ForestImportances
    sampler_: RowSampler
    oob_: OutOfBag
    max_features_: int
    status_: str

    def _categories_of_trees(self) -> Indices | None:
        return self.trees_.n_categories

    def _fit(self, X: Any, y: Any, sample_weight: Any, oob_group: Any) -> None:
        """Grow the forest of a table, or add to the one there is."""
        self._check()
        source = view_table(X)
        targets = self._targets(y, sample_weight, source.shape[0])
        table = self._encoded(source)
        if self._goes_on and not table.is_whole:
            self.status_ = current().reason or "stopped"
            return
        self._grow(self._planting(table, targets, oob_group), source)

    def _check(self) -> None:
        """Refuse parameters that cannot be."""
        check_parameters(self, self._rules)
        self._refuse_contradictions()

    def _encoded(self, source: TableView) -> FeatureTable:
        """Return a table encoded; all forests with the same ``categorical_features`` can share it."""
        n_threads = check_n_threads(self.n_jobs)
        return encode(source, self.categorical_features, n_threads, may_stop=True)

    def _planting(self, table: FeatureTable, targets: Any, oob_group: Any) -> ForestTrainingData:
        """Return what the forest is grown on."""
        groups = read_groups(oob_group, table.codes)
        goes_on = self._goes_on
        seed = known_sampler(self, "warm_start").seed if goes_on else check_seed(self.random_state)
        sampler = self._sampler(targets, groups, seed)
        if self._is_judged and not sampler.leaves_rows_out:
            what = "oob_score" if self._metric is not None else "stop_when_flat"
            msg = (
                "Out of bag estimation only available if bootstrap=True: else every tree has seen "
                f"every row; set it, or leave {what} out"
            )
            raise ParameterError(msg)
        return ForestTrainingData(table, targets, groups, sampler)

    def _grow(self, planting: ForestTrainingData, X: Any) -> None:
        """Grow the forest of an encoded table; X is the same table as it came."""
        stand = planting.stand(judged=self._is_judged, votes=self._votes)
        stand.keeper = self._target_keeper(planting)
        if self._goes_on:
            self._go_on(planting, stand, X)
        n_before = stand.trees.n_trees
        monitor = current()
        key = None if monitor.store is None else planting.fingerprint(self, n_before)
        left = None if key is None else monitor.recall(key)
        if left is not None:
            stand.restore(left)
        flatness = PlateauRule.read(self.stop_when_flat)
        ground = planting.ground(self._in_rows(planting.sampler))
        grower = ForestBuilder(ground, stand, int(self.n_estimators), flatness, key)
        status = grower.run(check_n_threads(self.n_jobs))
        self._keep(planting, stand, status)

    def _go_on(self, planting: ForestTrainingData, stand: TreeEnsemble, X: Any) -> None:
        """Begin with the trees of the fit before."""
        n_before = len(self.trees_)
        if n_before > self.n_estimators:
            msg = (
                f"n_estimators={self.n_estimators} must be larger or equal to the {n_before} trees there are, "
                "as warm_start=True adds to them; raise it, or set warm_start=False"
            )
            raise ParameterError(msg)
        if n_before == self.n_estimators:
            msg = "Warm-start fitting without increasing n_estimators does not fit new trees."
            warn_user(msg, UserWarning)
        if planting.identity != self._identity():
            msg = (
                "warm_start=True adds trees to a forest of the same columns, classes and samples of rows, and "
                "these are others; give the same X, y, sample_weight and oob_group, or set warm_start=False"
            )
            raise DataError(msg)
        stand.trees = _core.tree.ForestTrees.of_parts(self.trees_.parts)
        stand.importances = self.tree_importances_.trees()
        if stand.keeper is not None:
            self._keep_on(stand.keeper, planting, X)
        if stand.tally is None:
            return
        known: OutOfBag | None = getattr(self, "oob_", None)
        if known is not None and known.by_votes == self._votes:
            stand.tally.restore(known.sums, known.n_trees_of_row, known.tree_losses, known.curve)
        else:
            rows = prediction_rows(self, X)
            planting.replay(stand.tally, self.trees_, rows, check_n_threads(self.n_jobs))

    def _keep(self, planting: ForestTrainingData, stand: TreeEnsemble, status: str) -> None:
        """Set the fitted attributes."""
        table = planting.table
        remember_table(self, table)
        self.trees_ = PackedTrees.of(stand.trees)
        self.tree_importances_ = ForestImportances.of(stand.importances, table.n_features)
        self.sampler_ = planting.sampler
        self.max_features_ = n_features_tried(self.max_features, table.n_features)
        self.status_ = status
        self._keep_classes(planting.classes)
        if hasattr(self, "oob_"):
            del self.oob_
        if stand.tally is not None:
            self.oob_ = self._scored(planting.out_of_bag(stand.tally))
        self._keep_targets(stand.keeper)
        if self.verbose:
            _log.info("%s: %d trees, %s", type(self).__name__, len(self.trees_), status)

    def _scored(self, oob: OutOfBag) -> OutOfBag:
        """Return what is known out of bag with the score that was asked for."""
        came_to_its_end = self.status_ in ("grown", "flat")
        if oob.n_never_out and self._metric is not None and came_to_its_end:
            msg = (
                f"Some inputs do not have OOB scores: {oob.n_never_out} rows are in the samples of all "
                f"{oob.n_trees} trees. They are NaN and not counted; grow more trees to judge them too."
            )
            warn_user(msg, UserWarning)
        metric = None if self._metric is True else self._metric
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
        usual = "accuracy" if oob.classes else "r2"
        return replace(oob, score=oob.score_by(metric), metric=usual if metric is None else name)

    @property
    def _goes_on(self) -> bool:
        """Whether the fit adds trees to those of the one before."""
        return bool(self.warm_start) and "trees_" in vars(self)

    @property
    def _metric(self) -> Any:
        """What ``oob_score`` asks for: None, True for what is usual, a name or a function."""
        asked = self.oob_score
        return (True if asked else None) if isinstance(asked, bool | np.bool_) else asked

    @property
    def _is_judged(self) -> bool:
        """Whether rows are judged by the trees that have not seen them."""
        return self._metric is not None or self.stop_when_flat is not None

    @property
    def _votes(self) -> bool:
        """Whether trees vote, instead of adding up shares."""
        return False

    @abstractmethod
    def _targets(self, y: Any, sample_weight: Any, n_rows: int) -> Any:
        """Return what is to be learnt."""

    def _target_keeper(self, planting: ForestTrainingData) -> LeafTargetRecorder | None:  # noqa: ARG002
        """Return what takes down the targets of leaves, if that is wanted."""
        return None

    def _keep_on(self, keeper: LeafTargetRecorder, planting: ForestTrainingData, X: Any) -> None:
        """Let a keeper begin with the trees of the fit before."""

    def _keep_targets(self, keeper: LeafTargetRecorder | None) -> None:
        """Set what was kept of targets."""

    @abstractmethod
    def _keep_classes(self, classes: tuple[NDArray[Any], ...]) -> None:
        """Set the labels, if there are any."""

    @abstractmethod
    def _known_classes(self) -> tuple[NDArray[Any], ...]:
        """Return the labels of each output; none for numbers."""

    def _sampler(self, targets: Any, groups: Indices | None, seed: int) -> RowSampler:
        """Return what draws the sample of each tree."""
        if not self.bootstrap:
            return all_rows_sampler(seed, targets.n_rows)
        weights = np.ones(targets.n_rows) if targets.weights is None else targets.weights
        return bootstrap_sampler(seed, weights, groups, self.max_samples)

    def _in_rows(self, sampler: RowSampler) -> Any:  # noqa: ARG002
        """Return the parameters of a tree; shares of rows are of all rows, as in scikit-learn."""
        return self

    def _refuse_contradictions(self) -> None:
        """Refuse parameters that exclude each other."""
        if self.max_samples is not None and not self.bootstrap:
            msg = (
                f"max_samples={self.max_samples} cannot be set if bootstrap=False, as all rows are taken; "
                "set bootstrap=True or max_samples=None"
            )
            raise ParameterError(msg)
        if isinstance(self._metric, str) and self._metric not in get_scorer_names():
            msg = f"oob_score={self._metric!r} is none of sklearn.metrics.get_scorer_names(); take one of these"
            raise ParameterError(msg)

    def _identity(self) -> str:
        """Return what :attr:`ForestTrainingData.identity` is for the forest there is."""
        return fingerprint(
            self.category_columns_, self._known_classes(), self.n_outputs_, self.sampler_
        )
