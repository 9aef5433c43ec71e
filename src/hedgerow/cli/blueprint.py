"""The model that ``hedgerow train`` fits: a learner and an encoder, before any data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone, is_classifier

from hedgerow.auto import TableClassifier
from hedgerow.errors import ParameterError
from hedgerow.linear import LinearSVC
from hedgerow.persist import load

__all__ = ["Blueprint", "blueprint_of", "default_blueprint"]

_OPTION_OF = {
    "C": "--C",
    "class_weight": "--class-weight",
    "fit_intercept": "--intercept",
    "intercept": "--intercept",
    "loss": "--loss",
    "max_iter": "--max-iter",
    "n_jobs": "--n-jobs",
    "random_state": "--seed",
    "tol": "--tol",
}


@dataclass(frozen=True)
class Blueprint:
    """What is to be fitted.

    Attributes
    ----------
    model : TableClassifier
        Not fitted; with a learner.
    target : str, int or None
        The column that the model it was taken from predicts, if there is one.
    origin : str
        Where the learner comes from, for messages.
    """

    model: TableClassifier
    target: str | int | None = None
    origin: str = "hedgerow train"

    def with_options(self, options: Mapping[str, Any]) -> Blueprint:
        """Return the blueprint with the values of some of the verb's options."""
        model = clone(self.model)
        if "scale" in options:
            model.scale = None if options["scale"] == "none" else options["scale"]
        parameters = _learner_parameters(options)
        known = model.learner.get_params()
        for name in parameters:
            if name not in known:
                msg = (
                    f"the {type(model.learner).__name__} of {self.origin} has no parameter "
                    f"{name!r}; leave {_OPTION_OF[name]} out"
                )
                raise ParameterError(msg)
        if "C" in parameters:
            parameters["reg_lambda"] = None  # C's other name: what is given here wins
        model.learner.set_params(**parameters)
        return Blueprint(model, self.target, self.origin)


def default_blueprint() -> Blueprint:
    """Return a linear SVM with the defaults of the library."""
    return Blueprint(TableClassifier(LinearSVC()))


def blueprint_of(path: str) -> Blueprint:
    """Return the parameters and the target of the model in a file, fitted or not.

    A classifier that is none for tables took numbers as they are, and so its scale is None.
    """
    model = load(path)
    if not is_classifier(model):
        msg = f"{path} holds a {type(model).__name__}, which is no classifier; give one to --load"
        raise ParameterError(msg)
    if not isinstance(model, TableClassifier):
        return Blueprint(TableClassifier(clone(model), scale=None), None, path)
    learner = LinearSVC() if model.learner is None else clone(model.learner)
    unfitted = TableClassifier(learner, model.scale)
    return Blueprint(unfitted, getattr(model, "target_", None), path)


def _learner_parameters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the learner's parameters that the verb's options stand for."""
    parameters = {name: value for name, value in options.items() if name not in _TRANSLATED}
    for name, translate in _TRANSLATED.items():
        if name in options:
            parameters |= translate(options[name])
    return parameters


def _intercept(value: str) -> dict[str, Any]:
    fit_intercept = value != "none"
    return {"fit_intercept": fit_intercept} | ({"intercept": value} if fit_intercept else {})


_TRANSLATED: dict[str, Any] = {
    "c": lambda value: {"C": value},
    "class_weight": lambda value: {"class_weight": None if value == "none" else value},
    "intercept": _intercept,
    "scale": lambda _: {},
    "seed": lambda value: {"random_state": value},
}
"""The options that are not called what the learner calls them."""
