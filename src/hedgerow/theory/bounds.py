"""Bounds on the generalisation error, as functions of a few numbers.

R is the radius of the smallest ball that contains the rows, rho the largest |x|, m the number of rows.
All bounds assume rows drawn independently from one distribution. They hold with probability 1 - delta,
or in expectation where there is no delta. Most are far above the true error: their value is to show
what the error depends on.
"""

from __future__ import annotations

import math

from hedgerow.theory._numbers import check_count, check_number, check_share

__all__ = [
    "balanced_error_bound",
    "balancing_lambda",
    "c_of_lambda",
    "hard_margin_error_bound",
    "lambda_of_c",
    "margin_error_bound",
    "margin_vc_dimension",
    "soft_margin_error_bound",
]


def margin_vc_dimension(radius: float, margin: float, n_features: int) -> float:
    """Return min(R^2 / margin^2, n_features) + 1.

    This bounds the VC dimension of hyperplanes that keep a margin from points in a ball of radius R;
    without a margin it is n_features + 1.

    Parameters
    ----------
    radius : float
        The radius R of the ball.
    margin : float
        The margin; above 0.
    n_features : int
        The dimension of the space.

    Returns
    -------
    float
        The bound on the VC dimension.

    Examples
    --------
    >>> from hedgerow.theory import margin_vc_dimension
    >>> margin_vc_dimension(radius=2.0, margin=1.0, n_features=1000)
    5.0
    """
    check_number("radius", radius)
    check_number("margin", margin, above=0.0)
    check_count("n_features", n_features)
    return min((radius / margin) ** 2, float(n_features)) + 1.0


def margin_error_bound(
    training_error: float, vc_dimension: float, n_samples: int, delta: float = 0.05
) -> float:
    """Return training_error + sqrt((h (log(2 m / h) + 1) + log(4 / delta)) / m).

    With h from :func:`margin_vc_dimension` the first term under the root is O(R^2 / margin^2), up to
    a logarithm. Points closer to the hyperplane than the margin count as errors.

    Parameters
    ----------
    training_error : float
        The proportion of rows on the wrong side or closer to the hyperplane than the margin.
    vc_dimension : float
        The dimension h; above 2 m the bound is vacuous, and 2 m is used.
    n_samples : int
        The number m of rows.
    delta : float, default=0.05
        The probability with which the bound may fail.

    Returns
    -------
    float
        The bound on the error.
    """
    check_number("training_error", training_error)
    check_number("vc_dimension", vc_dimension, above=0.0)
    check_count("n_samples", n_samples)
    check_share("delta", delta)
    h = min(vc_dimension, 2.0 * n_samples)
    capacity = h * (math.log(2.0 * n_samples / h) + 1.0)
    return training_error + math.sqrt((capacity + math.log(4.0 / delta)) / n_samples)


def hard_margin_error_bound(
    rho: float, margin: float, n_samples: int, delta: float = 0.05
) -> float:
    """Return sqrt(4 (rho / margin)^2 / m) + sqrt(2 log(2 / delta) / m).

    This bounds the error of the hard-margin hyperplane through the origin, if a hyperplane through the
    origin separates the distribution with this margin and no |x| exceeds rho.

    Parameters
    ----------
    rho : float
        The largest length |x|.
    margin : float
        The margin; above 0.
    n_samples : int
        The number m of rows.
    delta : float, default=0.05
        The probability with which the bound may fail.

    Returns
    -------
    float
        The bound on the error.

    Examples
    --------
    >>> from hedgerow.theory import hard_margin_error_bound
    >>> round(hard_margin_error_bound(rho=1.0, margin=0.5, n_samples=10_000), 4)
    0.0672
    """
    check_number("rho", rho)
    check_number("margin", margin, above=0.0)
    check_count("n_samples", n_samples)
    check_share("delta", delta)
    first = math.sqrt(4.0 * (rho / margin) ** 2 / n_samples)
    return first + math.sqrt(2.0 * math.log(2.0 / delta) / n_samples)


def soft_margin_error_bound(
    hinge: float, norm: float, rho: float, reg_lambda: float, n_samples: int
) -> float:
    r"""Return hinge + lambda |w|^2 + 2 rho^2 / (lambda m).

    For every hyperplane w through the origin, this bounds the expected error of the soft-margin solution
    with the same lambda; the best w gives the tightest bound.

    Parameters
    ----------
    hinge : float
        The expected hinge loss of w.
    norm : float
        The length \|w\|.
    rho : float
        The largest length \|x\|.
    reg_lambda : float
        The factor of \|w\|^2 relative to the mean of the losses.
    n_samples : int
        The number m of rows.

    Returns
    -------
    float
        The bound on the expected error.
    """
    check_number("hinge", hinge)
    check_number("norm", norm)
    check_number("rho", rho)
    check_number("reg_lambda", reg_lambda, above=0.0)
    check_count("n_samples", n_samples)
    return hinge + reg_lambda * norm**2 + 2.0 * rho**2 / (reg_lambda * n_samples)


def balancing_lambda(rho: float, norm: float, n_samples: int) -> float:
    r"""Return sqrt(2 rho^2 / (B^2 m)), which balances the last two terms of the soft-margin bound.

    Parameters
    ----------
    rho : float
        The largest length \|x\|; not 0.
    norm : float
        The largest length B of w that is considered; not 0.
    n_samples : int
        The number m of rows.

    Returns
    -------
    float
        The balancing lambda.

    Examples
    --------
    >>> from hedgerow.theory import balancing_lambda, c_of_lambda
    >>> reg_lambda = balancing_lambda(rho=1.0, norm=10.0, n_samples=200)
    >>> reg_lambda, c_of_lambda(reg_lambda, n_samples=200)
    (0.01, 0.25)
    """
    check_number("rho", rho, above=0.0)
    check_number("norm", norm, above=0.0)
    check_count("n_samples", n_samples)
    return math.sqrt(2.0 * rho**2 / (norm**2 * n_samples))


def balanced_error_bound(hinge: float, rho: float, norm: float, n_samples: int) -> float:
    """Return hinge + sqrt(8 rho^2 B^2 / m): the soft-margin bound at the balancing lambda.

    Parameters
    ----------
    hinge : float
        The expected hinge loss of w.
    rho : float
        The largest length |x|.
    norm : float
        The largest length B of w that is considered.
    n_samples : int
        The number m of rows.

    Returns
    -------
    float
        The bound on the expected error.
    """
    check_number("hinge", hinge)
    check_number("rho", rho)
    check_number("norm", norm)
    check_count("n_samples", n_samples)
    return hinge + math.sqrt(8.0 * rho**2 * norm**2 / n_samples)


def c_of_lambda(reg_lambda: float, n_samples: int) -> float:
    """Return C = 1 / (2 m lambda).

    With this C, 1/2 |w|^2 + C sum of losses is minimised by the same w as lambda |w|^2 + mean of losses.

    Parameters
    ----------
    reg_lambda : float
        The factor of |w|^2 relative to the mean of the losses; above 0.
    n_samples : int
        The number m of rows.

    Returns
    -------
    float
        The equivalent C.
    """
    check_number("reg_lambda", reg_lambda, above=0.0)
    check_count("n_samples", n_samples)
    return 1.0 / (2.0 * n_samples * reg_lambda)


def lambda_of_c(C: float, n_samples: int) -> float:
    """Return lambda = 1 / (2 m C), the inverse of :func:`c_of_lambda`.

    Parameters
    ----------
    C : float
        The factor of the sum of losses; above 0.
    n_samples : int
        The number m of rows.

    Returns
    -------
    float
        The equivalent lambda.
    """
    check_number("C", C, above=0.0)
    check_count("n_samples", n_samples)
    return 1.0 / (2.0 * n_samples * C)
