"""How many rows of each class a balanced sample has: imbalanced-learn's ``sampling_strategy``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import is_number, is_whole
from hedgerow.data.rows import some
from hedgerow.errors import DataError, ParameterError

__all__ = ["n_units", "read_draws", "strategy_rule"]

Indices: TypeAlias = NDArray[np.int64]

_EXPECTED = (
    "'all', 'auto', 'not minority', 'not majority', 'majority', a share up to 1, a dictionary of "
    "labels and numbers of rows, or a function that returns one"
)


def _except(place: Callable[[Indices], Any]) -> Callable[[Indices], list[int]]:
    return lambda sizes: [k for k in range(len(sizes)) if k != place(sizes)]


_DRAWN_FROM: dict[str, Callable[[Indices], list[int]]] = {
    "all": lambda sizes: list(range(len(sizes))),
    "auto": _except(np.argmin),
    "not minority": _except(np.argmin),
    "not majority": _except(np.argmax),
    "majority": lambda sizes: [int(np.argmax(sizes))],
}
"""The classes that a strategy draws from, by their sizes; the others are taken as they are."""


def strategy_rule(value: Any) -> str | None:
    """Allow what ``sampling_strategy`` may be."""
    if isinstance(value, str):
        fine = value in _DRAWN_FROM
    elif isinstance(value, Mapping):
        fine = all(is_whole(n) and n >= 0 for n in value.values())
    else:
        fine = callable(value) or (is_number(value) and 0 < value <= 1)
    return None if fine else _EXPECTED


def n_units(
    codes: Indices, is_there: NDArray[np.bool_], groups: Indices | None, n_classes: int
) -> Indices:
    """Return how many rows with weight, or groups of them, each class has."""
    if groups is not None:
        pieces = np.unique(np.stack([groups[is_there], codes[is_there]], axis=1), axis=0)
        return np.bincount(pieces[:, 1], minlength=n_classes)
    return np.bincount(codes[is_there], minlength=n_classes)


def read_draws(
    forest: Any, labels: NDArray[Any], sizes: Indices, codes: Indices
) -> list[tuple[int, bool]]:
    """Return for each class how many are drawn of it, and whether with replacement."""
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        msg = f"class {labels.tolist()[empty[0]]!r} has no row with weight, so none can be drawn; leave its rows out"
        raise DataError(msg)
    asked = _asked(forest.sampling_strategy, labels, sizes, codes)
    draws = []
    for label, size, n in zip(labels.tolist(), sizes.tolist(), asked, strict=True):
        if n is None:
            draws.append((size, False))
            continue
        if n > size:
            msg = f"sampling_strategy asks for {n} rows of class {label!r}, which has {size}; ask for no more"
            raise ParameterError(msg)
        draws.append((n, bool(forest.replacement) or n == size))
    return draws


def _asked(strategy: Any, labels: NDArray[Any], sizes: Indices, codes: Indices) -> list[int | None]:
    """Return how many are to be drawn of each class; None where it is taken as it is."""
    if callable(strategy):
        strategy = strategy(labels[codes])
    if isinstance(strategy, Mapping):
        unknown = [label for label in strategy if label not in labels.tolist()]
        if unknown:
            msg = (
                f"sampling_strategy names {some(unknown)}, which y does not hold; "
                f"its classes are {some(labels.tolist())}"
            )
            raise ParameterError(msg)
        return [strategy.get(label) for label in labels.tolist()]
    if isinstance(strategy, str):
        drawn = set(_DRAWN_FROM[strategy](sizes))
        return [int(sizes.min()) if k in drawn else None for k in range(len(sizes))]
    return _by_share(float(strategy), sizes)


def _by_share(share: float, sizes: Indices) -> list[int | None]:
    """Return how many of the larger of two classes make the smaller one that share of it."""
    if len(sizes) != 2:
        msg = f"sampling_strategy={share} is for two classes, and y has {len(sizes)}; give a dictionary"
        raise ParameterError(msg)
    n = int(sizes.min() / share)
    larger = int(np.argmax(sizes))
    if n > sizes[larger]:
        msg = (
            f"sampling_strategy={share} asks for {n} rows of the larger class, which has {sizes[larger]}; "
            "give a larger share"
        )
        raise ParameterError(msg)
    return [n if k == larger else None for k in range(2)]
