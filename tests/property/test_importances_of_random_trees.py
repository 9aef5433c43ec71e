"""Importances of totally random trees, whose expectation is known in closed form.

Of fully grown trees on a population of binary features, each split by one feature drawn at random,

    Imp(X_m) = sum_k 1 / (C(p, k) (p - k)) sum_B I(X_m; Y | B),    B of k of the other p - 1 features,

and together they are the information I(X_1, ..., X_p; Y) of all features. G. Louppe, L. Wehenkel, A. Sutera
and P. Geurts, "Understanding variable importances in forests of randomized trees", 2013, theorems 1 to 3.
"""

from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hedgerow import DecisionTreeClassifier, ExtraTreesClassifier, RandomForestClassifier
from hedgerow.tree.importance import impurity_importance

SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)
"""Which of the seven segments of a display light up for each digit."""
DIGITS = np.arange(10)
PAPERS = [0.412, 0.581, 0.531, 0.542, 0.656, 0.225, 0.372]
"""What the paper's table 2 has for the segments: the closed form, cut after three digits."""

MASKED = [0.306, 0.799, 0.475, 0.412, 0.835, 0.120, 0.372]
"""The same where all features are tried at each node: the paper's mean over 10 000 trees."""

TOTALLY_RANDOM = {"criterion": "entropy", "max_features": 1, "bootstrap": False}


# -------------------------------------------------------------------------------- the closed form


def entropy(labels):
    """Return the entropy of some labels, in bits; 0 for none."""
    shares = np.unique(labels, return_counts=True)[1] / max(len(labels), 1)
    return -float(np.sum(shares * np.log2(shares)))


def information(feature, labels):
    """Return the mutual information of a binary feature and the labels."""
    sides = [labels[feature == value] for value in (0, 1)]
    return entropy(labels) - sum(len(side) / len(labels) * entropy(side) for side in sides)


def conditional_information(X, y, m, given):
    """Return the mutual information of a feature and the labels, given other features."""
    total = 0.0
    for values in product((0, 1), repeat=len(given)):
        there = np.all(X[:, given] == values, axis=1)
        if there.any():
            total += there.mean() * information(X[there, m], y[there])
    return total


def closed_form(X, y):
    """Return the importance of every feature, by going through all sets of features."""
    p = X.shape[1]
    found = np.zeros(p)
    for m in range(p):
        others = [j for j in range(p) if j != m]
        for k in range(p):
            weight = 1 / (comb(p, k) * (p - k))
            sets = map(list, combinations(others, k))
            found[m] += weight * sum(conditional_information(X, y, m, B) for B in sets)
    return found


def information_of_all(X, y):
    """Return what all features together tell of the labels."""
    _, cell = np.unique(X, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    rest = sum(np.mean(cell == c) * entropy(y[cell == c]) for c in np.unique(cell))
    return entropy(y) - rest


# -------------------------------------------------------------------------------------- the forest


def importances_by_tree(forest, X, y):
    """Return what the features take off the entropy in each tree, in bits.

    A forest keeps shares of what a tree does; a fully grown tree does all that can be done.
    """
    return forest.tree_importances_.by_tree("impurity").toarray() * information_of_all(X, y)


def mean_and_error(by_tree):
    """Return the mean over trees and its standard error."""
    return by_tree.mean(axis=0), by_tree.std(axis=0, ddof=1) / np.sqrt(len(by_tree))


def test_the_closed_form_has_the_figures_of_the_paper():
    found = closed_form(SEGMENTS, DIGITS)
    assert_allclose(np.floor(1000 * found) / 1000, PAPERS, rtol=1e-12)
    assert_allclose(found.sum(), np.log2(10), rtol=1e-12)


@pytest.mark.parametrize("cls", [ExtraTreesClassifier, RandomForestClassifier])
def test_importances_of_the_segments_of_digits_are_those_of_the_closed_form(cls):
    forest = cls(4000, random_state=0, **TOTALLY_RANDOM).fit(SEGMENTS, DIGITS)
    mean, error = mean_and_error(importances_by_tree(forest, SEGMENTS, DIGITS))
    expected = closed_form(SEGMENTS, DIGITS)
    assert np.all(np.abs(mean - expected) < 4 * error)
    assert np.all(error < 0.01)  # the least difference of two segments is as large
    assert_allclose(forest.feature_importances_, mean / np.log2(10), rtol=1e-12)


@pytest.mark.parametrize("splitter", ["random", "best", "mean", "median"])
def test_all_that_a_tree_takes_off_the_entropy_is_the_information_of_all_features(splitter):
    for seed in range(20):
        tree = DecisionTreeClassifier(
            criterion="entropy", max_features=1, splitter=splitter, random_state=seed
        ).fit(SEGMENTS, DIGITS)
        amounts = impurity_importance(tree.tree_, normalize=False)
        assert_allclose(amounts.sum(), np.log2(10), rtol=1e-12)
        assert_allclose(tree.tree_.impurity[0], np.log2(10), rtol=1e-12)


def test_what_a_forest_keeps_of_a_tree_is_what_the_tree_itself_says():
    forest = ExtraTreesClassifier(20, random_state=0, **TOTALLY_RANDOM).fit(SEGMENTS, DIGITS)
    kept = importances_by_tree(forest, SEGMENTS, DIGITS)
    for amounts, member in zip(kept, forest, strict=True):
        tree = DecisionTreeClassifier(
            criterion="entropy",
            max_features=1,
            splitter="random",
            random_state=member.random_state,
        ).fit(SEGMENTS, DIGITS)
        assert_allclose(amounts, impurity_importance(tree.tree_, normalize=False), atol=1e-12)


def with_a_coin(X, y):
    """Return the population in which every row is there twice, with a coin showing either side."""
    coin = np.repeat([0, 1], len(y))
    return np.column_stack([np.tile(X, (2, 1)), coin]), np.tile(y, 2)


def test_a_feature_that_has_nothing_to_do_with_the_rest_has_no_importance_and_changes_no_other():
    X, y = with_a_coin(SEGMENTS, DIGITS)
    expected = closed_form(X, y)
    assert_allclose(expected, [*closed_form(SEGMENTS, DIGITS), 0.0], atol=1e-12)
    forest = ExtraTreesClassifier(4000, random_state=0, **TOTALLY_RANDOM).fit(X, y)
    by_tree = importances_by_tree(forest, X, y)
    assert forest.tree_importances_.by_tree("occurrences").toarray()[:, -1].mean() > 0.5
    assert_allclose(by_tree[:, -1], 0.0, atol=1e-12)
    mean, error = mean_and_error(by_tree)
    assert np.all(np.abs(mean - expected)[:-1] < 4 * error[:-1])


def test_features_that_tell_only_together_share_what_they_tell():
    X = np.array(list(product((0, 1), repeat=3)))
    y = X[:, 0] ^ X[:, 1]
    assert_allclose(closed_form(X, y), [0.5, 0.5, 0.0], atol=1e-12)
    forest = ExtraTreesClassifier(4000, random_state=0, **TOTALLY_RANDOM).fit(X, y)
    by_tree = importances_by_tree(forest, X, y)
    assert_allclose(by_tree.sum(axis=1), 1.0, rtol=1e-12)
    mean, error = mean_and_error(by_tree)
    assert np.all(np.abs(mean - [0.5, 0.5, 0.0]) < 4 * error + 1e-12)


@st.composite
def populations(draw):
    """Small tables of binary features and classes that they do not wholly tell."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random.integers(2, size=(draw(st.integers(10, 60)), draw(st.integers(2, 4))))
    noise = random.random(len(X)) < draw(st.sampled_from([0.0, 0.3]))
    y = np.where(noise, random.integers(3, size=len(X)), X.sum(axis=1) % 3)
    y[:2] = 0, 1
    return X, y


@hypothesis_settings(max_examples=25, derandomize=True)
@given(populations(), st.integers(0, 1000))
def test_on_any_population_the_mean_over_trees_is_near_the_closed_form(population, seed):
    X, y = population
    expected = closed_form(X, y)
    assert_allclose(expected.sum(), information_of_all(X, y), rtol=1e-10)
    forest = ExtraTreesClassifier(400, random_state=seed, **TOTALLY_RANDOM).fit(X, y)
    mean, error = mean_and_error(importances_by_tree(forest, X, y))
    # Of a hundred comparisons and more, one beyond five errors comes once in ten thousand runs.
    assert np.all(np.abs(mean - expected) < 5 * error + 1e-10)


def test_where_all_features_are_tried_the_importances_are_those_of_the_paper():
    forest = ExtraTreesClassifier(4000, criterion="entropy", max_features=7, random_state=0)
    mean, error = mean_and_error(
        importances_by_tree(forest.fit(SEGMENTS, DIGITS), SEGMENTS, DIGITS)
    )
    of_difference = error * np.sqrt(1 + 4000 / 10_000)
    assert np.all(np.abs(mean - MASKED) < 4 * of_difference + 0.001)
