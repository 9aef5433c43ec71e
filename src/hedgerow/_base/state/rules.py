"""What a fitted attribute may hold: kind, range, and a shape whose dimensions have names.

A name stands for the same size wherever it appears in the declaration of one class: of
``coef_=numbers("planes", "features")`` and ``intercept_=numbers("planes")`` the first dimensions
must agree. The dimension ``one`` has one value. Inside :func:`several` a name that ends in ``[]``
is one size for each item; one that ends in ``+`` is at least 1. What has no dimensions is ruled as a parameter is, by the rules of
:mod:`hedgerow._base.parameters`. What no shape tells, such as an index into another array, a class checks
in its method ``_state_problem``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.parameters import Rule, is_whole

__all__ = [
    "AttributeRule",
    "Shaped",
    "Sizes",
    "expectation",
    "flags",
    "instance_of",
    "labels",
    "numbers",
    "optional",
    "rows",
    "rows_or_objects",
    "several",
    "size",
    "texts",
    "truths",
    "whole_numbers",
]


ONE = "one"
"""The dimension that has one value in every model."""


class Sizes:
    """What the named dimensions of one model have turned out to be."""

    def __init__(self, known: dict[str, int] | None = None, item: str = "") -> None:
        self._known = {ONE: 1} if known is None else known
        self._item = item

    def agree(self, name: str, found: int) -> bool:
        """Say whether the dimension has this size; the first size it is seen with is its size."""
        if name.endswith("+") and not found:
            return False
        return self._known.setdefault(self._full(name), found) == found

    def get(self, name: str) -> int | None:
        """Return the size of a dimension, None if it has not been seen."""
        return self._known.get(self._full(name))

    def of_item(self, i: int) -> Sizes:
        """Return the same sizes as the i-th of several items sees them."""
        return Sizes(self._known, f"{self._item}{i}.")

    def _full(self, name: str) -> str:
        return f"{self._item}{name}" if name.endswith("[]") else name


@dataclass(frozen=True)
class Shaped:
    """A rule that knows the sizes: takes them and a value, returns what the value must be, or None."""

    expected: Callable[[Any, Sizes], str | None]
    is_optional: bool = False


AttributeRule: TypeAlias = Shaped | Rule


def expectation(rule: AttributeRule, value: Any, sizes: Sizes) -> str | None:
    """Return None if the value is fine by the rule, else what it must be."""
    return rule.expected(value, sizes) if isinstance(rule, Shaped) else rule(value)


def optional(rule: AttributeRule) -> Shaped:
    """Allow the attribute to be absent from a fitted model."""
    if isinstance(rule, Shaped):
        return replace(rule, is_optional=True)
    return Shaped(lambda value, _: rule(value), is_optional=True)


# ------------------------------------------------------------------------------------- arrays


def numbers(
    *shape: str, low: float = -np.inf, open_low: bool = False, or_sparse: bool = False
) -> Shaped:
    """Allow float64 arrays of finite values that are at least, or above, ``low``; also CSR if told so."""
    bound = "" if low == -np.inf else f" {'above' if open_low else 'of at least'} {low:g}"

    def expected(value: Any, sizes: Sizes) -> str | None:
        if or_sparse and sp.issparse(value) and value.format == "csr":
            fine = value.dtype == np.float64 and _fits(value.shape, shape, sizes)
            value = value.data
        else:
            fine = _is_array(value, (np.float64,), shape, sizes)
        fine = fine and _lies_between(value, low, np.inf, open_low=open_low)
        return None if fine else f"finite float64 numbers{bound} of shape {_said(shape, sizes)}"

    return Shaped(expected)


def whole_numbers(*shape: str, low: int = 0, below: str | None = None) -> Shaped:
    """Allow int64 arrays of values from ``low`` on and below the size of a dimension seen before."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        limit = None if below is None else sizes.get(below)
        fine = _is_array(value, (np.int64,), shape, sizes)
        fine = fine and _lies_between(value, low, np.inf if limit is None else limit - 1)
        upper = "" if below is None else f" and below {_said((below,), sizes)}"
        what = f"int64 numbers of at least {low}{upper}"
        return None if fine else f"{what} of shape {_said(shape, sizes)}"

    return Shaped(expected)


def rows(*shape: str, only: type | None = None) -> Shaped:
    """Allow finite float32 or float64 rows, or only one of them, as an array or as a CSR matrix."""
    kinds = (np.float32, np.float64) if only is None else (only,)
    named = " or ".join(kind.__name__ for kind in kinds)

    def expected(value: Any, sizes: Sizes) -> str | None:
        if sp.issparse(value) and value.format == "csr":
            fine = value.dtype in kinds and _fits(value.shape, shape, sizes)
            fine = fine and _is_finite(value.data) and bool(value.has_canonical_format)
        else:
            fine = _is_array(value, kinds, shape, sizes) and _is_finite(value)
        return None if fine else f"finite {named} rows of shape {_said(shape, sizes)}"

    return Shaped(expected)


def rows_or_objects(*shape: str) -> Shaped:
    """Allow what :func:`rows` does, or a list of objects, as many as the first dimension."""
    of_numbers = rows(*shape)

    def expected(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            return of_numbers.expected(value, sizes)
        fine = sizes.agree(shape[0], len(value))
        return None if fine else f"a list of {_said(shape[:1], sizes)} objects"

    return Shaped(expected)


def truths(*shape: str) -> Shaped:
    """Allow boolean arrays."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = _is_array(value, (np.bool_,), shape, sizes)
        return None if fine else f"booleans of shape {_said(shape, sizes)}"

    return Shaped(expected)


def flags(name: str, *, true: str, false: str) -> Shaped:
    """Allow a boolean vector, as many true and as many false as the dimensions of those names."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = _is_array(value, (np.bool_,), (name,), sizes)
        if fine:
            n_true = int(np.count_nonzero(value))
            fine = sizes.agree(true, n_true) and sizes.agree(false, value.size - n_true)
        counts = f"{_said((true,), sizes)} true and {_said((false,), sizes)} false"
        return None if fine else f"booleans of shape {_said((name,), sizes)}, {counts}"

    return Shaped(expected)


def texts(name: str) -> Shaped:
    """Allow a vector of text."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = isinstance(value, np.ndarray) and _is_text(value)
        fine = fine and _fits(value.shape, (name,), sizes)
        return None if fine else f"texts of shape {_said((name,), sizes)}"

    return Shaped(expected)


def labels(name: str, *, one_vs_rest: str | None = None, or_pairs: bool = False) -> Shaped:
    """Allow class labels: sorted, none twice, numbers or text.

    ``one_vs_rest`` names the dimension of what there is one of for each binary problem: one for
    two classes, else one a class. With ``or_pairs`` there may also be one a pair of classes, or one
    each for two, if they are labels of which a row may have both.
    """
    fewest = 1 if one_vs_rest is None else 2

    def agree(n_classes: int, sizes: Sizes) -> bool:
        assert one_vs_rest is not None
        others = {n_classes, n_classes * (n_classes - 1) // 2}
        if or_pairs and sizes.get(one_vs_rest) in others:
            return True
        return sizes.agree(one_vs_rest, 1 if n_classes == 2 else n_classes)

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = isinstance(value, np.ndarray) and value.dtype.kind in "biufUO"
        fine = fine and _fits(value.shape, (name,), sizes) and len(value) >= fewest
        fine = fine and (_is_text(value) if value.dtype.kind in "UO" else _is_finite(value))
        fine = fine and bool(np.all(value[:-1] < value[1:]))
        if fine and one_vs_rest is not None:
            fine = agree(len(value), sizes)
        problems = "" if one_vs_rest is None else f" for {_said((one_vs_rest,), sizes)}"
        return (
            None
            if fine
            else f"different labels, sorted, of shape {_said((name,), sizes)}{problems}"
        )

    return Shaped(expected)


# ------------------------------------------------------------------------- numbers and objects


def size(name: str) -> Shaped:
    """Allow a positive integer that is the size of the dimension."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = is_whole(value) and value > 0 and sizes.agree(name, int(value))
        return None if fine else f"a positive integer, {_said((name,), sizes)}"

    return Shaped(expected)


def several(
    container: type[list[Any]] | type[tuple[Any, ...]],
    name: str,
    rule: AttributeRule,
    *,
    or_one: bool = False,
) -> Shaped:
    """Allow a list or tuple, as long as the dimension or else of one, of items that all meet the rule."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        wanted = f"a {container.__name__} of {_said((name,), sizes)}"
        if type(value) is not container:
            return wanted
        if not (or_one and len(value) == 1) and not sizes.agree(name, len(value)):
            return wanted
        hints = (expectation(rule, item, sizes.of_item(i)) for i, item in enumerate(value))
        hint = next((hint for hint in hints if hint is not None), None)
        return None if hint is None else f"{wanted}, each {hint}"

    return Shaped(expected)


def instance_of(cls: type, **sizes_of: Callable[[Any], int | None]) -> Shaped:
    """Allow instances of the class whose own sizes, where they are known, agree with ours."""

    def expected(value: Any, sizes: Sizes) -> str | None:
        fine = isinstance(value, cls) and all(
            _measures(value, measure, partial(sizes.agree, name))
            for name, measure in sizes_of.items()
        )
        named = ", ".join(_said((name,), sizes) for name in sizes_of)
        return None if fine else f"a {cls.__name__}{' with ' if named else ''}{named}"

    return Shaped(expected)


def _measures(
    value: Any, measure: Callable[[Any], int | None], agrees: Callable[[int], bool]
) -> bool:
    """Say whether a size of the value agrees, or is not known; what is not fitted has none."""
    try:
        found = measure(value)
    except AttributeError:
        return False
    return found is None or agrees(found)


# -------------------------------------------------------------------------------------- checks


def _is_array(value: Any, kinds: tuple[type, ...], shape: tuple[str, ...], sizes: Sizes) -> bool:
    """Say whether the value is an array of one of the kinds, in any byte order, and fits."""
    if not isinstance(value, np.ndarray) or value.dtype.newbyteorder("=") not in kinds:
        return False
    return _fits(value.shape, shape, sizes)


def _fits(found: tuple[int, ...], shape: tuple[str, ...], sizes: Sizes) -> bool:
    if len(found) != len(shape):
        return False
    return all(sizes.agree(name, n) for name, n in zip(shape, found, strict=True))


def _lies_between(array: NDArray[Any], low: float, high: float, *, open_low: bool = False) -> bool:
    """Say whether every value is finite and in the range; the extremes tell, without more memory."""
    if not array.size:
        return True
    least, most = array.min(), array.max()  # both NaN if any value is
    if not (np.isfinite(least) and np.isfinite(most)):
        return False
    return bool((least > low if open_low else least >= low) and most <= high)


def _is_finite(array: NDArray[Any]) -> bool:
    return _lies_between(array, -np.inf, np.inf)


def _is_text(array: NDArray[Any]) -> bool:
    if array.dtype.kind == "U":
        return True
    return array.dtype.kind == "O" and all(isinstance(item, str) for item in array.flat)


def _said(shape: tuple[str, ...], sizes: Sizes) -> str:
    """Return the dimensions in words: their names, and their sizes where those are known."""
    parts = [_said_of_one(name, sizes.get(name)) for name in shape]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _said_of_one(name: str, n: int | None) -> str:
    bare = name.removesuffix("[]").removesuffix("+")
    if n is not None:
        return f"{bare}={n}"
    return f"{bare} (at least 1)" if name.endswith("+") else bare
