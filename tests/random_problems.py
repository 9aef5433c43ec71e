"""Random small problems for every machine: shapes, scales, shifts, weights and parameters of all sizes.

A problem follows from a seed and an index alone. Some are easy: of moderate scale, without extreme
parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hedgerow import (
    SVC,
    SVDD,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    kernels,
)

MAX_TIME = 2.0
"""Seconds that a fit may take."""
EASY = 0.15
"""Share of easy problems."""
KERNELS = (
    *("linear",) * 4,
    *("rbf",) * 5,
    *("polynomial",) * 4,
    *("laplacian", "cosine", "chi_squared", "additive", "intersection", "wavelet", "sigmoid"),
    *("sum", "product", "scaled", "precomputed"),
)
CONVEX = tuple(name for name in KERNELS if name not in ("sigmoid", "additive"))
OF_HISTOGRAMS = {"chi_squared", "additive", "intersection"}


@dataclass
class Problem:
    """An estimator and what it is to be fitted on."""

    machine: str
    is_easy: bool
    estimator: Any
    X: Any
    y: np.ndarray | None
    weight: np.ndarray | None
    story: str

    def fit(self):
        """Fit the estimator."""
        target = () if self.y is None else (self.y,)
        return self.estimator.fit(self.X, *target, sample_weight=self.weight)


def problem(seed, index, machine=None, easy=None, most_rows=25):
    """Return the problem of this number, easy or not if that is said."""
    machine = machine or MACHINES[index % len(MACHINES)]
    return _Maker(np.random.default_rng([seed, index]), machine, easy).problem(most_rows)


class _Maker:
    """Draws the parts of a problem one after the other."""

    def __init__(self, rng, machine, easy):
        self.rng = rng
        self.machine = machine
        is_easy = bool(rng.random() < EASY)
        self.is_easy = is_easy if easy is None else easy
        self.story = []

    def problem(self, most_rows):
        n_classes = 3 if self.machine in OF_SEVERAL else 2
        n = self._size(4 if n_classes == 3 else 2, most_rows + 1)
        self.labels = self.rng.integers(0, n_classes, n)
        self.labels[:n_classes] = np.arange(n_classes)
        X = self._rows(n)
        self.kernel = self.rng.choice(CONVEX if self.is_easy else KERNELS)
        if "linear" not in self.machine and self.kernel in OF_HISTOGRAMS:
            X = np.abs(X)
        self.X = X = self._scaled(X)
        weight = self._weight(n, n_classes)
        estimator, y = MAKERS[self.machine](self)
        if getattr(estimator, "kernel", None) is not None and self.kernel == "precomputed":
            X, estimator = self.table, estimator.set_params(kernel=kernels.Precomputed())
        else:
            X = self._container(X)
            if hasattr(estimator, "scale") and self.chance(0.1):
                estimator.set_params(scale=str(self.rng.choice(["standard", "minmax"])))
                self.tell(scale=estimator.scale)
        story = f"{type(estimator).__name__} {n}x{X.shape[1]} {' '.join(self.story)}"
        return Problem(self.machine, self.is_easy, estimator, X, y, weight, story)

    def _size(self, low, high):
        """A whole number."""
        return int(self.rng.integers(low, high))

    def chance(self, share):
        """Whether something rare happens; never in easy problems."""
        return bool(self.rng.random() < share) and not self.is_easy

    def power(self, low, high):
        """10 to a power between."""
        return float(10.0 ** self.rng.uniform(low, high))

    def tell(self, **parts):
        for name, value in parts.items():
            told = f"{value:.3g}" if isinstance(value, float) else " ".join(str(value).split())
            self.story.append(f"{name}={told}")

    def _rows(self, n):
        rng, d = self.rng, self._size(1, 7)
        shape = "cloud"
        if not self.is_easy:
            shape = rng.choice(
                ["cloud", "clusters", "copies", "near", "collinear", "grid", "apart", "zeros"]
            )
        self.tell(rows=shape)
        X = rng.normal(size=(n, d))
        if shape == "clusters":
            X = 3.0 * rng.normal(size=(3, d))[rng.integers(0, 3, n)] + 0.1 * X
        if shape in ("copies", "near"):
            X = X[rng.integers(0, max(1, n // 2), n)]
            X = X + (self.power(-12, -2) * rng.normal(size=(n, d)) if shape == "near" else 0.0)
        if shape == "collinear":
            X = np.outer(rng.normal(size=n), rng.normal(size=d)) + rng.normal(size=d)
        if shape == "grid":
            X = rng.integers(-2, 3, size=(n, d)).astype(np.float64)
        if shape == "apart" or self.is_easy:
            # Of overlapping classes rho is often 0, for which there is no certificate.
            is_near = self.is_easy and self.machine != "nu_svc"
            X[:, 0] += (1.0 if is_near else 4.0) * self.labels
        if shape == "zeros":
            X = np.where(rng.random((n, d)) < 0.6, 0.0, X)
        return X

    def _scaled(self, X):
        rng, scale = self.rng, np.ones(X.shape[1])
        if self.chance(0.5):
            scale = scale * self.power(-8, 8)
        if self.chance(0.25):
            scale = scale * 10.0 ** rng.uniform(-4, 4, X.shape[1])
        shift = np.zeros(X.shape[1])
        if self.chance(0.4):
            size = self.power(-8, 8)
            shift = size * rng.choice([1.0, -1.0, 0.5], X.shape[1])
            shift = np.abs(shift) if self.kernel in OF_HISTOGRAMS else shift
            self.tell(shift=size)
        self.tell(scale=f"{scale.min():.3g}..{scale.max():.3g}")
        return scale * (X + shift)

    def _container(self, X):
        draw = self.rng.random()
        if draw < 0.12:
            self.tell(dtype="float32")
            return X.astype(np.float32)
        if draw < 0.24 and self.kernel not in ("sum", "product"):
            self.tell(format="csr")
            return sp.csr_array(X)
        return X

    def _weight(self, n, n_classes):
        rng, draw = self.rng, 0.0 if self.is_easy else self.rng.random()
        if draw < 0.5:
            return None
        if draw < 0.65:
            weight, kind = rng.integers(0, 4, n).astype(np.float64), "counts"
        elif draw < 0.8:
            weight, kind = 10.0 ** rng.uniform(-8, 8, n), "wide"
        elif draw < 0.9:
            weight, kind = np.full(n, self.power(-8, 8)), "equal"
        else:
            weight, kind = rng.random(n), "fractions"
        weight[:n_classes] = np.where(weight[:n_classes] > 0, weight[:n_classes], 1.0)
        self.tell(weight=kind)
        return weight

    def tol(self, usual):
        """A tolerance."""
        tol = self.power(-10, -1) if self.chance(0.5) else usual
        self.tell(tol=tol)
        return {"tol": tol, "n_jobs": 1, "max_time": MAX_TIME}

    def C(self):
        """The weight of the losses."""
        C = self.power(-1, 2) if self.is_easy else self.power(-4, 8)
        self.tell(C=C)
        return C

    def nu(self, most=1.0):
        """A share."""
        nu = most * (self.power(-4, 0) if self.chance(0.2) else float(self.rng.uniform(0.1, 0.99)))
        self.tell(nu=nu)
        return nu

    def target(self):
        """Values, and what size they have."""
        rng, X = self.rng, np.asarray(self.X)
        spread = X.std(axis=0)
        unit = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        y = np.sin(unit[:, 0]) + 0.3 * rng.normal(size=len(X))
        if self.chance(0.15):
            y = np.round(y)
        if self.chance(0.05):
            y = np.full(len(X), 1.0)
        size = self.power(-8, 8) if self.chance(0.5) else 1.0
        shift = self.power(-8, 8) if self.chance(0.3) else 0.0
        self.tell(target=size, target_shift=shift)
        return size * (y + shift), size

    def epsilon(self, size):
        """Half the width of a tube."""
        if self.chance(0.25):
            epsilon = 0.0
        elif self.chance(0.3):
            epsilon = size * self.power(-8, 2)
        else:
            epsilon = 0.1 if self.is_easy or self.rng.random() < 0.5 else 0.1 * size
        self.tell(epsilon=epsilon)
        return epsilon

    def kernel_parameters(self):
        """The kernel of a machine, told."""
        kernel = self._kernel(self.kernel)
        self.tell(kernel="precomputed" if self.kernel == "precomputed" else kernel)
        return {"kernel": kernel}

    def _gamma(self, powers=2):
        draw = self.rng.random()
        if draw < 0.4 or self.is_easy:
            return "scale"
        spread = float(np.var(self.X)) or 1.0
        if draw < 0.8:
            return self.power(-4, 4) / (self.X.shape[1] * spread ** (powers / 2))
        return self.power(-8, 8)

    def _kernel(self, name):
        rng = self.rng
        if name == "polynomial":
            coef0 = 1.0 if self.is_easy else rng.choice([0.0, 1.0, self.power(-3, 3)])
            degree = self._size(1, 4 if self.is_easy else 7)
            return kernels.Polynomial(degree=degree, coef0=float(coef0), gamma=self._gamma())
        if name == "sigmoid":
            return kernels.Sigmoid(gamma=self._gamma(), coef0=float(rng.normal()))
        if name == "wavelet":
            size = float(np.std(self.X)) or 1.0
            return kernels.Wavelet(dilation=size * (1.0 if self.is_easy else self.power(-2, 2)))
        if name in ("sum", "product"):
            left, right = (self._kernel(rng.choice(["linear", "rbf", "polynomial"])) for _ in "12")
            return left + right if name == "sum" else left * right
        if name == "scaled":
            return (1.0 if self.is_easy else self.power(-8, 8)) * self._kernel("rbf")
        if name == "precomputed":
            return self._given()
        with_gamma = {
            "rbf": kernels.RBF,
            "laplacian": kernels.Laplacian,
            "chi_squared": kernels.ChiSquared,
        }
        if name in with_gamma:
            return with_gamma[name](gamma=self._gamma(2 if name == "rbf" else 1))
        plain = (
            kernels.Linear,
            kernels.Cosine,
            kernels.AdditiveChiSquared,
            kernels.HistogramIntersection,
        )
        return dict(zip(("linear", "cosine", "additive", "intersection"), plain, strict=True))[
            name
        ]()

    def _given(self):
        """A table without rounding, or one with a ridge far above it; it is not the estimator's yet."""
        n = len(self.X)
        if self.chance(0.5):
            whole = self.rng.integers(-3, 4, size=(n, self.X.shape[1])).astype(np.float64)
            self.table = whole @ whole.T
        else:
            unit = kernels.RBF().resolved(self.X)
            self.table = unit(self.X - self.X.mean(axis=0)) + 1e-3 * np.eye(n)
            self.table = 0.5 * (self.table + self.table.T)
        self.table = self.table * 2.0 ** (0 if self.is_easy else self._size(-25, 26))
        return kernels.Linear()

    def has_intercept(self):
        has = bool(self.rng.random() < 0.75)
        self.tell(intercept=has)
        return {"fit_intercept": has}

    def linear_intercept(self):
        """What a linear machine does with b."""
        kind = self.rng.choice(["free", "free", "penalized", "none"])
        self.tell(intercept=kind)
        if kind == "none":
            return {"fit_intercept": False}
        scaling = self.power(-2, 2) if kind == "penalized" and self.chance(0.5) else 1.0
        return {"intercept": str(kind), "intercept_scaling": scaling}


def _classes(maker, **parameters):
    """An SVC and its labels."""
    parts = maker.kernel_parameters() | maker.has_intercept() | maker.tol(1e-3) | parameters
    return SVC(**parts), maker.labels


def _nu_classes(maker):
    counts = np.bincount(maker.labels, minlength=2)
    most = 2.0 * counts.min() / counts.sum()
    parts = maker.kernel_parameters() | maker.tol(1e-3)
    return NuSVC(nu=maker.nu(most), **parts), maker.labels


def _tube(maker):
    y, size = maker.target()
    parts = maker.kernel_parameters() | maker.has_intercept() | maker.tol(1e-3)
    return SVR(C=maker.C(), epsilon=maker.epsilon(size), **parts), y


def _nu_tube(maker):
    y, _ = maker.target()
    parts = maker.kernel_parameters() | maker.tol(1e-3)
    return NuSVR(C=maker.C(), nu=maker.nu(), **parts), y


def _one_class(maker):
    return OneClassSVM(nu=maker.nu(), **maker.kernel_parameters(), **maker.tol(1e-3)), None


def _ball(maker):
    parts = maker.kernel_parameters() | maker.tol(1e-3)
    if maker.rng.random() < 0.5:
        return SVDD(nu=maker.nu(), **parts), None
    return SVDD(C=maker.power(-1, 3), **parts), None


def _linear_classes(maker, **parameters):
    parts = maker.linear_intercept() | maker.tol(1e-4) | parameters
    if "loss" not in parts:
        parts["loss"] = str(maker.rng.choice(["hinge", "squared_hinge", "logistic"]))
        maker.tell(loss=parts["loss"])
    return LinearSVC(**parts), maker.labels


def _linear_sparse(maker):
    loss = str(maker.rng.choice(["squared_hinge", "logistic"]))
    maker.tell(loss=loss, penalty="l1")
    return _linear_classes(maker, loss=loss, penalty="l1", C=maker.C())


def _linear_tube(maker):
    y, size = maker.target()
    loss = str(maker.rng.choice(["epsilon_insensitive", "squared_epsilon_insensitive"]))
    is_sparse = loss.startswith("squared") and maker.rng.random() < 0.4
    parts = maker.linear_intercept() | maker.tol(1e-4) | {"loss": loss}
    parts["penalty"] = "l1" if is_sparse else "l2"
    maker.tell(loss=loss, penalty=parts["penalty"])
    return LinearSVR(C=maker.C(), epsilon=maker.epsilon(size), **parts), y


def _linear_one_class(maker):
    return LinearOneClassSVM(nu=maker.nu(), **maker.linear_intercept(), **maker.tol(1e-4)), None


def _multi(maker):
    kind = str(maker.rng.choice(["ovo", "ovr"]))
    maker.tell(multi_class=kind)
    return {"multi_class": kind}


MAKERS = {
    "svc": lambda maker: _classes(maker, C=maker.C()),
    "svc_squared": lambda maker: _classes(maker, C=maker.C(), loss="squared_hinge"),
    "svc_hard": lambda maker: _classes(maker, C=np.inf),
    "svc_several": lambda maker: _classes(maker, C=maker.C(), **_multi(maker)),
    "svc_all": lambda maker: _classes(maker, C=maker.C(), multi_class="crammer_singer"),
    "nu_svc": _nu_classes,
    "svr": _tube,
    "nu_svr": _nu_tube,
    "one_class": _one_class,
    "svdd": _ball,
    "linear_svc": lambda maker: _linear_classes(maker, C=maker.C()),
    "linear_sparse": _linear_sparse,
    "linear_hard": lambda maker: _linear_classes(maker, C=np.inf, loss="squared_hinge"),
    "linear_several": lambda maker: _linear_classes(maker, C=maker.C(), **_multi(maker)),
    "linear_all": lambda maker: _linear_classes(
        maker, C=maker.C(), multi_class="crammer_singer", loss="hinge"
    ),
    "linear_svr": _linear_tube,
    "linear_one_class": _linear_one_class,
}
"""How the estimator of each machine is drawn, and what it is to learn."""
MACHINES = tuple(MAKERS)
OF_SEVERAL = {"svc_several", "svc_all", "linear_several", "linear_all"}
