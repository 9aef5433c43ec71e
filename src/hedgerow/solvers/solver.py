"""What a solver is: an algorithm, the problems it can take, and the options it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hedgerow._base.parameters import Rule
from hedgerow.errors import ParameterError
from hedgerow.problems.base import Intercept, Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.settings import Progress

__all__ = ["Algorithm", "Option", "Solver"]

Algorithm: TypeAlias = Callable[[Progress], Status | None]
"""Offers points to the progress until it is solved or no more can be done; may say why it stopped."""


@dataclass(frozen=True)
class Option:
    """A setting that one solver alone has: its default, what it may be, and what it does."""

    default: Any
    rule: Rule
    meaning: str


@dataclass(frozen=True)
class Solver:
    """An algorithm by name, and what it can do.

    Attributes
    ----------
    name : str
        What users call it.
    run : callable
        The algorithm.
    losses, penalties, intercepts : tuple of str
        What it can take.
    is_exact : bool
        Whether it reaches any tolerance; others stop somewhere and say how far off.
    takes_pull : bool
        Whether it can take an intercept that has a price, as one-class machines have.
    options : mapping of str to Option
        What may be set by ``solver_options``.
    """

    name: str
    run: Algorithm
    losses: tuple[str, ...]
    penalties: tuple[str, ...] = ("l2",)
    intercepts: tuple[Intercept, ...] = ("free", "penalized", "none")
    is_exact: bool = True
    takes_pull: bool = True
    options: Mapping[str, Option] = field(default_factory=dict)

    def what_it_lacks(self, problem: LinearProblem) -> str | None:
        """Return what of the problem it cannot take, or None."""
        if problem.loss.name not in self.losses:
            return f"minimise loss={problem.loss.name!r}"
        if problem.penalty.name not in self.penalties:
            return f"take penalty={problem.penalty.name!r} with loss={problem.loss.name!r}"
        if problem.intercept not in self.intercepts:
            words = {"free": "a free intercept", "penalized": "a penalized intercept"}
            return f"fit {words.get(problem.intercept, 'without an intercept')}"
        if problem.pull and not self.takes_pull:
            return "fit the intercept of a one-class machine"
        return None

    def settle(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options, given ones checked and the rest at their defaults."""
        for name, value in given.items():
            if name not in self.options:
                known = ", ".join(map(repr, self.options)) or "none"
                msg = f"solver={self.name!r} has no option {name!r}; its options are: {known}"
                raise ParameterError(msg)
            expected = self.options[name].rule(value)
            if expected is not None:
                msg = f"the option {name}={value!r} of solver={self.name!r} must be {expected}"
                raise ParameterError(msg)
        return {name: option.default for name, option in self.options.items()} | dict(given)
