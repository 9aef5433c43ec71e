"""Keeping callbacks where scikit-learn, before 1.9, has no way of its own."""

from __future__ import annotations

from typing import Any, Self

__all__ = ["CallbackSupportMixin"]


class CallbackSupportMixin:
    """Holds callbacks and takes them along when cloned, as scikit-learn's class of this name does."""

    _skl_callbacks: list[Any]

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks; none at all removes those that were set."""
        self.__dict__.pop("_skl_callbacks", None)
        if callbacks:
            self._skl_callbacks = list(callbacks)
        return self

    def __sklearn_clone__(self) -> Self:
        from sklearn.base import _clone_parametrized

        copy: Self = _clone_parametrized(self)
        return copy.set_callbacks(*getattr(self, "_skl_callbacks", []))
