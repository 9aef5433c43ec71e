"""Names and numbers as text that is safe where it is put: a line, XML, DOT, Python."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any
from xml.sax.saxutils import escape

from hedgerow.errors import ParameterError

__all__ = ["dot", "literal", "markup", "number", "plain"]


def plain(value: object) -> str:
    """Return the value as text on one line: what cannot be seen is written as an escape."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(sign if _is_visible(sign) else _escaped(sign) for sign in text)


def _is_visible(sign: str) -> bool:
    return sign.isprintable() or unicodedata.category(sign) == "Zs"


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def markup(value: object) -> str:
    """Return the value as text inside XML or HTML, in an element or an attribute."""
    return escape(plain(value), {'"': "&quot;", "'": "&#39;"})


def dot(value: object) -> str:
    """Return the value as text inside a quoted string of DOT."""
    text = re.sub(r"&(?=#?\w+;)", "&amp;", plain(value))  # Graphviz would read an entity
    return text.replace("\\", "\\\\").replace('"', '\\"')


def number(value: float, digits: int = 4) -> str:
    """Return the number with so many digits that count, all those before the point, and no idle zeros."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)))
    if not -5 < power < 15:
        return f"{value:.{digits}g}"
    text = f"{value:.{max(0, digits - 1 - power)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def literal(value: Any) -> str:
    """Return the Python code of a label, a category or a number."""
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if type(value) in (str, bytes, bool, int, float):
        return repr(value)
    msg = (
        f"{value!r} is a {type(value).__name__}, which cannot be written as Python code without imports; "
        "fit the tree on text or numbers in its place"
    )
    raise ParameterError(msg)
