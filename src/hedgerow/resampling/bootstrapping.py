"""The bootstrap: how much a statistic would vary if the data were drawn again.

Efron (1979), "Bootstrap methods: another look at the jackknife", Annals of Statistics 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import Rule, check_seed, is_number, one_of, whole_number
from hedgerow._engine import check_n_threads
from hedgerow.errors import DataError, ParameterError
from hedgerow.monitor import monitored, raising_at_once
from hedgerow.resampling import interval_methods as methods
from hedgerow.resampling.interval_methods import Alternative, Method
from hedgerow.resampling.names import Named, is_named, named_statistic, needs_pairs
from hedgerow.resampling.plan import Plan
from hedgerow.resampling.runs import Run
from hedgerow.resampling.samples import Called, Samples, read_samples

__all__ = [
    "BootstrapResult",
    "ConfidenceInterval",
    "bootstrap",
    "check",
    "check_level",
    "check_method",
    "interval",
    "is_constant",
    "refuse_undefined",
]

Values: TypeAlias = NDArray[np.float64]

_METHODS: dict[str, Method] = {
    "BCa": "BCa",
    "bca": "BCa",
    "percentile": "percentile",
    "basic": "basic",
    "studentized": "studentized",
    "studentised": "studentized",
}


class ConfidenceInterval(NamedTuple):
    """The end points of an interval: numbers, or arrays if the statistic is an array.

    Parameters
    ----------
    low, high : float or ndarray
        The end points.
    """

    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class BootstrapResult:
    """The result of a bootstrap.

    Attributes
    ----------
    estimate : float or ndarray
        The statistic of the data.
    confidence_interval : ConfidenceInterval
        The interval, with ``low`` and ``high``.
    standard_error : float or ndarray
        The standard deviation of the bootstrap distribution.
    bias : float or ndarray
        The mean of the bootstrap distribution minus the estimate.
    bootstrap_distribution : ndarray
        The statistic of every resample; resamples are the last axis.
    method : {"BCa", "percentile", "basic", "studentized"}
        The kind of interval.
    confidence_level : float
        The proportion of such intervals that contain the true value.
    n_resamples : int
        The number of resamples.
    """

    estimate: Any
    confidence_interval: ConfidenceInterval
    standard_error: Any
    bias: Any
    bootstrap_distribution: Values
    method: Method
    confidence_level: float
    n_resamples: int

    def __str__(self) -> str:
        columns = (self.estimate, *self.confidence_interval, self.standard_error, self.bias)
        lines = [
            f"{estimate:.6g} ({100 * self.confidence_level:g} % {self.method} interval {low:.6g} to {high:.6g}, "
            f"standard error {error:.2g}, bias {bias:.2g})"
            for estimate, low, high, error, bias in zip(*map(np.ravel, columns), strict=True)
        ]
        return "\n".join([*lines, f"from {self.n_resamples} resamples"])


@monitored("bootstrap")
@raising_at_once()
def bootstrap(
    data: Any,
    statistic: str | tuple[str, float] | Callable[..., Any],
    *,
    n_resamples: int = 9999,
    confidence_level: float = 0.95,
    method: str = "BCa",
    alternative: Alternative = "two-sided",
    axis: int = 0,
    paired: bool | None = None,
    strata: Any = None,
    groups: Any = None,
    standard_error: Callable[..., Any] | None = None,
    vectorized: bool | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> BootstrapResult:
    """Return a statistic with its standard error, bias and confidence interval.

    The statistic is recomputed on resamples: as many rows as the data have, drawn with replacement.
    Names and meanings follow :func:`scipy.stats.bootstrap`.

    Parameters
    ----------
    data : array or data frame, or tuple of them
        One sample with one observation per row, or a tuple of several samples.
    statistic : str, tuple or callable
        A fast statistic by name: of one sample "mean", "median", ("quantile", p) or
        "gini_coefficient" (of inequality); of two columns or a pair of samples "ratio" (of sums),
        "correlation", "auc" and "gini_of_scores" (2 AUC - 1) of ``(y, score)``, and "regression"
        (intercept and coefficients) of ``(X, y)``. Or any callable of the samples that returns a
        number or an array; it receives the rows of a resample in their original order, and several
        threads may call it at once.
    n_resamples : int
        The number of resamples.
    confidence_level : float
        The confidence level, between 0 and 1.
    method : {"BCa", "percentile", "basic", "studentized"}
        The kind of interval; "studentised" is accepted too. The page on the bootstrap says when to use
        which.
    alternative : {"two-sided", "less", "greater"}
        "less" has a lower end point of minus infinity, "greater" an upper one of infinity.
    axis : int
        The axis of the observations.
    paired : bool or None
        Whether row i of one sample belongs to row i of the others, so that they are drawn
        together. None means yes for a named statistic of two columns, and no otherwise.
    strata : array-like or None
        One label per row; every resample has as many rows of each label as the data.
    groups : array-like or None
        One label per row; rows of one label are drawn together or not at all.
    standard_error : callable or None
        For method "studentized": a callable of the samples that returns the standard error of the
        statistic. None uses a formula if there is one ("mean" and "ratio" without strata and groups),
        and otherwise resamples every resample 50 times.
    vectorized : bool or None
        Whether the callable has a parameter ``axis``. None inspects its signature.
    random_state : int, RandomState, Generator or None
        Seed of the draws.
    n_jobs : int or None
        The number of threads; None means all cores. The result does not depend on it.

    Returns
    -------
    BootstrapResult
        The estimate, its interval, standard error, bias and bootstrap distribution.

    Raises
    ------
    DataError
        If the data cannot be read, or the statistic or the interval is undefined on them.
    ParameterError
        If a parameter has an invalid value.
    StoppedError
        If a time limit or a callback stopped it.

    Examples
    --------
    >>> from hedgerow import bootstrap
    >>> result = bootstrap([2.0, 4.0, 4.0, 5.0, 7.0, 9.0], "mean", random_state=0)
    >>> round(result.standard_error, 1)
    0.9
    """
    chosen = check_method(method)
    level = check_level(confidence_level)
    check("n_resamples", n_resamples, whole_number(2))
    check("alternative", alternative, one_of(*get_args(Alternative)))
    samples = read_samples(data, axis, _is_paired(statistic, paired))
    plan = samples.plan(strata, groups)
    run = Run(plan, check_seed(random_state), n_resamples, check_n_threads(n_jobs))
    weighted, error_formula = _read_statistic(statistic, samples, plan, vectorized)
    if standard_error is not None:
        error_formula = Called(standard_error, samples, plan, vectorized)
    distribution, estimate = run.distribution(weighted), run.estimate(weighted)
    flat = distribution.reshape(n_resamples, -1)
    refuse_undefined(flat, estimate.reshape(-1))
    refuse_constant(flat)
    probabilities = methods.tails(level, alternative)
    ends = interval(run, (weighted, error_formula), flat, chosen, probabilities)
    ends = methods.one_sided(*ends, alternative)
    return _result(estimate, distribution, ends, chosen, level)


def check_method(method: Any) -> Method:
    """Return the canonical name of the method."""
    if isinstance(method, str) and method in _METHODS:
        return _METHODS[method]
    names = ", ".join(map(repr, get_args(Method)))
    msg = f"method={method!r} is not known; give one of {names}"
    raise ParameterError(msg)


def check(name: str, value: Any, rule: Rule) -> None:
    """Check an argument by its rule."""
    expected = rule(value)
    if expected is not None:
        msg = f"{name}={value!r} is not allowed: it must be {expected}"
        raise ParameterError(msg)


def check_level(confidence_level: Any) -> float:
    """Return the confidence level if it is valid."""
    if is_number(confidence_level) and 0 < confidence_level < 1:
        return float(confidence_level)
    msg = f"confidence_level={confidence_level!r} is not between 0 and 1; try 0.95"
    raise ParameterError(msg)


def _is_paired(statistic: Any, paired: bool | None) -> bool:
    if not needs_pairs(statistic):
        return bool(paired)
    if paired is None or paired:
        return True
    msg = f"paired=False is not possible for {statistic!r}, whose two columns belong together; omit it"
    raise ParameterError(msg)


def _read_statistic(statistic: Any, samples: Samples, plan: Plan, vectorized: bool | None) -> Named:
    """Return the statistic as a function of counts, and its standard error if there is a formula."""
    if callable(statistic):
        return Called(statistic, samples, plan, vectorized), None
    if not is_named(statistic):
        msg = f"statistic={statistic!r} is neither a name nor a callable; give a name such as 'mean', or a callable"
        raise ParameterError(msg)
    weighted, formula = named_statistic(statistic, samples.numbers())
    # The formulas are for independent rows: strata and groups need resampling.
    is_plain = plan.keeps_size and len(plan.pool_sizes) == 1
    return weighted, formula if is_plain else None


def refuse_undefined(distribution: Values, estimate: Values) -> None:
    """Refuse a statistic that is not a finite number on the data and on every resample."""
    if not np.all(np.isfinite(estimate)):
        value = estimate[~np.isfinite(estimate)][0]
        msg = f"the statistic of the data is {value}; give data on which it is a finite number"
        raise DataError(msg)
    undefined = int(np.sum(~np.isfinite(distribution).all(axis=1)))
    if undefined:
        msg = (
            f"the statistic is undefined in {undefined} of {len(distribution)} resamples, for example because "
            "they lack a class or do not vary; keep class sizes with strata=, or use another statistic"
        )
        raise DataError(msg)


def refuse_constant(distribution: Values) -> None:
    """Refuse a statistic that no resample changes."""
    constant = np.flatnonzero(is_constant(distribution))
    if len(constant):
        msg = (
            f"every resample gives {distribution[0, constant[0]]:g}, so resampling cannot measure its uncertainty; "
            "give data that vary"
        )
        raise DataError(msg)


def is_constant(distribution: Values) -> NDArray[np.bool_]:
    """Return for every component whether all resamples agree up to rounding."""
    spread = np.ptp(distribution, axis=0)
    constant: NDArray[np.bool_] = spread <= 1e-13 * np.abs(distribution).max(axis=0)
    return constant


def interval(
    run: Run, statistic: Named, distribution: Values, method: Method, probabilities: Values
) -> tuple[Values, Values]:
    """Return the end points of the interval, one per component of the statistic."""
    weighted, error_formula = statistic
    estimate = run.estimate(weighted).reshape(-1)
    if method == "percentile":
        return methods.percentile(distribution, probabilities)
    if method == "basic":
        return methods.basic(distribution, estimate, probabilities)
    if method == "BCa":
        pools = [values.reshape(len(values), -1) for values in run.jackknife(weighted)]
        return methods.bca(distribution, estimate, methods.acceleration(pools), probabilities)
    if error_formula is None:
        errors, error = run.nested_errors(weighted), distribution.std(axis=0, ddof=1)
    else:
        errors, error = run.distribution(error_formula), run.estimate(error_formula)
    errors = errors.reshape(len(distribution), -1)
    return methods.studentized(distribution, estimate, errors, error.reshape(-1), probabilities)


def _result(
    estimate: Values,
    distribution: Values,
    ends: tuple[Values, Values],
    method: Method,
    confidence_level: float,
) -> BootstrapResult:
    def plain(values: Values) -> Any:
        shaped = values.reshape(estimate.shape)
        return float(shaped) if shaped.ndim == 0 else shaped

    return BootstrapResult(
        estimate=plain(estimate),
        confidence_interval=ConfidenceInterval(*map(plain, ends)),
        standard_error=plain(distribution.std(axis=0, ddof=1)),
        bias=plain(distribution.mean(axis=0) - estimate),
        bootstrap_distribution=np.moveaxis(distribution, 0, -1),
        method=method,
        confidence_level=confidence_level,
        n_resamples=len(distribution),
    )
