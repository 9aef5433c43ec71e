"""The intercept that is best for a given w."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.problems.base import Vector, inner

if TYPE_CHECKING:
    from hedgerow.problems.linear import LinearProblem

__all__ = ["best_intercept"]


def best_intercept(problem: LinearProblem, scores_without: Vector) -> float:
    """Return the b that is best for a w whose scores without intercept are given.

    For losses with kinks the slope in b is a staircase that climbs by c_i at each kink. Its
    zero is a step, or a flat interval, of which the middle is returned. Smooth losses have
    one zero, found by bisection that Newton's method accelerates, or cost nothing on an interval.
    """
    if problem.loss.is_smooth:
        low, high = _costless_intercepts(problem, scores_without)
        costless = problem.pull == 0.0 and low <= high and np.isfinite(high - low)
        return 0.5 * (low + high) if costless else _zero_of_slope(problem, scores_without)
    steps, climbs, start = _staircase(problem, scores_without)
    slope = np.cumsum(climbs) + start
    flat = 1e-12 * float(np.sum(climbs))
    if not np.any(slope >= -flat):
        return float(steps[-1])
    first = int(np.argmax(slope >= -flat))
    if slope[first] <= flat and first + 1 < len(steps):
        return float(0.5 * (steps[first] + steps[first + 1]))
    return float(steps[first])


def _staircase(problem: LinearProblem, scores_without: Vector) -> tuple[Vector, Vector, float]:
    """Return where the slope in b climbs, in ascending order, by how much, and where it starts."""
    used = problem.weight > 0
    weight, y = problem.weight[used], problem.y[used]
    middle = (problem.y * problem.target - scores_without)[used]
    start = problem.pull - float(np.sum(weight[y > 0]))
    epsilon = problem.loss.epsilon
    if problem.loss.is_two_sided:
        middle, weight = (
            np.concatenate([middle - epsilon, middle + epsilon]),
            np.tile(weight, 2),
        )
    order = np.argsort(middle, kind="stable")
    return middle[order], weight[order], start


def _costless_intercepts(problem: LinearProblem, scores_without: Vector) -> tuple[float, float]:
    """Return the least and the largest b at which every loss is 0; the former is larger if there is none."""
    if not problem.loss.vanishes:
        return np.inf, -np.inf
    used = problem.weight > 0
    exact, y = (problem.y * problem.target - scores_without)[used], problem.y[used]
    at_least, at_most = exact[y > 0], exact[y < 0]
    if problem.loss.is_two_sided:
        at_least, at_most = exact - problem.loss.epsilon, exact + problem.loss.epsilon
    return float(np.max(at_least, initial=-np.inf)), float(np.min(at_most, initial=np.inf))


def _zero_of_slope(problem: LinearProblem, scores_without: Vector) -> float:
    """Return the zero of the slope in b."""
    low, high = -np.inf, np.inf
    b, reach = 0.0, 1.0
    for _ in range(200):
        residual = problem.residuals(scores_without + b)
        slope = problem.pull - inner(problem.y, problem.loss.alpha_at(residual, problem.weight))
        rise = float(np.sum(problem.loss.second_derivative(residual, problem.weight)))
        low, high = (b, high) if slope < 0 else (low, b)
        step = -slope / rise if rise > 0 else -np.copysign(np.inf, slope)
        reach *= 2.0
        guess = b + float(np.clip(step, -reach, reach))
        guess = guess if low < guess < high else 0.5 * (low + high)
        if not np.isfinite(guess) or abs(guess - b) <= 1e-15 * (1.0 + abs(b)):
            break
        b = guess
    return b
