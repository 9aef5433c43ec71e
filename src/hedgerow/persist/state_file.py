"""A value in a file: a safetensors file whose metadata hold its state as JSON, and a digest of it all.

Reading runs no code from the file: the state names classes, and only those that Hedgerow declared
itself are built. The digest finds damage, not malice; what is read is held against the rules of its
classes whatever the digest says.

The metadata of format 3, all text::

    format             "hedgerow-model" or "hedgerow-checkpoint"
    format_version     "3"
    hedgerow_version   the version that wrote the file
    state              the value as JSON, which names the arrays
    sha256             the digest of the other metadata and of every array: name, dtype, shape,
                       and the digests of its leaves of 8 MB
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

import hedgerow
from hedgerow._base.state import (
    Arrays,
    Json,
    MissingPackageError,
    NewerStateError,
    StateError,
    UnknownClassError,
    dump_state,
    load_state,
)
from hedgerow.data.io.source import open_regular
from hedgerow.errors import FileAccessError, ModelFormatError, ParameterError
from hedgerow.persist import layout
from hedgerow.persist.atomic import atomic_write
from hedgerow.persist.layout import Header, LayoutError
from hedgerow.persist.streams import Leaves, read_arrays, write_arrays

__all__ = ["Kind", "damaged", "one_line", "read_state", "write_state"]

Kind: TypeAlias = Literal["model", "checkpoint"]

_FORMAT_VERSION = 3
"""Format 1 has another digest; up to 2 the state names classes without their package."""
_LONGEST_LINE = 500


def write_state(path: str | Path, kind: Kind, value: Any) -> None:
    """Write a value to a file, whole or not at all.

    Parameters
    ----------
    path : str or Path
        Where to; an older file is replaced at the very end.
    kind : {"model", "checkpoint"}
        What the file is; it can be read as nothing else.
    value : object
        None, numbers, text, lists, tuples, dictionaries, arrays, sparse matrices, declared records
        and estimators, nested in any way.

    Raises
    ------
    ParameterError
        A part of the value is nothing that a file can hold.
    FileAccessError
        The file cannot be written; an older one is left as it was.
    """
    metadata, arrays = _describe(kind, value)
    tensors = layout.place(arrays)
    try:
        blank = layout.encode_header(metadata, tensors)
    except LayoutError as error:
        msg = f"this {type(value).__name__} cannot be saved: it {error}; keep long lists as arrays"
        raise ParameterError(msg) from error
    header = Header(metadata, tensors, len(blank))
    with atomic_write(path) as stream:
        leaves = write_arrays(stream.fileno(), header, arrays)
        signed = {**metadata, "sha256": _digest(header, leaves)}
        stream.write(layout.encode_header(signed, tensors))


def read_state(path: str | Path, kind: Kind) -> Any:
    """Read a value from a file that :func:`write_state` wrote.

    Parameters
    ----------
    path : str or Path
        The file.
    kind : {"model", "checkpoint"}
        What it must be.

    Returns
    -------
    object
        Equal to the one that was written.

    Raises
    ------
    FileAccessError
        The file cannot be read.
    ModelFormatError
        The file is damaged, is of another kind, or was written by a newer version.
    """
    try:
        header, arrays, leaves = _read(Path(path), kind)
    except LayoutError as error:
        raise damaged(path, kind, f"it {error}") from error
    except OSError as error:
        if isinstance(error, FileAccessError):
            raise
        msg = f"cannot read {path}: {error.strerror or error}; check the disk"
        raise FileAccessError(msg) from error
    expected = _DIGESTS[int(header.metadata["format_version"])](header, arrays, leaves)
    if header.metadata.get("sha256") != expected:
        raise damaged(path, kind, "its contents do not match its digest")
    try:
        state = layout.strict_json(header.metadata["state"])
        _declare_classes_of(state)
        return load_state(state, arrays, kind)
    except (MissingPackageError, NewerStateError) as error:
        why = one_line(error)
        raise ModelFormatError(f"{path} cannot be loaded as a {kind}: {why}") from error
    except UnknownClassError as error:
        why, version = one_line(error), header.metadata.get("hedgerow_version", "")
        if not _is_newer(version):
            raise damaged(path, kind, f"its state cannot be understood ({why})") from error
        msg = f"{path} cannot be loaded as a {kind}: {why}; it was written by Hedgerow {one_line(version)}, upgrade to it"
        raise ModelFormatError(msg) from error
    except (KeyError, ValueError, RecursionError) as error:
        raise damaged(path, kind, f"its state cannot be understood ({error})") from error


def damaged(path: str | Path, kind: Kind, why: str) -> ModelFormatError:
    """Return the error of a file that is not what it should be."""
    remedy = f"copy it again or save the {kind} anew"
    return ModelFormatError(f"{path} cannot be loaded as a {kind}: {one_line(why)}; {remedy}")


def one_line(text: object) -> str:
    """Return a text on one line, a long one cut off: names come from the file."""
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..."


# ---------------------------------------------------------------------------------------- write


def _describe(kind: Kind, value: Any) -> tuple[dict[str, str], Arrays]:
    """Return the metadata of the file, their digest still blank, and its arrays."""
    try:
        state, arrays = dump_state(value, kind)
        text = json.dumps(state, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (StateError, TypeError, ValueError, RecursionError) as error:
        msg = f"this {type(value).__name__} cannot be saved: {one_line(error)}"
        raise ParameterError(msg) from error
    metadata = {
        "format": f"hedgerow-{kind}",
        "format_version": str(_FORMAT_VERSION),
        "hedgerow_version": hedgerow.__version__,
        "sha256": "0" * hashlib.sha256().digest_size * 2,
        "state": text,
    }
    return metadata, arrays


# ----------------------------------------------------------------------------------------- read


def _read(path: Path, kind: Kind) -> tuple[Header, Arrays, Leaves]:
    """Return header and arrays of a file that is of the kind and of a version that we know."""
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        length = layout.header_length(stream.read(layout.LENGTH_BYTES), size)
        header = layout.parse_header(stream.read(length), size)
        _check_kind(path, kind, header.metadata)
        _check_version(path, kind, header.metadata)
        return (header, *read_arrays(stream.fileno(), header))


def _check_kind(path: Path, kind: Kind, metadata: Mapping[str, str]) -> None:
    found = metadata.get("format", "")
    if found != f"hedgerow-{kind}":
        what = found.removeprefix("hedgerow-") if found.startswith("hedgerow-") else ""
        why = f"it is a {what}" if what else "it was not written by Hedgerow"
        raise damaged(path, kind, why)


def _check_version(path: Path, kind: Kind, metadata: Mapping[str, str]) -> None:
    text = metadata.get("format_version", "")
    version = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if version > _FORMAT_VERSION:
        msg = (
            f"{path} was written in {kind} format {version} by Hedgerow "
            f"{metadata.get('hedgerow_version', '?')} and this is {hedgerow.__version__}, "
            f"which reads format {_FORMAT_VERSION}; upgrade Hedgerow"
        )
        raise ModelFormatError(msg)
    if version < 1:
        raise damaged(path, kind, f"its format version {text!r} is no version")


def _is_newer(version: str) -> bool:
    """Say whether a version of Hedgerow comes after this one."""
    found, own = (
        [int(part) for part in re.findall(r"[0-9]{1,9}", text)[:3]]
        for text in (version, hedgerow.__version__)
    )
    return found > own


def _declare_classes_of(state: Json) -> None:
    """Import the public classes that a state speaks of, which declares them; no other name is."""
    public, pending = set(hedgerow.__all__), [state]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            key = part.get("class")
            name = key.removeprefix("hedgerow.") if isinstance(key, str) else ""
            if name in public:
                getattr(hedgerow, name)
            pending.extend(part.values())
        elif isinstance(part, list):
            pending.extend(part)


# --------------------------------------------------------------------------------------- digests


def _digest(header: Header, leaves: Leaves) -> str:
    """Return SHA-256 over the metadata and over every array's name, dtype, shape and leaves.

    The order of names and arrays in the file does not enter: the same contents, written by any
    library, have the same digest.
    """
    parts: list[bytes] = []
    for key in sorted(set(header.metadata) - {"sha256"}):
        parts += [key.encode(), header.metadata[key].encode()]
    for tensor in sorted(header.tensors, key=lambda tensor: tensor.name):
        about = f"{tensor.code}{list(tensor.shape)}"
        parts += [tensor.name.encode(), about.encode(), *leaves[tensor.name]]
    return _sha256(parts)


def _digest_1(header: Header, arrays: Arrays) -> str:
    """Return the digest of format 1: one SHA-256 through all bytes of all arrays."""
    parts: list[bytes | memoryview] = [header.metadata.get("state", "").encode()]
    for name in sorted(arrays):
        array = arrays[name]
        about = f"{array.dtype.str}{array.shape}"
        parts += [name.encode(), about.encode(), array.reshape(-1).view(np.uint8).data]
    return _sha256(parts)


def _sha256(parts: Iterable[bytes | memoryview]) -> str:
    """Return the digest of the parts, the length before each, so that none runs into the next."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


_DIGESTS: dict[int, Callable[[Header, Arrays, Leaves], str]] = {
    1: lambda header, arrays, _leaves: _digest_1(header, arrays),
    2: lambda header, _arrays, leaves: _digest(header, leaves),
    3: lambda header, _arrays, leaves: _digest(header, leaves),
}
"""For every format version the digest of a file that was read."""
