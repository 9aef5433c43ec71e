"""Resamples as counts."""

from __future__ import annotations

import itertools
from zlib import crc32

import numpy as np
import pytest
from scipy.stats import binom, chisquare, multinomial

from hedgerow._core.resample import multinomial_counts
from hedgerow.errors import DataError
from hedgerow.resampling.plan import MOST_DELETIONS, make_plan


def all_counts(plan, n_resamples, seed=0):
    return np.concatenate(
        [plan.of_rows(plan.draw(seed, block)) for block in plan.blocks(n_resamples)]
    )


@pytest.mark.parametrize("size", [2, 16, 17, 40, 1000])
def test_every_resample_has_as_many_draws_as_units(size):
    counts = multinomial_counts(3, 0, size, 500)
    assert np.all(counts.sum(axis=1) == size)


@pytest.mark.parametrize("size", [5, 20, 300])
def test_a_units_count_is_binomial(size):
    counts = multinomial_counts(7, 0, size, 40_000)
    for unit in (0, size // 2, size - 1):
        seen = np.bincount(np.minimum(counts[:, unit], 4), minlength=5)
        law = binom(size, 1 / size)
        expected = np.append(law.pmf(np.arange(4)), law.sf(3)) * len(counts)
        # Nine fixed draws: under the law a p-value this small comes once in 100 000.
        assert chisquare(seen, expected).pvalue > 1e-5


@pytest.mark.parametrize("size", [20, 300, 10_000])
def test_no_count_comes_too_often_or_too_rarely(size):
    n_resamples = 20_000_000 // size
    seen = np.bincount(multinomial_counts(2, 0, size, n_resamples).reshape(-1), minlength=9)
    share = binom(size, 1 / size).pmf(np.arange(9))
    # Five standard errors of independent counts, which vary more than those of a resample; for
    # counts of six that is 25 in a million of the units.
    error = np.sqrt(share * (1 - share) * size * n_resamples)
    assert np.all(np.abs(seen[:9] - share * size * n_resamples) < 5 * error)


@pytest.mark.parametrize("size", [2, 3, 5, 6])
def test_every_resample_of_a_few_units_is_as_likely_as_it_should_be(size):
    counts = multinomial_counts(9, 0, size, 600_000)
    place = (size + 1) ** np.arange(size)
    seen = dict(zip(*np.unique(counts @ place, return_counts=True), strict=True))
    law = multinomial(size, np.full(size, 1 / size))
    vectors = [v for v in itertools.product(range(size + 1), repeat=size) if sum(v) == size]
    # The rarest, all draws of one unit of six, is expected 13 times.
    expected = [len(counts) * law.pmf(vector) for vector in vectors]
    found = [seen.get(np.dot(vector, place), 0) for vector in vectors]
    assert sum(found) == len(counts)
    assert chisquare(found, expected).pvalue > 1e-5


def test_a_seed_gives_the_same_resamples_on_every_machine_and_instruction_set():
    sizes = (3, 40, 700, 10_000)
    digests = [crc32(multinomial_counts(1, 2, size, 50).tobytes()) for size in sizes]
    assert digests == [2784742473, 297396541, 939157966, 3070374357]


def test_two_units_are_as_correlated_as_multinomial_counts_are():
    counts = multinomial_counts(1, 0, 20, 200_000).astype(float)
    covariance = np.cov(counts.T)
    # Covariances of size 1/20 have a standard error of about 1 / sqrt(200 000) = 0.0022.
    assert np.abs(np.diag(covariance) - 19 / 20).max() < 0.02
    off_diagonal = covariance[~np.eye(20, dtype=bool)]
    assert np.abs(off_diagonal + 1 / 20).max() < 0.011


def test_pairs_of_counts_have_the_multinomial_law():
    counts = multinomial_counts(5, 0, 30, 100_000)
    seen = np.bincount(3 * np.minimum(counts[:, 3], 2) + np.minimum(counts[:, 17], 2), minlength=9)
    a, b = np.meshgrid(np.arange(31), np.arange(31), indexing="ij")
    # The second count given the first is binomial of what is left, among what is left.
    joint = binom(30, 1 / 30).pmf(a) * binom(30 - a, 1 / 29).pmf(b)
    expected = np.zeros((3, 3))
    np.add.at(expected, (np.minimum(a, 2), np.minimum(b, 2)), joint)
    assert chisquare(seen, expected.reshape(-1) * len(counts)).pvalue > 1e-5


def test_blocks_and_streams_do_not_repeat_each_other():
    counts = all_counts(make_plan(100), 3000)
    assert len(np.unique(counts, axis=0)) == 3000
    other = all_counts(make_plan(100), 3000, seed=1)
    assert not np.any((counts == other).all(axis=1))


def test_strata_keep_their_sizes():
    strata = np.array(["b", "a", "b", "c", "a", "b"] * 5)
    counts = all_counts(make_plan(30, strata=strata), 400)
    for label, size in zip(*np.unique(strata, return_counts=True), strict=True):
        assert np.all(counts[:, strata == label].sum(axis=1) == size)


def test_groups_come_and_go_whole():
    groups = np.array([4, 4, 4, 1, 2, 2, 9, 1, 9, 9])
    counts = all_counts(make_plan(10, groups=groups), 400)
    for label in np.unique(groups):
        members = counts[:, groups == label]
        assert np.all(members == members[:, :1])
    _, first = np.unique(groups, return_index=True)
    assert np.all(counts[:, first].sum(axis=1) == 4)
    assert len(np.unique(counts.sum(axis=1))) > 1


def test_groups_inside_strata_keep_the_number_of_groups():
    strata = np.repeat([1, 0, 2], [4, 6, 2])
    groups = np.array([7, 7, 8, 8, 1, 1, 2, 3, 3, 2, 5, 6])
    counts = all_counts(make_plan(12, strata, groups), 300)
    for stratum, n_groups in ((0, 3), (1, 2), (2, 2)):
        _, first = np.unique(np.where(strata == stratum, groups, -1), return_index=True)
        first = [i for i in first if strata[i] == stratum]
        assert np.all(counts[:, first].sum(axis=1) == n_groups)


def test_a_group_in_two_strata_is_refused():
    with pytest.raises(DataError, match="row 2 is in a different stratum"):
        make_plan(4, strata=[0, 0, 1, 1], groups=[5, 6, 5, 7])
    with pytest.raises(DataError, match=r"strata has shape \(3,\)"):
        make_plan(4, strata=[0, 0, 1])


def test_a_nested_resample_holds_only_what_the_resample_holds():
    plan = make_plan(50, strata=np.arange(50) % 3)
    units = plan.draw(2, range(1))[0]
    nested = plan.draw_nested(2, 0, units, 200)
    assert np.all(nested[:, units == 0] == 0)
    bounds = np.cumsum((0, *plan.pool_sizes))
    for start, end in itertools.pairwise(bounds):
        assert np.all(nested[:, start:end].sum(axis=1) == end - start)
    # The mean over 200 nested resamples is the resample itself; its standard error is below 0.2.
    assert np.abs(nested.mean(axis=0) - units).max() < 0.9


def test_the_jackknife_leaves_out_every_unit_once():
    plan = make_plan(3 * MOST_DELETIONS, strata=np.arange(3 * MOST_DELETIONS) < 600)
    pools = plan.deletions(seed=0)
    assert np.array_equal(
        np.sort(np.concatenate([np.concatenate(pool) for pool in pools])),
        np.arange(plan.n_units),
    )
    assert sum(map(len, pools)) == MOST_DELETIONS
    small = make_plan(9)
    assert np.array_equal(np.sort(small.without(small.deletions(0)[0]), axis=0)[0], np.zeros(9))
    assert small.without(small.deletions(0)[0]).sum() == 9 * 8
