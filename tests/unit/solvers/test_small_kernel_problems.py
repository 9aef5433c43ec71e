"""Up to 1000 rows every kernel machine ends certified, whatever the rank of its Gram matrix.

The kernels of these problems have few dimensions, linear and polynomial ones of few features: hardly any
coefficient is at a bound until the end, and steps by pairs of them would take millions.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pytest
from sklearn import svm as libsvm
from sklearn.datasets import make_classification

from hedgerow import SVC, SVDD, SVR, NotCertifiedWarning, NuSVC, NuSVR, OneClassSVM
from hedgerow.kernels import AdditiveChiSquared, Linear
from tests.reference import kernel_machines as judge

EXACT = 1e-6
"""The relative gap of an exact solution where the kernel values are large."""
GALLERY = {"kernel": "poly", "coef0": 1.0, "gamma": "auto", "C": 100.0}


def gallery(seed, n=40):
    """The data of scikit-learn's example of support vector regression."""
    rng = np.random.RandomState(seed)
    X = np.sort(5 * rng.rand(n, 1), axis=0)
    y = np.sin(X).ravel()
    y[::5] += 3 * (0.5 - rng.rand(len(y[::5])))
    return X, y


def assert_exact(model, gap=EXACT):
    certificate = model.certificate_
    assert certificate.is_certified, certificate
    assert abs(certificate.relative_gap) <= gap, certificate
    assert model.status_ == "optimal"


def objective(K, coef, intercept, y, C, epsilon):
    """The primal objective of a support vector regression, from its coefficients."""
    off = np.abs(y - K @ coef - intercept)
    return 0.5 * coef @ K @ coef + C * np.maximum(0.0, off - epsilon).sum()


def of_model(model, n):
    coef = np.zeros(n)
    coef[model.support_] = model.dual_coef_[0]
    return coef, float(model.intercept_[0])


# --------------------------------------------------------------------------- the gallery


@pytest.mark.parametrize(("degree", "n_seeds"), [(3, 40), (4, 12)])
def test_the_example_of_support_vector_regression_is_solved_for_every_seed(degree, n_seeds):
    for seed in range(n_seeds):
        X, y = gallery(seed)
        model = SVR(degree=degree, epsilon=0.1, **GALLERY).fit(X, y)
        assert_exact(model, 1e-7)
        theirs = libsvm.SVR(degree=degree, epsilon=0.1, max_iter=200_000, **GALLERY)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.fit(X, y)
        K = (X @ X.T + 1.0) ** degree
        limits = y, 100.0, 0.1
        ours = objective(K, *of_model(model, 40), *limits)
        assert ours <= objective(K, *of_model(theirs, 40), *limits) * (1 + 1e-9)


def test_the_example_with_nu_is_solved_for_every_seed():
    for seed in range(12):
        X, y = gallery(seed)
        model = NuSVR(degree=3, **GALLERY).fit(X, y)
        assert_exact(model, 1e-7)
        optimum = judge.nu_tube((X @ X.T + 1.0) ** 3, y, np.full(40, 100.0), 0.5).objective
        assert model.certificate_.primal <= optimum * (1 + 1e-6)


def test_it_takes_milliseconds():
    X, y = gallery(0)
    SVR(degree=3, **GALLERY).fit(X, y)
    began = time.process_time()
    SVR(degree=3, **GALLERY).fit(X, y)
    assert time.process_time() - began < 0.3


def test_five_hundred_rows_of_two_features():
    for seed in range(6):
        rng = np.random.RandomState(seed)
        X = 5 * rng.rand(500, 2)
        y = np.sin(X[:, 0]) * np.cos(X[:, 1])
        y[::5] += 3 * (0.5 - rng.rand(100))
        assert_exact(SVR(degree=3, epsilon=0.1, **GALLERY).fit(X, y), 1e-9)


def test_a_thousand_rows():
    rng = np.random.RandomState(0)
    X = 5 * rng.rand(1000, 2)
    y = X[:, 0] * X[:, 1] + rng.normal(size=1000) > 6
    assert_exact(SVC(kernel="poly", degree=3, coef0=1.0, gamma="auto", C=1e3).fit(X, y), 1e-9)


def test_a_tight_tolerance_is_met():
    X, y = gallery(3)
    model = SVR(degree=2, epsilon=0.1, tol=1e-8, **GALLERY).fit(X, y)
    assert_exact(model, 1e-9)
    assert model.certificate_.kkt_violation <= 1e-8


# --------------------------------------------------------------------------- every machine

MACHINES = {
    "SVC": lambda C, kernel: SVC(C=C, **kernel),
    "NuSVC": lambda _, kernel: NuSVC(nu=0.5, **kernel),
    "SVR": lambda C, kernel: SVR(C=C, epsilon=0.05, **kernel),
    "NuSVR": lambda C, kernel: NuSVR(C=C, nu=0.4, **kernel),
    "OneClassSVM": lambda _, kernel: OneClassSVM(nu=0.3, **kernel),
    "SVDD": lambda _, kernel: SVDD(C=0.05, **kernel),
}


def data(n_features, seed, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) + 0.5
    z = np.tanh(X[:, 0]) + 0.3 * rng.normal(size=n)
    return X, z


def fitted(name, C, kernel, X, z, sample_weight=None):
    targets = {"SVC": z > 0, "NuSVC": z > 0, "SVR": z, "NuSVR": z}
    return MACHINES[name](C, kernel).fit(X, targets.get(name), sample_weight=sample_weight)


@pytest.mark.parametrize("name", list(MACHINES))
@pytest.mark.parametrize("n_features", [1, 2, 6])
@pytest.mark.parametrize(
    ("degree", "coef0"), [(1, 0.0), (2, 0.0), (2, 1.0), (3, 1.0), (5, 0.0), (5, 1.0)]
)
def test_linear_and_polynomial_kernels_of_few_features(name, n_features, degree, coef0):
    X, z = data(n_features, seed=degree)
    kernel = {"kernel": "poly", "degree": degree, "coef0": coef0, "gamma": 0.5}
    if degree == 1:
        kernel = {"kernel": "linear"}
    for C in (1e-3, 1.0, 1e3):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Not certified: the margin rho is 0")
            model = fitted(name, C, kernel, X, z)
        if model.status_ == "no_margin":  # what nu leaves of the classes overlaps
            assert name == "NuSVC"
            continue
        if name == "OneClassSVM" and model.certificate_.primal > -1e-9:
            assert (
                model.certificate_.kkt_violation <= 1e-9
            )  # 0 is among the points: the optimum is 0
            continue
        assert_exact(model, 1e-4)


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVR", "SVDD"])
@pytest.mark.parametrize("change", ["shifted", "scaled", "duplicates", "weights", "large C"])
def test_hard_data(name, change):
    X, z = data(2, seed=9)
    weight, C = None, 10.0
    if change == "shifted":
        X = X + 100.0
    elif change == "scaled":
        X = X * 1e3
    elif change == "duplicates":
        X, z = np.repeat(X[:40], 2, axis=0), np.repeat(z[:40], 2)
    elif change == "weights":
        weight = np.random.default_rng(0).uniform(0.01, 10.0, len(z))
        weight[::7] = 0.0
    else:
        C = 1e6
    quadratic = {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 1.0}
    kernel = {"kernel": "linear"} if change == "scaled" else quadratic
    assert_exact(fitted(name, C, kernel, X, z, weight), 1e-3)


# --------------------------------------------------------------------------- without a margin


@pytest.mark.parametrize("nu", [0.1, 0.2, 0.3])
def test_a_machine_without_a_margin_says_so_and_predicts_all_the_same(nu):
    X, y = make_classification(200, 6, random_state=1)
    with pytest.warns(NotCertifiedWarning, match=r"margin rho is 0.*larger nu or another kernel"):
        model = NuSVC(nu=nu, kernel="linear").fit(X, y)
    assert model.status_ == "no_margin"
    assert not model.certificate_.is_certified
    assert "margin rho is 0" in str(model.certificate_)
    assert model.score(X, y) > 0.85
    assert np.abs(model.dual_coef_).sum() < 1e5
    scores = X @ X[model.support_].T @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-10)


def test_a_machine_with_a_margin_is_certified_and_as_before():
    X, y = make_classification(200, 6, random_state=1)
    model = NuSVC(nu=0.4, kernel="linear").fit(X, y)
    assert_exact(model)
    theirs = libsvm.NuSVC(nu=0.4, kernel="linear").fit(X, y)
    assert model.score(X, y) == theirs.score(X, y)


# --------------------------------------------------------------------------- conditionally positive kernels


def histograms(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", [AdditiveChiSquared(), 2 * AdditiveChiSquared() + Linear()])
@pytest.mark.parametrize(
    ("model", "judged"),
    [
        (
            SVC(C=10.0),
            lambda K, z: judge.classes(K, np.where(z > 0.7, 1.0, -1.0), np.full(90, 10.0)),
        ),
        (SVR(C=10.0, epsilon=0.05), lambda K, z: judge.tube(K, z, np.full(90, 10.0), 0.05)),
        (NuSVR(C=10.0), lambda K, z: judge.nu_tube(K, z, np.full(90, 10.0), 0.5)),
        (
            NuSVC(nu=0.6),
            lambda K, z: judge.nu_classes(K, np.where(z > 0.7, 1.0, -1.0), np.ones(90), 0.6),
        ),
        (SVDD(C=0.05), lambda K, _: judge.ball(K, np.full(90, 0.05))),
    ],
)
def test_a_conditionally_positive_kernel_is_certified_where_that_is_enough(model, judged, kernel):
    X, z = histograms()
    targets = None if isinstance(model, SVDD) else z if "SVR" in type(model).__name__ else z > 0.7
    model.set_params(kernel=kernel).fit(X, targets)
    assert_exact(model, 1e-8)
    K = kernel(X)
    means = K.mean(axis=0)  # the same machine, of points seen from their mean
    optimum = judged(K - means[:, None] - means + means.mean(), z).objective
    assert model.certificate_.primal == pytest.approx(optimum, rel=1e-5)


def test_a_conditionally_positive_kernel_separates_histograms_with_a_hard_margin():
    X, _ = histograms()
    model = SVC(kernel=AdditiveChiSquared(), C=np.inf).fit(X, X[:, 0] > 0.5)
    assert model.certificate_.is_certified
    assert model.score(X, X[:, 0] > 0.5) == 1.0


@pytest.mark.parametrize("kernel", [AdditiveChiSquared(), AdditiveChiSquared() * Linear()])
def test_where_it_is_not_enough_there_is_no_certificate(kernel):
    X, z = histograms()
    assert not OneClassSVM(kernel=kernel, nu=0.3).fit(X).certificate_.is_certified
    product = AdditiveChiSquared() * Linear()
    assert not SVR(kernel=product).fit(X, z).certificate_.is_certified


# --------------------------------------------------------------------------- advice


@pytest.mark.parametrize("help_", [{"scale": "standard", "C": 10.0}, {"C": 0.01}])
def test_the_advice_for_a_fit_that_does_not_end_helps(help_):
    """The same problem of too many rows for an interior point, as it is and as the warning advises."""
    rng = np.random.RandomState(0)
    X = 5 * rng.rand(1100, 1)
    y = np.sin(X[:, 0]) + 0.5 * rng.normal(size=1100)
    model = SVR(degree=3, epsilon=0.1, max_iter=500_000, **GALLERY)
    with pytest.warns(NotCertifiedWarning, match="scale the features.*or lower C"):
        model.fit(X, y)
    assert_exact(model.set_params(**help_).fit(X, y), 1e-3)


def test_a_linear_kernel_has_its_own_advice():
    X, z = data(2, seed=1)
    with pytest.warns(NotCertifiedWarning, match="or use LinearSVR"):
        SVR(kernel="linear", C=1e6, max_iter=1).fit(X, z)
