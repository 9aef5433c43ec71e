"""Where most features have many numbers, a tree keeps rows in the order of each, and grows as without.

That is so for tables whose columns have hundreds of distinct numbers; a bag may hold few of their rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grown_trees import assert_same_bits, grow, grow_and_check, samples, stops
from tests.reference.trees import CLASSES, NUMBERS, Sample, Settings

MANY = 300
"""More distinct numbers than are counted instead of sorted."""
LISTED = ("gini", "entropy", "misclassification", "squared_error", "poisson")

each_criterion = pytest.mark.parametrize("criterion", [*CLASSES, *NUMBERS])


def with_rows_out_of_the_bag(sample: Sample, seed: int) -> Sample:
    """The sample with rows behind its own that teach nothing, but have other numbers in every column."""
    rng = np.random.default_rng(seed)
    counts = np.ones(sample.n_rows) if sample.counts is None else sample.counts
    more = [
        rng.integers(0, n, size=MANY).astype(float) if n else rng.normal(size=MANY)
        for n in sample.n_categories
    ]
    weight = sample.weight
    return replace(
        sample,
        columns=tuple(np.append(x, y) for x, y in zip(sample.columns, more, strict=True)),
        y=np.concatenate([sample.y, np.repeat(sample.y[:1], MANY, axis=0)]),
        weight=None if weight is None else np.append(weight, np.ones(MANY)),
        counts=np.append(counts, np.zeros(MANY)).astype(np.uint32),
    )


@each_criterion
@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_every_split_of_few_rows_of_a_large_table_is_the_best_there_is(criterion, data, seed):
    sample = data.draw(samples(criterion, max_features=4))
    grow_and_check(with_rows_out_of_the_bag(sample, seed), data.draw(stops()))


def large(criterion: str, rng: np.random.Generator, share_missing: float, weighted: str) -> Sample:
    """Four columns of many numbers, and one of categories."""
    n = 1500
    columns = [rng.normal(size=n).round(3) for _ in range(4)]
    signal = columns[0] + columns[1] * columns[2] + rng.normal(size=n)
    for x in columns:
        x[rng.random(n) < share_missing] = np.nan
    columns.append(rng.integers(0, 5, size=n).astype(float))
    of_class = criterion in CLASSES
    y = np.digitize(signal, [-1, 1]).astype(np.int32) if of_class else np.exp(signal).round(2)
    weight = {"none": None, "tenths": rng.integers(0, 24, size=n) / 10}[weighted]
    return Sample(
        columns=tuple(columns),
        n_categories=(0, 0, 0, 0, 5),
        y=np.ascontiguousarray(y.reshape(-1, 1)),
        n_classes=(3,) if of_class else (),
        criterion=criterion,
        weight=weight,
        counts=rng.multinomial(n, np.full(n, 1 / n)).astype(np.uint32),
    )


def with_constants(sample: Sample) -> Sample:
    """The sample with as many columns that do not vary."""
    n = len(sample.columns)
    constant = np.zeros(sample.n_rows)
    return replace(
        sample,
        columns=(*sample.columns, *[constant] * n),
        n_categories=(*sample.n_categories, *[0] * n),
    )


@pytest.mark.parametrize("weighted", ["none", "tenths"])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
@pytest.mark.parametrize("criterion", LISTED)
@pytest.mark.parametrize(
    "limits",
    [
        Settings(),
        Settings(max_leaf_nodes=60),
        Settings(min_samples_leaf=7),
        Settings(min_weight_leaf=5.05, max_depth=6),
    ],
    ids=["grown", "best first", "leaves of seven", "heavy leaves"],
)
def test_columns_that_do_not_vary_change_nothing(criterion, share_missing, weighted, limits):
    # With them most columns have one number, and rows are sorted in every node.
    sample = large(criterion, np.random.default_rng(7), share_missing, weighted)
    tree, other = grow(sample, limits), grow(with_constants(sample), limits)
    assert len(tree.feature) > 15
    assert_same_bits(tree, other)


def test_limits_on_the_direction_hold_with_lists():
    sample = large("squared_error", np.random.default_rng(3), 0.1, "none")
    signs = (1, 0, -1, 0, 0)
    tree = grow(sample, Settings(monotonic=signs))
    other = grow(with_constants(sample), Settings(monotonic=(*signs, 0, 0, 0, 0, 0)))
    assert_same_bits(tree, other)
