"""The laws a loss of the residual must obey for its gaps to be proofs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.losses import Loss

__all__ = ["check_loss"]

_RESIDUALS = np.concatenate([np.linspace(-6.0, 6.0, 121), [-1e3, -1e-6, 1e-6, 1e3]])
_WEIGHTS = np.array([1e-3, 0.5, 1.0, 7.0, 1e3])
_SHARES = np.linspace(0.0, 1.0, 21)
_STEP = 1e-6


def check_loss(loss: Loss) -> None:
    """Check that a loss and what it says of its dual belong together.

    Parameters
    ----------
    loss : Loss
        An object with the methods of :class:`hedgerow.losses.Loss`.

    Raises
    ------
    AssertionError
        If a law does not hold; the message says which one, and for what residual and weight.
    """
    for weight in _WEIGHTS:
        c = np.full_like(_RESIDUALS, weight)
        value = c * loss.value(_RESIDUALS)
        own = loss.alpha_at(_RESIDUALS, c)
        room = 1e-9 * (1.0 + np.abs(value) + np.abs(own * _RESIDUALS))
        inside = (own >= loss.lower(c)) & (own <= loss.upper(c))
        _hold(value >= 0, "a loss is not negative", weight)
        _hold(inside, "alpha_at lies between lower and upper", weight)
        tight = own * _RESIDUALS - loss.conjugate(own, c)
        _hold(np.abs(value - tight) <= room, "the dual is tight at alpha_at", weight)
        for share in _SHARES:
            _check_bound(loss, share, value, room, c)
        _check_slopes(loss, own, c)
        if loss.is_smooth:
            _check_second_derivative(loss, c)


def _check_bound(
    loss: Loss,
    share: float,
    value: NDArray[np.float64],
    room: NDArray[np.float64],
    c: NDArray[np.float64],
) -> None:
    """Hold the loss against the bound of an alpha at a share of the way between its ends."""
    far = 10.0 * (np.abs(loss.alpha_at(_RESIDUALS, c)) + c)
    low, high = np.maximum(loss.lower(c), -far), np.minimum(loss.upper(c), far)
    alpha = low + share * (high - low)
    bound = alpha * _RESIDUALS - loss.conjugate(alpha, c)
    slack = room + 1e-9 * (1.0 + np.abs(alpha * _RESIDUALS) + np.abs(bound))
    _hold(value >= bound - slack, "no alpha gives a bound above the loss", float(c[0]))


def _check_slopes(loss: Loss, alpha: NDArray[np.float64], c: NDArray[np.float64]) -> None:
    """At its own alpha a residual lies between the slopes of the conjugate."""
    left, right = loss.conjugate_slopes(alpha, c)
    # A logistic alpha next to a bound cannot tell residuals apart in float64.
    seen = (np.abs(_RESIDUALS) < 20.0) | ~np.isfinite(left) | ~np.isfinite(right)
    room = 1e-6 * (1.0 + np.abs(_RESIDUALS))
    between = (left <= _RESIDUALS + room) & (right + room >= _RESIDUALS)
    _hold(between | ~seen, "a residual lies between the slopes of the conjugate", float(c[0]))


def _check_second_derivative(loss: Loss, c: NDArray[np.float64]) -> None:
    """Compare the stated second derivative with differences of alpha_at, away from kinks."""
    ahead, behind = (loss.alpha_at(_RESIDUALS + h, c) for h in (_STEP, -_STEP))
    here = loss.alpha_at(_RESIDUALS, c)
    is_kink = np.abs((ahead - here) - (here - behind)) > 1e-3 * _STEP * c
    found = (ahead - behind) / (2.0 * _STEP)
    stated = loss.second_derivative(_RESIDUALS, c)
    rounding = 1e-9 * np.abs(here) / _STEP
    right = np.abs(found - stated) <= 1e-4 * c + rounding
    _hold(right | is_kink, "second_derivative is the slope of alpha_at", float(c[0]))


def _hold(law: NDArray[np.bool_], sentence: str, weight: float) -> None:
    """Raise if the law fails for some residual."""
    broken = np.flatnonzero(~law)
    if len(broken):
        where = f"residual {_RESIDUALS[broken[0]]:g}"
        raise AssertionError(f"not so: {sentence} ({where}, weight {weight:g})")
