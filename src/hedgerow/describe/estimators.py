"""What there is to say of every estimator: parameters, inputs, classes, coefficients."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from hedgerow._page.words import count
from hedgerow.data.rows import dense
from hedgerow.describe.registry import describe, describes
from hedgerow.reduction import pairs_of_classes

__all__ = ["around_learner", "feature_names", "is_fitted", "strongest"]

_TAKEN_FROM_LEARNER = (
    *("training", "figures", "certificate", "quality", "weights", "importances", "support"),
    "advice",
)
_REMEDIES = {
    "time_limit": "give it more time by max_time",
    "interrupted": "let it run to its end",
    "stopped": "let it run to its end",
    "max_iter": "raise max_iter, or bring the features to one scale",
}


@describes(BaseEstimator)
def _estimator(model: Any, top: int) -> dict[str, Any]:
    fitted, classes = is_fitted(model), getattr(model, "classes_", None)
    kind = type(model).__name__
    return {
        "subject": "model",
        "kind": kind,
        "what": (inspect.getdoc(type(model)) or f"{kind}.").partition("\n")[0],
        "is_fitted": fitted,
        **_settings(model),
        "inputs": _inputs(model) if fitted else None,
        "target": getattr(model, "target_", None),
        "classes": _listed_classes(classes),
        "data": {
            "n_rows": getattr(getattr(model, "row_sketch_", None), "n_rows", None),
            "n_features": getattr(model, "n_features_in_", None),
            "n_classes": len(classes) if isinstance(classes, np.ndarray) else None,
        },
        "training": _training(model),
        "figures": _figures(model),
        "certificate": describe(model.certificate_) if hasattr(model, "certificate_") else None,
        "quality": [],
        "weights": _weights(model, top) if fitted and hasattr(model, "coef_") else None,
        "importances": None,
        "support": None,
        "advice": list(_advice(model)),
    }


def is_fitted(estimator: Any) -> bool:
    """Say whether an estimator has been fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def around_learner(model: Any, top: int, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Return what a model owes to the learner in it, whose columns may have other names."""
    asked, learner = getattr(model, "learner", None), getattr(model, "learner_", None)
    found = {} if asked is None else _settings(asked)
    if learner is None:
        return found | {"learner": None if asked is None else type(asked).__name__}
    inner = describe(learner, top=top)
    if not inner["training"]["sentences"]:
        n_iter = inner["training"]["n_iter"]
        steps = "" if n_iter is None else f" in {count(n_iter, 'iteration')}"
        inner["training"]["sentences"] = [
            f"Fitted by {type(learner).__module__.partition('.')[0]}{steps}."
        ]
    if names is not None:
        _rename_columns(inner, names)
    found |= {"learner": inner["kind"]} | {key: inner[key] for key in _TAKEN_FROM_LEARNER}
    found["training"] = {**inner["training"], "seconds": getattr(model, "_fit_seconds", None)}
    if inner["data"]["n_rows"] is not None:
        found["data"] = {"n_rows": inner["data"]["n_rows"]}
    return found


def _rename_columns(found: dict[str, Any], names: Sequence[str]) -> None:
    """Name the features of coefficients and importances by the place of their columns."""
    for features in (found["weights"], found["importances"]):
        for entry in features["strongest"] if features else ():
            entry["column"] = str(names[entry["index"]])


# -------------------------------------------------------------------------------------- parameters


def _settings(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults, also in a sentence."""
    kind = type(model).__name__
    defaults = inspect.signature(type(model)).parameters
    values = model.get_params(deep=False)
    values.pop("learner", None)  # which has its own
    changed = {name: v for name, v in values.items() if repr(v) != repr(defaults[name].default)}
    listed = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    words = f"{kind}: {listed}." if listed else f"{kind}: all parameters have their default values."
    return {"parameters": {kind: changed}, "settings": [words]}


def _listed_classes(classes: Any) -> list[Any] | None:
    """Return the labels; of several outputs a list of each one's."""
    if isinstance(classes, list):
        return [labels.tolist() for labels in classes]
    return None if classes is None else list(np.asarray(classes).tolist())


# ----------------------------------------------------------------------------------------- columns


def feature_names(model: Any, n_features: int) -> list[str]:
    """Return the names of the features, x0, x1 and so on if they have none."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_features)] if names is None else [str(n) for n in names]


def _inputs(model: Any) -> dict[str, Any]:
    """Return the columns that a fitted model takes: numbers, if it does not say otherwise."""
    names = getattr(model, "feature_names_in_", None)
    return {
        "n_columns": getattr(model, "n_features_in_", None),
        "columns": None if names is None else [{"name": str(n), "values": None} for n in names],
        "is_encoded": False,
        "scaling": model.scale if hasattr(model, "scaling_") else None,
        "n_encoded": None,
    }


# ---------------------------------------------------------------------------------------- training


def _training(model: Any) -> dict[str, Any]:
    """Return how training went, as far as attributes that estimators share tell."""
    n_iter = np.asarray(getattr(model, "n_iter_", None))
    return {
        "sentences": [],
        "status": getattr(model, "status_", None),
        "solver": getattr(model, "solver_", None),
        "n_iter": int(n_iter.sum()) if n_iter.dtype.kind in "iu" else None,
        "seconds": getattr(model, "_fit_seconds", None),
    }


def _figures(model: Any) -> dict[str, Any]:
    """Return the fitted attributes that are single values."""
    fitted = {name: v for name, v in vars(model).items() if name.endswith("_")}
    return {name: v for name, v in fitted.items() if isinstance(v, str | int | float)}


def _advice(model: Any) -> Iterator[dict[str, str]]:
    """Say what to do if the fit came to no certificate."""
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and not certificate.is_certified:
        remedy = _REMEDIES.get(certificate.status, "choose a smaller C or a larger tol")
        sentence = f"The fit did not reach its tolerance: {remedy}."
        yield {"name": "not_certified", "sentence": sentence}


# ------------------------------------------------------------------------------------ coefficients


def strongest(values: Any, names: Sequence[str], top: int) -> list[dict[str, Any]]:
    """Return the largest of the features' values, with names and numbers of their columns."""
    order = np.argsort(-np.abs(values), kind="stable")[:top]
    return [{"column": names[j], "index": int(j), "value": float(values[j])} for j in order]


def _weights(model: Any, top: int) -> dict[str, Any]:
    """Return the coefficients of a linear model, the largest in absolute value first."""
    coef = np.atleast_2d(dense(model.coef_))
    n_planes, n_features = coef.shape
    labels = _plane_labels(model, n_planes)
    names = feature_names(model, n_features)
    entries = strongest(coef.ravel(), names * n_planes, top)
    for entry in entries:
        plane, entry["index"] = divmod(entry["index"], n_features)
        entry["label"] = labels[plane]
    norm = float(np.linalg.norm(coef))
    has_margin = hasattr(model, "certificate_") and hasattr(model, "classes_")
    return {
        "strongest": entries,
        "n_all": coef.size,
        "n_zero": int(np.count_nonzero(coef == 0)),
        "n_planes": n_planes,
        "intercepts": np.ravel(model.intercept_).tolist(),
        "width": 2 / norm if has_margin and n_planes == 1 and norm else None,
    }


def _plane_labels(model: Any, n_planes: int) -> list[Any]:
    """Return what each hyperplane speaks for: a class, 1 for an inlier, None for a number."""
    if not hasattr(model, "classes_"):
        return [None if is_regressor(model) else 1] * n_planes
    classes: list[Any] = model.classes_.tolist()
    if n_planes > 1 and getattr(model, "multi_class", None) == "ovo":
        pairs = pairs_of_classes(len(classes))
        if hasattr(model, "kernel_"):  # as LIBSVM's, whose pairs speak for their first class
            pairs = [(second, first) for first, second in pairs]
        return [f"{classes[k]} rather than {classes[j]}" for j, k in pairs]
    return classes[1:] if n_planes == 1 else classes
