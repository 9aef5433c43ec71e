"""What a model holds, as figures and sentences: the same for every class of Hedgerow."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from hedgerow._page.words import count, short
from hedgerow.cli.loaded_model import is_fitted
from hedgerow.data.rows import dense
from hedgerow.kernels import Precomputed
from hedgerow.problems.certificates import Certificate
from hedgerow.reduction import pairs_of_classes

__all__ = [
    "InputColumn",
    "Inputs",
    "ModelSummary",
    "Weight",
    "Weights",
    "summarize",
    "training_words",
]


@dataclass(frozen=True)
class Weight:
    """One coefficient.

    Attributes
    ----------
    column : str
        What it is multiplied with; text gives ``column=value``.
    label : object
        The class for which it speaks if it is positive; None in a regressor.
    value : float
        The coefficient.
    """

    column: str
    label: Any
    value: float


@dataclass(frozen=True)
class Weights:
    """The coefficients of a linear model.

    Attributes
    ----------
    strongest : tuple of Weight
        The largest in absolute value.
    n_all, n_zero : int
        How many there are, and how many are zero.
    n_planes : int
        One a class if there are more than two, else one.
    intercepts : tuple of float
        One a plane.
    width : float or None
        2/|w|, for a support vector machine of two classes.
    """

    strongest: tuple[Weight, ...]
    n_all: int
    n_zero: int
    n_planes: int
    intercepts: tuple[float, ...]
    width: float | None


@dataclass(frozen=True)
class InputColumn:
    """A column that a model takes: numbers, or text or categories with the values seen in training."""

    name: str
    values: list[Any] | None = None


@dataclass(frozen=True)
class Inputs:
    """What a model takes, and what it makes of that.

    Attributes
    ----------
    n_columns : int
        How many columns it takes.
    columns : tuple of InputColumn or None
        The columns; None if all are numbers without names.
    is_encoded : bool
        Whether a TableEncoder scales numbers and encodes text.
    scaling : str or None
        How it scales numbers; None if they are taken as they are.
    n_encoded : int or None
        How many columns it makes.
    """

    n_columns: int
    columns: tuple[InputColumn, ...] | None
    is_encoded: bool = False
    scaling: str | None = None
    n_encoded: int | None = None


@dataclass(frozen=True)
class ModelSummary:
    """What a model holds.

    Attributes
    ----------
    kind : str
        Its class.
    is_fitted : bool
        Whether it was fitted; if not, it has parameters alone.
    parameters : dict of str to dict
        For the model, and for the learner inside, the parameters that differ from the defaults.
    inputs : Inputs or None
        The columns it takes, if it is fitted.
    target : str, int or None
        The column it predicts.
    classes : list or None
        The labels it can give.
    figures : dict
        The fitted attributes that are single figures or words.
    training : tuple of str
        How training went, in sentences.
    weights : Weights or None
        The coefficients, of a linear model.
    certificate : Certificate or None
        The proof of quality, where there is one.
    """

    kind: str
    is_fitted: bool
    parameters: dict[str, dict[str, Any]]
    inputs: Inputs | None
    target: str | int | None
    classes: list[Any] | None
    figures: dict[str, Any]
    training: tuple[str, ...]
    weights: Weights | None
    certificate: Certificate | None


def summarize(model: Any, n_weights: int) -> ModelSummary:
    """Return what a model holds, with its strongest coefficients."""
    fitted = is_fitted(model)
    learner = getattr(model, "learner_", model)
    classes = getattr(model, "classes_", None)
    return ModelSummary(
        kind=type(model).__name__,
        is_fitted=fitted,
        parameters={type(part).__name__: _changed(part) for part in _parts(model)},
        inputs=_inputs(model) if fitted else None,
        target=getattr(model, "target_", None),
        classes=_listed_classes(classes),
        figures=_figures(learner),
        training=tuple(training_words(learner)),
        weights=_weights(model, learner, n_weights) if hasattr(learner, "coef_") else None,
        certificate=getattr(learner, "certificate_", None),
    )


def _listed_classes(classes: Any) -> list[Any] | None:
    """Return the labels; of several outputs a list of each one's."""
    if isinstance(classes, list):
        return [labels.tolist() for labels in classes]
    return None if classes is None else list(classes.tolist())


# -------------------------------------------------------------------------------------- parameters


def _parts(model: Any) -> Iterator[Any]:
    """Yield the model and the learner inside."""
    yield model
    if getattr(model, "learner", None) is not None:
        yield model.learner


def _changed(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from the defaults; a learner is a part of its own."""
    defaults = inspect.signature(type(model)).parameters
    values = model.get_params(deep=False)
    values.pop("learner", None)
    return {name: v for name, v in values.items() if repr(v) != repr(defaults[name].default)}


# ----------------------------------------------------------------------------------------- columns


def _inputs(model: Any) -> Inputs:
    """Return the columns that a fitted model takes."""
    encoder = getattr(model, "encoder_", model)
    names = getattr(model, "feature_names_in_", None)
    if hasattr(model, "category_columns_"):
        return _tree_inputs(model, names)
    if not hasattr(encoder, "is_text_"):
        listed = None if names is None else tuple(InputColumn(str(name)) for name in names)
        scaling = model.scale if hasattr(model, "scaling_") else None
        return Inputs(model.n_features_in_, listed, scaling=scaling)
    labels = names if names is not None else [f"x{j}" for j in range(model.n_features_in_)]
    categories = iter(encoder.categories_)
    values = [next(categories).tolist() if text else None for text in encoder.is_text_]
    columns = tuple(InputColumn(str(name), v) for name, v in zip(labels, values, strict=True))
    has_names = names is not None or bool(encoder.is_text_.any())
    return Inputs(
        n_columns=model.n_features_in_,
        columns=columns if has_names else None,
        is_encoded=True,
        scaling=encoder.scaling_,
        n_encoded=len(encoder.fill_) + sum(map(len, encoder.categories_)),
    )


def _tree_inputs(model: Any, names: Any) -> Inputs:
    """Return the columns that a tree takes: numbers, and categories as they are."""
    found = model.category_columns_
    if names is None and not len(found.columns):
        return Inputs(model.n_features_in_, None)
    labels = names if names is not None else [f"x{j}" for j in range(model.n_features_in_)]
    columns = [
        InputColumn(str(label), values.tolist() if j in found else None)
        for j, (label, values) in enumerate(zip(labels, found.by_feature, strict=True))
    ]
    return Inputs(model.n_features_in_, tuple(columns))


# ---------------------------------------------------------------------------------------- training


def _figures(learner: Any) -> dict[str, Any]:
    """Return the fitted attributes of a learner that are no arrays."""
    fitted = {name: v for name, v in vars(learner).items() if name.endswith("_")}
    return {name: v for name, v in fitted.items() if isinstance(v, str | int | float)}


def training_words(learner: Any) -> Iterator[str]:
    """Say how training went, from whatever a fitted learner tells about it."""
    for attribute, words in _TRAINING.items():
        if hasattr(learner, attribute):
            yield words(learner)


def _solver_words(learner: Any) -> str:
    how = f"Solved by {learner.solver_.replace('_', ' ')} in" if learner.solver_ else "Took"
    return f"{how} {count(learner.n_iter_, 'iteration')}; status {learner.status_!r}."


_ENDS = {
    "separated": "the last one made none, so the training rows are separated",
    "plateau": "stopped because it made no more progress",
    "max_iter": "stopped at the limit of passes",
    "stopped": "stopped by a callback",
    "time_limit": "stopped at the limit of time",
    "interrupted": "interrupted",
}


def _mistakes_words(learner: Any) -> str:
    made = count(learner.n_mistakes_, "mistake")
    return f"{made} in {count(learner.n_iter_, 'pass')}; {_ENDS[learner.status_]}."


def _support_words(learner: Any) -> str:
    if _is_kernel_machine(learner):
        n_all, n_kept = int(learner.shape_fit_[0]), len(learner.support_)
        return f"{n_kept:,} of {count(n_all, 'training row')} are its support vectors."
    n_rows = learner.support_vectors_.shape[0]
    return f"Keeps {count(n_rows, 'training row')}, on which mistakes were made."


def _steps_words(learner: Any) -> str:
    n_steps = int(np.sum(learner.n_iter_))
    return f"Solved by decomposition in {count(n_steps, 'step')}; status {learner.status_!r}."


def _fitted_kernel_words(learner: Any) -> str:
    if isinstance(learner.kernel_, Precomputed):
        n_rows = count(learner.n_features_in_, "training row")
        return f"Takes the kernel of each new row with each of {n_rows}."
    return f"Kernel {learner.kernel_!r}."


def _radius_words(learner: Any) -> str:
    return f"The ball has the radius {short(learner.radius_)}."


def _tree_words(learner: Any) -> str:
    tree = learner.tree_
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
    return f"A tree of {leaves} and depth {tree.max_depth}; status {learner.status_!r}."


def _tube_words(learner: Any) -> str:
    return f"The tube reaches {short(learner.epsilon_)} to either side."


def _votes_words(learner: Any) -> str:
    n_planes = sum(len(survivals) for survivals in learner.survivals_)
    return f"{count(n_planes, 'plane')} vote{'s' if n_planes == 1 else ''}."


def _kernel_words(learner: Any) -> str:
    return f"Kernel {learner.kernel!r} with gamma {short(learner.gamma_)}."


_TRAINING: dict[str, Callable[[Any], str]] = {
    "solver_": _solver_words,
    "fit_status_": _steps_words,
    "n_mistakes_": _mistakes_words,
    "gamma_": _kernel_words,
    "kernel_": _fitted_kernel_words,
    "support_vectors_": _support_words,
    "survivals_": _votes_words,
    "radius_": _radius_words,
    "epsilon_": _tube_words,
    "tree_": _tree_words,
}
"""What a fitted attribute has to tell."""


# ----------------------------------------------------------------------------------------- weights


def _weights(model: Any, learner: Any, n_weights: int) -> Weights:
    coef = np.atleast_2d(dense(learner.coef_))
    n_planes = len(coef)
    labels = _plane_labels(learner, n_planes)
    names = _weight_names(model, coef.shape[1])
    order = np.argsort(-np.abs(coef), axis=None, kind="stable")[:n_weights]
    places = [divmod(int(place), coef.shape[1]) for place in order]
    norm = float(np.linalg.norm(coef))
    return Weights(
        strongest=tuple(Weight(names[j], labels[k], float(coef[k, j])) for k, j in places),
        n_all=coef.size,
        n_zero=int(np.count_nonzero(coef == 0)),
        n_planes=n_planes,
        intercepts=tuple(np.ravel(learner.intercept_).tolist()),
        width=2 / norm if _has_width(learner) and n_planes == 1 and norm else None,
    )


def _plane_labels(learner: Any, n_planes: int) -> list[Any]:
    """Return what each plane speaks for: a class, 1 for what is no outlier, None for a value."""
    if not hasattr(learner, "classes_"):
        return [None if is_regressor(learner) else 1]
    classes: list[Any] = learner.classes_.tolist()
    if n_planes > 1 and getattr(learner, "multi_class", None) == "ovo":
        pairs = pairs_of_classes(len(classes))
        if _is_kernel_machine(learner):  # as LIBSVM's, whose pairs speak for their first class
            pairs = [(second, first) for first, second in pairs]
        return [f"{classes[k]} rather than {classes[j]}" for j, k in pairs]
    return classes[1:] if n_planes == 1 else classes


def _is_kernel_machine(learner: Any) -> bool:
    return hasattr(learner, "kernel_")


def _has_width(learner: Any) -> bool:
    """Say whether the planes of score 1 and -1 mean something: in a support vector classifier."""
    return hasattr(learner, "certificate_") and hasattr(learner, "classes_")


def _weight_names(model: Any, n_weights: int) -> list[str]:
    """Return what the coefficients are multiplied with."""
    if hasattr(model, "encoder_"):
        return [str(name) for name in model.encoder_.get_feature_names_out()]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(n_weights)] if names is None else [str(n) for n in names]
