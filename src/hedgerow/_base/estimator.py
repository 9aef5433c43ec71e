"""What every estimator shares: pickles that say which versions made them."""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.base import BaseEstimator

from hedgerow import __version__
from hedgerow.errors import ModelVersionWarning, warn_user

__all__ = ["Estimator"]

_VERSIONS = {"_hedgerow_version": __version__, "_sklearn_version": sklearn.__version__}
"""What a pickle is told. scikit-learn does so for the classes of its own package only."""


class Estimator(BaseEstimator):
    """An estimator whose pickles carry Hedgerow's version and scikit-learn's."""

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), **_VERSIONS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        made_by = {name: state.get(name, "unknown") for name in _VERSIONS}
        if made_by != _VERSIONS:
            original, current = tuple(made_by.values()), tuple(_VERSIONS.values())
            warning = ModelVersionWarning(type(self).__name__, original, current)
            warn_user(warning, ModelVersionWarning)
        attributes = {name: value for name, value in state.items() if name not in _VERSIONS}
        super().__setstate__(attributes)
