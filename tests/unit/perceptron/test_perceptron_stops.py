"""A perceptron that is stopped on its way is the perceptron of the visits it made."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import linear_kernel

from hedgerow import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    VotedPerceptron,
    engine,
    watch,
)
from hedgerow.monitor import current
from tests.reference.perceptron import averaged, every_plane

ENDLESS = {"max_iter": 10**9, "tol": None, "shuffle": False}
LINEAR = [Perceptron, AveragedPerceptron, VotedPerceptron]
ALL = [*LINEAR, KernelPerceptron]


def noise(n_samples, n_features, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_samples, n_features))
    return X, random.integers(n_classes, size=n_samples)


def stop_after(n_steps):
    """Return a callback that stops a fit at its n-th step."""
    seen = []

    def callback(event):
        seen.append(event)
        return len(seen) == n_steps

    return callback


@pytest.mark.parametrize("perceptron", ALL)
def test_a_callback_that_returns_true_stops_it_after_that_pass(perceptron):
    X, y = noise(40, 3)
    model = perceptron(**ENDLESS).set_callbacks(stop_after(3)).fit(X, y)
    assert (model.status_, model.n_iter_, model.t_) == ("stopped", 3, 1 + 3 * 40)
    limited = perceptron(**ENDLESS | {"max_iter": 3})
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        limited.fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), limited.decision_function(X))
    np.testing.assert_array_equal(model.error_history_, limited.error_history_)


def test_every_pass_is_reported_with_its_error_and_its_mistakes():
    X, y = noise(40, 3)
    events = []
    model = Perceptron(**ENDLESS | {"max_iter": 4}).set_callbacks(events.append)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert [event.done for event in events] == [1, 2, 3, 4]
    assert {(event.path, event.total) for event in events} == {(("Perceptron",), 4)}
    assert [event.figures["error"] for event in events] == model.error_history_.tolist()
    assert sum(event.figures["mistakes"] for event in events) == model.n_mistakes_


def test_each_one_vs_rest_problem_is_a_task_within_the_fit():
    X, y = noise(40, 3, n_classes=3)
    paths = set()
    model = Perceptron(**ENDLESS | {"max_iter": 2}, n_jobs=2)
    with pytest.warns(ConvergenceWarning), watch(lambda event: paths.add(event.path)):
        model.fit(X, y)
    assert paths == {("Perceptron", f"{k}/3") for k in (1, 2, 3)}


@pytest.mark.parametrize("max_time", [0.02, 0.05, 0.1])
def test_out_of_time_the_plane_is_that_of_the_visits_made(max_time):
    # A pass reads 20 million numbers, of which the core reads 4 million between looks at the clock.
    X, y = noise(20_000, 1000)
    for perceptron, expected in (
        (Perceptron, lambda planes: planes[-1]),
        (AveragedPerceptron, averaged),
    ):
        model = perceptron(max_time=max_time, **ENDLESS)
        with pytest.warns(ConvergenceWarning, match="raise max_time"):
            model.fit(X, y)
        assert model.status_ == "time_limit"
        visited = [range(len(y))] * (model.n_iter_ - 1)
        visited.append(range(model.t_ - 1 - len(y) * len(visited)))
        planes, mistakes = every_plane(X, 2 * y - 1, visited)
        coef, intercept = expected(planes) if planes else (np.zeros(1000), 0.0)
        assert model.n_mistakes_ == sum(mistakes)
        np.testing.assert_allclose(model.coef_[0], coef, rtol=1e-9, atol=1e-9)
        assert model.intercept_[0] == pytest.approx(intercept)


@pytest.mark.parametrize("n_calls", range(1, 8))
def test_a_kernel_perceptron_stopped_within_a_pass_has_the_scores_of_its_plane(n_calls):
    X, y = noise(700, 2)
    calls = []

    def kernel(A, B):
        calls.append(1)
        if len(calls) == n_calls:
            current().ask("stopped")
        return linear_kernel(A, B)

    model = KernelPerceptron(kernel=kernel, **ENDLESS).fit(X, y)
    assert model.status_ == "stopped"
    visited = model.t_ - 1
    assert visited in (0, 256, 512, 700)
    planes, (n_mistakes,) = every_plane(X, 2 * y - 1, [range(visited)])
    assert model.n_mistakes_ == n_mistakes
    scores = X @ planes[-1][0] + planes[-1][1] if planes else np.zeros(700)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-8)
    errors = np.maximum(-(2 * y - 1) * scores, 0.0)
    assert model.error_ == pytest.approx(errors.sum())


def test_a_pass_cut_short_without_a_mistake_separates_nothing():
    X, y = noise(40, 3)
    with watch(max_time=1e-9), pytest.warns(ConvergenceWarning):
        model = Perceptron(start=([1.0, 1.0, 1.0], 0.0)).fit(X, y)
    assert (model.status_, model.n_mistakes_, model.t_) == ("time_limit", 0, 1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("perceptron", ALL)
def test_without_any_time_there_still_is_a_model(perceptron, n_classes):
    X, y = noise(40, 3, n_classes)
    with watch(max_time=1e-9), pytest.warns(ConvergenceWarning, match="within the time limit"):
        model = perceptron(**ENDLESS).fit(X, y)
    assert model.predict(X).shape == (40,)
    assert np.isfinite(model.decision_function(X)).all()
    assert (model.n_iter_, model.n_mistakes_, model.error_) == (1, 0, 0.0)


def test_without_a_mistake_there_are_no_planes_that_vote():
    X, y = noise(40, 3)
    with watch(max_time=1e-9), pytest.warns(ConvergenceWarning):
        coef, intercept, votes = VotedPerceptron().fit(X, y).planes()
    assert coef.shape == (0, 3)
    assert len(intercept) == len(votes) == 0


def test_a_batch_can_be_cut_short_and_gone_on_with():
    X, y = noise(40, 3)
    with watch(max_time=1e-9):
        model = Perceptron().partial_fit(X, y, classes=[0, 1])
    assert (model.status_, model.t_) == ("time_limit", 1)
    whole = Perceptron().partial_fit(X, y, classes=[0, 1])
    np.testing.assert_array_equal(model.partial_fit(X, y).coef_, whole.coef_)


@pytest.mark.parametrize("perceptron", ALL)
@pytest.mark.parametrize("where", [None, "threads", "threading"])
def test_where_it_is_trained_changes_no_bit(perceptron, where):
    X, y = noise(60, 3, n_classes=3)
    expected = perceptron(max_iter=5, tol=None)
    with pytest.warns(ConvergenceWarning):
        expected.fit(X, y)
    with engine(where), pytest.warns(ConvergenceWarning):
        model = perceptron(max_iter=5, tol=None).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), expected.decision_function(X))
    assert model.n_mistakes_ == expected.n_mistakes_


@pytest.mark.parametrize("perceptron", ALL)
def test_a_warning_names_the_line_of_the_user(perceptron):
    X, y = noise(60, 3, n_classes=3)
    with pytest.warns(ConvergenceWarning) as caught:
        perceptron(max_iter=2, tol=None).fit(X, y)
    assert [each.filename for each in caught] == [__file__]
