"""The public batteries: every loss and solver passes, and what is wrong fails."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.losses import LOSSES, Hinge
from hedgerow.solvers import SOLVERS, choose
from hedgerow.testing import check_loss, check_solver

pytestmark = pytest.mark.sanitize


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_passes_its_battery(name):
    check_loss(LOSSES[name])


class TooSteep(Hinge):
    def value(self, margin):
        return 0.5 * super().value(margin)


class TooWide(Hinge):
    def upper(self, weight):
        return 2.0 * weight


class Bent(Hinge):
    def curvature(self, weight):
        return np.ones_like(weight)


class OutOfBounds(Hinge):
    def alpha_at(self, margin, weight):
        return super().alpha_at(margin, weight) - 1.0


@pytest.mark.parametrize(
    ("loss", "law"),
    [
        (TooSteep(), "tight at alpha_at"),
        (TooWide(), "no alpha gives a bound above"),
        (Bent(), "curvature is that of gain"),
        (OutOfBounds(), "between 0 and upper"),
    ],
)
def test_a_wrong_loss_fails_by_the_law_it_breaks(loss, law):
    with pytest.raises(AssertionError, match=law):
        check_loss(loss)


@pytest.mark.parametrize(
    ("solver", "loss"),
    [(solver, loss) for solver in SOLVERS for loss in choose.LOSSES_OF[solver]]
    + [("auto", loss) for loss in LOSSES],
)
def test_every_solver_passes_its_battery(solver, loss):
    check_solver(solver, loss)


def test_a_solver_that_stops_too_early_fails():
    with pytest.raises(AssertionError, match=r"dual_coordinate_descent on the .*Not certified"):
        check_solver("dual_coordinate_descent", "hinge", max_iter=1)
