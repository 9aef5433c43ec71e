"""Kernel values keep their digits, and certificates know how many there are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import (
    RBF,
    SVC,
    SVDD,
    SVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    _core,
)
from hedgerow.data.rows import matrix_of
from hedgerow.errors import DataError
from hedgerow.kernels import (
    AdditiveChiSquared,
    ChiSquared,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Polynomial,
    Wavelet,
)
from hedgerow.kernels.gram import MatrixGram, core_kernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(np.abs(X[:, 0]) < 0.5, 1, -1)
Z = np.sin(2 * X[:, 0]) + X[:, 1]
INVARIANT = [RBF(gamma=1.0), Laplacian(gamma=1.0), Wavelet(dilation=2.0), 0.5 * RBF(gamma=1.0)]
MACHINES = {
    "svc": SVC(C=100.0),
    "squared": SVC(C=10.0, loss="squared_hinge"),
    "hard": SVC(C=np.inf),
    "nu_svc": NuSVC(nu=0.3),
    "svr": SVR(C=10.0),
    "nu_svr": NuSVR(nu=0.3, C=10.0),
    "one_class": OneClassSVM(nu=0.2),
    "svdd": SVDD(nu=0.2),
    "all_classes": SVC(C=10.0, multi_class="crammer_singer"),
}


def targets_of(name):
    if name in ("one_class", "svdd"):
        return None
    if name == "all_classes":
        return np.digitize(X[:, 0], [-0.5, 0.5])
    return Z if "svr" in name else Y


def fitted(name, kernel, rows):
    machine = MACHINES[name]
    return machine.__class__(**machine.get_params() | {"kernel": kernel}).fit(
        rows, targets_of(name)
    )


# ------------------------------------------------------------------------------------- shifts


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("shift", [1e5, 1e7, 1e8])
def test_a_shift_of_all_rows_changes_nothing_but_what_the_rows_themselves_lose(name, shift):
    moved = X + shift
    kept = moved - shift  # the rows as float64 can hold them so far out
    for kernel in (RBF(gamma=1.0), Laplacian(gamma=1.0)):
        near, far = fitted(name, kernel, kept), fitted(name, kernel, moved)
        assert near.certificate_.is_certified
        assert far.certificate_.is_certified
        assert far.certificate_.primal == pytest.approx(near.certificate_.primal, rel=2e-3)
        if targets_of(name) is not None:
            np.testing.assert_array_equal(np.sign(far.predict(moved)), np.sign(near.predict(kept)))


def test_rows_that_differ_by_the_last_bits_are_told_apart():
    rows = 1e8 + np.arange(20.0)[:, None] * 2.0**-20
    y = np.arange(20) % 2
    model = SVC(kernel=RBF(gamma=2.0**38), C=np.inf).fit(rows, y)
    assert model.certificate_.is_certified
    assert model.score(rows, y) == 1.0


@pytest.mark.parametrize("kernel", INVARIANT, ids=str)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_values_far_from_the_origin_are_those_of_differences(kernel, container):
    far = np.concatenate([X + 1e8, X])  # centring cannot help both
    wide = far.astype(np.longdouble)
    exact = kernel(np.zeros((1, 2)), (wide[:1] - wide).astype(np.float64))[0]
    values = MatrixGram(core_kernel(kernel.core_form()), matrix_of(container(far))).sums(
        np.eye(len(far))[0]
    )
    np.testing.assert_allclose(values, exact, rtol=1e-13, atol=1e-300)


def test_an_outlier_costs_the_others_no_digits():
    rows = np.concatenate([X, [[1e9, -1e9]]])
    y = np.append(Y, 1)
    model = SVC(kernel=RBF(gamma=1.0), C=100.0).fit(rows, y)
    alone = SVC(kernel=RBF(gamma=1.0), C=100.0).fit(X, Y)
    assert model.certificate_.is_certified
    assert np.array_equal(model.predict(X), alone.predict(X))


# ------------------------------------------------------------------------------------- bounds

KERNELS = [
    Linear(),
    Polynomial(degree=3, gamma=0.7, coef0=1.0),
    RBF(gamma=0.3),
    Laplacian(gamma=0.3),
    Cosine(),
    Wavelet(dilation=1.5),
    ChiSquared(gamma=0.5),
    AdditiveChiSquared(),
    HistogramIntersection(),
    RBF(gamma=0.3) + 2.0 * Polynomial(degree=2, gamma=1.0, coef0=1.0),
    Laplacian(gamma=0.3) * Linear(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("n_features", [1, 7, 300])
def test_errors_of_sums_are_within_their_bounds(kernel, scale, n_features):
    rng = np.random.default_rng(1)
    rows = scale * (np.abs(rng.normal(size=(30, n_features))) + 3.0 * rng.integers(0, 3, (30, 1)))
    coef = rng.normal(size=30)
    gram = MatrixGram(core_kernel(kernel.core_form()), matrix_of(rows))
    exact = coef.astype(np.longdouble) @ long_values(kernel, rows.astype(np.longdouble))
    off = np.abs(gram.sums(coef) - exact).astype(np.float64)
    assert np.all(off <= gram.errors(coef))
    # A bound that is a thousand times too large for ordinary rows would certify nothing.
    size = np.max(np.abs(exact)).astype(np.float64)
    assert np.max(gram.errors(coef)) <= 1e-9 * max(size, np.max(np.abs(gram.diagonal)), 1e-30)


def long_values(kernel, rows):
    """Return the kernel values in extended precision."""
    name = type(kernel).__name__
    if name in ("KernelSum", "KernelProduct"):
        left, right = long_values(kernel.left, rows), long_values(kernel.right, rows)
        return left + right if name == "KernelSum" else left * right
    if name == "ScaledKernel":
        return np.longdouble(kernel.factor) * long_values(kernel.kernel, rows)
    a, b = rows[:, None, :], rows[None, :, :]
    dots, gamma = np.sum(a * b, axis=2), np.longdouble(getattr(kernel, "gamma", 1.0))
    if name == "Wavelet":
        u = (a - b) / np.longdouble(kernel.dilation)
        return np.prod(np.cos(np.longdouble(1.75) * u) * np.exp(-u * u / 2), axis=2)
    chi2 = -np.sum((a - b) ** 2 / (a + b), axis=2)
    norms = np.sqrt(np.diagonal(dots))
    return {
        "Linear": lambda: dots,
        "Polynomial": lambda: (gamma * dots + np.longdouble(kernel.coef0)) ** kernel.degree,
        "RBF": lambda: np.exp(-gamma * np.sum((a - b) ** 2, axis=2)),
        "Laplacian": lambda: np.exp(-gamma * np.sum(np.abs(a - b), axis=2)),
        "Cosine": lambda: dots / np.outer(norms, norms),
        "ChiSquared": lambda: np.exp(gamma * chi2),
        "AdditiveChiSquared": lambda: chi2,
        "HistogramIntersection": lambda: np.sum(np.minimum(a, b), axis=2),
    }[name]()


def test_a_linear_kernel_far_from_the_origin_says_that_it_cannot_be_certified():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(kernel="linear", C=100.0).fit(X + 1e8, Y)
    assert not model.certificate_.is_certified
    assert "rounding alone" in str(model.certificate_)


def test_a_wavelet_of_huge_differences_is_0():
    kernel = core_kernel(Wavelet(dilation=1.0).core_form())
    rows = matrix_of(np.array([[0.0], [1e30], [1e99]]))
    everyone = np.arange(3)
    np.testing.assert_array_equal(
        _core.kernel.kernel_block(kernel, rows, rows, everyone, everyone, 1), np.eye(3)
    )


# ------------------------------------------------------------------------------------- scales


@pytest.mark.parametrize("size", [1e-8, 1e-4, 1.0, 1e4, 1e8])
def test_the_size_of_the_targets_does_not_matter(size):
    t = np.linspace(0, 1, 50)[:, None]
    target = size * np.sin(6 * t[:, 0])
    model = SVR(gamma=1.0, C=1e-3 * size, epsilon=0.01 * size).fit(t, target)
    wide = SVR(gamma=1.0, C=1e-3 * size, epsilon=0.01 * size, tol=1e-6).fit(t, target)
    assert model.certificate_.is_certified
    assert model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.primal == pytest.approx(wide.certificate_.primal, rel=1e-3)


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_one_class_machine_keeps_nu_whatever_the_scale(size, kernel):
    rows = size * (np.random.default_rng(0).normal(size=(50, 2)) + 5)
    model = OneClassSVM(nu=0.2, kernel=kernel, gamma=1 / size**2, degree=2).fit(rows)
    assert model.certificate_.is_certified
    assert np.mean(model.predict(rows) < 0) <= 0.2 + 1e-9


def test_the_primal_of_the_certificate_is_that_of_the_returned_model():
    rows = np.random.default_rng(3).normal(size=(60, 3))
    target = rows[:, 0] ** 2
    model = SVR(gamma=0.5, C=3.0, epsilon=0.05).fit(rows, target)
    values = RBF(gamma=0.5)(rows[model.support_])
    beta = model.dual_coef_[0]
    losses = np.maximum(0.0, np.abs(target - model.predict(rows)) - 0.05)
    primal = 0.5 * beta @ values @ beta + 3.0 * np.sum(losses)
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)


@pytest.mark.parametrize("kernel", [ChiSquared(), AdditiveChiSquared(), HistogramIntersection()])
def test_a_kernel_of_histograms_refuses_negative_features_also_those_that_scaling_made(kernel):
    counts = np.abs(X)
    assert SVC(kernel=kernel).fit(counts, Y).certificate_.is_certified
    for machine, rows in ((SVC(kernel=kernel), X), (SVC(kernel=kernel, scale="standard"), counts)):
        with pytest.raises(DataError, match="not negative"):
            machine.fit(rows, Y)
