"""The laws a problem must obey for its certificates to be proofs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from hedgerow.problems.base import Ended, Measurement, Problem

__all__ = ["check_problem"]

S = TypeVar("S", bound=Ended)

_TINY = 1e-12


def check_problem(problem: Problem[S], solutions: Iterable[S]) -> None:
    """Check that no dual value of a problem exceeds a primal one, whatever the solutions are.

    Parameters
    ----------
    problem : Problem
        An object with the methods of :class:`hedgerow.problems.base.Problem`.
    solutions : iterable
        Solutions of any quality: good ones, guesses, dual points that break every constraint.

    Raises
    ------
    AssertionError
        If a law does not hold; the message says which one, and for which solutions.
    """
    best: dict[int, Measurement] = {}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for k, solution in enumerate(solutions):
            found = list(problem.measurements(solution))
            _hold(bool(found), "a solution can be measured", k)
            for measurement in found:
                _check_figures(measurement, k)
            _check_agreement(found, k)
            best[k] = found[-1]
    _hold(problem.least_scale >= 0.0, "least_scale is not negative")
    for k, above in best.items():
        for j, below in best.items():
            room = above.rounding.primal + below.rounding.dual + _TINY * abs(above.primal)
            is_finite = np.isfinite([above.primal, below.dual]).all()
            fine = not is_finite or above.primal >= below.dual - room
            _hold(fine, "no dual value exceeds a primal one", k, j)


def _check_figures(measurement: Measurement, k: int) -> None:
    """Check that the figures of one measurement can be."""
    rounding = measurement.rounding
    _hold(not measurement.violation < 0.0, "a violation is not negative", k)
    errors = (rounding.primal, rounding.dual, rounding.violation)
    _hold(not min(errors) < 0.0, "a bound on rounding is not negative", k)


def _check_agreement(found: list[Measurement], k: int) -> None:
    """Check that measurements of one solution differ by no more than their bounds on rounding."""
    exact = found[-1]
    for rough in found[:-1]:
        for name in ("primal", "dual"):
            one, other = getattr(rough, name), getattr(exact, name)
            room = getattr(rough.rounding, name) + getattr(exact.rounding, name)
            fine = not np.isfinite([one, other]).all() or abs(one - other) <= room
            _hold(fine, f"measurements of the {name} agree up to their rounding", k)


def _hold(law: bool, sentence: str, *solutions: int) -> None:
    """Raise if a law fails."""
    which = f" (solutions {' and '.join(map(str, dict.fromkeys(solutions)))})" if solutions else ""
    assert law, f"not so: {sentence}{which}"
