"""Growing one tree of a forest, here or in another process, and the tree as it is handed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow.ensemble.forest.leaf_targets import LeafTargetRecorder, TreeTargets, by_levels
from hedgerow.ensemble.importance.impurity import TreeImportances, importances_of
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import Counts, RowSampler, member_seeds
from hedgerow.monitor import Monitor, current
from hedgerow.tree._growth import tree_of
from hedgerow.tree.pruning.cost_complexity import SAME, link_strengths

__all__ = ["BlockBuilder", "GrownMember", "PackedMember", "TreeBuilder"]


@dataclass(frozen=True, eq=False)
class GrownMember:
    """A tree that was just grown, and what is known of it only now."""

    tree: _core.tree.GrownTree
    counts: Counts | None
    importances: TreeImportances
    targets: TreeTargets | None = None

    @property
    def was_stopped(self) -> bool:
        """Whether the tree was cut short."""
        return self.tree.was_stopped

    def add_to(self, trees: _core.tree.ForestTrees) -> None:
        """Add the tree to others."""
        trees.add(self.tree)

    def judge(self, tally: OutOfBagSums, sampler: RowSampler) -> None:
        """Let a tally take in what the tree says of the rows that its sample lacks."""
        if self.counts is not None:
            tally.add(self.tree, sampler.in_bag(self.counts))


@dataclass(frozen=True, eq=False)
class PackedMember:
    """A tree that another process has grown, packed.

    Attributes
    ----------
    number : int
        Its number in the forest, by which its sample is drawn again.
    trees : PackedTrees
        This one tree.
    was_stopped : bool
        Whether it was cut short.
    importances : TreeImportances
        What its features matter.
    targets : TreeTargets or None
        The targets of its leaves, if they are to be kept.
    leaves_out : ndarray of int32 or None
        The leaf of each row that its sample lacks, if rows are judged out of bag.
    """

    number: int
    trees: PackedTrees
    was_stopped: bool
    importances: TreeImportances
    targets: TreeTargets | None
    leaves_out: NDArray[np.int32] | None

    def add_to(self, trees: _core.tree.ForestTrees) -> None:
        """Add the tree to others."""
        feature, threshold, left, right, missing, _, _, weight, value, _, *categories = (
            self.trees.core.tree(0)
        )
        trees.add_arrays(feature, threshold, left, right, missing, weight, value, *categories)

    def judge(self, tally: OutOfBagSums, sampler: RowSampler) -> None:
        """Let a tally take in what the tree says of the rows that its sample lacks."""
        counts = sampler.counts(self.number)
        if counts is None or self.leaves_out is None:
            return
        bag = sampler.in_bag(counts)
        leaf_of_row = np.zeros(len(bag), dtype=np.int32)
        leaf_of_row[bag == 0] = self.leaves_out
        tally.add_packed(self.trees, leaf_of_row, bag)


@dataclass(frozen=True, eq=False)
class TreeBuilder:
    """What every tree of a forest grows from.

    Attributes
    ----------
    sampler : RowSampler
        Draws the sample of each tree.
    settings_of, task_of : callable
        Return how a tree with this sample grows, and what it learns from.
    n_categories : ndarray of int64
        How many categories each feature has.
    ccp_alpha : float
        What a leaf costs when a tree is pruned; 0 prunes none.
    no_trees : callable
        Returns a packed forest that such trees can be added to.
    origin : tuple
        The function and the arguments that make an equal builder in another process.
    """

    sampler: RowSampler
    settings_of: Callable[[Counts | None], _core.tree.TreeSettings]
    task_of: Callable[[Counts | None], _core.tree.TreeTask]
    n_categories: NDArray[np.int64]
    ccp_alpha: float
    no_trees: Callable[[], _core.tree.ForestTrees]
    origin: tuple[Callable[..., TreeBuilder], tuple[Any, ...]]

    def __reduce__(self) -> tuple[Callable[..., TreeBuilder], tuple[Any, ...]]:
        return self.origin

    def tree(self, number: int, monitor: Monitor) -> GrownMember:
        """Return the tree of a number, as far as it came before the task had to stop."""
        counts = self.sampler.counts(number)
        task, settings = self.task_of(counts), self.settings_of(counts)
        seed, _ = member_seeds(self.sampler.seed, number)
        with monitor.guard():
            grown = task.grow(settings, counts, seed, 0)
        tree = tree_of(grown, self.n_categories)
        if self.ccp_alpha > 0:
            becomes_leaf = link_strengths(tree, "impurity") <= self.ccp_alpha * (1.0 + SAME)
            grown = grown.pruned(becomes_leaf)
            tree = tree_of(grown, self.n_categories)
        return GrownMember(grown, counts, importances_of(tree))


@dataclass(frozen=True, eq=False)
class BlockBuilder:
    """Grows blocks of trees in another process.

    Attributes
    ----------
    ground : TreeBuilder
        What every tree grows from.
    keeper : LeafTargetRecorder or None
        Records the targets of leaves, if they are wanted.
    is_judged : bool
        Whether rows are judged out of bag.
    """

    ground: TreeBuilder
    keeper: LeafTargetRecorder | None
    is_judged: bool

    def __call__(self, numbers: range) -> list[PackedMember]:
        """Return the trees of these numbers; fewer if the task must stop, but the first of all trees."""
        members: list[PackedMember] = []
        monitor = current()
        for number in numbers:
            if number > 0 and monitor.reason is not None:
                break
            members.append(self._packed(number, self.ground.tree(number, monitor)))
            if members[-1].was_stopped:
                break
        return members

    def _packed(self, number: int, grown: GrownMember) -> PackedMember:
        """Return a tree as it is sent."""
        tree, counts, leaves_out = grown.tree, grown.counts, None
        if self.is_judged and counts is not None:
            is_out = self.ground.sampler.in_bag(counts) == 0
            places = by_levels(tree.children_left, tree.children_right)
            leaves_out = places[tree.leaf_of_row[is_out]].astype(np.int32)
        trees = self.ground.no_trees()
        trees.add(tree)
        targets = None if self.keeper is None else self.keeper.of_tree(tree, counts)
        packed = PackedTrees.of(trees)
        return PackedMember(
            number, packed, tree.was_stopped, grown.importances, targets, leaves_out
        )
