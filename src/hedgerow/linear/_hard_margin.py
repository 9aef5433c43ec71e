"""C = inf: problems with a hard margin, and what is said where there is none."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from numpy.typing import NDArray

from hedgerow.certificates import certify_overlap
from hedgerow.errors import NotSeparableError, ParameterError
from hedgerow.losses import HARD
from hedgerow.problems import HardMarginProblem, LinearProblem

__all__ = ["hard_margins", "not_separable"]

_SOFT = ("hinge", "squared_hinge")
"""The losses that become the hard margin as their weight grows."""


def hard_margins(problems: list[LinearProblem], classes: NDArray[Any]) -> list[LinearProblem]:
    """Return one-vs-rest problems with constraints in place of their losses."""
    if len(classes) == 2:
        sides = ["the classes {!r} and {!r}".format(*classes.tolist())]
    else:
        sides = [f"class {label!r} and the rest" for label in classes.tolist()]
    return [_hardened(*pair) for pair in zip(problems, sides, strict=True)]


def _hardened(problem: LinearProblem, sides: str) -> HardMarginProblem:
    """Return the hard margin of a problem, refusing what has none."""
    for name, value, able in (
        ("loss", problem.loss.name, _SOFT),
        ("penalty", problem.penalty.name, ("l2",)),
    ):
        if value not in able:
            msg = (
                f"C=inf asks for a hard margin, which there is not with {name}={value!r}; use "
                f"{name}={' or '.join(map(repr, able))}, or a finite C"
            )
            raise ParameterError(msg)
    same = {field.name: getattr(problem, field.name) for field in fields(problem)}
    return HardMarginProblem(**same | {"loss": HARD, "sides": sides})


def not_separable(problem: LinearProblem, error: NotSeparableError) -> NotSeparableError:
    """Return the error with its proof certified, and with the names of the classes."""
    assert isinstance(problem, HardMarginProblem)
    proof = certify_overlap(problem, error.proof)
    msg = f"C=inf asks for a plane between {problem.sides}, but {proof}; use a finite C"
    return NotSeparableError(msg, proof)
