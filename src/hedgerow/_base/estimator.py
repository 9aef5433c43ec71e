"""What every estimator shares: pickles that say which versions made them, and how it is shown."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

import hedgerow
from hedgerow import __version__
from hedgerow.errors import ModelVersionWarning, warn_user

__all__ = ["Estimator"]

_VERSIONS = {"_hedgerow_version": __version__, "_sklearn_version": sklearn.__version__}
"""What a pickle is told. scikit-learn does so for the classes of its own package only."""

_SHOWN = 6
"""How many features a notebook shows of a model."""


class Estimator(BaseEstimator):
    """An estimator whose pickles carry Hedgerow's version and scikit-learn's.

    In a notebook it is shown as scikit-learn's diagram and, once fitted, a summary below it.
    """

    def _html_repr(self) -> str:
        """Return what a notebook shows."""
        diagram = str(estimator_html_repr(self))
        try:
            check_is_fitted(self)
        except NotFittedError:
            return diagram
        return diagram + hedgerow.describe(self, top=_SHOWN)._repr_html_()

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        # scikit-learn before 1.7 does not ask _html_repr
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    def __getstate__(self) -> dict[str, Any]:
        # how long a fit took differs between equal models, whose pickles should be equal
        state = {k: v for k, v in super().__getstate__().items() if k != "_fit_seconds"}
        return {**state, **_VERSIONS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        made_by = {name: state.get(name, "unknown") for name in _VERSIONS}
        if made_by != _VERSIONS:
            original, current = tuple(made_by.values()), tuple(_VERSIONS.values())
            warning = ModelVersionWarning(type(self).__name__, original, current)
            warn_user(warning, ModelVersionWarning)
        attributes = {name: value for name, value in state.items() if name not in _VERSIONS}
        super().__setstate__(attributes)
