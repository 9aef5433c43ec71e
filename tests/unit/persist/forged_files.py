"""Files that are wrong on purpose, their digest right, so that the checks behind it are met."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.persist import layout, state_file
from hedgerow.persist.streams import read_arrays

METADATA = {"format": "hedgerow-model", "format_version": "3", "hedgerow_version": "0.2.0"}


def parts_of(data: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header of a file as JSON, and its payload."""
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), data[end:]


def joined(header: Any, payload: bytes) -> bytes:
    """Return the file with that header, its digest made right if the header makes sense."""
    data = _encoded(header, payload)
    try:
        header["__metadata__"]["sha256"] = digest_of(data)
    except (layout.LayoutError, KeyError, TypeError, UnicodeEncodeError):
        return data
    return _encoded(header, payload)


def digest_of(data: bytes) -> str:
    """Return the digest that the file ought to have."""
    length = int.from_bytes(data[:8], "little")
    header = layout.parse_header(data[8 : 8 + length], len(data))
    descriptor = os.memfd_create("forged")
    try:
        os.write(descriptor, data)
        _, leaves = read_arrays(descriptor, header)
    finally:
        os.close(descriptor)
    return state_file._digest(header, leaves)


def state_and_arrays(data: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Return the state of a file as JSON, and its arrays."""
    header, payload = parts_of(data)
    state = json.loads(header.pop("__metadata__")["state"])
    dtypes = layout._DTYPES
    arrays = {
        name: np.frombuffer(payload[slice(*entry["data_offsets"])], dtypes[entry["dtype"]]).reshape(
            entry["shape"]
        )
        for name, entry in header.items()
    }
    return state, arrays


def forged(state: Any, arrays: dict[str, np.ndarray] | None = None, **metadata: str) -> bytes:
    """Return a file with a right digest around any state and arrays."""
    arrays = arrays or {}
    text = state if isinstance(state, str) else json.dumps(state)
    tensors = layout.place(arrays)
    head = layout.encode_header({**METADATA, "state": text, "sha256": "", **metadata}, tensors)
    payload = b"".join(np.ascontiguousarray(arrays[t.name]).tobytes() for t in tensors)
    return joined(parts_of(head)[0], payload)


def forge(
    path: Path, state: Any, arrays: dict[str, np.ndarray] | None = None, **metadata: str
) -> None:
    """Write such a file."""
    path.write_bytes(forged(state, arrays, **metadata))


def _encoded(header: Any, payload: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + payload
