"""From the parameters of a forest, a table and targets to what its trees grow from."""

from __future__ import annotations

import copyreg
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow.ensemble.combining import ClassCombiner, Combiner, MeanCombiner
from hedgerow.ensemble.forest.builder import TreeEnsemble
from hedgerow.ensemble.forest.tree_builder import TreeBuilder
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import Counts, RowSampler
from hedgerow.tree._growth import CRITERIA, settings_of
from hedgerow.tree._table import FeatureTable
from hedgerow.tree._training import ClassTargets, Targets, ValueTargets, row_factors

__all__ = ["ForestTrainingData"]

Vector: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ForestTrainingData:
    """What a forest is grown on.

    Attributes
    ----------
    table : FeatureTable
        The features, encoded.
    targets : ClassTargets or ValueTargets
        What is to be learnt, and the weights of the rows.
    groups : ndarray of int64 or None
        The group of each row, if rows belong together.
    sampler : RowSampler
        Draws the sample of each tree.
    """

    table: FeatureTable
    targets: ClassTargets | ValueTargets
    groups: Indices | None
    sampler: RowSampler

    @property
    def classes(self) -> tuple[NDArray[Any], ...]:
        """The labels of each output; none for numbers."""
        return self.targets.classes if isinstance(self.targets, ClassTargets) else ()

    @property
    def judge(self) -> Combiner:
        """What answers are judged by."""
        if isinstance(self.targets, ClassTargets):
            return ClassCombiner(self.targets.codes, self._n_classes)
        return MeanCombiner(self.targets.values)

    @property
    def is_judged(self) -> NDArray[np.bool_]:
        """The rows that have weight."""
        weights = self.targets.weights
        return np.ones(self.table.n_rows, dtype=bool) if weights is None else weights > 0

    @property
    def identity(self) -> str:
        """What must be the same for trees to be added to a forest."""
        return fingerprint(self.table.columns, self.classes, self.targets.n_outputs, self.sampler)

    @property
    def _n_classes(self) -> NDArray[np.int32]:
        """How many classes each output has; 0 for numbers."""
        if not self.classes:
            return np.zeros(self.targets.n_outputs, dtype=np.int32)
        return np.array([len(labels) for labels in self.classes], dtype=np.int32)

    def fingerprint(self, *parameters: Any) -> str:
        """Return a name for the forest that is grown on this by some parameters."""
        codes = self.table.codes
        columns = [
            fingerprint(codes.values(j), codes.codes(j)) for j in range(self.table.n_features)
        ]
        return fingerprint(parameters, columns, self.targets, self.sampler)

    def ground(self, forest: Any) -> TreeBuilder:
        """Return what every tree of a forest with these parameters grows from."""
        criterion = CRITERIA.get(forest.criterion, forest.criterion)
        task = self.targets.task(self.table, criterion)
        # Trees that all took the first of equally good features would hide what the others matter.
        settings = settings_of(forest, self.table, self.targets, in_any_order=True)

        def task_of(counts: Counts | None) -> _core.tree.TreeTask:
            return self._balanced(counts).retarget(task)

        def settings_in(counts: Counts | None) -> _core.tree.TreeSettings:
            return settings_of(forest, self.table, self._weighing_as(counts), in_any_order=True)

        by_sample = getattr(forest, "class_weight", None) == "balanced_subsample"
        by_weight = forest.min_weight_fraction_leaf > 0
        return TreeBuilder(
            sampler=self.sampler,
            settings_of=settings_in if by_weight else lambda _: settings,
            task_of=task_of if by_sample else lambda _: task,
            n_categories=self.table.columns.n_categories,
            ccp_alpha=float(forest.ccp_alpha),
            no_trees=self.no_trees,
            origin=(ForestTrainingData.ground, (self, _parameters_alone(forest))),
        )

    def stand(self, *, judged: bool, votes: bool) -> TreeEnsemble:
        """Return a stand without trees, with a tally if rows are to be judged out of bag."""
        tally = OutOfBagSums(self.judge, self.is_judged, votes=votes) if judged else None
        return TreeEnsemble(self.no_trees(), tally=tally)

    def no_trees(self) -> _core.tree.ForestTrees:
        """Return a packed forest without trees."""
        return _core.tree.ForestTrees(
            self.table.n_features,
            self.targets.n_outputs,
            self._n_classes,
            self.table.columns.n_categories,
            self.table.codes.single_precision,
        )

    def replay(
        self, tally: OutOfBagSums, packed: PackedTrees, rows: NDArray[Any], n_threads: int
    ) -> None:
        """Let a tally take in trees that were grown without one: these rows must pass them again."""
        plain = OutOfBagSums(tally.judge, tally.is_judged, votes=tally.votes, in_core=False)
        leaves = packed.core.leaves(rows, n_threads)
        for number, leaf_of_row in enumerate(leaves.T):
            counts = self.sampler.counts(number)
            assert counts is not None
            value = packed.tree(number, self.table.columns.n_categories).value
            tree = SimpleNamespace(value=value, leaf_of_row=leaf_of_row)
            plain.add(tree, self.sampler.in_bag(counts))
        tally.restore(*plain.state())

    def out_of_bag(self, tally: OutOfBagSums) -> OutOfBag:
        """Return what a tally has found."""
        sums, n_trees_of_row, tree_losses, curve = tally.state()
        empty = np.empty(0, dtype=np.int64)
        return OutOfBag(
            sums=sums,
            n_trees_of_row=n_trees_of_row,
            tree_losses=tree_losses,
            curve=curve,
            y=tally.judge.y,
            classes=self.classes,
            is_judged=tally.is_judged,
            groups=empty if self.groups is None else self.groups,
            by_votes=tally.votes,
        )

    def _weights(self, counts: Counts | None) -> Vector:
        """Return the weights of the rows in a sample."""
        weights = self.targets.weights
        given = np.ones(self.table.n_rows) if weights is None else weights
        return given if counts is None else given * counts

    def _balanced(self, counts: Counts | None) -> Targets:
        """Return the targets with weights that make the classes of a sample equal."""
        assert isinstance(self.targets, ClassTargets)
        codes = self.targets.codes.astype(np.int64)
        factors = row_factors("balanced", self.targets.classes, codes, self._weights(counts))
        return replace(self.targets, weights=self._weights(None) * factors)

    def _weighing_as(self, counts: Counts | None) -> Targets:
        """Return the targets, all weights times a factor, such that the total is that of a sample."""
        weights = self._weights(None)
        factor = self._weights(counts).sum() / weights.sum()
        return replace(self.targets, weights=weights * factor)


def _parameters_alone(forest: Any) -> Any:
    """Return a forest with the same parameters, neither fitted nor listened to."""
    return type(forest)(**forest.get_params(deep=False))


def _table_of_parts(n_rows: int, is_single: bool, columns: list[Any]) -> _core.tree.CodeTable:
    return _core.tree.CodeTable.of_parts(n_rows, is_single, columns, 1)


# Codes go to another process as they are: nothing is sorted a second time.
copyreg.pickle(_core.tree.CodeTable, lambda table: (_table_of_parts, table.parts))
