"""Every split of a grown tree against all that were possible, on hundreds of small samples.

Ties, missing values, rows of weight 0 and rows that a bootstrap has left out are among them. What is
compared is the decrease of impurity: several splits may be equally good.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grown_trees import (
    FINITE,
    core_settings,
    grow,
    grow_and_check,
    samples,
    stops,
    task_of,
)
from tests.reference.tree_checks import (
    best_single_category,
    check_tree,
    goes_left,
    leaves,
)
from tests.reference.trees import (
    CLASSES,
    NUMBERS,
    Sample,
    Settings,
    best_first_leaves,
    decreases,
)

CRITERIA = (*CLASSES, *NUMBERS)
NUMERIC = ("two values", "few values", "many values", "constant")

each_criterion = pytest.mark.parametrize("criterion", CRITERIA)


@each_criterion
@settings(max_examples=80)
@given(data=st.data())
def test_every_split_is_the_best_there_is(criterion, data):
    grow_and_check(data.draw(samples(criterion)))


@each_criterion
@settings(max_examples=60)
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_so_is_every_split_of_a_forests_tree_which_looks_no_further_than_pure_sides(
    criterion, data, seed
):
    sample, limits = data.draw(samples(criterion)), data.draw(stops())
    grower = core_settings(limits, len(sample.columns), in_any_order=True)
    tree = task_of(sample).grow(grower, sample.counts, seed, 0)
    check_tree(sample, tree, tree.leaf_of_row, limits)


@each_criterion
@settings(max_examples=80)
@given(data=st.data())
def test_growth_stops_where_it_is_told_to_and_nowhere_else(criterion, data):
    grow_and_check(data.draw(samples(criterion)), data.draw(stops()))


@each_criterion
@settings(max_examples=40)
@given(data=st.data())
def test_of_up_to_eight_categories_the_best_of_all_sets_goes_left(criterion, data):
    sample = data.draw(
        samples(criterion, columns=("categories",), categories=(5, 8), max_rows=40, max_features=2)
    )
    limits = data.draw(stops())
    grow_and_check(sample, replace(limits, max_depth=2))


@pytest.mark.parametrize("criterion", [*CLASSES, "squared_error", "poisson"])
@settings(max_examples=25)
@given(data=st.data())
def test_two_classes_and_numbers_order_any_number_of_categories_optimally(criterion, data):
    sample = data.draw(
        samples(
            criterion,
            columns=("categories",),
            classes=(2,),
            categories=(9, 11),
            max_rows=60,
            max_features=1,
        )
    )
    if criterion == "poisson":
        # Sides of zeros are forbidden, and what is forbidden knows no order.
        sample = replace(sample, y=sample.y + 0.125)
    grow_and_check(sample, Settings(max_depth=1))


HEURISTIC = [*((criterion, 1) for criterion in CLASSES), ("absolute_error", 1)]
HEURISTIC += [("gini", 2), ("squared_error", 2), ("poisson", 2), ("absolute_error", 2)]


@pytest.mark.parametrize(("criterion", "n_outputs"), HEURISTIC)
@settings(max_examples=40)
@given(data=st.data())
def test_many_categories_are_split_no_worse_than_by_one_of_them(criterion, n_outputs, data):
    sample = data.draw(
        samples(
            criterion,
            columns=("categories",),
            classes=(3, 5),
            categories=(9, 90),
            max_rows=120,
            max_features=1,
            n_outputs=n_outputs,
        )
    )
    tree = grow_and_check(sample, Settings(max_depth=2), optimal=False)
    if tree.feature[0] < 0:
        return
    way = goes_left(sample, tree, 0)
    gained = decreases(sample, sample.root, way[None, :])[0]
    assert gained >= best_single_category(sample, sample.root, 0) - 1e-10


@each_criterion
@settings(max_examples=30)
@given(data=st.data())
def test_the_impurity_of_several_outputs_is_the_mean_of_theirs(criterion, data):
    sample = data.draw(samples(criterion, n_outputs=2, max_rows=14))
    grow_and_check(sample, data.draw(stops()))


@each_criterion
@settings(max_examples=20)
@given(data=st.data())
def test_hundreds_of_rows_with_ties_are_split_as_well_as_few(criterion, data):
    sample = data.draw(
        samples(
            criterion,
            columns=("two values", "few values", "categories"),
            categories=(2, 5),
            max_rows=300,
            max_features=2,
        )
    )
    grow_and_check(sample, Settings(max_depth=4))


@pytest.mark.parametrize("splitter", ["mean", "median"])
@each_criterion
@settings(max_examples=25)
@given(data=st.data())
def test_a_simple_rule_cuts_each_feature_where_it_says_and_takes_the_best(
    splitter, criterion, data
):
    sample = data.draw(samples(criterion, columns=FINITE))
    grow_and_check(sample, replace(data.draw(stops()), splitter=splitter))


@each_criterion
@settings(max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**31))
def test_a_random_threshold_obeys_the_limits(criterion, data, seed):
    sample = data.draw(samples(criterion))
    limits = replace(data.draw(stops()), splitter="random")
    tree = grow(sample, limits, seed=seed)
    check_tree(sample, tree, tree.leaf_of_row, limits, optimal=False)


@each_criterion
@settings(max_examples=40)
@given(data=st.data(), seed=st.integers(0, 2**31), n_drawn=st.integers(1, 2))
def test_a_subset_of_the_features_is_searched_fully(criterion, data, seed, n_drawn):
    sample = data.draw(samples(criterion, max_features=4, max_rows=14))
    grow_and_check(sample, Settings(max_features=n_drawn), seed=seed)


@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
)
@settings(max_examples=30)
@given(data=st.data(), max_leaf_nodes=st.integers(2, 9))
def test_best_first_growth_makes_the_split_that_gains_most(criterion, data, max_leaf_nodes):
    sample = without_ties(data.draw(samples(criterion, columns=("many values",), missing=(0.0,))))
    limits = Settings(max_leaf_nodes=max_leaf_nodes, min_samples_leaf=2)
    tree = grow_and_check(sample, limits)
    assert leaves(sample, tree.leaf_of_row) == best_first_leaves(sample, limits)


@each_criterion
@settings(max_examples=30)
@given(data=st.data(), max_leaf_nodes=st.integers(2, 6))
def test_best_first_growth_obeys_all_other_limits(criterion, data, max_leaf_nodes):
    sample = data.draw(samples(criterion))
    grow_and_check(sample, replace(data.draw(stops()), max_leaf_nodes=max_leaf_nodes))


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=40)
@given(data=st.data())
def test_monotonic_constraints_are_obeyed_by_the_best_split_that_does(criterion, data):
    # Rounding would decide on which side of a bound a median is.
    sample = data.draw(samples(criterion, columns=NUMERIC, classes=(2,), exact=True))
    signs = tuple(data.draw(st.sampled_from([-1, 0, 1])) for _ in sample.columns)
    limits = replace(data.draw(stops()), monotonic=signs)
    grow_and_check(sample, limits)


def without_ties(sample: Sample) -> Sample:
    """The sample with weights and targets that make no two splits equally good."""
    rng = np.random.default_rng(sample.n_rows)
    y = sample.y if sample.n_classes else sample.y + rng.random(sample.y.shape)
    return replace(sample, y=y, weight=rng.uniform(0.5, 1.5, size=sample.n_rows), counts=None)
