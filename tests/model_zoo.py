"""A small fitted model of every class that can be saved, and a function that uses all of a model.

``SPECIMENS`` names the models, in every form in which a class keeps its state: dense or sparse
support vectors, two classes or more, several outputs, groups, a calibration, a kernel matrix.
:func:`exercise` calls every public method and reads every public attribute of a model and of the
objects it holds; only our own errors are answers. Tests that damage model files use both.
"""

from __future__ import annotations

import dataclasses
import inspect
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.exceptions import NotFittedError

import hedgerow as h
from hedgerow import kernels
from hedgerow._base.state import dump_state, is_stateful
from hedgerow._base.state.declare import _by_class
from hedgerow.errors import HedgerowError
from hedgerow.tree import export
from tests.models import write as kept


@dataclass(frozen=True)
class Specimen:
    """A fitted model, and rows and targets of them to use it with."""

    model: Any
    X: Any
    y: Any = None


N_ROWS = 24
_random = np.random.default_rng(7)
X = _random.normal(size=(N_ROWS, 4))
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
TWO = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
THREE = np.digitize(X[:, 1], [-0.5, 0.5])
VALUES = X[:, 0] + 0.5 * X[:, 2]
LABELS = (X[:, :3] > 0.2).astype(int)
OUTPUTS = np.stack([VALUES, X[:, 3]], axis=1)
CLASS_OUTPUTS = np.stack([THREE, (X[:, 0] > 0).astype(int)], axis=1)
GROUPS = np.arange(N_ROWS) // 3
TABLE = {"size": X[:, 0].tolist(), "colour": ["red", "blau", "grün"] * (N_ROWS // 3)}


def _fit(model: Any, y: Any, rows: Any = X, **extra: Any) -> Specimen:
    return Specimen(model.fit(rows, y, **extra), rows, y)


def _without_y(found: Specimen) -> Specimen:
    """Return it without targets: scikit-learn has no score for several outputs of several classes."""
    return dataclasses.replace(found, y=None)


def _of_kept_model(make: Callable[[], tuple[Any, Any]]) -> Specimen:
    model, inputs = make()
    y = model.predict(inputs) if isinstance(model, ClassifierMixin | RegressorMixin) else None
    return Specimen(model, inputs, y)


def _by_parts(model: Any, y: Any, **extra: Any) -> Specimen:
    for part in np.array_split(np.arange(N_ROWS), 3):
        model.partial_fit(X[part], y[part], **extra)
        extra = {}
    return Specimen(model, X, y)


def _compressed(model: Any, y: Any) -> Specimen:
    return Specimen(model.fit(X, y).compress(3), X, y)


def _pruned(model: Any, y: Any, method: str, **options: Any) -> Specimen:
    return Specimen(model.fit(X, y).prune(method, **options), X, y)


def _forest(cls: str = "RandomForestClassifier", **parameters: Any) -> Any:
    return getattr(h, cls)(3, random_state=0, **parameters)


_KERNELS: dict[str, Callable[[], Any]] = {
    "RBF": lambda: h.RBF(gamma=0.5),
    "Laplacian": lambda: h.Laplacian(gamma=0.5),
    "Wavelet": h.Wavelet,
    "Linear": h.Linear,
    "Polynomial": lambda: h.Polynomial(degree=2, gamma=0.1),
    "Sigmoid": lambda: h.Sigmoid(gamma=0.01),
    "Cosine": h.Cosine,
    "KernelSum": lambda: h.RBF(gamma=0.5) + h.Linear(),
    "KernelProduct": lambda: h.RBF(gamma=0.5) * h.Polynomial(degree=2, gamma=0.1),
    "ScaledKernel": lambda: 2.0 * h.RBF(gamma=0.5),
    "ChiSquared": lambda: h.ChiSquared(gamma=0.5),
    "AdditiveChiSquared": h.AdditiveChiSquared,
    "HistogramIntersection": h.HistogramIntersection,
}

SPECIMENS: dict[str, Callable[[], Specimen]] = {
    **{
        f"kept/{name}": (lambda make=make: _of_kept_model(make))
        for name, make in kept.MODELS.items()
    },
    **{
        f"kernel/{name}": (lambda make=make: Specimen(make(), np.abs(X)))
        for name, make in _KERNELS.items()
    },
    **{
        f"SVC-{name}": (lambda make=make: _fit(h.SVC(kernel=make()), TWO, np.abs(X)))
        for name, make in _KERNELS.items()
    },
    "kernel/Precomputed": lambda: Specimen(h.Precomputed(), X @ X.T),
    "LinearSVC-sparse": lambda: _fit(h.LinearSVC(), THREE, SPARSE),
    "LinearSVC-labels": lambda: _fit(h.LinearSVC(), LABELS),
    "LinearSVC-l1": lambda: _fit(h.LinearSVC(penalty="l1"), THREE),
    "LinearSVC-hard-margin": lambda: _fit(h.LinearSVC(C=np.inf), X[:, 0] > 0),
    "LinearSVC-by-parts": lambda: _by_parts(h.LinearSVC(), THREE, classes=[0, 1, 2]),
    "LinearSVR-by-parts": lambda: _by_parts(h.LinearSVR(), VALUES),
    "LinearSVR-sparse": lambda: _fit(h.LinearSVR(), VALUES, SPARSE),
    "LinearOneClassSVM-sparse": lambda: _fit(h.LinearOneClassSVM(nu=0.3), None, SPARSE),
    "LinearSVCCV-calibrated": lambda: _fit(
        h.LinearSVCCV(Cs=[0.1, 1.0], cv=2, calibrate="sigmoid", random_state=0), TWO
    ),
    "Perceptron-three": lambda: _fit(h.Perceptron(random_state=0), THREE),
    "AveragedPerceptron-three": lambda: _fit(h.AveragedPerceptron(random_state=0), THREE),
    "VotedPerceptron-sparse": lambda: _fit(h.VotedPerceptron(random_state=0), THREE, SPARSE),
    "KernelPerceptron-sparse": lambda: _fit(h.KernelPerceptron(gamma=1.0), THREE, SPARSE),
    "SVC-sparse": lambda: _fit(h.SVC(gamma=1.0), THREE, SPARSE),
    "SVC-sparse-two": lambda: _fit(h.SVC(gamma=1.0), TWO, SPARSE),
    "SVC-kernel-matrix": lambda: _fit(h.SVC(kernel="precomputed"), THREE, X @ X.T),
    "SVC-kernel-matrix-two": lambda: _fit(h.SVC(kernel="precomputed"), TWO, X @ X.T),
    "SVC-all-at-once": lambda: _fit(h.SVC(multi_class="crammer_singer"), THREE),
    "SVC-probabilities": lambda: _fit(h.SVC(probability=True, random_state=0), THREE),
    "SVC-compressed": lambda: _compressed(h.SVC(), TWO),
    "SVC-float32": lambda: _fit(h.SVC(), THREE, X.astype(np.float32)),
    "NuSVC-sparse": lambda: _fit(h.NuSVC(nu=0.3), TWO, SPARSE),
    "SVR-sparse": lambda: _fit(h.SVR(), VALUES, SPARSE),
    "SVR-kernel-matrix": lambda: _fit(h.SVR(kernel="precomputed"), VALUES, X @ X.T),
    "SVR-linear": lambda: _fit(h.SVR(kernel="linear"), VALUES),
    "SVR-compressed": lambda: _compressed(h.SVR(), VALUES),
    "NuSVR-sparse": lambda: _fit(h.NuSVR(), VALUES, SPARSE),
    "OneClassSVM-sparse": lambda: _fit(h.OneClassSVM(nu=0.3), None, SPARSE),
    "OneClassSVM-kernel-matrix": lambda: _fit(
        h.OneClassSVM(nu=0.3, kernel="precomputed"), None, X @ X.T
    ),
    "SVDD-sparse": lambda: _fit(h.SVDD(nu=0.3), None, SPARSE),
    "CalibratedModel-forest": lambda: _fit(h.CalibratedModel(_forest(), cv=2, random_state=0), TWO),
    "CalibratedModel-isotonic": lambda: _fit(
        h.CalibratedModel(h.SVC(), method="isotonic", cv=2, random_state=0), THREE
    ),
    "ThresholdModel-metric": lambda: _fit(
        h.ThresholdModel(h.SVC(), metric="f1", cv=2, random_state=0), THREE == 1
    ),
    "DecisionTreeClassifier-outputs": lambda: _without_y(
        _fit(h.DecisionTreeClassifier(), CLASS_OUTPUTS)
    ),
    "DecisionTreeClassifier-pruned": lambda: _pruned(
        h.DecisionTreeClassifier(), THREE, "cost_complexity", alpha=0.05
    ),
    "DecisionTreeRegressor-outputs": lambda: _fit(h.DecisionTreeRegressor(max_depth=3), OUTPUTS),
    "RandomForestClassifier-outputs": lambda: _without_y(_fit(_forest(), CLASS_OUTPUTS)),
    "RandomForestClassifier-groups": lambda: _fit(
        _forest(oob_score=True, max_samples=0.8), THREE, oob_group=GROUPS
    ),
    "RandomForestClassifier-votes": lambda: _fit(
        _forest(oob_score=True, voting="hard", warm_start=True), TWO
    ),
    "RandomForestClassifier-table": lambda: _fit(_forest(oob_score=True), TWO, TABLE),
    "RandomForestRegressor-outputs": lambda: _fit(
        _forest("RandomForestRegressor", oob_score=True, keep_targets=True), OUTPUTS
    ),
    "RandomForestRegressor-table": lambda: _fit(
        _forest("RandomForestRegressor", keep_targets=True), VALUES, TABLE
    ),
    "ExtraTreesRegressor-targets": lambda: _fit(
        _forest("ExtraTreesRegressor", keep_targets=True), VALUES
    ),
    "BalancedRandomForestClassifier-oob": lambda: _fit(
        _forest("BalancedRandomForestClassifier", oob_score=True, sampling_strategy="majority"),
        THREE,
    ),
    "SelectFromForest-groups": lambda: _fit(
        h.SelectFromForest(
            _forest(oob_score=True), kind="permutation", one_of_each=0.3, random_state=0
        ),
        THREE,
    ),
    "TableClassifier-forest": lambda: _fit(h.TableClassifier(_forest()), TWO, TABLE),
    "TableClassifier-SVC": lambda: _fit(h.TableClassifier(h.SVC()), TWO, TABLE),
}


@cache
def specimen(name: str) -> Specimen:
    """Return the fitted model of that name; it is fitted once and must not be changed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SPECIMENS[name]()


def savable_classes() -> set[str]:
    """Return the names of all public classes that a file may hold.

    A FunctionKernel is declared so that its function is named when it is refused.
    """
    public = [getattr(h, name) for name in h.__all__]
    classes = [cls for cls in public if inspect.isclass(cls) and issubclass(cls, BaseEstimator)]
    return {cls.__name__ for cls in classes if cls in _by_class and cls is not h.FunctionKernel}


# ------------------------------------------------------------------------------ use of a model

ANSWERS = (HedgerowError, NotFittedError)
"""The only errors that a model may raise, whatever its file held."""

_SKIPPED = {
    "block",  # takes rows that were checked
    "fit",
    "fit_files",
    "fit_predict",
    "fit_transform",
    "partial_fit",
    "set_callbacks",
    "set_output",
    "set_params",
    "cost_complexity_pruning_path",
}
"""Methods that learn anew, which is no use of a model, or change it."""

_DATA = object()
"""Stands for the rows or targets that the model is used with."""

_MORE_CALLS: dict[str, list[dict[str, Any]]] = {
    "importances": [
        {"kind": "occurrences"},
        {"kind": "node_average", "X": _DATA},
        {"kind": "permutation", "X": _DATA, "y": _DATA},
        {"kind": "impurity_debiased", "X": _DATA, "y": _DATA},
    ],
    "predict_quantiles": [{"oob": True}],
    "predict_interval": [{"oob": True}],
    "proximity": [{"oob": True}],
    "prune": [{"method": "cost_complexity", "alpha": 0.01}],
}
"""Arguments beside the required ones with which a method is called once more."""


def exercise(model: Any, X: Any, y: Any = None) -> list[str]:
    """Use all of a model; return which calls it refused by one of our errors.

    Any other exception is raised. The model is not changed: methods that would change it work on a
    copy.
    """
    refused: list[str] = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for what, call in _calls(model, {"X": X, "Y": X, "y": y}, set()):
            try:
                call()
            except ANSWERS:
                refused.append(what)
            except Exception as error:
                if what.endswith(".score") and _is_about_y(error):
                    refused.append(what)
                    continue
                error.add_note(f"in {what}")
                raise
    return refused


def _is_about_y(error: Exception) -> bool:
    """Say whether scikit-learn's metrics refuse to compare y with what was predicted."""
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ValueError) and "sklearn" in innermost


def _calls(
    model: Any, arguments: dict[str, Any], seen: set[int]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the uses of an object and of the objects it holds, by name."""
    if id(model) in seen:
        return
    seen.add(id(model))
    kind = type(model).__name__
    yield f"repr({kind})", lambda: repr(model)
    yield f"str({kind})", lambda: str(model)
    for name in dir(type(model)):
        if name.startswith("_") or name in _SKIPPED or name.endswith("_request"):
            continue
        for options in ({}, *_MORE_CALLS.get(name, [])):
            yield f"{kind}.{name}", lambda n=name, o=options: _use(model, n, arguments, o)
    if isinstance(model, BaseEstimator):
        for what, call in _of_estimators(model, arguments):
            yield f"{what}({kind})", call
    for part in _parts_of(model):
        yield from _calls(part, _arguments_of_parts(model, arguments), seen)


_FEW_RESAMPLES = {"n_resamples": 20}
"""Intervals by 2000 resamples, the default, would take most of the time of a campaign."""


def _use(model: Any, name: str, arguments: dict[str, Any], options: dict[str, Any]) -> Any:
    """Read a property, or call a method with the arguments that it requires."""
    if name in {"compress", "prune"}:
        model = _copied(model)
    value = getattr(model, name, None)
    static = inspect.getattr_static(type(model), name)
    if not callable(value) or isinstance(static, property):
        return value
    given = arguments | {
        "scores": arguments["X"],
        "indices": np.arange(2),
        "n_support": 2,
        "feature": 0,
        "features": [0],
        "node": 0,
        "threshold": 0.0,
        "prices": [1.0, 2.0],
        "target_features": [0],
        "out": np.zeros(3),
        "leaves": np.zeros(1, dtype=np.int64),
    }
    if name == "compute_partial_dependence":
        given["X"] = np.array([[-1.0], [0.0], [1.0]])
    needed = [
        p.name
        for p in inspect.signature(value).parameters.values()
        if p.default is p.empty and p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}
    ]
    unknown = [p for p in needed if p not in given]
    if unknown and type(model).__name__ not in h.__all__:
        return None  # a method of ours, whose arguments come from the model's public methods
    if "y" in needed and given["y"] is None:
        return None
    if name == "inverse_transform":
        given["X"] = model.transform(given["X"])
        if given["X"].shape[1] == 0:
            return None  # of which scikit-learn says so itself
    if unknown:
        msg = f"give exercise() a value for {unknown} of {type(model).__name__}.{name}"
        raise LookupError(msg)
    if _FEW_RESAMPLES.keys() <= inspect.signature(value).parameters.keys():
        options = _FEW_RESAMPLES | options
    filled = {p: given[p] if option is _DATA else option for p, option in options.items()}
    return value(**{p: given[p] for p in needed}, **filled)


def _of_estimators(
    model: Any, arguments: dict[str, Any]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what functions of ours make of an estimator."""
    X, y = arguments["X"], arguments["y"]
    if isinstance(model, kernels.Kernel):
        yield "kernel", lambda: model(X, X)
        return
    yield "clone", lambda: clone(model)
    yield "dump_state", lambda: dump_state(model) if is_stateful(model) else None
    yield "describe", lambda: h.describe(model, top=5)._repr_html_()
    yield "libsvm", lambda: _libsvm_text(model)
    if y is not None and hasattr(model, "predict"):
        yield "evaluate", lambda: h.evaluate(model, X, y, n_resamples=20, random_state=0)
    if hasattr(model, "tree_"):
        for name in filter(lambda n: inspect.isfunction(getattr(export, n)), export.__all__):
            yield name, lambda n=name: getattr(export, n)(model)
    if getattr(model, "warm_start", False) and hasattr(model, "n_estimators"):
        yield "warm start", lambda: _copied(model).set_params(n_estimators=4).fit(X, y)


def _libsvm_text(model: Any) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        h.write_libsvm_model(model, file.name)


def _copied(model: Any) -> Any:
    """Return an equal model that may be changed."""
    import copy

    return copy.deepcopy(model)


def _arguments_of_parts(model: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what the parts of a model are given: behind an encoder, encoded rows."""
    try:
        rows = model.encoder_.transform(arguments["X"])
    except (AttributeError, *ANSWERS):
        return arguments
    return arguments | {"X": rows, "Y": rows}


def _parts_of(model: Any) -> list[Any]:
    """Return the objects of ours that an object holds in its public attributes."""
    if dataclasses.is_dataclass(model):
        values = [getattr(model, f.name) for f in dataclasses.fields(model)]
    else:
        values = [v for n, v in vars(model).items() if not n.startswith("_")]
    flat = [
        item for value in values for item in (value if isinstance(value, list | tuple) else [value])
    ]
    return [v for v in flat if type(v).__module__.startswith("hedgerow")]
