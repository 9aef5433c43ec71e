"""The rows that each tree of a forest learns from."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
)
from hedgerow.ensemble.sampling import all_rows_sampler, bootstrap_sampler, class_sampler
from hedgerow.errors import DataError, ParameterError

ONES = np.ones(400)
GROUPS = np.repeat(np.arange(100), 4)


def unequal_classes(n_common=300, n_rare=30):
    """Rows of two classes, the second of which is rare."""
    random = np.random.default_rng(0)
    y = np.repeat(["common", "rare"], [n_common, n_rare])
    return random.standard_normal((len(y), 3)) + (y == "rare")[:, None], y


def sizes_in_samples(forest, y):
    """How often the rows of each class are in the sample of each tree."""
    classes = np.unique(y)
    samples = forest.estimators_samples_
    return np.array([[np.sum(y[rows] == label) for label in classes] for rows in samples])


def most_repeated(forest, y, label):
    """How often the row of a class that is there most often is in any sample."""
    rows = np.flatnonzero(y == label)
    return max(
        np.bincount(sample, minlength=len(y))[rows].max() for sample in forest.estimators_samples_
    )


# ------------------------------------------------------------------------------------- bootstraps


def test_a_bootstrap_has_as_many_rows_as_the_data_and_leaves_a_share_of_1_over_e_out():
    sampler = bootstrap_sampler(7, ONES, None, None)
    counts = np.array([sampler.counts(tree) for tree in range(200)])
    assert np.all(counts.sum(axis=1) == 400)
    assert np.mean(counts == 0) == pytest.approx((1 - 1 / 400) ** 400, abs=0.01)
    assert counts.mean(axis=0).std() < 0.1


def test_a_sample_is_the_same_whenever_it_is_drawn_and_another_for_each_tree_and_seed():
    first, again, other = (bootstrap_sampler(seed, ONES, None, None) for seed in (1, 1, 2))
    assert np.array_equal(first.counts(3), again.counts(3))
    assert not np.array_equal(first.counts(3), first.counts(4))
    assert not np.array_equal(first.counts(3), other.counts(3))


@pytest.mark.parametrize(("max_samples", "n_drawn"), [(50, 50), (0.25, 100), (1.5, 600), (1e-9, 1)])
def test_max_samples_is_a_number_of_rows_or_a_share_of_them(max_samples, n_drawn):
    assert bootstrap_sampler(0, ONES, None, max_samples).counts(0).sum() == n_drawn


def test_rows_without_weight_are_never_drawn_and_as_many_are_drawn_as_have_some():
    weights = np.where(np.arange(400) < 300, 0.0, 2.5)
    counts = bootstrap_sampler(0, weights, None, None).counts(0)
    assert counts[:300].sum() == 0
    assert counts.sum() == 100


def test_rows_of_a_group_are_drawn_together():
    sampler = bootstrap_sampler(0, ONES, GROUPS, None)
    counts = sampler.counts(0).reshape(100, 4)
    assert np.all(counts == counts[:, :1])
    assert counts[:, 0].sum() == 100
    assert np.mean(counts[:, 0] == 0) == pytest.approx(np.exp(-1), abs=0.1)


def test_without_a_bootstrap_every_row_is_there_once():
    sampler = all_rows_sampler(0, 5)
    assert sampler.counts(0) is None
    assert sampler.rows(0).tolist() == [0, 1, 2, 3, 4]


def test_a_forest_knows_the_samples_of_its_trees():
    X, y = unequal_classes()
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    assert [len(rows) for rows in forest.estimators_samples_] == [330] * 5
    whole = ExtraTreesClassifier(5, random_state=0).fit(X, y)
    assert np.array_equal(whole.estimators_samples_[4], np.arange(330))


def test_max_samples_needs_a_bootstrap():
    with pytest.raises(ParameterError, match="bootstrap=True or max_samples=None"):
        ExtraTreesClassifier(max_samples=0.5).fit(*unequal_classes())


# --------------------------------------------------------------------------- balanced bootstraps


def test_a_balanced_sample_is_a_bootstrap_of_the_rare_class_and_as_many_rows_of_the_other():
    X, y = unequal_classes()
    forest = BalancedRandomForestClassifier(40, random_state=0).fit(X, y)
    assert np.all(sizes_in_samples(forest, y) == 30)
    left_out = [
        np.mean(~np.isin(np.flatnonzero(y == "rare"), rows)) for rows in forest.estimators_samples_
    ]
    assert np.mean(left_out) == pytest.approx((1 - 1 / 30) ** 30, abs=0.04)


def test_without_replacement_common_rows_are_drawn_once_and_rare_ones_are_still_left_out():
    X, y = unequal_classes()
    forest = BalancedRandomForestClassifier(40, replacement=False, random_state=0).fit(X, y)
    assert np.all(sizes_in_samples(forest, y) == 30)
    assert most_repeated(forest, y, "common") == 1
    assert most_repeated(forest, y, "rare") > 1


@pytest.mark.parametrize(
    ("strategy", "sizes"),
    [
        ("all", [30, 30]),
        ("auto", [30, 30]),
        ("not minority", [30, 30]),
        ("majority", [30, 30]),
        ("not majority", [300, 30]),
        ({"common": 90}, [90, 30]),
        ({"common": 7, "rare": 5}, [7, 5]),
        (lambda y: {"common": 2 * np.sum(y == "rare")}, [60, 30]),
        (0.5, [60, 30]),
    ],
)
def test_a_sampling_strategy_says_how_many_rows_of_each_class_are_drawn(strategy, sizes):
    X, y = unequal_classes()
    forest = BalancedRandomForestClassifier(3, sampling_strategy=strategy, random_state=0).fit(X, y)
    assert np.all(sizes_in_samples(forest, y) == sizes)


def test_a_class_that_a_strategy_spares_is_taken_as_it_is():
    X, y = unequal_classes()
    forest = BalancedRandomForestClassifier(3, sampling_strategy="not minority", random_state=0)
    assert most_repeated(forest.fit(X, y), y, "rare") == 1


def test_a_bootstrap_of_a_balanced_sample_keeps_its_size_and_not_its_balance():
    X, y = unequal_classes()
    forest = BalancedRandomForestClassifier(20, bootstrap=True, random_state=0).fit(X, y)
    sizes = sizes_in_samples(forest, y)
    assert np.all(sizes.sum(axis=1) == 60)
    assert len(np.unique(sizes[:, 0])) > 3
    half = forest.set_params(max_samples=0.5).fit(X, y)
    assert np.all(sizes_in_samples(half, y).sum(axis=1) == 30)


def test_a_group_with_rows_of_several_classes_is_out_of_the_bag_only_if_all_its_rows_are():
    codes, groups = np.tile([0, 1], 50), np.repeat(np.arange(50), 2)
    sampler = class_sampler(
        0, codes, np.ones(100), groups, draws=[(50, True), (50, True)], n_redrawn=0
    )
    counts = sampler.counts(0)
    bag = sampler.in_bag(counts).reshape(50, 2)
    assert np.array_equal(bag[:, 0] == 0, counts.reshape(50, 2).sum(axis=1) == 0)
    assert np.array_equal(bag[:, 0], bag[:, 1])
    assert np.any((counts.reshape(50, 2) == 0).any(axis=1) & (bag[:, 0] > 0))


def test_shares_of_rows_are_of_the_few_rows_of_a_balanced_sample():
    X, y = unequal_classes(3000, 30)
    forest = BalancedRandomForestClassifier(5, min_samples_leaf=0.05, random_state=0).fit(X, y)
    weights = [tree.tree_.weighted_n_node_samples[tree.tree_.is_leaf] for tree in forest]
    assert all(len(of_tree) > 1 for of_tree in weights)
    assert min(of_tree.min() for of_tree in weights) >= 0.05 * 60


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sampling_strategy": "most"}, "'not majority'"),
        ({"sampling_strategy": {"common": 301}}, "301 rows of class 'common', which has 300"),
        ({"sampling_strategy": {"seldom": 3}}, "names 'seldom', which y does not hold"),
        ({"sampling_strategy": 0.01}, "3000 rows of the larger class, which has 300"),
        ({"sampling_strategy": 2.0}, "a share up to 1"),
        ({"replacement": "no"}, "True or False"),
    ],
)
def test_a_strategy_that_cannot_be_is_refused_with_a_reason(parameters, message):
    with pytest.raises(ParameterError, match=message):
        BalancedRandomForestClassifier(3, **parameters).fit(*unequal_classes())


def test_a_share_is_for_two_classes_and_a_class_needs_rows_with_weight():
    X, y = unequal_classes()
    with pytest.raises(ParameterError, match="y has 3"):
        BalancedRandomForestClassifier(sampling_strategy=0.5).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(DataError, match="class 'rare' has no row with weight"):
        BalancedRandomForestClassifier().fit(X, y, sample_weight=y == "common")
    with pytest.raises(DataError, match="y has 2 outputs"):
        BalancedRandomForestClassifier().fit(X, np.c_[y, y])
