"""Growing the trees of a forest side by side, and keeping them in their order.

Every thread takes the number of the next tree, draws its sample, grows it, and puts it down. Trees
are taken in one by one in the order of their numbers, by whichever thread has put down the next one,
while the others grow on: sums are made in a fixed order, and the forest is the same for any number of
threads. What is cut short is not taken in, nor what comes after it, so that a forest that was stopped
is the beginning of the whole one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import in_threads
from hedgerow.ensemble.forest.leaf_targets import LeafTargetRecorder, TreeTargets
from hedgerow.ensemble.importance.impurity import ForestImportances, TreeImportances, importances_of
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import Counts, RowSampler, member_seeds
from hedgerow.ensemble.stopping import PlateauRule
from hedgerow.monitor import Monitor, current
from hedgerow.tree._growth import tree_of
from hedgerow.tree.pruning.cost_complexity import SAME, link_strengths

__all__ = ["ForestBuilder", "TreeBuilder", "TreeEnsemble"]


@dataclass(frozen=True, eq=False)
class GrownMember:
    """A tree that was just grown, and what is known of it only now."""

    tree: _core.GrownTree
    counts: Counts | None
    importances: TreeImportances
    targets: TreeTargets | None = None


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
    """

    sampler: RowSampler
    settings_of: Callable[[Counts | None], _core.TreeSettings]
    task_of: Callable[[Counts | None], _core.TreeTask]
    n_categories: NDArray[np.int64]
    ccp_alpha: float

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


@dataclass(eq=False)
class TreeEnsemble:
    """The trees so far, and what was found out while they grew.

    Attributes
    ----------
    trees : _core.ForestTrees
        The trees, packed.
    importances : list of TreeImportances
        Of each tree.
    tally : OutOfBagSums or None
        Out-of-bag figures, if they are wanted.
    keeper : LeafTargetRecorder or None
        Targets of the leaves, if they are wanted.
    """

    trees: _core.ForestTrees
    importances: list[TreeImportances] = field(default_factory=list)
    tally: OutOfBagSums | None = None
    keeper: LeafTargetRecorder | None = None

    def with_targets(self, grown: GrownMember) -> GrownMember:
        """Return a tree with the targets of its leaves that are to be kept, if any are."""
        if self.keeper is None or not self.keeper.is_wanted:
            return grown
        return replace(grown, targets=self.keeper.of_tree(grown.tree, grown.counts))

    def add(self, grown: GrownMember, sampler: RowSampler) -> None:
        """Take in a tree."""
        self.trees.add(grown.tree)
        self.importances.append(grown.importances)
        if self.tally is not None and grown.counts is not None:
            self.tally.add(grown.tree, sampler.in_bag(grown.counts))
        if self.keeper is not None and grown.targets is not None:
            self.keeper.add(grown.targets, self.trees.nbytes)

    def state(self, n_features: int) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        tally = None if self.tally is None else self.tally.state()
        importances = ForestImportances.of(self.importances, n_features)
        kept = None if self.keeper is None else self.keeper.kept()
        return {
            "trees": PackedTrees.of(self.trees),
            "importances": importances,
            "tally": tally,
            "targets": kept,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.trees = state["trees"].core
        self.importances = state["importances"].trees()
        if self.tally is not None:
            self.tally.restore(*state["tally"])
        if self.keeper is not None:
            self.keeper.restore(state["targets"])


class ForestBuilder:
    """Adds trees to a stand until there are enough, until they help no more, or until it must stop."""

    def __init__(
        self,
        ground: TreeBuilder,
        stand: TreeEnsemble,
        n_trees: int,
        flatness: PlateauRule | None,
        key: str | None,
    ) -> None:
        self._ground = ground
        self._stand = stand
        self._n_trees = n_trees
        self._flatness = flatness
        self._key = key
        self._monitor = current()
        self._change = threading.Condition()
        self._is_taking_in = False
        self._most_waiting = 1
        self._next_number = stand.trees.n_trees
        self._waiting: dict[int, GrownMember] = {}
        self._status: str | None = None

    def run(self, n_threads: int) -> str:
        """Grow, and return why growth ended: "grown" if there are as many trees as were asked for."""
        n_workers = min(n_threads, self._n_trees - self._next_number)
        self._most_waiting = 2 * n_workers
        for _ in in_threads(self._work, range(n_workers), n_workers):
            pass
        if self._status is None and self._stand.trees.n_trees < self._n_trees:
            return self._monitor.reason or "stopped"
        return self._status or "grown"

    def _work(self, _: int) -> None:
        """Grow tree after tree."""
        monitor = current()
        try:
            while (number := self._take(monitor)) is not None:
                grown = self._ground.tree(number, monitor)
                self._put(number, self._stand.with_targets(grown))
        except BaseException:
            with self._change:
                self._status = "stopped"  # the other threads must not grow on for nothing
                self._change.notify_all()
            raise

    def _take(self, monitor: Monitor) -> int | None:
        """Return the number of the next tree, None if there is to be no other; the first always is."""
        with self._change:
            number = self._next_number
            is_over = self._status is not None or number >= self._n_trees
            if is_over or (number > 0 and monitor.reason is not None):
                return None
            self._next_number += 1
            return number

    def _put(self, number: int, grown: GrownMember) -> None:
        """Put down a tree, and see that all trees whose turn it is are taken in.

        There is no use in growing far ahead: who has the tree whose turn it is does not wait.
        """
        with self._change:
            self._waiting[number] = grown
            is_taken_in_by_another = self._is_taking_in
            self._is_taking_in = True
        if not is_taken_in_by_another:
            self._take_in()
        with self._change:
            self._change.wait_for(
                lambda: self._status is not None or len(self._waiting) < self._most_waiting
            )

    def _take_in(self) -> None:
        """Take in trees in the order of their numbers, as long as the next one is there."""
        while (grown := self._next()) is not None:
            status: str | None = "stopped"  # if an error comes between, no other thread goes on
            try:
                status = self._after(grown)
            finally:
                with self._change:
                    self._status = status or self._status
                    self._change.notify_all()

    def _next(self) -> GrownMember | None:
        """Return the tree whose turn it is, None if that has not been put down."""
        with self._change:
            number = self._stand.trees.n_trees
            if self._status is None and number in self._waiting:
                return self._waiting.pop(number)
            self._is_taking_in = False
            return None

    def _after(self, grown: GrownMember) -> str | None:
        """Take in a tree, unless it was cut short, and return why it is the last one, if it is.

        Half a tree is better than none.
        """
        stand, monitor = self._stand, self._monitor
        was_stopped = grown.tree.was_stopped
        if not was_stopped or stand.trees.n_trees == 0:
            stand.add(grown, self._ground.sampler)
            self._tell()
        if was_stopped or monitor.reason == "stopped":
            return monitor.reason or "stopped"
        return "flat" if self._is_flat() else None

    def _tell(self) -> None:
        """Report the last tree, and leave a checkpoint."""
        curve = [] if self._stand.tally is None else self._stand.tally.curve
        figures = {"oob_error": curve[-1]} if curve and np.isfinite(curve[-1]) else {}
        self._monitor.report(self._stand.trees.n_trees, self._n_trees, figures)
        if self._key is not None:
            n_features = len(self._ground.n_categories)
            self._monitor.remember(self._key, lambda: self._stand.state(n_features))

    def _is_flat(self) -> bool:
        tally = self._stand.tally
        if self._flatness is None or tally is None:
            return False
        return self._flatness.holds(tally.curve, tally.judge.scale)
