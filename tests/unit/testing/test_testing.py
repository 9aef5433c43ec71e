"""The public batteries: every loss, kernel and solver passes, and what is wrong fails."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow.kernels import KERNELS, RBF, FunctionKernel, Linear, Precomputed, Sigmoid
from hedgerow.losses import LOSSES, REGRESSION_LOSSES, Hinge, SquaredHinge, regression_loss
from hedgerow.solvers import SOLVERS
from hedgerow.testing import check_kernel, check_loss, check_solver

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
    def second_derivative(self, residual, weight):
        return 2.0 * super().second_derivative(residual, weight)


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
        (Bent(), "second_derivative is the slope of alpha_at"),
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


ROWS = np.random.default_rng(0).uniform(size=(60, 4)).round(2)
ROWS[7] = ROWS[50]


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"precomputed"}))
def test_every_kernel_passes_its_battery(name, container):
    check_kernel(name, container(ROWS))


def test_tables_functions_objects_and_things_that_are_no_vectors_pass_too():
    check_kernel(Precomputed(), ROWS @ ROWS.T)
    check_kernel(lambda A, B: A @ B.T, ROWS)
    check_kernel(
        lambda A, B: [[float(len({*a} & {*b})) for b in B] for a in A], ["ab", "bc", "abc"]
    )
    check_kernel(FunctionKernel(lambda A, B: np.tanh(A @ B.T - 1.0), indefinite=True), ROWS)


class OneSided(Linear):
    def _values(self, A, B):
        return super()._values(A, B) + np.arange(B.shape[0])


class WrongDiagonal(RBF):
    def _diagonal(self, A):
        return np.full(A.shape[0], 2.0)


class WrongRows(Linear):
    def rows(self, X, indices):
        return super().rows(X, np.sort(indices))


class FewRows(Linear):
    def rows(self, X, indices):
        return super().rows(X, indices)[:1]


class SecretlyIndefinite(Sigmoid):
    is_positive_semidefinite = True


class SecretlyUnconditional(Sigmoid):
    is_conditionally_positive_semidefinite = True


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (OneSided(), r"not so: k\(x, z\) is k\(z, x\) \(rows 0 and 1: "),
        (WrongDiagonal(), r"not so: diagonal\(X\) is the diagonal .* \(rows 0 and 0: 2 and 1\)"),
        (WrongRows(), r"not so: rows\(X, indices\) are those rows of the table \(rows "),
        (FewRows(), r"rows\(X, indices\) has a row an index .* \(30 indices, 60 rows"),
        (
            SecretlyIndefinite(coef0=-1.0),
            r"no eigenvalue is negative \(one is -.* from rows \d+ and",
        ),
        (SecretlyUnconditional(coef0=-1.0), r"no eigenvalue is negative \(one is -"),
        (
            lambda A, B: np.full((len(A), len(B)), np.nan),
            r"every value is finite \(rows 0 and 0: nan\)",
        ),
        (
            lambda A, B: -(A @ B.T),
            r"no eigenvalue is negative .* say that the kernel is indefinite",
        ),
        # A function that sees which block it is in: rows differ with the block they come in.
        (lambda A, B: A @ B.T + (len(A) == 1), r"rows\(X, indices\) are those rows of the table"),
    ],
)
def test_a_wrong_kernel_fails_by_the_law_it_breaks(kernel, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_kernel(kernel, ROWS)
