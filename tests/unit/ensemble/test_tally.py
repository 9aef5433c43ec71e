"""What the core finds out of bag is what NumPy finds, and it goes on from there as if it had not stopped."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import _core
from hedgerow.ensemble.combining import ClassCombiner, MeanCombiner
from hedgerow.ensemble.forest.leaf_targets import by_levels
from hedgerow.ensemble.out_of_bag_sums import OutOfBagSums
from hedgerow.ensemble.packed_trees import PackedTrees
from tests.grown_trees import core_settings, samples, task_of
from tests.reference.trees import CLASSES, Settings


def grown_trees(sample, rng, n_trees):
    """Yield trees on bootstraps, not deep, so that leaves hold several classes, and their bags."""
    limits = core_settings(Settings(max_depth=2), len(sample.columns))
    task = task_of(sample)
    for stream in range(n_trees):
        n = sample.n_rows
        counts = rng.multinomial(n, np.full(n, 1 / n)).astype(np.uint32)
        counts[0] = max(counts[0], 1)  # the one that has weight in any case
        yield task.grow(limits, counts, 0, stream), counts


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("n_outputs", [1, 2])
@settings(max_examples=40)
@given(data=st.data())
def test_the_core_judges_as_numpy_does(criterion, n_outputs, data):
    sample = data.draw(samples(criterion, n_outputs=n_outputs, bootstrap=False))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    is_judged = rng.random(sample.n_rows) < 0.8
    if criterion in CLASSES:
        judge = ClassCombiner(sample.y, np.array(sample.n_classes, dtype=np.int32))
    else:
        judge = MeanCombiner(sample.y)
    core = OutOfBagSums(judge, is_judged, votes=False)
    plain = OutOfBagSums(judge, is_judged, votes=False, in_core=False)
    resumed = OutOfBagSums(judge, is_judged, votes=False)
    for number, (tree, bag) in enumerate(grown_trees(sample, rng, 8)):
        for tally in (core, plain, *([resumed] if number >= 4 else [])):
            tally.add(tree, bag)
        if number == 3:
            resumed.restore(*core.state())
    for found, expected in zip(core.state(), plain.state(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    for found, expected in zip(resumed.state(), core.state(), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
@pytest.mark.parametrize("votes", [False, True])
@settings(max_examples=40)
@given(data=st.data())
def test_a_packed_tree_is_judged_as_it_was_when_it_was_grown(criterion, votes, data):
    sample = data.draw(samples(criterion, n_outputs=1, bootstrap=False))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    is_judged = np.ones(sample.n_rows, dtype=bool)
    if criterion in CLASSES:
        n_classes = np.array(sample.n_classes, dtype=np.int32)
        judge = ClassCombiner(sample.y, n_classes)
    else:
        n_classes, judge = np.zeros(1, dtype=np.int32), MeanCombiner(sample.y)
    grown, packed = (
        OutOfBagSums(judge, is_judged, votes=votes and bool(n_classes[0])) for _ in "12"
    )
    for tree, bag in grown_trees(sample, rng, 4):
        grown.add(tree, bag)
        n_features = len(sample.columns)
        trees = _core.tree.ForestTrees(
            n_features, 1, n_classes, np.array(sample.n_categories, dtype=np.int64), False
        )
        trees.add(tree)
        places = by_levels(tree.children_left, tree.children_right)
        leaf_of_row = places[tree.leaf_of_row].astype(np.int32)
        packed.add_packed(PackedTrees.of(trees), leaf_of_row, bag)
    for found, expected in zip(packed.state(), grown.state(), strict=True):
        np.testing.assert_array_equal(found, expected)
