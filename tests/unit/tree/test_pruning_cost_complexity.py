"""Pruning by cost and complexity, held against all prunings of small trees, and against scikit-learn."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hedgerow.errors import ParameterError
from hedgerow.tree.pruning import (
    cost_complexity_path,
    cross_validated_path,
    prune,
    prune_cost_complexity,
)
from tests.reference.pruning import (
    SlowClassifier,
    SlowRegressor,
    best_pruning,
    critical_alphas,
    exact_risks,
    noisy,
    pruned_nodes,
    random_tree,
    tree_of,
)


def small_tree(seed):
    """Every other one is grown by scikit-learn; the others have any shape and order."""
    if seed % 2:
        return random_tree(seed, n_leaves=1 + seed % 6, n_classes=2 + seed % 3)
    X, y = noisy(seed, n=10 + seed % 30, n_classes=2 + seed % 3)
    return tree_of(DecisionTreeClassifier(max_leaf_nodes=6, random_state=seed).fit(X, y).tree_)


# ---------------------------------------------------------------------------- cost complexity


@pytest.mark.parametrize("measure", ["impurity", "misclassification"])
@pytest.mark.parametrize("seed", range(60))
def test_for_every_alpha_the_pruned_tree_is_the_smallest_best_of_all(seed, measure):
    """At every alpha where any two prunings cost the same, and between those; counted in fractions."""
    tree = small_tree(seed)
    risks = exact_risks(tree, measure)
    critical = critical_alphas(tree, risks)
    middles = [
        (a + b) / 2 for a, b in zip(critical, [*critical[1:], critical[-1] + 1], strict=True)
    ]
    for alpha in [*critical, *middles]:
        small = prune_cost_complexity(tree, float(alpha), measure)
        assert pruned_nodes(tree, small) == best_pruning(tree, risks, alpha)


@pytest.mark.parametrize("measure", ["impurity", "misclassification"])
@pytest.mark.parametrize("seed", range(60))
def test_the_path_has_every_tree_that_is_best_for_some_alpha_once(seed, measure):
    tree = small_tree(seed)
    risks = exact_risks(tree, measure)
    path = cost_complexity_path(tree, measure)
    trees, alphas = [], []
    for alpha in critical_alphas(tree, risks):
        best = best_pruning(tree, risks, alpha)
        if not trees or best != trees[-1]:
            trees.append(best)
            alphas.append(float(alpha))
    np.testing.assert_allclose(path.alphas, alphas, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(path.n_leaves, [len(best) for best in trees])
    np.testing.assert_allclose(path.risks, [float(sum(risks[k] for k in best)) for best in trees])
    impurities = [float(sum(exact_risks(tree, "impurity")[k] for k in best)) for best in trees]
    np.testing.assert_allclose(path.impurities, impurities)
    assert path.measure == measure


def several_outputs():
    return noisy(2, n=300)[0], np.stack([noisy(2, n=300)[1], noisy(7, n=300)[1]], axis=1)


SKLEARN_TREES = {
    "breast cancer": (DecisionTreeClassifier, {}, load_breast_cancer),
    "weighted iris by entropy": (
        DecisionTreeClassifier,
        {"criterion": "entropy", "class_weight": {0: 1, 1: 3, 2: 0.7}},
        load_iris,
    ),
    "noise": (DecisionTreeClassifier, {}, lambda **_: noisy(1, n=800)),
    "several outputs": (DecisionTreeClassifier, {}, lambda **_: several_outputs()),
    "diabetes": (DecisionTreeRegressor, {}, load_diabetes),
    "diabetes, absolute": (
        DecisionTreeRegressor,
        {"criterion": "absolute_error", "max_depth": 6},
        load_diabetes,
    ),
}


@pytest.mark.parametrize("name", SKLEARN_TREES)
def test_path_and_trees_are_those_of_sklearn(name):
    kind, settings, load = SKLEARN_TREES[name]
    X, y = load(return_X_y=True)
    grown = kind(random_state=0, **settings).fit(X, y)
    path = cost_complexity_path(tree_of(grown.tree_))
    theirs = grown.cost_complexity_pruning_path(X, y)
    last = {}
    for alpha, impurity in zip(theirs.ccp_alphas, theirs.impurities, strict=True):
        same = [a for a in last if np.isclose(a, alpha, rtol=1e-9, atol=1e-14)]
        last[same[0] if same else alpha] = impurity
    np.testing.assert_allclose(path.alphas, list(last), rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(path.impurities, list(last.values()), rtol=1e-9, atol=1e-14)
    for alpha in np.sqrt(path.alphas[1:-1] * path.alphas[2:])[::20]:
        pruned = type(grown)(**{**grown.get_params(), "ccp_alpha": alpha}).fit(X, y).tree_
        ours = prune_cost_complexity(tree_of(grown.tree_), alpha)
        assert ours.n_leaves == pruned.n_leaves
        np.testing.assert_array_equal(np.sort(ours.impurity), np.sort(pruned.impurity))


def test_the_trees_of_a_path_are_nested_and_their_number_of_leaves_falls():
    tree = tree_of(DecisionTreeClassifier(random_state=0).fit(*noisy(1, n=400)).tree_)
    path = cost_complexity_path(tree)
    assert np.all(np.diff(path.alphas) > 0)
    assert np.all(np.diff(path.n_leaves) < 0)
    assert np.all(np.diff(path.risks) > 0)
    assert path.n_leaves[-1] == 1
    small = tree
    for alpha, n_leaves in zip(path.alphas, path.n_leaves, strict=True):
        assert prune_cost_complexity(tree, alpha).n_leaves == n_leaves
        small = prune_cost_complexity(small, alpha)
        assert small.n_leaves == n_leaves


def test_a_tree_of_100_000_nodes_has_its_path_in_a_second_or_two():
    tree = random_tree(0, n_leaves=50_001)
    began = time.process_time()
    path = cost_complexity_path(tree)
    assert time.process_time() - began < 5
    assert path.n_leaves[-1] == 1


@pytest.mark.parametrize("alpha", [-0.1, np.nan, "0.1", None])
def test_a_cost_that_is_none_is_refused(alpha):
    with pytest.raises(ParameterError, match="alpha="):
        prune_cost_complexity(random_tree(0, 5), alpha)


def test_a_measure_that_is_not_known_or_not_defined_is_refused():
    with pytest.raises(ParameterError, match="measure='gini' is not known"):
        cost_complexity_path(random_tree(0, 5), "gini")
    numbers = tree_of(DecisionTreeRegressor(max_depth=1).fit([[0], [1]], [0, 1]).tree_)
    with pytest.raises(ParameterError, match="needs classes"):
        cost_complexity_path(numbers, "misclassification")


# ---------------------------------------------------------------------------- cross-validation


@pytest.mark.parametrize("kind", ["classes", "numbers", "several outputs", "absolute"])
def test_errors_of_the_folds_are_those_of_trees_pruned_one_by_one(kind):
    X, y = noisy(0, n=90)
    model = SlowClassifier(random_state=0)
    if kind == "several outputs":
        y = np.stack([y, (X[:, 1] > 0) * 1], axis=1)
    elif kind != "classes":
        y = y + X[:, 1]
        criterion = "absolute_error" if kind == "absolute" else "squared_error"
        model = SlowRegressor(criterion=criterion, random_state=0)
    model.fit(X, y)
    folds, weight = list(KFold(3, shuffle=True, random_state=0).split(X)), 1.0 + np.arange(90) % 3
    found = cross_validated_path(model, X, y, cv=folds, sample_weight=weight)
    assert found.errors.shape == (len(found.path.alphas), 3)
    for j, (kept, left_out) in enumerate(folds):
        fold = type(model)(**model.get_params()).fit(X[kept], y[kept], weight[kept])
        whole = fold.tree_
        for i in range(0, len(found.alphas), 3):
            fold.tree_ = prune_cost_complexity(whole, found.alphas[i])
            missed = {"classes": np.not_equal, "several outputs": np.not_equal}.get(
                kind, lambda a, b: np.abs(a - b) ** (1 if kind == "absolute" else 2)
            )(fold.predict(X[left_out]), y[left_out])
            missed = missed if missed.ndim == 1 else missed.mean(axis=1)
            mean = np.average(missed, weights=weight[left_out])
            assert found.errors[i, j] == pytest.approx(mean, abs=1e-12)


def test_the_chosen_alpha_has_least_error_or_is_the_largest_within_a_standard_error():
    X, y = noisy(4, n=200)
    model = SlowClassifier(random_state=0).fit(X, y)
    found = cross_validated_path(model, X, y, cv=5, random_state=0)
    best = found.mean_errors.min()
    for choice in ("best", "one_standard_error"):
        k = int(np.searchsorted(found.path.alphas, found.alpha(choice), side="right")) - 1
        at = np.argmin(found.mean_errors)
        bound = best + (found.standard_errors[at] if choice == "one_standard_error" else 0.0)
        assert found.mean_errors[k] <= bound
        assert np.all(found.mean_errors[k + 1 :] > bound)
    small = prune(model, "cost_complexity", X=X, y=y, cv=5, random_state=0)
    smaller = prune(
        model, "cost_complexity", X=X, y=y, cv=5, random_state=0, choice="one_standard_error"
    )
    assert smaller.tree_.n_leaves <= small.tree_.n_leaves < model.tree_.n_leaves
    assert small.pruning_.alpha == found.alpha()


def test_a_class_of_one_row_and_a_row_without_weight_do_not_stop_the_choice():
    X, y = noisy(4, n=60)
    y[0], weight = 9, np.ones(60)
    weight[1] = 0.0
    model = SlowClassifier(random_state=0).fit(X, y, weight)
    found = cross_validated_path(model, X, y, sample_weight=weight, cv=5, random_state=1)
    assert found.errors.shape[1] == 5
    assert np.all((found.errors >= 0) & (found.errors <= 1))
    again = cross_validated_path(model, X, y, sample_weight=weight, cv=5, random_state=1)
    np.testing.assert_array_equal(found.errors, again.errors)


def test_noise_is_pruned_to_the_root():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.random(300) < 0.3
    model = SlowClassifier(random_state=0).fit(X, y)
    small = prune(model, "cost_complexity", X=X, y=y, random_state=0, choice="one_standard_error")
    assert small.tree_.n_leaves == 1
    assert np.isfinite(small.pruning_.alpha)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either alpha=, or else X= and y="),
        ({"alpha": 0.1, "X": [[0.0]], "y": [0]}, "either alpha="),
        ({"X": [[0.0]]}, "either alpha="),
        ({"X": "data", "y": "data", "cv": 1}, "cv=1 are no folds"),
        ({"X": "data", "y": "data", "choice": "worst"}, "choice='worst' is not known"),
        ({"X": "data", "y": "data", "measure": "risk"}, "measure='risk' is not known"),
    ],
)
def test_a_choice_of_alpha_that_cannot_be_made_is_refused(options, message):
    X, y = noisy(0)
    given = {"X": X, "y": y}
    options = {name: given[name] if value == "data" else value for name, value in options.items()}
    with pytest.raises(ParameterError, match=message):
        prune(SlowClassifier(random_state=0).fit(X, y), "cost_complexity", **options)
