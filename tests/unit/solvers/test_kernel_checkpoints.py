"""Kernel machines that were broken off go on as if nothing had happened."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import hedgerow
from hedgerow import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from hedgerow._base.fingerprint import fingerprint
from hedgerow.monitor import keeping_in
from hedgerow.solvers.dual_qp import decomposition
from hedgerow.solvers.dual_qp import run as kernel_run
from hedgerow.solvers.dual_qp.run import KernelSettings
from tests.memory_store import CrashError, Memory

RNG = np.random.default_rng(8)
X = RNG.normal(size=(150, 3))
NOISE = RNG.normal(size=150)
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * NOISE > 0, 1, -1)
CLASSES = np.digitize(X[:, 0] + 0.5 * NOISE, [-0.5, 0.5])
VALUES = np.sin(X[:, 0]) + 0.2 * NOISE
CLOSE = {"tol": 1e-4, "gamma": 0.5, "n_jobs": 1}


def products(A, B):
    return np.sum((A[:, None, :] * B[None, :, :]), axis=2) + 1.0


class ProductRows:
    """A kernel that computes whole rows."""

    def rows(self, X, indices):
        return products(X[indices], X)


def uneven(X):
    """Kernel values of which a pair has two that differ in their last bits, as matrix products may."""
    values = np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))
    return values * (1.0 + 1e-7 * np.triu(np.ones_like(values)))


MACHINES = {
    "two classes": (SVC(C=20.0, **CLOSE), SIGNS),
    "large C": (SVC(C=1e4, gamma=5.0, n_jobs=1), SIGNS),
    "squared": (SVC(C=20.0, loss="squared_hinge", **CLOSE), SIGNS),
    "no intercept": (SVC(C=20.0, fit_intercept=False, **CLOSE), SIGNS),
    "hard margin": (SVC(C=np.inf, tol=1e-4, gamma=5.0, n_jobs=1), SIGNS),
    "hard margin, no intercept": (
        SVC(C=np.inf, fit_intercept=False, tol=1e-4, gamma=5.0, n_jobs=1),
        SIGNS,
    ),
    "pairs": (SVC(C=20.0, **CLOSE), CLASSES),
    "rest": (SVC(C=20.0, multi_class="ovr", **CLOSE), CLASSES),
    "all at once": (SVC(C=5.0, multi_class="crammer_singer", **CLOSE), CLASSES),
    "function": (SVC(kernel=products, C=0.1, tol=1e-4, n_jobs=1), SIGNS),
    "rows": (SVC(kernel=ProductRows(), C=0.1, tol=1e-4, n_jobs=1), SIGNS),
    "values": (SVR(C=20.0, **CLOSE), VALUES),
    "nu values": (NuSVR(C=20.0, **CLOSE), VALUES),
    "nu classes": (NuSVC(nu=0.3, **CLOSE), SIGNS),
    "one class": (OneClassSVM(nu=0.3, **CLOSE), None),
    "ball": (SVDD(C=0.05, **CLOSE), None),
}


@pytest.fixture
def small_steps(monkeypatch):
    """Let small problems grow and report as large ones do, and end where the way led them."""
    monkeypatch.setattr(kernel_run, "ROUNDS", 2)
    monkeypatch.setattr(decomposition, "ALL_AT_ONCE", 50)
    monkeypatch.setattr(decomposition, "FIRST_POINTS", 30)
    monkeypatch.setattr(kernel_run, "SMALL", 0)
    monkeypatch.setattr(decomposition, "SMALL", 0)
    few = partial(KernelSettings, working_set=32)
    monkeypatch.setattr("hedgerow.svm._machine.KernelSettings", few)


def bits(model, y, store=None, rows=X):
    """Return the fingerprint of all that a fit leaves."""
    model = clone(model)
    if store is None:
        model.fit(rows, y)
    else:
        with keeping_in(store):
            model.fit(rows, y)
    return fingerprint({name: part for name, part in vars(model).items() if name.endswith("_")})


def check_any_end(model, y, rows=X):
    """Break a fit off after the first report, one half-way and the last, and after each result."""
    through = Memory()
    expected = bits(model, y, through, rows)
    assert expected == bits(model, y, None, rows)
    assert through.n_states >= 3
    ends = {1, through.n_states // 2, through.n_states}
    stores = [Memory(crash_after=n) for n in ends]
    stores += [Memory(crash_after_results=n + 1) for n in range(through.n_results)]
    for store in stores:
        with pytest.raises(CrashError):
            bits(model, y, store, rows)
        store.crash_after = store.crash_after_results = None
        assert bits(model, y, store, rows) == expected
        assert store.n_states == through.n_states  # it did not begin anew


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("name", MACHINES)
def test_a_kernel_machine_broken_off_after_any_report_ends_with_the_same_bits(name):
    check_any_end(*MACHINES[name])


@pytest.mark.usefixtures("small_steps")
def test_given_values_that_are_not_quite_symmetric_lead_to_the_same_bits():
    check_any_end(SVC(kernel="precomputed", C=20.0, tol=1e-5, n_jobs=1), SIGNS, uneven(X))


@pytest.mark.usefixtures("small_steps")
def test_the_way_a_kernel_machine_took_shows_in_its_bits():
    model, y = MACHINES["two classes"]
    assert bits(model, y) != bits(clone(model).set_params(shrinking=False), y)


def test_a_finished_kernel_machine_is_not_solved_again():
    store = Memory()
    model, y = MACHINES["pairs"]
    expected = bits(model, y, store)
    with hedgerow.watch(lambda _: pytest.fail("it was done already")):
        assert bits(model, y, store) == expected


def test_other_kernels_and_other_rows_begin_anew_but_not_other_resources():
    store = Memory()
    bits(SVC(gamma=0.5, n_jobs=1), SIGNS, store)
    bits(SVC(gamma=0.5, n_jobs=2, cache_size=50), SIGNS, store)
    assert store.n_results == 1
    changed = X.copy()
    changed[17, 1] = np.nextafter(changed[17, 1], 1)
    bits(SVC(gamma=0.5), SIGNS, store, changed)
    bits(SVC(gamma=0.25), SIGNS, store)
    bits(SVC(kernel="laplacian", gamma=0.5), SIGNS, store)
    bits(SVC(gamma=0.5, C=2.0), SIGNS, store)
    bits(SVC(gamma=0.5, tol=1e-4), SIGNS, store)
    assert store.n_results == 6


def crashing_after(n_reports):
    """Return a listener that ends the program after so many reports."""
    left = iter(range(n_reports))

    def hear(_):
        if next(left, None) is None:
            raise CrashError

    return hear


@pytest.mark.usefixtures("small_steps")
def test_a_kernel_machine_goes_on_from_a_file(tmp_path):
    model, y = MACHINES["rest"]
    through, rest = [], []
    with hedgerow.watch(through.append):
        expected = bits(model, y)
    path, half = tmp_path / "fit.checkpoint", len(through) // 2
    with (
        pytest.raises(CrashError),
        hedgerow.checkpoint(path, every=0),
        hedgerow.watch(crashing_after(half)),
    ):
        bits(model, y)
    with hedgerow.checkpoint(path), hedgerow.watch(rest.append):
        assert bits(model, y) == expected
    assert len(rest) < len(through)  # how often a state is written depends on how long that takes
