"""Estimators of scikit-learn inside ours: packed by skops, and unpacked against the list below.

skops writes a zip archive of arrays and a JSON schema that names types. Before it may build
anything, every type of the schema is held against :data:`ALLOWED`, which is part of this code and
never of a file, and skops checks them a second time against a list of its own. An estimator is on
the list if what it has learnt is arrays, numbers and text that NumPy computes with: then a file
that was tampered with can predict nonsense or raise, but neither run code nor read memory out of
bounds. Trees, neighbours, kernel machines and networks are not: their compiled code trusts indices
that were stored.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from hedgerow._base.state.errors import MissingPackageError, StateError

__all__ = ["ALLOWED", "REMEDY", "is_foreign", "pack", "qualified_name", "unpack"]

_FAMILIES = {
    "compose": ("ColumnTransformer",),
    "decomposition": ("PCA", "TruncatedSVD"),
    "discriminant_analysis": ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "dummy": ("DummyClassifier", "DummyRegressor"),
    "ensemble": ("StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"),
    "feature_selection": ("VarianceThreshold",),
    "impute": ("SimpleImputer",),
    "linear_model": (
        "BayesianRidge",
        "ElasticNet",
        "ElasticNetCV",
        "HuberRegressor",
        "Lasso",
        "LassoCV",
        "LinearRegression",
        "LogisticRegression",
        "LogisticRegressionCV",
        "PassiveAggressiveClassifier",
        "Perceptron",
        "Ridge",
        "RidgeCV",
        "RidgeClassifier",
        "RidgeClassifierCV",
        "SGDClassifier",
        "SGDRegressor",
    ),
    "multiclass": ("OneVsRestClassifier",),
    "naive_bayes": ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB"),
    "neighbors": ("NearestCentroid",),
    "pipeline": ("FeatureUnion", "Pipeline"),
    "preprocessing": (
        "LabelBinarizer",
        "LabelEncoder",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PowerTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "svm": ("LinearSVC", "LinearSVR"),
}
ALLOWED = frozenset(
    f"sklearn.{family}.{name}" for family, names in _FAMILIES.items() for name in names
)
"""The estimators of scikit-learn that a file may hold, by their public names."""

_HELPERS = frozenset({"sklearn.preprocessing.FunctionTransformer", "sklearn.utils.Bunch"})
"""What some of those have inside; a function is nothing that they can bring along."""

_CONTAINERS = frozenset(
    {
        "CachedNode",
        "DTypeNode",
        "DictNode",
        "JsonNode",
        "ListNode",
        "NdArrayNode",
        "SetNode",
        "SliceNode",
        "TupleNode",
    }
)
"""How skops stores plain data; it has further ways, for functions, methods and trees among others."""

_PLAIN_TYPES = ("bool", "float", "int", "str")
_LOSSES = ("sklearn.linear_model._sgd_fast", "sklearn._loss._loss")
_BEYOND_SKOPS_DEFAULTS = ["numpy.dtype", "sklearn.utils._bunch.Bunch"]

REMEDY = (
    "use an estimator of Hedgerow, or one of scikit-learn that docs/models.md lists, "
    "or keep this part in a file of its own library"
)


def is_foreign(value: object) -> bool:
    """Say whether the value is an estimator of scikit-learn itself, on the list or not."""
    return isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn.")


def qualified_name(cls: type) -> str:
    """Return the full name of a class, for one of scikit-learn the public one."""
    return _public(cls.__module__, cls.__qualname__)


def pack(estimator: Any, path: str) -> NDArray[np.uint8]:
    """Return the estimator as bytes, or refuse it by name."""
    name = qualified_name(type(estimator))
    if name not in ALLOWED:
        raise StateError(f"{path} is a {name}, which no state can hold; {REMEDY}")
    skops = _skops(f"{path} is a {name}")
    try:
        blob: bytes = skops.dumps(estimator)
    except Exception as error:  # every way in which skops gives up means the same here
        raise StateError(f"{path}, a {name}, cannot be stored: {error}; {REMEDY}") from error
    refused = _not_allowed(blob)
    if refused:
        raise StateError(f"{path} holds {refused}, which no state can hold; {REMEDY}")
    return np.frombuffer(blob, dtype=np.uint8)


def unpack(blob: NDArray[Any], name: Any, path: str) -> Any:
    """Return the estimator that :func:`pack` packed, or refuse what is not on the list."""
    if name not in ALLOWED:
        raise StateError(f"{path} is said to be a {name}, which no state can hold")
    skops = _skops(f"{path} is a {name}")
    data = blob.tobytes()
    try:
        refused = _not_allowed(data)
        estimator = None if refused else skops.loads(data, trusted=_BEYOND_SKOPS_DEFAULTS)
    except Exception as error:  # whatever skops raises, the bytes are to blame
        msg = f"{path}, a {name}, cannot be unpacked: {type(error).__name__}: {error}"
        raise StateError(msg) from error
    if refused:
        raise StateError(f"{path} holds {refused}, which no state can hold")
    if not is_foreign(estimator) or qualified_name(type(estimator)) != name:
        raise StateError(f"{path} is said to be a {name} and is a {type(estimator).__name__}")
    return estimator


def _not_allowed(blob: bytes) -> str:
    """Return the names of all types in an archive that are not on the list."""
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("it is compressed, and could be of any size")
        if sum(entry.file_size for entry in entries) > len(blob):
            raise ValueError("its parts overlap")
        schema = json.loads(archive.read("schema.json"))
    nodes = _types_of(schema)
    return ", ".join(sorted({_public(*node[1:]) for node in nodes if not _is_allowed(*node)}))


def _types_of(schema: Any) -> Iterator[tuple[str, str, str]]:
    """Yield for every node of a schema how skops would build it, and module and name of its type."""
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                yield str(node["__loader__"]), str(node["__module__"]), str(node["__class__"])
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _is_allowed(loader: str, module: str, name: str) -> bool:
    if loader in _CONTAINERS:
        return True
    if loader == "TypeNode":
        return module == "numpy" or (module == "builtins" and name in _PLAIN_TYPES)
    if loader == "LossNode":
        return module in _LOSSES
    return loader == "ObjectNode" and _public(module, name) in ALLOWED | _HELPERS


def _public(module: str, name: str) -> str:
    """Return the name by which scikit-learn offers a class: its private modules may change."""
    parts = module.split(".")
    return ".".join([*(parts[:2] if parts[0] == "sklearn" else parts), name])


def _skops(who: str) -> ModuleType:
    try:
        import skops.io
    except ImportError as error:
        msg = f"{who}, which needs the package skops to be stored; pip install 'hedgerow[foreign]'"
        raise MissingPackageError(msg) from error
    module: ModuleType = skops.io
    return module
