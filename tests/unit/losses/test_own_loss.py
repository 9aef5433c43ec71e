"""A loss of the user's own, of which the core knows nothing, is fitted and certified like any other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from hedgerow import LinearSVC, LinearSVR, ParameterError, save
from hedgerow.data.rows import matrix_of
from hedgerow.losses import Hinge, Loss, SquaredHinge
from hedgerow.problems import LinearProblem
from hedgerow.problems.certificates import certify
from hedgerow.solvers import SOLVERS, Settings, solve
from hedgerow.testing import check_loss, check_solver

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = np.where(X @ [1.0, 0.5, 0.0, 0.0, -0.5] + 0.7 * RNG.normal(size=300) > 0, 1, -1)


@dataclass(frozen=True)
class HuberHinge(Loss):
    """max(0, r) with its kink rounded off over a width, on which it is r^2 / (2 width)."""

    width: float = 0.5

    def value(self, residual):
        inside = np.clip(residual, 0.0, self.width)
        return inside * inside / (2.0 * self.width) + np.maximum(residual - self.width, 0.0)

    def alpha_at(self, residual, weight):
        return weight * np.clip(residual / self.width, 0.0, 1.0)

    def conjugate(self, alpha, weight):
        return 0.5 * self.width * alpha**2 / np.where(weight > 0, weight, 1.0)


class PseudoHuber(Loss):
    """sqrt(1 + r^2) - 1, whose alpha comes near -c and c and never gets there."""

    is_two_sided = True
    reaches_bounds = False

    def value(self, residual):
        return np.hypot(1.0, residual) - 1.0

    def alpha_at(self, residual, weight):
        far = np.isinf(residual)
        slope = np.where(far, 1.0, residual) / np.where(far, 1.0, np.hypot(1.0, residual))
        return weight * np.where(far, np.sign(residual), slope)

    def conjugate(self, alpha, weight):
        share = np.clip(alpha / np.where(weight > 0, weight, 1.0), -1.0, 1.0)
        return weight * (1.0 - np.sqrt(1.0 - share * share))


class RestatedSquaredHinge(Loss):
    """The squared hinge, said by the three methods that a loss must have."""

    def value(self, residual):
        return np.maximum(residual, 0.0) ** 2

    def alpha_at(self, residual, weight):
        return 2.0 * weight * np.maximum(residual, 0.0)

    def conjugate(self, alpha, weight):
        return alpha**2 / (4.0 * np.where(weight > 0, weight, 1.0))


LOSSES = [HuberHinge(), HuberHinge(1e-3), PseudoHuber(), RestatedSquaredHinge()]
ABLE = [s.name for s in SOLVERS.values() if s.can_minimise(HuberHinge()) and "l2" in s.penalties]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_three_methods_are_a_loss(loss):
    check_loss(loss)


@pytest.mark.parametrize("intercept", ["free", "penalized", "none"])
@pytest.mark.parametrize("solver", ["auto", *ABLE])
def test_every_solver_that_can_take_it_certifies_it(solver, intercept):
    problem = LinearProblem(matrix_of(X), Y, np.full(300, 2.0), HuberHinge(), intercept)
    certificate = certify(problem, solve(problem, Settings(tol=1e-6), solver), 1e-6)
    assert certificate.is_certified
    best = certify(problem, solve(problem, Settings(tol=1e-10), "newton"), 1e-10)
    assert best.dual <= certificate.primal <= best.primal * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("solver", "loss"), [("auto", HuberHinge()), ("lbfgs", HuberHinge()), ("newton", PseudoHuber())]
)
def test_solvers_pass_their_battery_with_it(solver, loss):
    check_solver(solver, loss)


@pytest.mark.parametrize("options", [{"system": "direct"}, {"step": "trust_region"}], ids=str)
def test_passes_in_python_make_the_steps_of_the_core(options):
    models = [
        LinearSVC(loss=loss, solver="newton", solver_options=options, tol=1e-9, C=3.0).fit(X, Y)
        for loss in ("squared_hinge", RestatedSquaredHinge())
    ]
    assert models[0].n_iter_ == models[1].n_iter_
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, rtol=1e-6)
    np.testing.assert_allclose(models[0].alpha_, models[1].alpha_, rtol=1e-4, atol=1e-9)


def test_a_narrow_width_comes_near_the_hinge():
    own = LinearSVC(loss=HuberHinge(1e-4)).fit(X, Y)
    hinge = LinearSVC(loss="hinge").fit(X, Y)
    assert own.certificate_.is_certified
    assert own.certificate_.primal == pytest.approx(hinge.certificate_.primal, rel=1e-3)
    assert own.certificate_.primal < hinge.certificate_.primal
    assert len(own.support_) == pytest.approx(len(hinge.support_), abs=3)


def test_classes_share_a_loss_and_a_penalty_of_absolute_values_goes_with_it():
    labels = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])
    model = LinearSVC(loss=HuberHinge(), penalty="l1", C=0.05).fit(X, labels)
    assert model.certificate_.is_certified
    assert model.solver_ == "proximal_newton"
    assert np.count_nonzero(model.coef_) < model.coef_.size


def test_regression_takes_a_loss_of_two_sides():
    targets = X @ np.arange(5.0) + np.where(np.arange(300) % 50 == 0, 100.0, 0.0)
    model = LinearSVR(loss=PseudoHuber(), C=10.0, tol=1e-8).fit(X, targets)
    assert model.certificate_.is_certified
    assert np.max(np.abs(model.coef_ - np.arange(5.0))) < 0.2
    with pytest.raises(AttributeError, match="groups no points"):
        _ = model.support_
    with pytest.raises(ParameterError, match="Loss with is_two_sided=True"):
        LinearSVR(loss=HuberHinge()).fit(X, targets)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "interior_point"}, "'interior_point' cannot minimise loss='HuberHinge'.*'newton'"),
        ({"solver": "dual_coordinate_descent"}, "cannot minimise loss='HuberHinge'.*'lbfgs'"),
        ({"C": np.inf}, "no.* with loss='HuberHinge'; use loss='hinge' or 'squared_hinge'"),
        ({"multi_class": "crammer_singer"}, "HuberHinge.* does not go with multi_class"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_take_it_is_refused_with_what_can(settings, words):
    with pytest.raises(ParameterError, match=words):
        LinearSVC(loss=HuberHinge(), **settings).fit(X, Y)


def test_a_model_is_cloned_with_its_loss_and_refused_by_name_when_it_is_saved(tmp_path):
    model = clone(LinearSVC(loss=HuberHinge(0.3))).fit(X, Y)
    assert model.loss == HuberHinge(0.3)
    with pytest.raises(ParameterError, match=r"cannot be saved: model\.loss is a .*HuberHinge"):
        save(model, tmp_path / "model")
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X, Y)


def test_a_kinked_loss_that_the_core_does_not_know_is_refused():
    @dataclass(frozen=True)
    class Steeper(Hinge):
        def value(self, residual):
            return 2.0 * super().value(residual)

    with pytest.raises(ParameterError, match="no solver can take penalty='l2' with loss='hinge'"):
        LinearSVC(loss=Steeper()).fit(X, Y)


def test_another_formula_takes_no_rule_of_the_core_over():
    class Doubled(SquaredHinge):
        def value(self, residual):
            return 2.0 * super().value(residual)

        def alpha_at(self, residual, weight):
            return 2.0 * super().alpha_at(residual, weight)

        def conjugate(self, alpha, weight):
            return super().conjugate(alpha, 2.0 * weight)

        def second_derivative(self, residual, weight):
            return 2.0 * super().second_derivative(residual, weight)

        def conjugate_slopes(self, alpha, weight):
            return super().conjugate_slopes(alpha, 2.0 * weight)

    check_loss(Doubled())
    own = LinearSVC(loss=Doubled(), C=1.0, solver_options={"system": "direct"}, solver="newton")
    theirs = LinearSVC(loss="squared_hinge", C=2.0)
    own.fit(X, Y)
    assert own.certificate_.is_certified
    np.testing.assert_allclose(own.coef_, theirs.fit(X, Y).coef_, rtol=1e-2)
