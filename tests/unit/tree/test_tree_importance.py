"""Importances of one tree: worked by hand, and held against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow.tree.importance import impurity_importance, node_average, occurrences, split_scores
from tests.reference.pruning import hand_made, noisy, random_tree, tree_of


def by_hand():
    """Features 0, 2 and again 0 are split by; feature 1 is not.

    Gini: the root has 8 of 16, 1/2; its left child 6 of 8, 3/8; its right child 2 of 8, 3/8. Below the
    left one 6 of 6 and 0 of 2, below the right one 2 of 4 and 0 of 4.
    """
    splits = {0: (0, 0.0, 1, 2), 1: (2, 0.0, 3, 4), 2: (0, 1.0, 5, 6)}
    return hand_made(splits, {3: (6, 0), 4: (0, 2), 5: (2, 2), 6: (0, 4)})


SCORES = np.array([1 / 2 - 3 / 8, 3 / 8, 3 / 8 - 1 / 4])


def test_scores_of_splits_come_out_as_worked_by_hand():
    np.testing.assert_allclose(split_scores(by_hand()), [*SCORES, 0, 0, 0, 0], rtol=1e-15)


def test_importances_come_out_as_worked_by_hand():
    tree = by_hand()
    np.testing.assert_array_equal(occurrences(tree), [2.0, 0.0, 1.0])
    weighted = np.array([SCORES[0] + SCORES[2] / 2, 0.0, SCORES[1] / 2])
    np.testing.assert_allclose(impurity_importance(tree, normalize=False), weighted, rtol=1e-15)
    np.testing.assert_allclose(impurity_importance(tree), weighted / weighted.sum(), rtol=1e-15)
    means = np.array([(SCORES[0] + SCORES[2]) / 2, 0.0, SCORES[1]])
    np.testing.assert_allclose(node_average(tree), means / means.sum(), rtol=1e-15)


GROWN = {
    "wine": DecisionTreeClassifier(random_state=0).fit(*load_wine(return_X_y=True)),
    "wine, weighted": DecisionTreeClassifier(
        criterion="entropy", random_state=0, class_weight="balanced"
    ).fit(*load_wine(return_X_y=True)),
    "diabetes": DecisionTreeRegressor(random_state=0).fit(*load_diabetes(return_X_y=True)),
    "noise": DecisionTreeClassifier(random_state=0).fit(*noisy(0, n=300)),
    "two outputs": DecisionTreeRegressor(random_state=0).fit(
        noisy(0)[0], np.stack([noisy(0)[1], noisy(1)[1]], axis=1)
    ),
}


@pytest.mark.parametrize("name", GROWN)
def test_the_decrease_of_impurity_is_that_of_sklearn(name):
    grown, tree = GROWN[name], tree_of(GROWN[name].tree_)
    np.testing.assert_allclose(impurity_importance(tree), grown.feature_importances_, atol=1e-14)
    np.testing.assert_allclose(
        impurity_importance(tree, normalize=False),
        grown.tree_.compute_feature_importances(normalize=False),
        rtol=1e-10,
        atol=1e-14,
    )


@pytest.mark.parametrize("name", GROWN)
def test_the_mean_over_nodes_is_the_one_taken_node_by_node(name):
    tree = tree_of(GROWN[name].tree_)
    scores = {}
    for node in np.flatnonzero(~tree.is_leaf):
        children = tree.children_left[node], tree.children_right[node]
        n, impurity = tree.weighted_n_node_samples, tree.impurity
        remains = sum(n[child] / n[node] * impurity[child] for child in children)
        scores.setdefault(int(tree.feature[node]), []).append(impurity[node] - remains)
    means = [np.mean(scores[k]) if k in scores else 0.0 for k in range(tree.n_features)]
    np.testing.assert_allclose(node_average(tree), means / np.sum(means), atol=1e-12)
    times = [len(scores.get(k, [])) for k in range(tree.n_features)]
    np.testing.assert_array_equal(occurrences(tree), times)


@pytest.mark.parametrize("measure", [impurity_importance, occurrences, node_average])
def test_each_measure_is_one_float_a_feature_and_none_is_negative(measure):
    for tree in [random_tree(3, 30), random_tree(4, 1), by_hand()]:
        found = measure(tree)
        assert found.dtype == np.float64
        assert found.shape == (tree.n_features,)
        assert np.all(found >= 0)
        total = tree.n_leaves - 1 if measure is occurrences else float(tree.n_leaves > 1)
        assert found.sum() == pytest.approx(total)


def test_a_tree_without_a_split_has_no_importances():
    tree = random_tree(0, 1)
    for measure in (impurity_importance, occurrences, node_average):
        np.testing.assert_array_equal(measure(tree), np.zeros(3))


def test_splits_that_improve_nothing_have_no_importance_but_occur():
    tree = hand_made({0: (1, 0.0, 1, 2)}, {1: (2, 2), 2: (1, 1)})
    np.testing.assert_array_equal(impurity_importance(tree), np.zeros(3))
    np.testing.assert_array_equal(node_average(tree), np.zeros(3))
    np.testing.assert_array_equal(occurrences(tree), [0.0, 1.0, 0.0])
