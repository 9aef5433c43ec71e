"""A target: one kind of input, how it is mutated, and what is done with it."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hedgerow.errors import HedgerowError

__all__ = [
    "MOST_STEPS",
    "TARGETS",
    "WIDE",
    "Seeds",
    "Target",
    "attempt",
    "choices_of",
    "find_target",
    "n_steps",
]

Seeds = Mapping[str, bytes]
WIDE = 10**6
"""Columns up to which models are fitted: more can be asked for by a few bytes, and take what they take."""
MOST_STEPS = 8
"""More than any mutation takes."""

TARGETS = {
    "hedge": "tests.fuzz.hedge_files:TARGET",
    "checkpoint": "tests.fuzz.checkpoint_files:TARGET",
    "csv": "tests.fuzz.csv_files:TARGET",
    "libsvm": "tests.fuzz.libsvm_files:TARGET",
    "libsvm-model": "tests.fuzz.libsvm_models:TARGET",
    "sparse": "tests.fuzz.sparse_matrices:TARGET",
    "parquet": "tests.fuzz.parquet_files:TARGET",
}
"""Where each target is defined; another one can be given as module:NAME."""


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Attributes
    ----------
    name : str
        Short; part of the names of files.
    share : int
        How many of the mutations of all targets it gets, relative to the others.
    seeds : callable
        Makes valid inputs, by name; the same ones every time.
    mutate : callable
        Takes a source of random numbers, the seeds and the most steps to take, and returns an
        input. Whatever is drawn besides the steps is drawn before them, so that fewer steps give
        the start of the same mutation.
    consume : callable
        Reads an input (the second argument is an empty folder to work in) and calls everything
        that can be called on the result; raises what should not have happened.
    """

    name: str
    share: int
    seeds: Callable[[], dict[str, bytes]]
    mutate: Callable[[Random, Seeds, int], bytes]
    consume: Callable[[bytes, Path], None]

    def mutation(self, seeds: Seeds, seed: int, number: int, most_steps: int = MOST_STEPS) -> bytes:
        """Return one mutation, the same one for the same seeds and numbers."""
        return self.mutate(Random(f"{self.name} {seed} {number}"), seeds, most_steps)


def find_target(name: str) -> Target:
    """Return a target by its short name, or by module:NAME."""
    module, _, attribute = TARGETS.get(name, name).partition(":")
    target = getattr(importlib.import_module(module), attribute)
    assert isinstance(target, Target)
    return target


def n_steps(rng: Random, most: int) -> int:
    """Draw how many changes a mutation makes; one is the likeliest."""
    return min(rng.choice([1, 1, 1, 1, 2, 2, 3, 5]), most)


def attempt(call: Callable[..., object], *args: object, **kwargs: object) -> object:
    """Return what a call returns, or None if it raises an error of ours in one line."""
    try:
        return call(*args, **kwargs)
    except HedgerowError as error:
        if "\n" in str(error):
            raise AssertionError("an error of ours has more than one line") from error
        return None


def choices_of(data: bytes) -> Random:
    """Return random numbers that depend on an input alone, to choose how it is read."""
    return Random(zlib.crc32(data))
