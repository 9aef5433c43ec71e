"""C = inf: problems with a hard margin, and what is said where there is none."""

from __future__ import annotations

from dataclasses import fields

from hedgerow.errors import NotSeparableError, ParameterError
from hedgerow.losses import HARD
from hedgerow.problems.certificates import certify_overlap
from hedgerow.problems.hard_margin import HardMarginProblem
from hedgerow.problems.linear import LinearProblem

__all__ = ["hardened", "not_separable"]

_SOFT = ("hinge", "squared_hinge")
"""The losses that become the hard margin as their weight grows."""


def hardened(problem: LinearProblem, sides: str) -> HardMarginProblem:
    """Return the problem with constraints in place of its losses, refusing what has none."""
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
