"""One pass over the rows gives residuals, alphas, bends and sums as their formulas read."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from hedgerow import _core
from tests.reference import loss_pass as reference
from tests.reference.loss_pass import Shape

pytestmark = pytest.mark.sanitize

SQUARED_HINGE = Shape("one_sided", steepness=2.0, top=math.inf)
HINGE = Shape("one_sided", steepness=0.7)
SQUARED_TUBE = Shape("two_sided", steepness=2.0, top=math.inf, epsilon=0.3)
TUBE = Shape("two_sided", steepness=1.3, epsilon=0.3)
LOGISTIC = Shape("logistic")
SHAPES = [SQUARED_HINGE, HINGE, SQUARED_TUBE, TUBE, LOGISTIC]
FORMATS = ["dense32", "dense64", "csr32-32", "csr32-64", "csr64-32", "csr64-64"]
NAMES = ("balance", "smooth", "value", "gain")

shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
formats = pytest.mark.parametrize("form", FORMATS)


def core_shape(shape):
    if shape.kind == "logistic":
        return _core.loss.LossShape.logistic()
    bounded = shape.top == 1.0
    if shape.kind == "one_sided":
        return _core.loss.LossShape.one_sided(shape.steepness, bounded)
    return _core.loss.LossShape.two_sided(shape.epsilon, shape.steepness, bounded)


def core_matrix(X, form):
    if form.startswith("dense"):
        return _core.data.Matrix.dense(np.ascontiguousarray(X, dtype=f"f{int(form[5:]) // 8}"))
    values, indices = (int(bits) // 8 for bits in form[3:].split("-"))
    rows = sp.csr_array(X)
    return _core.data.Matrix.csr(
        rows.data.astype(f"f{values}"),
        rows.indices.astype(f"i{indices}"),
        rows.indptr.astype(f"i{indices}"),
        X.shape[1],
    )


class Rows:
    """Random rows, a few without weight and a few empty, all of them float32 numbers."""

    def __init__(self, n, d, shape, *, shifted=False, seed=0):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
        X[::7] = 0.0
        self.X = X.astype(np.float32).astype(np.float64)
        self.w, self.intercept = rng.normal(size=d), 0.25
        self.y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        self.target = rng.normal(size=n)
        self.weight = rng.uniform(0.1, 2.0, n) * (np.arange(n) % 5 != 3)
        self.shift = rng.normal(size=n) * self.weight if shifted else None
        self.shape = shape

    @property
    def known_shift(self):
        return np.zeros_like(self.y) if self.shift is None else self.shift

    def pass_over(self, form="dense64", n_threads=2):
        """Return residual, alpha, bend, combined and the sums."""
        residual, alpha, bend = (np.full(len(self.y), np.nan) for _ in range(3))
        combined, sums = _core.loss.loss_pass(
            core_matrix(self.X, form),
            core_shape(self.shape),
            self.y,
            self.target,
            self.weight,
            self.shift,
            self.w,
            self.intercept,
            residual,
            alpha,
            bend,
            n_threads,
        )
        return residual, alpha, bend, combined, sums

    def at(self, residual, n_threads=2):
        """Return alpha, bend and the sums at these residuals."""
        alpha, bend = (np.full(len(self.y), np.nan) for _ in range(2))
        sums = _core.loss.loss_at(
            core_shape(self.shape),
            self.y,
            self.target,
            self.weight,
            self.shift,
            residual,
            alpha,
            bend,
            n_threads,
        )
        return alpha, bend, sums

    def judge(self, residual, alpha, bend, sums):
        """Compare with the reference at the same residuals.

        Each row's figures are a dozen operations, and a sum errs by the rounding of at most n
        terms: both are well below 1e-12 of the magnitudes involved.
        """
        known = (self.y, self.target, self.weight, self.known_shift)
        expected = reference.at_residuals(self.shape, *known, residual)
        assert_allclose(alpha, expected[0], rtol=1e-13, atol=1e-15)
        assert_allclose(bend, expected[1], rtol=1e-13, atol=0)
        size = 1.0 + np.abs(self.known_shift)
        scale = np.sum(size * (1.0 + np.abs(self.target)) * (1.0 + np.abs(residual)) ** 2)
        for name in NAMES:
            assert_allclose(getattr(sums, name), expected[2][name], rtol=0, atol=1e-12 * scale)


@formats
@shapes
@pytest.mark.parametrize("shifted", [False, True])
def test_a_pass_is_what_the_formulas_say(shape, form, shifted):
    for n, d in ((1, 1), (3, 2), (257, 17), (2300, 33)):
        rows = Rows(n, d, shape, shifted=shifted and shape is not LOGISTIC)
        residual, alpha, bend, combined, sums = rows.pass_over(form)
        exact = reference.residuals(rows.X, rows.y, rows.target, rows.w, rows.intercept)
        assert_allclose(residual, exact, rtol=0, atol=1e-13)
        rows.judge(residual, alpha, bend, sums)
        # 2300 terms of a few units at most, summed in another order.
        assert_allclose(combined, rows.X.T @ (alpha * rows.y), rtol=0, atol=1e-11)


@shapes
def test_all_formats_give_the_same_figures(shape):
    rows = Rows(500, 23, shape)
    results = [rows.pass_over(form) for form in FORMATS]
    for residual, alpha, bend, combined, sums in results[1:]:
        for got, expected in zip((residual, alpha, bend, combined), results[0], strict=False):
            assert_allclose(got, expected, rtol=0, atol=1e-11)
        for name in NAMES:
            assert_allclose(getattr(sums, name), getattr(results[0][4], name), rtol=1e-11)


@formats
@shapes
def test_any_number_of_threads_gives_the_same_bits(shape, form):
    rows = Rows(9000, 11, shape)
    one = rows.pass_over(form, n_threads=1)
    for n_threads in (2, 3):
        other = rows.pass_over(form, n_threads)
        for a, b in zip(one[:4], other[:4], strict=True):
            assert_array_equal(a, b)
        assert [getattr(other[4], name) for name in NAMES] == [
            getattr(one[4], name) for name in NAMES
        ]


@shapes
def test_given_residuals_need_no_data(shape):
    rows = Rows(20_000, 5, shape)
    residual, alpha, bend, _, sums = rows.pass_over()
    again = rows.at(residual)
    assert_array_equal(again[0], alpha)
    assert_array_equal(again[1], bend)
    for name in NAMES:
        assert getattr(again[2], name) == pytest.approx(getattr(sums, name), rel=1e-11)
        assert getattr(again[2], name) == getattr(rows.at(residual, 1)[2], name)


@shapes
@pytest.mark.parametrize("shifted", [False, True])
def test_the_loss_along_a_line_has_the_slopes_it_says(shape, shifted):
    rows = Rows(20_000, 3, shape, shifted=shifted and shape is not LOGISTIC)
    residual = rows.pass_over()[0]
    change = np.random.default_rng(1).normal(size=len(residual))
    for step in (0.0, 0.5, -2.0):
        known = (core_shape(shape), rows.weight, rows.shift, residual, change, step)
        value, slope, bend = _core.loss.loss_along(*known, 2)
        alpha, bends, sums = rows.at(residual + step * change)
        scale = np.sum(alpha**2 + bends + change**2)
        assert value == pytest.approx(sums.smooth, rel=1e-11)
        assert slope == pytest.approx(alpha @ change, abs=1e-13 * scale)
        assert bend == pytest.approx(bends @ change**2, rel=1e-11)
        assert (value, slope, bend) == _core.loss.loss_along(*known, 1)


@shapes
def test_alpha_is_the_slope_of_the_smoothed_loss_and_bend_that_of_alpha(shape):
    rows = Rows(400, 3, shape, shifted=shape is not LOGISTIC)
    residual = rows.pass_over()[0]
    h = 1e-5
    for i in range(0, 400, 11):
        nudge = np.where(np.arange(400) == i, h, 0.0)
        alpha, bend, _ = rows.at(residual)
        above, _, sums_above = rows.at(residual + nudge)
        below, _, sums_below = rows.at(residual - nudge)
        # Of a sum of about 400 a difference over 2e-5 keeps 1e-8.
        assert (sums_above.smooth - sums_below.smooth) / (2 * h) == pytest.approx(
            alpha[i], abs=1e-6
        )
        moved = (above[i] - below[i]) / (2 * h)
        assert moved == pytest.approx(bend[i], abs=1e-6)


@pytest.mark.parametrize("shape", [SQUARED_HINGE, SQUARED_TUBE, LOGISTIC], ids=str)
def test_the_smoothed_loss_is_the_loss_and_alpha_attains_its_conjugate(shape):
    rows = Rows(1000, 7, shape)
    residual, alpha, _, _, sums = rows.pass_over()
    assert sums.smooth == pytest.approx(sums.value, rel=1e-12)
    assert sums.value - sums.gain == pytest.approx(alpha @ (residual - rows.target), rel=1e-11)


@pytest.mark.parametrize(
    ("shape", "residual", "expected"),
    [
        (HINGE, [-1.0, 0.0, 0.5, 1.0, 2.0], [0, 0, 0.5, 1, 1]),
        (SQUARED_HINGE, [-1.0, 0.0, 0.5, 1.0, 2.0], [0, 0, 1, 2, 4]),
        (TUBE, [-2.25, -1.25, -0.75, -0.25, 0.0, 0.25, 1.25], [-1, -1, -0.5, 0, 0, 0, 1]),
        (SQUARED_TUBE, [-2.25, -0.75, -0.25, 0.25, 1.25], [-4, -1, 0, 0, 2]),
    ],
    ids=str,
)
def test_alpha_bends_strictly_between_its_bounds_alone(shape, residual, expected):
    exact = Shape(shape.kind, 1.0 if shape.top == 1.0 else 2.0, shape.top, 0.25)
    rows = Rows(len(residual), 1, exact)
    rows.weight = np.ones(len(residual))
    alpha, bend, _ = rows.at(np.array(residual))
    assert alpha.tolist() == expected
    moving = [0.0 < abs(a) < exact.top for a in expected]
    assert bend.tolist() == [exact.steepness * moves for moves in moving]


def test_the_logistic_loss_keeps_its_digits_wherever_the_residual_is():
    sizes = [0.0, 1e-300, 1e-9, 0.5, 1.0, 36.0, 37.5, 700.0, 709.9, 745.2, 800.0, 1e4]
    for r in (sign * size for size in sizes for sign in (1.0, -1.0)):
        rows = Rows(1, 1, LOGISTIC)
        rows.weight, rows.target = np.full(1, 1.5), np.zeros(1)
        alpha, bend, sums = rows.at(np.array([r]))
        expected = reference.logistic_row(r, 1.5)
        got = (alpha[0], bend[0], sums.smooth, sums.value, -sums.gain)
        # The smallest numbers have few digits: 5e-324 is the last one.
        assert_allclose(got, expected, rtol=2e-15, atol=2e-323)


@shapes
def test_rows_without_weight_add_nothing(shape):
    rows = Rows(50, 4, shape, shifted=shape is not LOGISTIC)
    rows.weight = np.zeros(50)
    _, alpha, bend, combined, sums = rows.pass_over()
    assert not alpha.any()
    assert not bend.any()
    assert not combined.any()
    assert [getattr(sums, name) for name in NAMES] == [0.0] * 4


@formats
@shapes
def test_tables_without_rows_or_columns_are_passed_over(shape, form):
    for n, d in ((0, 0), (0, 3), (1, 0), (9, 0)):
        rows = Rows(n, d, shape)
        residual, alpha, bend, combined, sums = rows.pass_over(form)
        assert combined.shape == (d,)
        assert_allclose(residual, rows.target - rows.y * rows.intercept, rtol=1e-15)
        rows.judge(residual, alpha, bend, sums)


def test_a_very_wide_sparse_table_gives_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    rows = Rows(4100, 1, HINGE)
    rows.X = np.zeros((4100, 3000))
    rows.X[np.arange(4100), rng.integers(0, 3000, 4100)] = 1.0
    rows.w = rng.normal(size=3000)
    one, two = rows.pass_over("csr64-32", 1), rows.pass_over("csr64-32", 2)
    assert_array_equal(one[3], two[3])
    assert_allclose(one[3], rows.X.T @ (one[1] * rows.y), atol=1e-13)


def test_the_shift_may_be_the_alpha_that_is_written():
    rows = Rows(1000, 6, HINGE, shifted=True)
    expected = rows.pass_over()
    residual, alpha, bend = np.empty(1000), rows.shift.copy(), np.empty(1000)
    _, sums = _core.loss.loss_pass(
        core_matrix(rows.X, "dense64"),
        core_shape(HINGE),
        rows.y,
        rows.target,
        rows.weight,
        alpha,
        rows.w,
        rows.intercept,
        residual,
        alpha,
        bend,
        2,
    )
    assert_array_equal(alpha, expected[1])
    assert sums.smooth == expected[4].smooth


@pytest.mark.parametrize("short", ["y", "target", "weight", "shift", "w"])
def test_an_array_of_another_length_is_refused_by_name(short):
    rows = Rows(6, 4, HINGE, shifted=True)
    setattr(rows, short, getattr(rows, short)[:-1].copy())
    with pytest.raises(ValueError, match=f"{short} has "):
        rows.pass_over()


def test_a_pass_stops_when_it_is_asked_to():
    token = _core.system.StopToken(None, False)
    token.stop()
    before = _core.system.exchange_stop_token(token)
    try:
        with pytest.raises(_core.system.Stopped):
            Rows(10, 2, HINGE).pass_over()
    finally:
        _core.system.exchange_stop_token(before)
