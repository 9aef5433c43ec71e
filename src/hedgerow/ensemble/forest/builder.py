"""Growing the trees of a forest side by side, and keeping them in their order.

In this process every thread takes the number of the next tree, draws its sample, grows it, and puts it down. Trees
are taken in one by one in the order of their numbers, by whichever thread has put down the next one,
while the others grow on: sums are made in a fixed order, and the forest is the same for any number of
threads. What is cut short is not taken in, nor what comes after it, so that a forest that was stopped
is the beginning of the whole one.

On an engine whose tasks run elsewhere, blocks of trees are grown by a task each, from codes that a worker is
sent once. They come back packed, with the leaves of the rows that their samples lack, and are taken in here in the same
order, so that no bit differs.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hedgerow import _core
from hedgerow._engine import in_blocks, in_threads, is_in_this_process, side_by_side
from hedgerow.ensemble.forest.leaf_targets import LeafTargetRecorder
from hedgerow.ensemble.forest.tree_builder import (
    BlockBuilder,
    GrownMember,
    PackedMember,
    TreeBuilder,
)
from hedgerow.ensemble.importance.impurity import ForestImportances, TreeImportances
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import RowSampler
from hedgerow.ensemble.stopping import PlateauRule
from hedgerow.monitor import Monitor, current

__all__ = ["ForestBuilder", "TreeEnsemble"]


@dataclass(eq=False)
class TreeEnsemble:
    """The trees so far, and what was found out while they grew.

    Attributes
    ----------
    trees : _core.tree.ForestTrees
        The trees, packed.
    importances : list of TreeImportances
        Of each tree.
    tally : OutOfBagSums or None
        Out-of-bag figures, if they are wanted.
    keeper : LeafTargetRecorder or None
        Targets of the leaves, if they are wanted.
    """

    trees: _core.tree.ForestTrees
    importances: list[TreeImportances] = field(default_factory=list)
    tally: OutOfBagSums | None = None
    keeper: LeafTargetRecorder | None = None

    def with_targets(self, grown: GrownMember) -> GrownMember:
        """Return a tree with the targets of its leaves that are to be kept, if any are."""
        if self.keeper is None or not self.keeper.is_wanted:
            return grown
        return replace(grown, targets=self.keeper.of_tree(grown.tree, grown.counts))

    def add(self, grown: GrownMember | PackedMember, sampler: RowSampler) -> None:
        """Take in a tree."""
        grown.add_to(self.trees)
        self.importances.append(grown.importances)
        if self.tally is not None:
            grown.judge(self.tally, sampler)
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
        if is_in_this_process():
            n_workers = min(n_threads, self._n_trees - self._next_number)
            self._most_waiting = 2 * n_workers
            for _ in in_threads(self._work, range(n_workers), n_workers):
                pass
        else:
            self._status = self._grow_elsewhere(n_threads)
        if self._status is None and self._stand.trees.n_trees < self._n_trees:
            return self._monitor.reason or "stopped"
        return self._status or "grown"

    def _grow_elsewhere(self, n_workers: int) -> str | None:
        """Take in what other processes grow, and return why a tree is the last one, if not as there are enough."""
        keeper = self._stand.keeper
        is_kept = keeper is not None and keeper.is_wanted
        task = BlockBuilder(
            self._ground,
            keeper.without_trees() if keeper is not None and is_kept else None,
            self._stand.tally is not None,
        )
        blocks = in_blocks(range(self._next_number, self._n_trees))
        results = side_by_side(task, blocks, n_workers, is_one_task=True)
        for block, members in zip(blocks, results, strict=False):
            for member in members:
                status = self._after(member)
                if status is not None:
                    return status
            if len(members) < len(block):
                return self._monitor.reason or "time_limit"
        return None

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

    def _after(self, grown: GrownMember | PackedMember) -> str | None:
        """Take in a tree, unless it was cut short, and return why it is the last one, if it is.

        Half a tree is better than none.
        """
        stand, monitor = self._stand, self._monitor
        was_stopped = grown.was_stopped
        if not was_stopped or stand.trees.n_trees == 0:
            stand.add(grown, self._ground.sampler)
            self._tell()
        if was_stopped or monitor.reason == "stopped":
            # The clock of another process may be a little ahead of the monitor's.
            return monitor.reason or (
                "time_limit" if math.isfinite(monitor.deadline) else "stopped"
            )
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
