"""What LinearSVC says about how it came to its solution."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from hedgerow import LinearSVC, NotCertifiedWarning
from hedgerow._base.parameters import one_of
from hedgerow.solvers import choose
from hedgerow.solvers.solver import LinearSolver


def overlapping(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, size=d)
    return X, np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize(
    ("loss", "second"), [("hinge", "interior_point"), ("squared_hinge", "newton")]
)
def test_auto_hands_over_where_coordinate_descent_is_slow(loss, second, monkeypatch):
    monkeypatch.setattr(choose, "plan", lambda _: ["dual_coordinate_descent", second])
    X, y = overlapping()
    model = LinearSVC(loss=loss, C=100.0, random_state=0).fit(X, y)
    assert model.solver_ == f"dual_coordinate_descent+{second}"
    assert model.n_iter_ > choose.FIRST_TRY
    assert model.status_ == "optimal"
    assert model.certificate_.is_certified


def test_auto_stays_with_coordinate_descent_where_it_is_quick(monkeypatch):
    monkeypatch.setattr(choose, "plan", lambda _: ["dual_coordinate_descent", "newton"])
    X, y = overlapping()
    model = LinearSVC(C=1e-6, random_state=0).fit(X / np.abs(X).max(axis=0), y)
    assert model.solver_ == "dual_coordinate_descent"
    assert model.certificate_.is_certified


def test_auto_does_not_hand_over_beyond_max_iter(monkeypatch):
    monkeypatch.setattr(choose, "plan", lambda _: ["dual_coordinate_descent", "interior_point"])
    X, y = overlapping()
    with pytest.warns(NotCertifiedWarning):
        model = LinearSVC(loss="hinge", C=100.0, max_iter=5, random_state=0).fit(X, y)
    assert model.solver_ == "dual_coordinate_descent"
    assert (model.n_iter_, model.status_) == (5, "max_iter")


@pytest.mark.parametrize(
    ("loss", "solver"), [("hinge", "interior_point"), ("squared_hinge", "newton")]
)
def test_a_second_order_solver_stopped_by_max_iter_says_so(loss, solver):
    X, y = overlapping()
    with pytest.warns(NotCertifiedWarning, match="'max_iter'"):
        model = LinearSVC(loss=loss, solver=solver, max_iter=1).fit(X, y)
    assert (model.n_iter_, model.status_) == (1, "max_iter")
    assert np.isfinite(model.decision_function(X)).all()


def test_of_an_approximate_solver_the_warning_names_exact_ones(monkeypatch):
    def give_up(run):
        return "approximate"

    rough = LinearSolver(name="rough", run=give_up, needs=("loss.has_step_slope",), is_exact=False)
    monkeypatch.setitem(choose.SOLVERS, "rough", rough)
    monkeypatch.setattr(LinearSVC, "_rules", LinearSVC._rules | {"solver": one_of("rough")})
    X, y = overlapping()
    with pytest.warns(NotCertifiedWarning, match="'auto' or an exact one, .*'interior_point'") as w:
        model = LinearSVC(loss="hinge", solver="rough").fit(X, y)
    assert model.status_ == "approximate"
    assert "max_iter" not in str(w[0].message)
    assert "'rough'" not in str(w[0].message)
    assert "'newton'" not in str(w[0].message)


@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_a_class_without_weight_is_kept_and_never_predicted(intercept):
    X, y = overlapping()
    labels = np.where(np.arange(len(y)) % 5 == 0, 2, y)
    weight = (labels != 2).astype(float)
    model = LinearSVC(intercept=intercept).fit(X, labels, weight)
    assert model.classes_.tolist() == [-1, 1, 2]
    assert all(certificate.is_certified for certificate in model.certificates_)
    if intercept == "free":
        np.testing.assert_array_equal(model.coef_[2], 0.0)
        assert model.intercept_[2] == -1.0


def test_verbose_speaks_through_the_logger_alone(caplog, capfd):
    X, y = overlapping()
    with caplog.at_level(logging.INFO, "hedgerow"):
        LinearSVC(verbose=1).fit(X, y)
        assert "Certified" in caplog.text
        assert "newton" in caplog.text
        caplog.clear()
        LinearSVC().fit(X, y)
        assert caplog.text == ""
    assert capfd.readouterr() == ("", "")
