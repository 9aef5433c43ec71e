"""Changes to arrays that keep most of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["edited_array"]

Array = NDArray[Any]
_DTYPES = ("?", "i1", "<i2", "<i4", "<i8", "u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8")
_FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-320, 1e-300, 1e30, 1e160, 1.7e308),
    *(-1.7e308, 1e10, -1e10, 2.0**31, 2.0**53, 2.0**63),
)
_WHOLE = (
    0,
    1,
    -1,
    2,
    127,
    128,
    255,
    10**4,
    10**6,
    2**31 - 1,
    2**31,
    2**32,
    2**40,
    2**62,
    2**63 - 1,
)


def edited_array(rng: Random, array: Array, others: Sequence[Array]) -> Array:
    """Return the array with elements, dtype or shape changed; it is not changed itself."""
    with np.errstate(all="ignore"):
        if array.size and rng.random() < 0.6:
            return _with_other_elements(rng, array.copy())
        return rng.choice(_FORMS)(rng, array, rng.choice(others))


def _with_other_elements(rng: Random, array: Array) -> Array:
    """Change one element, some, a stretch, or all."""
    flat = array.reshape(-1)
    n = len(flat)
    which: Any = rng.choice(
        [
            rng.randrange(n),
            rng.choice([0, n - 1]),
            rng.sample(range(n), min(n, 3)),
            slice(rng.randrange(n), None),
            slice(1, -1),
            slice(None),
        ]
    )
    flat[which] = _element(rng, flat, which)
    return flat.reshape(array.shape)


def _element(rng: Random, flat: Array, which: Any) -> Any:
    """Return what may stand there instead: numbers at the edges, near the old one, or another's."""
    if rng.random() < 0.4:
        near = [flat[which] + 1, flat[which] - 1, flat[which] * 2, flat[rng.randrange(len(flat))]]
        return np.asarray(rng.choice(near if flat.dtype != np.bool_ else near[-1:])).astype(
            flat.dtype
        )
    if flat.dtype.kind == "f":
        return np.float64(rng.choice(_FLOATS)).astype(flat.dtype)
    sizes = (len(flat) - 1, len(flat), len(flat) + 1)
    value = rng.choice((*_WHOLE, *sizes))
    return np.array(value, dtype=np.int64).astype(flat.dtype)


def _as_dtype(rng: Random, array: Array, _other: Array) -> Array:
    return array.astype(rng.choice(_DTYPES))


def _as_bits(rng: Random, array: Array, _other: Array) -> Array:
    dtype = np.dtype(rng.choice([d for d in _DTYPES if d != "?"]))
    data = array.tobytes()
    return np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)


def _longer(rng: Random, array: Array, _other: Array) -> Array:
    if array.ndim == 0:
        return np.repeat(array, 2)
    n = rng.choice([1, 1, 1, 2, len(array), 500])
    return np.concatenate([array, *[array[-1:] if len(array) else array] * n])


def _shorter(rng: Random, array: Array, _other: Array) -> Array:
    if array.ndim == 0:
        return array
    n = rng.choice([1, 1, 1, 2, len(array) // 2, len(array)])
    return array[n:] if rng.random() < 0.5 else array[: max(len(array) - n, 0)]


def _narrower(rng: Random, array: Array, _other: Array) -> Array:
    return array[..., : rng.choice([-1, 0, 1])] if array.ndim else array


def _wider(_rng: Random, array: Array, _other: Array) -> Array:
    return np.concatenate([array, array[..., -1:]], axis=-1) if array.ndim else array


def _reshaped(rng: Random, array: Array, _other: Array) -> Array:
    n = array.size
    shapes: list[tuple[int, ...]] = [
        (n,),
        (1, n),
        (n, 1),
        (n, 1, 1),
        (0, *array.shape[1:]),
        (0,),
        (3, 0),
    ]
    shape = rng.choice(shapes)
    return array.reshape(shape) if 0 not in shape or n == 0 else np.zeros(shape, array.dtype)


def _turned(rng: Random, array: Array, _other: Array) -> Array:
    return array.T if rng.random() < 0.5 else np.flip(array)


def _sorted(_rng: Random, array: Array, _other: Array) -> Array:
    return np.sort(array, axis=-1) if array.ndim else array


def _shuffled(rng: Random, array: Array, _other: Array) -> Array:
    order = rng.sample(range(array.size), array.size)
    return array.reshape(-1)[order].reshape(array.shape)


def _scalar(_rng: Random, array: Array, _other: Array) -> Array:
    return array.reshape(-1)[0].reshape(()) if array.size else np.zeros((), array.dtype)


def _another(_rng: Random, _array: Array, other: Array) -> Array:
    return other


def _like_another(_rng: Random, array: Array, other: Array) -> Array:
    return np.resize(other, array.shape).astype(array.dtype)


_Form = Callable[[Random, Array, Array], Array]
_FORMS: tuple[_Form, ...] = (
    *(_as_dtype, _as_bits, _longer, _longer, _shorter, _shorter, _narrower, _wider, _reshaped),
    *(_turned, _sorted, _shuffled, _scalar, _another, _like_another),
)
