"""Digests of what every estimator learns, to show that a change of the code changes no bit.

    python -m tests.fit_hashes --save before.json        at the version before
    python -m tests.fit_hashes --compare before.json     at the version after, on the same machine

Each case is fitted for two seeds and for one and two threads. A digest is taken of all numbers that the
fitted model has in public attributes, and of its predictions. Digests of different instruction sets or
versions of NumPy may differ, so none are kept with the tests.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import inspect
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_friedman1

import hedgerow as h

SEEDS = (0, 1)
THREADS = (1, 2)
_UNSTABLE = {"history_", "fit_time_", "seconds_", "n_jobs"}
"""What may differ between two runs: times, and what tells how a fit went along."""
_PREDICTIONS = (
    "predict",
    "predict_proba",
    "decision_function",
    "score_samples",
    "transform",
    "predict_interval",
    "apply",
)


@dataclasses.dataclass(frozen=True)
class Case:
    """An estimator without a seed, and the data it is fitted on."""

    model: Any
    X: Any
    y: Any
    options: dict[str, Any] = dataclasses.field(default_factory=dict)


class D:
    """The tables that the cases are fitted on."""

    X2, two = make_classification(600, 12, n_informative=6, flip_y=0.08, random_state=3)
    X5, five = make_classification(
        900, 10, n_informative=7, n_classes=5, class_sep=1.2, flip_y=0.05, random_state=4
    )
    XR, values = make_friedman1(700, 9, noise=1.0, random_state=5)
    wide, wide_y = make_classification(80, 300, n_informative=20, random_state=6)
    many, many_y = make_classification(30_000, 15, n_informative=9, flip_y=0.1, random_state=7)
    weight = np.random.default_rng(8).exponential(size=600)
    sparse = sp.csr_array(np.where(np.abs(X5) > 1.0, X5, 0.0))
    labels = np.stack([X2[:, 0] > 0, X2[:, 1] + X2[:, 2] > 0.3, two == 1], axis=1).astype(int)
    table: ClassVar = {
        "size": [None if k % 17 == 0 else float(v) for k, v in enumerate(X2[:, 0])],
        "colour": [["red", "blue", "green", None][int(k) % 4] for k in np.abs(3 * X2[:, 1])],
        "age": X2[:, 2].tolist(),
    }
    words = np.where(two == 1, "yes", "no")
    separable = X2[:, 0] + 2 * X2[:, 1] > 0


def _linear_cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    linear = {
        "": {},
        "-hinge": {"loss": "hinge"},
        "-logistic": {"loss": "logistic"},
        "-l1": {"penalty": "l1", "C": 0.1},
        "-penalized": {"intercept": "penalized"},
        "-no-intercept": {"fit_intercept": False},
        "-balanced": {"class_weight": "balanced", "C": 10.0},
        "-sigmoid": {"calibrate": "sigmoid"},
    }
    for name, given in linear.items():
        yield f"LinearSVC{name}", lambda g=given: Case(h.LinearSVC(**g), D.X2, D.two)
        yield f"LinearSVC{name}-five", lambda g=given: Case(h.LinearSVC(**g), D.X5, D.five)
        yield f"LinearSVC{name}-sparse", lambda g=given: Case(h.LinearSVC(**g), D.sparse, D.five)
    for name in ("hinge", "squared_hinge", "logistic"):
        yield f"LinearSVC-{name}-many", lambda n=name: Case(h.LinearSVC(loss=n), D.many, D.many_y)
        yield f"LinearSVC-{name}-wide", lambda n=name: Case(h.LinearSVC(loss=n), D.wide, D.wide_y)
        yield (
            f"LinearSVC-{name}-weights",
            lambda n=name: Case(h.LinearSVC(loss=n), D.X2, D.words, {"sample_weight": D.weight}),
        )
    for name in ("dual_coordinate_descent", "newton", "lbfgs", "conjugate_gradient"):
        yield (
            f"LinearSVC-{name}",
            lambda n=name: Case(h.LinearSVC(loss="squared_hinge", solver=n), D.X2, D.two),
        )
    for name, has_intercept in (("pegasos", False), ("sgd", True)):
        given = {"loss": "hinge", "solver": name, "fit_intercept": has_intercept, "max_iter": 20}
        yield f"LinearSVC-{name}", lambda g=given: Case(h.LinearSVC(**g), D.X2, D.two)
    yield "LinearSVC-pairs", lambda: Case(h.LinearSVC(multi_class="ovo"), D.X5, D.five)
    yield (
        "LinearSVC-crammer-singer",
        lambda: Case(h.LinearSVC(multi_class="crammer_singer", loss="hinge"), D.X5, D.five),
    )
    yield "LinearSVC-labels", lambda: Case(h.LinearSVC(), D.X2, D.labels)
    yield "LinearSVC-float32", lambda: Case(h.LinearSVC(), D.X5.astype(np.float32), D.five)
    yield "LinearSVC-hard", lambda: Case(h.LinearSVC(C=np.inf), D.X2, D.separable)
    yield "LinearSVR", lambda: Case(h.LinearSVR(epsilon=0.3), D.XR, D.values)
    yield (
        "LinearSVR-squared",
        lambda: Case(h.LinearSVR(loss="squared_epsilon_insensitive"), D.XR, D.values),
    )
    yield "LinearSVCCV", lambda: Case(h.LinearSVCCV(Cs=5, cv=3, scale="standard"), D.X5, D.five)
    yield "LinearSVRCV", lambda: Case(h.LinearSVRCV(Cs=5, cv=3), D.XR, D.values)
    yield "LinearOneClassSVM", lambda: Case(h.LinearOneClassSVM(nu=0.2), np.abs(D.X2), None)
    for cls in ("Perceptron", "AveragedPerceptron", "VotedPerceptron", "KernelPerceptron"):
        yield cls, lambda c=cls: Case(getattr(h, c)(), D.X2, D.two)
        yield f"{cls}-five", lambda c=cls: Case(getattr(h, c)(), D.X5, D.five)


def _kernel_cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    kernels = {
        "rbf": {},
        "poly": {"kernel": "poly", "coef0": 1.0},
        "linear": {"kernel": "linear"},
        "laplacian": {"kernel": h.Laplacian(gamma=0.1)},
        "sum": {"kernel": h.RBF(gamma=0.1) + 0.5 * h.Linear()},
        "sigmoid": {"kernel": "sigmoid", "gamma": 0.01},
    }
    for name, given in kernels.items():
        yield f"SVC-{name}", lambda g=given: Case(h.SVC(**g), D.X2, D.two)
        yield f"SVC-{name}-five", lambda g=given: Case(h.SVC(C=5.0, **g), D.X5, D.five)
        yield f"SVR-{name}", lambda g=given: Case(h.SVR(C=3.0, **g), D.XR, D.values)
        yield f"NuSVC-{name}", lambda g=given: Case(h.NuSVC(nu=0.4, **g), D.X5, D.five)
        yield f"NuSVR-{name}", lambda g=given: Case(h.NuSVR(nu=0.4, **g), D.XR, D.values)
        yield f"OneClassSVM-{name}", lambda g=given: Case(h.OneClassSVM(nu=0.2, **g), D.X2, None)
        yield f"SVDD-{name}", lambda g=given: Case(h.SVDD(nu=0.2, **g), D.X2, None)
    for name, multi in (("rest", "ovr"), ("crammer-singer", "crammer_singer")):
        yield f"SVC-{name}", lambda m=multi: Case(h.SVC(multi_class=m), D.X5, D.five)
    yield "SVC-squared", lambda: Case(h.SVC(loss="squared_hinge", multi_class="ovr"), D.X5, D.five)
    yield "SVC-hard", lambda: Case(h.SVC(C=np.inf, gamma=0.5), D.X2, D.two)
    yield "SVC-large-C", lambda: Case(h.SVC(C=1e4, gamma=0.05), D.X2, D.two)
    yield "SVC-sparse", lambda: Case(h.SVC(), D.sparse, D.five)
    yield "SVC-float32", lambda: Case(h.SVC(), D.X5.astype(np.float32), D.five)
    yield "SVC-precomputed", lambda: Case(h.SVC(kernel="precomputed"), D.X2 @ D.X2.T, D.two)
    yield "SVC-callable", lambda: Case(h.SVC(kernel=_product), D.X2, D.two)
    yield "SVC-probability", lambda: Case(h.SVC(probability=True), D.X5, D.five)
    yield "SVC-many", lambda: Case(h.SVC(gamma=0.05), D.many[:4000], D.many_y[:4000])
    yield (
        "SVC-weights",
        lambda: Case(h.SVC(class_weight="balanced"), D.X2, D.words, {"sample_weight": D.weight}),
    )
    yield "SVR-shifted", lambda: Case(h.SVR(C=3.0), D.XR + 1e7, D.values)


def _tree_cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    trees = {
        "": {},
        "-entropy": {"criterion": "entropy"},
        "-leaves": {"max_leaf_nodes": 20},
        "-random": {"splitter": "random", "max_features": 3},
    }
    for name, given in trees.items():
        yield (
            f"DecisionTree{name}",
            lambda g=given: Case(h.DecisionTreeClassifier(**g), D.X5, D.five),
        )
    yield (
        "DecisionTree-weights",
        lambda: Case(h.DecisionTreeClassifier(), D.X2, D.two, {"sample_weight": D.weight}),
    )
    yield "DecisionTree-table", lambda: Case(h.DecisionTreeClassifier(), D.table, D.words)
    yield (
        "DecisionTree-pruned",
        lambda: Case(h.DecisionTreeClassifier(ccp_alpha=0.005), D.X5, D.five),
    )
    yield (
        "DecisionTreeRegressor",
        lambda: Case(h.DecisionTreeRegressor(max_depth=6), D.XR, D.values),
    )
    yield "DecisionStump", lambda: Case(h.DecisionStump(), D.X2, D.two)
    for cls in (
        "RandomForestClassifier",
        "ExtraTreesClassifier",
        "BalancedRandomForestClassifier",
    ):
        yield cls, lambda c=cls: Case(getattr(h, c)(30), D.X5, D.five)
        yield f"{cls}-table", lambda c=cls: Case(getattr(h, c)(30), D.table, D.words)
    for cls in ("RandomForestClassifier", "RandomForestRegressor"):
        target = (D.X5, D.five) if "Class" in cls else (D.XR, D.values)
        yield (
            f"{cls}-oob",
            lambda c=cls, t=target: Case(getattr(h, c)(40, bootstrap=True, oob_score=True), *t),
        )
    yield (
        "RandomForestClassifier-many",
        lambda: Case(h.RandomForestClassifier(10), D.many, D.many_y),
    )
    yield "ExtraTreesRegressor", lambda: Case(h.ExtraTreesRegressor(30), D.XR, D.values)
    yield (
        "SelectFromForest",
        lambda: Case(
            h.SelectFromForest(h.RandomForestClassifier(20, oob_score=True), kind="permutation"),
            D.X5,
            D.five,
        ),
    )


def _wrapped_cases() -> Iterator[tuple[str, Callable[[], Case]]]:
    yield "CalibratedModel", lambda: Case(h.CalibratedModel(h.SVC(), cv=3), D.X5, D.five)
    yield (
        "CalibratedModel-forest",
        lambda: Case(
            h.CalibratedModel(
                h.RandomForestClassifier(10, random_state=0), method="isotonic", cv=3
            ),
            D.X2,
            D.two,
        ),
    )
    yield (
        "ThresholdModel",
        lambda: Case(h.ThresholdModel(h.LinearSVC(), metric="f1", cv=3), D.X2, D.two),
    )
    yield "TableEncoder", lambda: Case(h.TableEncoder(), D.table, D.words)
    yield "TableClassifier", lambda: Case(h.TableClassifier(h.LinearSVC()), D.table, D.words)
    yield "TableClassifier-SVC", lambda: Case(h.TableClassifier(h.SVC()), D.table, D.words)


def _product(X: Any, Y: Any) -> Any:
    return (np.einsum("ik,jk->ij", X, Y) + 1.0) ** 2


def digest_of_model(model: Any, X: Any) -> str:
    """Return a digest of the numbers in a fitted model's public attributes and of its predictions."""
    digest = hashlib.sha256()
    _add(digest, model, 0)
    for name in _PREDICTIONS:
        method = getattr(model, name, None)
        if method is None:
            continue
        try:
            found = method(X)
        except (h.errors.HedgerowError, AttributeError, ValueError) as error:
            found = type(error).__name__
        digest.update(name.encode())
        _add(digest, found, 0)
    return digest.hexdigest()[:24]


def _add(digest: Any, value: Any, depth: int) -> None:
    """Add the numbers and words of a value, in a fixed order."""
    if sp.issparse(value):
        value = value.tocsr()
        value = [value.shape, value.data, value.indices, value.indptr]
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        digest.update(f"{value.dtype.str}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, int | float | str | bool | np.generic | type(None)):
        digest.update(repr(value).encode())
    elif isinstance(value, list | tuple | np.ndarray):
        for item in value:
            _add(digest, item, depth)
    elif isinstance(value, dict):
        for name in sorted(value, key=str):
            digest.update(str(name).encode())
            _add(digest, value[name], depth)
    elif type(value).__module__.startswith("hedgerow") and depth < 3:
        for name, part in _public_parts(value):
            digest.update(name.encode())
            _add(digest, part, depth + 1)


def _public_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fitted attributes of an estimator, or the fields of a record."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        names = [name for name in dir(value) if name.endswith("_")]
    for name in sorted(names):
        if name.startswith("_") or name in _UNSTABLE or "time" in name or "second" in name:
            continue
        try:
            part = getattr(value, name)
        except (AttributeError, h.errors.HedgerowError):
            continue
        if not callable(part):
            yield name, part


def _fitted(case: Case, seed: int, n_jobs: int) -> Any:
    model, known = case.model, case.model.get_params()
    settings = {"random_state": seed, "n_jobs": n_jobs}
    model.set_params(**{name: value for name, value in settings.items() if name in known})
    return model.fit(case.X, case.y, **case.options)


def _of_file(seed: int, n_jobs: int) -> str:
    """Return the digest of a fit from a file of several blocks."""
    X, y = make_classification(3000, 8, random_state=9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        np.savetxt(path, np.column_stack([y, X]), delimiter=",", header="y,a,b,c,d,e,f,g,h")
        path.write_text(path.read_text().removeprefix("# "))
        model = h.LinearSVC(random_state=seed, n_jobs=n_jobs, loss="hinge")
        given = inspect.signature(model.fit_files).parameters
        small = {"block_rows": 256} if "block_rows" in given else {}
        return digest_of_model(model.fit_files([path], target="y", **small), X)


def _of_bootstrap(seed: int, n_jobs: int) -> str:
    values = np.random.default_rng(1).normal(size=80)
    digest = hashlib.sha256()
    found = h.bootstrap(values, "mean", n_resamples=500, random_state=seed, n_jobs=n_jobs)
    _add(digest, found, 0)
    return digest.hexdigest()[:24]


_OTHERS = {"fit_files": _of_file, "bootstrap": _of_bootstrap}


def digests(pattern: str = "") -> dict[str, str]:
    """Return the digests of all cases whose name holds a pattern, by name, seed and threads."""
    found = {}
    for name, make in chain(_linear_cases(), _kernel_cases(), _tree_cases(), _wrapped_cases()):
        if pattern in name:
            for seed in SEEDS:
                for n_jobs in THREADS:
                    case = make()
                    key = f"{name} seed={seed} n_jobs={n_jobs}"
                    found[key] = digest_of_model(_fitted(case, seed, n_jobs), case.X)
    for name, digest in _OTHERS.items():
        if pattern in name:
            for seed in SEEDS:
                for n_jobs in THREADS:
                    found[f"{name} seed={seed} n_jobs={n_jobs}"] = digest(seed, n_jobs)
    return found


def main() -> int:
    """Save digests, or compare them with saved ones; return 1 if any differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.fit_hashes", description=__doc__)
    parser.add_argument("--save", type=Path, help="write the digests to this file")
    parser.add_argument("--compare", type=Path, help="compare with the digests of this file")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = digests(options.only)
    between_threads = [
        key
        for key in found
        if found[key] != found[key.rsplit("n_jobs=")[0] + f"n_jobs={THREADS[0]}"]
    ]
    for key in between_threads:
        print(f"differs between numbers of threads: {key}")
    if options.save is not None:
        options.save.write_text(json.dumps(found, indent=1))
    different = []
    if options.compare is not None:
        before = json.loads(options.compare.read_text())
        different = [key for key in found if before.get(key) != found[key]]
        for key in different:
            print(f"{'differs' if key in before else 'is new'}: {key}")
    print(f"{len(found)} fits, {len(different)} differ")
    return int(bool(different or between_threads))


if __name__ == "__main__":
    sys.exit(main())
