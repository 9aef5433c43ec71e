"""What the head of a model file says, read without loading the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FileFacts", "file_facts", "looks_like_a_model"]

_LENGTH_BYTES = 8
_LONGEST_HEADER = 100_000_000
"""The length of a safetensors header may not go beyond this; eight bytes of text always do."""


@dataclass(frozen=True)
class FileFacts:
    """The head of a model file.

    Attributes
    ----------
    n_bytes : int
        Size of the file.
    format_version, hedgerow_version : str or None
        The model format, and the Hedgerow that wrote the file; None where it does not say.
    """

    n_bytes: int
    format_version: str | None
    hedgerow_version: str | None


def looks_like_a_model(path: str) -> bool:
    """Say whether a file starts as model files do: the length of a header, and the header's brace."""
    try:
        with Path(path).open("rb") as stream:
            start = stream.read(_LENGTH_BYTES + 1)
    except OSError:  # whoever reads it next says why it cannot be read
        return False
    length = int.from_bytes(start[:_LENGTH_BYTES], "little")
    return start[_LENGTH_BYTES:] == b"{" and length <= _LONGEST_HEADER


def file_facts(path: str) -> FileFacts:
    """Return what the head of a file says that :func:`hedgerow.load` has loaded."""
    file = Path(path)
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(_LENGTH_BYTES), "little")
        metadata = json.loads(stream.read(length)).get("__metadata__", {})
    versions = (metadata.get(key) for key in ("format_version", "hedgerow_version"))
    return FileFacts(file.stat().st_size, *versions)
