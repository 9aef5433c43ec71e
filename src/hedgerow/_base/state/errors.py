"""What can be wrong with a state."""

from __future__ import annotations

__all__ = ["MissingPackageError", "NewerStateError", "StateError", "UnknownClassError"]


class StateError(ValueError):
    """A value that no state can hold, or a state that describes no object."""


class MissingPackageError(StateError):
    """A state that is fine, but needs a package that is not installed."""


class NewerStateError(StateError):
    """A state of a class whose installed version is too old to read it."""


class UnknownClassError(StateError):
    """A state that names a class which is not declared."""
