"""Scikit-learn's own tests of forests, run on ours.

What differs by intent is listed, and each listed test must fail in the way that is stated, so that the
list cannot outlive its reasons. Packed trees keep less than scikit-learn's tests look at; where that can
be worked out again it is lent to them, so that they judge what they are about.
"""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble as theirs
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.model_selection import train_test_split

from hedgerow import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.forest.base import Forest
from hedgerow.ensemble.forest.classification import ForestClassifierBase
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.errors import DataError, ParameterError
from hedgerow.tree.tree import NO_CHILD, Tree
from tests.peers.borrowed import Difference, borrow, path_of, with_differences

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
OURS = {f"sklearn.ensemble.{cls.__name__}": cls for cls in FORESTS}
MODULES = (
    "ensemble.tests.test_forest",
    "ensemble.tests.test_common",
    "tree.tests.test_monotonic_tree",
)

PRIVATE = "the test looks at what is private to scikit-learn"
SENTENCE = "told in a sentence of ours"
SEED = "the seed means another forest, and scikit-learn's fails with some seeds too: see the end"

THREE_CLASSES = make_classification(n_samples=1000, n_classes=3, n_informative=6, random_state=0)
NUMBERS = make_regression(n_samples=500, n_features=10, n_targets=1, random_state=0)

differs = partial(Difference, error=AssertionError, match="Regex pattern did not match")
did_not_raise = partial(Difference, error=pytest.fail.Exception, match="DID NOT RAISE")


def of_our_classes(reason: str) -> list[Difference]:
    """The same sentence in another form; scikit-learn's single trees are tried beside our forests."""
    ours = (RandomForestClassifier, ExtraTreesClassifier)
    return [differs(reason, where={"TreeClassifier": cls}) for cls in ours]


def differences(iris: Any) -> dict[str, list[Difference]]:
    """Return the list, given the rows of iris in scikit-learn's order."""
    return {
        "test_forest.test_unfitted_feature_importances": [
            differs(SENTENCE, where={"name": cls.__name__}) for cls in FORESTS
        ],
        "test_forest.test_poisson_y_positive_check": [differs(SENTENCE)],
        "test_forest.test_max_samples_bootstrap": [differs(SENTENCE)],
        "test_monotonic_tree.test_bad_monotonic_cst_raises": of_our_classes(SENTENCE),
        "test_monotonic_tree.test_multiple_output_raises": of_our_classes(
            "that there are too few constraints is told first"
        ),
        "test_forest.test_class_weight_errors": [
            Difference("trees for other targets are not added", DataError, "these are others")
        ],
        "test_forest.test_classifier_error_oob_score_multiclass_multioutput": [
            did_not_raise("rows with several outputs of several classes are scored")
        ],
        "test_forest.test_forest_y_sparse": [did_not_raise("several outputs may be sparse")],
        "test_forest.test_friedman_mse_deprecation": [
            Difference(
                "another name of squared_error, as it is there",
                pytest.fail.Exception,
                "DID NOT WARN",
            )
        ],
        "test_forest.test_backend_respected": [
            Difference("trees grow in threads of the core, not of joblib", AssertionError, None)
        ],
        "test_forest.test_min_samples_leaf": [
            Difference(
                "a row that is in a sample twice counts as two rows",
                AssertionError,
                "Failed with",
                where={"name": name},
            )
            for name in ("RandomForestClassifier", "RandomForestRegressor")
        ],
        "test_forest.test_forest_multioutput_integral_regression_target": [
            Difference("samples are drawn otherwise", AssertionError, "Not equal to tolerance")
        ],
        "test_forest.test_mse_criterion_object_segfault_smoke_test": [
            Difference(PRIVATE, ParameterError, "criterion=<sklearn.tree._criterion")
        ],
        "test_forest.test_validate_y_class_weight": [
            Difference(PRIVATE, AttributeError, "n_outputs_")
        ],
        "test_forest.test_oob_not_computed_twice": [
            Difference(PRIVATE, AttributeError, "_set_oob_score_and_attributes")
        ],
        "test_forest.test_forest_regressor_oob": [
            Difference(
                SEED,
                AssertionError,
                None,
                where={
                    "ForestRegressor": RandomForestRegressor,
                    "y": NUMBERS[1],
                    "oob_score": True,
                },
            )
        ],
    }


# ----------------------------------------------------------------------- what is lent to the tests


def numbered_as_theirs(tree: Tree) -> Tree:
    """Return the same tree, all nodes to the left of a node before those to its right.

    Packed trees have siblings side by side.
    """
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.children_left[node] != NO_CHILD:
            waiting += [tree.children_right[node], tree.children_left[node]]
    place = np.full(len(order) + 1, NO_CHILD)  # the last entry is that of no child, -1
    place[order] = np.arange(len(order))
    apart = ("category_words", "n_categories", "n_classes")
    of_node = {f.name: getattr(tree, f.name)[order] for f in fields(Tree) if f.name not in apart}
    for side in ("children_left", "children_right"):
        of_node[side] = place[of_node[side]]
    # The mean of an inner node is made from its leaves': what should be 0 may be 1e-17, and is compared
    # without an absolute tolerance.
    of_node["value"] = of_node["value"].round(12)
    return replace(tree, **of_node)


def with_rows_counted(forest: Forest, number: int, tree: Any) -> Any:
    """Return a tree of a forest that knows again how many rows of its sample were in each node."""
    passes = tree.decision_path(forest.rows_seen[forest.sampler_.rows(number)])
    counts = np.asarray(passes.sum(axis=0)).reshape(-1).astype(np.int64)
    tree.tree_ = replace(tree.tree_, n_node_samples=counts)
    return tree


@pytest.fixture(autouse=True)
def _lent(monkeypatch, request):
    """Lend our classes what scikit-learn's tests look at, each where no other test needs it as it is."""
    unpack, read, fit, member = (
        PackedTrees.tree,
        ForestClassifierBase._targets,
        Forest._fit,
        Forest._member,
    )

    def noting_weights(self, y, sample_weight, n_rows):
        targets = read(self, y, sample_weight, n_rows)
        self._sample_weight = np.ones(n_rows) if targets.weights is None else targets.weights
        return targets

    def noting_rows(self, X, *rest):
        self.rows_seen = X
        fit(self, X, *rest)

    n_drawn = property(lambda self: self.sampler_.n_draws.sum())
    monkeypatch.setattr(Forest, "estimator", property(lambda self: self), raising=False)
    monkeypatch.setattr(Forest, "_n_samples_bootstrap", n_drawn, raising=False)
    monkeypatch.setattr(ForestClassifierBase, "_targets", noting_weights)
    name = request.node.name
    if "test_distribution" in name or "test_estimators_samples" in name:
        monkeypatch.setattr(
            PackedTrees, "tree", lambda self, *which: numbered_as_theirs(unpack(self, *which))
        )
    if "test_min_samples_split" in name:
        monkeypatch.setattr(Forest, "_fit", noting_rows)
        monkeypatch.setattr(
            Forest, "_member", lambda self, i: with_rows_counted(self, i, member(self, i))
        )


@pytest.fixture
def global_random_seed():
    """The seed that scikit-learn's tests take unless told otherwise."""
    return 42


BORROWED = {}
for _module in MODULES:
    for _name, _test in borrow(_module, OURS).items():
        BORROWED[f"{_module.rpartition('.')[2]}.{_name}"] = _test
DIFFERENCES = differences(
    BORROWED["test_forest.test_forest_oob_warning"].__globals__["iris"].data
    if BORROWED
    else None  # test_scikit_learn_is_installed_with_its_tests says so
)
for _place, _test in BORROWED.items():
    globals()[_place.replace(".", "_")] = with_differences(_test, DIFFERENCES.get(_place, []))


# ---------------------------------------------------------------------------------- about the list


@pytest.mark.parametrize("module", MODULES)
def test_scikit_learn_is_installed_with_its_tests(module):
    assert path_of(module).exists(), f"{path_of(module)} is not there, so that it was not run"
    assert any(place.startswith(module.rpartition(".")[2]) for place in BORROWED)


@pytest.mark.parametrize("place", DIFFERENCES)
def test_a_listed_difference_is_about_a_test_that_runs(place):
    parameters = inspect.signature(BORROWED[place]).parameters
    for difference in DIFFERENCES[place]:
        assert set(difference.where) <= set(parameters)


def scores_of(cls, X, y, n_trees):
    """Return for several seeds the out-of-bag score and that of other rows."""
    X, others, y, others_y = train_test_split(X, y, test_size=0.5, random_state=0)
    scores = []
    for seed in range(16):
        forest = cls(n_trees, bootstrap=True, oob_score=True, random_state=seed, n_jobs=1).fit(X, y)
        scores.append((forest.oob_score_, forest.score(others, others_y)))
    return np.array(scores)


def tenths_of_iris():
    """Return iris in tenths, so that float32 has the middle of two values without rounding."""
    X, y = load_iris(return_X_y=True)
    return np.rint(10 * X), y


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(
    ("name", "data", "n_trees"),
    [
        ("ExtraTreesClassifier", THREE_CLASSES, 40),
        ("RandomForestClassifier", tenths_of_iris(), 40),
        ("RandomForestRegressor", NUMBERS, 50),
    ],
)
def test_over_seeds_both_scores_are_those_of_scikit_learn(name, data, n_trees):
    ours = scores_of(OURS[f"sklearn.ensemble.{name}"], *data, n_trees)
    peers = scores_of(getattr(theirs, name), *data, n_trees)
    error = np.sqrt((ours.var(axis=0, ddof=1) + peers.var(axis=0, ddof=1)) / len(ours))
    assert np.all(np.abs(ours.mean(axis=0) - peers.mean(axis=0)) < 4 * error)
    assert np.all(error < 0.01)  # else the scores of all forests would do
