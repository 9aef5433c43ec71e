"""Learners that draw the same numbers every time."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from hedgerow import _core

__all__ = ["LEARNER_STREAM", "seeded_clone"]

LEARNER_STREAM = 1 << 63
"""Keeps the seeds of learners apart from whatever else the same seed draws."""


def seeded_clone(learner: Any, seed: int, number: int = 0) -> Any:
    """Return a clone in which every random_state that was left unset is drawn, by seed and number."""
    copy = clone(learner)
    word = int(_core.system.random_uint64(seed, LEARNER_STREAM + number, 1)[0])
    unset = [
        name
        for name, value in copy.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    ]
    return copy.set_params(**dict.fromkeys(unset, word >> 32))
