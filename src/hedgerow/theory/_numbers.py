"""Checks of the arguments of formulas."""

from __future__ import annotations

import math
from typing import Any

from hedgerow._base.parameters import real_number, whole_number
from hedgerow.errors import ParameterError

__all__ = ["check_count", "check_number", "check_share"]


def check_number(name: str, value: Any, *, above: float | None = None) -> None:
    """Refuse anything but a finite number of at least 0, or above a bound."""
    rule = real_number(0.0) if above is None else real_number(above, open_low=True)
    _refuse(name, value, rule(value))


def check_count(name: str, value: Any) -> None:
    """Refuse anything but a positive integer."""
    _refuse(name, value, whole_number(1)(value))


def check_share(name: str, value: Any) -> None:
    """Refuse anything not strictly between 0 and 1."""
    fine = real_number(0.0, math.nextafter(1.0, 0.0), open_low=True)(value) is None
    _refuse(name, value, None if fine else "a number between 0 and 1, both excluded")


def _refuse(name: str, value: Any, expected: str | None) -> None:
    if expected is not None:
        msg = f"{name}={value!r} is not allowed: it must be {expected}"
        raise ParameterError(msg)
