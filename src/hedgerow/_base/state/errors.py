"""What can be wrong with a state."""

from __future__ import annotations

__all__ = ["MissingPackageError", "StateError"]


class StateError(ValueError):
    """A value that no state can hold, or a state that describes no object."""


class MissingPackageError(StateError):
    """A state that is fine, but needs a package that is not installed."""
