"""The public batteries: every loss and solver passes, and what is wrong fails."""

from __future__ import annotations

import pytest

from hedgerow.losses import LOSSES, REGRESSION_LOSSES, Hinge, SquaredHinge, regression_loss
from hedgerow.solvers import SOLVERS
from hedgerow.testing import check_loss, check_solver

pytestmark = pytest.mark.sanitize


ALL_LOSSES = [*LOSSES.values()] + [
    regression_loss(name, epsilon) for name in REGRESSION_LOSSES for epsilon in (0.0, 0.3)
]


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=repr)
def test_every_loss_passes_its_battery(loss):
    check_loss(loss)


class TooSteep(Hinge):
    def value(self, residual):
        return 0.5 * super().value(residual)


class TooWide(Hinge):
    def upper(self, weight):
        return 2.0 * weight


class Bent(SquaredHinge):
    def bend_at(self, residual, weight):
        return 2.0 * super().bend_at(residual, weight)


class Crooked(Hinge):
    def conjugate_slopes(self, alpha, weight):
        left, right = super().conjugate_slopes(alpha, weight)
        return left + 3.0, right + 3.0


class OutOfBounds(Hinge):
    def alpha_at(self, residual, weight):
        return super().alpha_at(residual, weight) - 1.0


@pytest.mark.parametrize(
    ("loss", "law"),
    [
        (TooSteep(), "tight at alpha_at"),
        (TooWide(), "no alpha gives a bound above"),
        (Bent(), "bend_at is the slope of alpha_at"),
        (Crooked(), "between the slopes of the conjugate"),
        (OutOfBounds(), "between lower and upper"),
    ],
)
def test_a_wrong_loss_fails_by_the_law_it_breaks(loss, law):
    with pytest.raises(AssertionError, match=law):
        check_loss(loss)


@pytest.mark.parametrize(
    ("solver", "loss"),
    [(name, loss) for name, solver in SOLVERS.items() if solver.is_exact for loss in solver.losses]
    + [("auto", loss) for loss in [*LOSSES, *REGRESSION_LOSSES]],
)
def test_every_solver_passes_its_battery(solver, loss):
    check_solver(solver, loss)


def test_a_solver_that_stops_too_early_fails():
    with pytest.raises(AssertionError, match=r"dual_coordinate_descent on the .*Not certified"):
        check_solver("dual_coordinate_descent", "hinge", max_iter=1)
