"""What a solver is: an algorithm, what it needs of a problem, and the options it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeAlias

from hedgerow._base.parameters import Rule
from hedgerow.errors import ParameterError
from hedgerow.losses import BUILT_IN, Loss
from hedgerow.problems.base import Intercept, Status
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers.workload import Workload

__all__ = ["Algorithm", "LinearSolver", "Option", "Solver"]

Algorithm: TypeAlias = Callable[[Any], Status | None]
"""Offers points to a GapRun until it is solved or no more can be done; may say why it stopped."""


@dataclass(frozen=True)
class Option:
    """A setting that one solver alone has: its default, what it may be, and what it does."""

    default: Any
    rule: Rule
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Solver:
    """A solver by name, and what it needs of a problem.

    Attributes
    ----------
    name : str
        What users call it.
    run : callable
        The algorithm.
    needs : tuple of str
        Attributes that a problem must have and that must not be false, such as "loss.is_smooth".
    """

    name: str
    run: Callable[..., Any]
    needs: tuple[str, ...]

    @cached_property
    def _needed(self) -> list[Callable[[Any], Any]]:
        return [attrgetter(need) for need in self.needs]

    def can_take(self, problem: Any) -> bool:
        """Say whether a problem has what the solver needs."""
        try:
            for needed in self._needed:
                if not needed(problem):
                    return False
        except AttributeError:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class LinearSolver(Solver):
    """A solver of linear machines.

    Attributes
    ----------
    penalties, intercepts : tuple of str
        What it can take.
    is_exact : bool
        Whether it reaches any tolerance; others stop somewhere and say how far off.
    takes_pull : bool
        Whether it can take an intercept that has a price, as one-class machines have.
    options : mapping of str to Option
        What may be set by ``solver_options``.
    effort : callable or None
        Returns the time it is likely to take on a problem, in nanoseconds, beside that of other solvers; None
        where "auto" should not try it. A solver without it is never tried.
    """

    run: Algorithm
    penalties: tuple[str, ...] = ("l2",)
    intercepts: tuple[Intercept, ...] = ("free", "penalized", "none")
    is_exact: bool = True
    takes_pull: bool = True
    options: Mapping[str, Option] = field(default_factory=dict)
    effort: Callable[[Workload], float | None] | None = None

    @cached_property
    def losses(self) -> tuple[str, ...]:
        """The names of the built-in losses that it can minimise."""
        return tuple(loss.name for loss in BUILT_IN if self.can_minimise(loss))

    def can_minimise(self, loss: Loss) -> bool:
        """Say whether it can take a loss."""
        needs = [need.split(".", 1) for need in self.needs]
        return all(getattr(loss, rest[0]) for owner, *rest in needs if owner == "loss")

    def what_it_lacks(self, problem: LinearProblem) -> str | None:
        """Return what of the problem it cannot take, or None."""
        if not self.can_take(problem):
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
