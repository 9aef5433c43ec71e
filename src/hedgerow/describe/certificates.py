"""A certificate: its figures, and what they mean in a sentence."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hedgerow.describe.registry import describes
from hedgerow.problems.certificates import Certificate

__all__: list[str] = []


@describes(Certificate)
def _certificate(certificate: Certificate, top: int) -> dict[str, Any]:  # noqa: ARG001
    derived = ("gap", "relative_gap", "is_certified")
    figures = asdict(certificate) | {name: getattr(certificate, name) for name in derived}
    return figures | {"sentence": str(certificate)}
