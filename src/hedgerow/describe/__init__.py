"""What a model or a table is, as a dictionary of words and numbers.

``hedgerow.describe(model)`` returns the dictionary; the command line, reports and notebooks show it.
What there is to say of a class is registered by :func:`describes`, for Hedgerow's own classes in the
modules of this package, for any other class by whoever writes it.

The package can be called as its function :func:`describe`, since both have the same name.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from hedgerow.describe.registry import Description, describe, describes

__all__ = ["Description", "describe", "describes"]


class _CallablePackage(ModuleType):
    """A module that is called as the function of the same name."""

    def __call__(self, subject: Any, *, top: int = 10) -> Description:
        """Return the description of a model or a table; see :func:`describe`."""
        return describe(subject, top=top)


sys.modules[__name__].__class__ = _CallablePackage
