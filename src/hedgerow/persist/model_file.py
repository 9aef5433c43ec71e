"""Models in files: the suffix is ``.hedge``, the format that of :mod:`hedgerow.persist.state_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from hedgerow._base.state import is_stateful
from hedgerow.errors import ParameterError
from hedgerow.persist.state_file import damaged, read_state, write_state

__all__ = ["load", "save"]


def save(model: BaseEstimator, path: str | Path) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        One of Hedgerow's, fitted or not. An estimator of scikit-learn inside it is stored too if it
        is one that ``docs/models.md`` lists.
    path : str or Path
        Where to; the suffix ``.hedge`` is the custom. An older file is replaced at the very end.

    Raises
    ------
    ParameterError
        The model, or a part of it, is none that Hedgerow can store.
    FileAccessError
        The file cannot be written; an older one is left as it was.

    Examples
    --------
    >>> import tempfile, hedgerow
    >>> model = hedgerow.LinearSVC().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hedgerow.save(model, f"{folder}/model.hedge")
    ...     hedgerow.load(f"{folder}/model.hedge").predict([[2.0]]).tolist()
    ['yes']
    """
    if not is_stateful(model):
        cls = type(model)
        msg = f"this {cls.__module__}.{cls.__qualname__} cannot be saved: it is no model of Hedgerow; save one that is"
        raise ParameterError(msg)
    write_state(path, "model", model)


def load(path: str | Path) -> Any:
    """Read a model from a file that :func:`save` wrote.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        Equal to the one that was saved.

    Raises
    ------
    FileAccessError
        The file cannot be read.
    ModelFormatError
        The file is damaged, is no model, or was written by a newer version.
    """
    model = read_state(path, "model")
    if not is_stateful(model):
        raise damaged(path, "model", f"it holds a {type(model).__name__} and not a model")
    return model
