"""The voted perceptron counts the votes of all planes, and keeps no more than the mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from hedgerow import _core
from hedgerow._base.state import dump_state, load_state
from hedgerow.errors import ParameterError
from hedgerow.linear import Perceptron, VotedPerceptron
from hedgerow.perceptron import voted as voted_perceptron
from tests.reference import perceptron as reference
from tests.unit.perceptron.perceptron_data import fit_quietly, overlapping


def test_three_points_on_a_line_by_hand():
    # Visits 1, 2: plane (1, 1). Visit 3 errs on -1: (2, 0), which survives visits 3 to 6.
    model = VotedPerceptron(shuffle=False).fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
    coef, intercept, survivals = model.planes()
    assert_array_equal(coef, [[1], [2]])
    assert_array_equal(intercept, [1, 0])
    assert_array_equal(survivals, [2, 4])
    # At -1/2 the first plane says yes, the second no; at 0 the second abstains.
    assert_array_equal(model.decision_function([[-0.5], [0.0], [3.0]]), [-2 / 6, 2 / 6, 1])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_its_votes_are_those_of_all_planes_of_the_slow_perceptron(kind, weighted, fit_intercept):
    X, y = overlapping()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    model = VotedPerceptron(max_iter=6, tol=None, eta0=0.3, fit_intercept=fit_intercept)
    fit_quietly(model, kind(X), y, sample_weight=weight)
    orders = [_core.system.random_permutation(0, 1 + k * len(y), len(y)) for k in range(6)]
    signs = np.where(y == 1, 1, -1)
    planes, mistakes = reference.every_plane(
        X, signs, orders, step=0.3, weight=weight, fit_intercept=fit_intercept
    )
    new, _ = overlapping(200)
    assert model.n_mistakes_ == sum(mistakes) == len(model.planes()[0])
    # Votes are whole numbers out of 360; only the division rounds.
    assert_allclose(model.decision_function(kind(new)), reference.votes(planes, new), atol=1e-14)


def test_each_class_of_several_has_its_vote():
    X, y = overlapping(90, n_classes=3)
    model = fit_quietly(VotedPerceptron(max_iter=4, tol=None, shuffle=False), X, y)
    for k in range(3):
        planes, _ = reference.every_plane(X, np.where(y == k, 1, -1), [range(90)] * 4)
        votes = reference.votes(planes, X)
        assert_allclose(model.decision_function(X)[:, k], votes, atol=1e-14)
        assert_allclose(model.planes(k)[0][-1], planes[-1][0], rtol=1e-12)


def test_the_last_plane_is_the_perceptrons():
    X, y = overlapping()
    voted = fit_quietly(VotedPerceptron(max_iter=5, tol=None), X, y)
    plain = fit_quietly(Perceptron(max_iter=5, tol=None), X, y)
    coef, intercept, survivals = voted.planes()
    assert_allclose(coef[-1:], plain.coef_, rtol=1e-12)
    assert_allclose(intercept[-1:], plain.intercept_, rtol=1e-12)
    assert survivals.sum() == plain.t_ - 1
    assert survivals.min() >= 1


def test_planes_that_vote_in_small_blocks_vote_the_same(monkeypatch):
    X, y = overlapping(90, n_classes=3)
    model = fit_quietly(VotedPerceptron(), X, y)
    at_once = model.decision_function(X)
    monkeypatch.setattr(voted_perceptron, "_BLOCK", 7 * 90)
    assert_array_equal(model.decision_function(X), at_once)


def test_memory_is_bounded_by_the_mistakes():
    X, y = overlapping()
    model = fit_quietly(VotedPerceptron(), X, y)
    assert sum(len(mistakes) for mistakes in model.mistakes_) == model.n_mistakes_
    assert len(model.support_vectors_) == len(model.support_) <= min(len(y), model.n_mistakes_)
    assert_array_equal(model.support_vectors_, X[model.support_])


def test_rows_of_weight_zero_are_as_if_not_there():
    X, y = overlapping()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    there = weight > 0
    model = fit_quietly(VotedPerceptron(), X, y, sample_weight=weight)
    without = fit_quietly(VotedPerceptron(), X[there], y[there], sample_weight=weight[there])
    assert_array_equal(model.decision_function(X), without.decision_function(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_change_nothing(n_classes):
    X, y = overlapping(300, n_classes)
    models = [fit_quietly(VotedPerceptron(n_jobs=n), X, y) for n in (1, 2)]
    assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))


def test_it_warns_when_the_perceptron_did_not_separate():
    X, y = overlapping()
    with pytest.warns(ConvergenceWarning, match="VotedPerceptron did not separate the data"):
        VotedPerceptron().fit(X, y)


def test_planes_of_no_problem_are_refused():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        VotedPerceptron().planes()
    model = VotedPerceptron().fit([[1.0], [-1.0]], [1, 0])
    with pytest.raises(ParameterError, match="problem=1 is not"):
        model.planes(1)


def test_fitted_votes_survive_as_a_state():
    X, y = overlapping()
    model = fit_quietly(VotedPerceptron(), X, y)
    again = load_state(*dump_state(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
