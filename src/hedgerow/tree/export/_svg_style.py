"""Colours, fonts and the room that text takes in a picture of a tree."""

from __future__ import annotations

import colorsys
import unicodedata
from functools import lru_cache

__all__ = [
    "BOLDER",
    "RAMP",
    "STRONGEST",
    "WEAKEST",
    "class_colors",
    "shortened",
    "style_sheet",
    "text_width",
]

_PALETTE = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#8a7f00",
    "#7d6bb5",
)
"""Colours that stay apart for colour-blind readers, after Okabe and Ito."""

RAMP = "#0072b2"
"""The colour of values, the stronger the higher."""
WEAKEST, STRONGEST = 0.06, 0.5
"""How strong it is at the lowest and at the highest value."""

_LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "soft": "#59636e",
    "card": "#f6f8fa",
    "line": "#b7c0c9",
}
_DARK = {
    "paper": "#15181c",
    "ink": "#eef1f4",
    "soft": "#a9b3bd",
    "card": "#21262c",
    "line": "#5b6672",
}
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"

_NARROW = frozenset("ijltfrI.,:;'!|()[]{} /\\-")
_WIDE = frozenset("mwMW@%…")
_BROAD = frozenset("<>=≤≥+~&#")

BOLDER = 1.12
"""How much wider bold text is."""


def class_colors(n: int) -> list[str]:
    """Return a colour for each class."""
    if n <= len(_PALETTE):
        return list(_PALETTE[:n])
    shades = (0.42, 0.58)  # neighbours in hue differ in lightness
    return [_hex(*colorsys.hls_to_rgb(k / n, shades[k % 2], 0.6)) for k in range(n)]


def _hex(*parts: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def style_sheet(scope: str, theme: str) -> str:
    """Return the rules of a style sheet that hold inside the element of that id alone."""
    first = _DARK if theme == "dark" else _LIGHT
    sheet = (
        f"#{scope} text{{font-family:{_FONT}}}"
        f"#{scope} .b{{font-weight:600}}"
        f"#{scope} .m{{text-anchor:middle}}" + _colors(scope, first)
    )
    if theme == "auto":
        sheet += f"@media (prefers-color-scheme:dark){{{_colors(scope, _DARK)}}}"
    return sheet


def _colors(scope: str, theme: dict[str, str]) -> str:
    """Return the rules that set colours."""
    return (
        f"#{scope} .paper{{fill:{theme['paper']}}}"
        f"#{scope} .ink{{fill:{theme['ink']}}}"
        f"#{scope} .soft{{fill:{theme['soft']}}}"
        f"#{scope} .card{{fill:{theme['card']};stroke:{theme['line']}}}"
        f"#{scope} .edge{{fill:none;stroke:{theme['line']}}}"
        f"#{scope} .track{{fill:{theme['line']}}}"
        f"#{scope} .halo{{stroke:{theme['paper']};stroke-width:4px;stroke-linejoin:round}}"
    )


def text_width(text: str, size: float) -> float:
    """Return about how wide a line is in a font of that size; rather too much than too little."""
    return size * sum(map(_sign_width, text))


@lru_cache(maxsize=4096)
def _sign_width(sign: str) -> float:
    """Return the width of a sign, of the height of the font."""
    if sign in _NARROW:
        return 0.38
    if sign in _WIDE or unicodedata.east_asian_width(sign) in "WF":
        return 1.0
    if sign in _BROAD:
        return 0.84
    return 0.72 if sign.isupper() else 0.62


def shortened(text: str, size: float, room: float) -> str:
    """Return the text, or its beginning and a mark if it does not fit."""
    if text_width(text, size) <= room:
        return text
    end = len(text)
    while end > 1 and text_width(text[:end], size) > room - size:
        end -= 1
    return text[:end].rstrip() + "…"
