"""Changes to a tree of JSON values that keep most of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from random import Random
from typing import Any

__all__ = ["edited", "places", "text_of", "value_at"]

_ODD_NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 100, 255, 256, 10_000, 2**31 - 1, 2**31, 2**32, 2**50, 2**53),
    *(2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**31), -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 0.5, 1.5, -1.0, 1e-320, 1e-30, 1e30, 1e160, 1.7e308, 2.0**63),
)
_RAW = {"\0nan": "NaN", "\0inf": "Infinity", "\0big": "1e999", "\0deep": "", "\0long": "9" * 5000}
"""Values that JSON has no word for: marks that become these texts at the end."""
_DEEP = '{"is":"tuple","items":[' * 3000 + "]}" * 3000
_ODD_TEXTS = (
    *("", "x", "inf", "nan", "auto", "balanced", "model", "é\x00", "\ud800", "__class__", "self"),
    *("fit", "precomputed", "y" * 5000, *_RAW),
)
_ODD_FORMS: tuple[Any, ...] = (
    *(None, True, False, [], {}, [[]], [0, 0], [1, 2], [None]),
    *({"is": "number", "value": value} for value in ("nan", "inf", "-inf", "0", None)),
    {"is": "map", "items": []},
    {"is": "map", "items": [[1, 2], [1, 3]]},
    {"is": "map", "items": [[[], 2]]},
    {"is": "tuple", "items": []},
    {"is": "tuple", "items": [1, "a", None]},
    {"is": "array", "name": "nowhere"},
    {"is": "strange"},
    {"is": []},
)


def edited(rng: Random, tree: Any, words: Sequence[str], donor: Any) -> Any:
    """Return the tree with one value replaced, removed, repeated, swapped or added.

    Parameters
    ----------
    rng : Random
        Where the choices come from.
    tree : JSON value
        The tree; it may be changed.
    words : sequence of str
        Texts that may mean something where a text stands, such as names of classes and arrays.
    donor : JSON value
        Another tree, parts of which may be taken over.
    """
    known = places(tree)
    if not known:
        return _odd(rng, tree, words)
    place = rng.choice(known)
    holder, key = value_at(tree, place[:-1]), place[-1]
    how = rng.choice(("replace",) * 5 + ("remove", "swap", "add", "rename", "take", "wrap"))
    if how == "replace":
        holder[key] = _odd(rng, holder[key], words)
    elif how == "remove":
        del holder[key]
    elif how == "swap":
        holder[key] = copy.deepcopy(value_at(tree, rng.choice(known)))
    elif how == "take":
        holder[key] = copy.deepcopy(value_at(donor, rng.choice(places(donor) or [()])))
    elif how == "wrap":
        holder[key] = rng.choice([[holder[key]], {"is": "tuple", "items": [holder[key]]}])
    elif isinstance(holder, dict):
        new = rng.choice([*words, *_ODD_TEXTS])
        holder[new] = holder.pop(key) if how == "rename" else _odd(rng, holder[key], words)
    else:
        holder.insert(key, _odd(rng, holder[key], words))
    return tree


def _odd(rng: Random, value: Any, words: Sequence[str]) -> Any:
    """Return another value, most often of the same type."""
    if rng.random() < 0.25:
        return copy.deepcopy(rng.choice([*_ODD_NUMBERS, *_ODD_TEXTS, *_ODD_FORMS]))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        near = [value + 1, value - 1, -value, 2 * value, value // 2, str(value)]
        near += [float(value)] if abs(value) < 2**1000 else []
        return rng.choice([*near, *_ODD_NUMBERS])
    if isinstance(value, str):
        return rng.choice([*words, *_ODD_TEXTS, value + "x", value[:-1], value.upper()])
    if isinstance(value, list) and value:
        shuffled = rng.sample(value, len(value))
        return copy.deepcopy(
            rng.choice([value[:-1], value + value, value[::-1], shuffled, value * 20])
        )
    return copy.deepcopy(rng.choice(_ODD_FORMS))


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to all values in a tree, the root not among them."""
    found, pending = [], [(tree, path)]
    while pending:
        part, way = pending.pop()
        if isinstance(part, dict):
            below = [(value, (*way, key)) for key, value in part.items()]
        elif isinstance(part, list):
            below = [(value, (*way, i)) for i, value in enumerate(part)]
        else:
            continue
        found += [way for _, way in below]
        pending += below
    return found


def value_at(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at the end of a way."""
    for key in path:
        tree = tree[key]
    return tree


def text_of(tree: Any) -> str:
    """Return the tree as text, with numbers that JSON does not know where their marks are."""
    text = json.dumps(tree)
    for mark, raw in _RAW.items():
        text = text.replace(json.dumps(mark), raw or _DEEP)
    return text
