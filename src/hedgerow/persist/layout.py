"""The layout of a safetensors file: a header that says where in the file which array lies.

::

    8 bytes          length n of the header, little-endian
    n bytes          JSON {"__metadata__": {text: text}, name: {dtype, shape, data_offsets}, ...},
                     padded with spaces to a multiple of 8
    the rest         the payload: the arrays' bytes, C order, little-endian, without gaps

Arrays of larger items come first, so that each is aligned. A header is believed only after its
every number has been held against the size of the file: nothing is allocated by a number that the
file's own length does not justify.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.state import is_unicode

__all__ = [
    "Header",
    "LayoutError",
    "Tensor",
    "encode_header",
    "parse_header",
    "place",
    "strict_json",
]

LENGTH_BYTES = 8
LONGEST_HEADER = 100_000_000
"""Bytes; the safetensors library opens none that is longer."""

MOST_MEMORY = 3
"""Times the size of a file that reading it may take, beside what little any file may."""

_SMALL = 2**27
_OBJECT = 40
_MOST_DIMENSIONS = 32
_ALIGNMENT = 8
_DTYPES = {
    "BOOL": np.dtype("?"),
    **{f"{kind}{8 * n}": np.dtype(f"<{kind.lower()}{n}") for kind in "IU" for n in (1, 2, 4, 8)},
    **{f"F{8 * n}": np.dtype(f"<f{n}") for n in (2, 4, 8)},
}
_CODES = {dtype: code for code, dtype in _DTYPES.items()}


class LayoutError(ValueError):
    """The bytes are no safetensors file; the message says why, and fits after "it"."""


@dataclass(frozen=True)
class Tensor:
    """Where an array lies: from byte ``start`` of the payload to byte ``stop``."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int

    @property
    def code(self) -> str:
        """The dtype as safetensors calls it."""
        return _CODES[self.dtype]


@dataclass(frozen=True)
class Header:
    """What a file says of itself; the payload begins at byte ``payload`` of it."""

    metadata: Mapping[str, str]
    tensors: tuple[Tensor, ...]
    payload: int


def place(arrays: Mapping[str, NDArray[Any]]) -> tuple[Tensor, ...]:
    """Return where each array goes, in the order of the payload."""
    tensors, end = [], 0
    for name in sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name)):
        array = arrays[name]
        dtype = array.dtype.newbyteorder("<")
        tensors.append(Tensor(name, dtype, array.shape, end, end + array.nbytes))
        end += array.nbytes
    return tuple(tensors)


def encode_header(metadata: Mapping[str, str], tensors: Collection[Tensor]) -> bytes:
    """Return the bytes before the payload."""
    entries: dict[str, Any] = {"__metadata__": dict(metadata)}
    for tensor in tensors:
        offsets = [tensor.start, tensor.stop]
        entries[tensor.name] = {
            "dtype": tensor.code,
            "shape": list(tensor.shape),
            "data_offsets": offsets,
        }
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    if len(text) > LONGEST_HEADER:
        msg = f"is described by {len(text)} bytes of text where {LONGEST_HEADER} are the most"
        raise LayoutError(msg)
    _refuse_flood(text, LENGTH_BYTES + len(text) + max((t.stop for t in tensors), default=0))
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def _refuse_flood(text: bytes, file_size: int) -> None:
    """Refuse a header that would take much more memory than its file: brackets are cheap to write.

    Text is held twice, as characters of up to four bytes; what is between two commas or brackets is an
    object, or two on the way from JSON to a model.
    """
    characters = 2 * len(text) * (1 if text.isascii() else 4)
    objects = _OBJECT * sum(map(text.count, (b",", b"[", b"{")))
    if characters + objects > MOST_MEMORY * file_size + _SMALL:
        raise LayoutError("has a header that would take too much memory")


def header_length(first: bytes, file_size: int) -> int:
    """Return the length of the header that the first bytes of a file claim, if it can be."""
    length = int.from_bytes(first, "little")
    if len(first) < LENGTH_BYTES or length > min(LONGEST_HEADER, file_size - LENGTH_BYTES):
        raise LayoutError("is shorter than its header, or not in this format")
    return length


def parse_header(text: bytes, file_size: int) -> Header:
    """Return the header of a file of that size, or raise LayoutError for the first thing wrong."""
    _refuse_flood(text, file_size)
    try:
        entries = strict_json(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise LayoutError("has a header that is no JSON") from error
    if not isinstance(entries, dict):
        raise LayoutError("has a header that is no table")
    metadata = entries.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise LayoutError("has metadata that are not text")
    if not all(map(is_unicode, (*metadata, *metadata.values(), *entries))):
        raise LayoutError("has text with half a character in it")
    payload = LENGTH_BYTES + len(text)
    tensors = sorted(
        (_tensor(*entry) for entry in entries.items()), key=lambda t: (t.start, t.stop)
    )
    end = 0
    for tensor in tensors:
        if tensor.start != end:
            raise LayoutError(f"has a gap or an overlap before the array {tensor.name!r}")
        end = tensor.stop
    if end != file_size - payload:
        raise LayoutError(f"has {file_size - payload} bytes of arrays where {end} are announced")
    return Header(metadata, tuple(tensors), payload)


def _tensor(name: str, entry: Any) -> Tensor:
    """Return an array's place if dtype, shape and length agree."""
    wrong = f"describes the array {name!r} wrongly"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise LayoutError(wrong)
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise LayoutError(f"has the array {name!r} of the unknown type {code!r}")
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        raise LayoutError(wrong)
    dtype = _DTYPES[code]
    # NumPy counts an array without values as if each of its empty dimensions were 1.
    n_bytes = math.prod(n for n in shape if n) * dtype.itemsize
    if len(shape) > _MOST_DIMENSIONS or n_bytes >= 2**63:
        raise LayoutError(wrong)
    if offsets[1] - offsets[0] != (0 if 0 in shape else n_bytes):
        raise LayoutError(wrong)
    return Tensor(name, dtype, tuple(shape), *offsets)


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and 0 <= n < 2**63 for n in value)


# ---------------------------------------------------------------------------------- strict JSON


def strict_json(text: str) -> Any:
    """Return the value of a JSON text; a name given twice and what is not finite are errors."""
    return json.loads(
        text,
        object_pairs_hook=_without_repetition,
        parse_constant=_refuse_constant,
        parse_float=_finite,
    )


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is given twice")
    return found


def _refuse_constant(text: str) -> NoReturn:
    msg = f"{text} is no number of JSON"
    raise ValueError(msg)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        msg = f"the number {text[:20]} is too large"
        raise ValueError(msg)
    return number
