"""The laws a loss of the functional margin must obey for its gaps to be proofs."""

from __future__ import annotations

import numpy as np

from hedgerow.losses import Loss

__all__ = ["check_loss"]

_MARGINS = np.concatenate([np.linspace(-6.0, 6.0, 121), [-1e3, 0.999999, 1.0, 1.000001, 1e3]])
_WEIGHTS = np.array([1e-3, 0.5, 1.0, 7.0, 1e3])
_SHARES = np.linspace(0.0, 1.0, 21)


def check_loss(loss: Loss) -> None:
    """Check that a loss and what it says of its dual belong together.

    Parameters
    ----------
    loss : Loss
        An object with the methods of :class:`hedgerow.losses.Loss`.

    Raises
    ------
    AssertionError
        If a law does not hold; the message says which one, and for what margin and weight.
    """
    for weight in _WEIGHTS:
        c = np.full_like(_MARGINS, weight)
        value = c * loss.value(_MARGINS)
        own = loss.alpha_at(_MARGINS, c)
        upper = loss.upper(c)
        room = 1e-9 * (1.0 + np.abs(value) + np.abs(own * _MARGINS))
        _hold(value >= 0, "a loss is not negative", weight)
        _hold((own >= 0) & (own <= upper), "alpha_at lies between 0 and upper", weight)
        tight = loss.gain(own, c) - own * _MARGINS
        _hold(np.abs(value - tight) <= room, "the dual is tight at alpha_at", weight)
        for share in _SHARES:
            alpha = share * np.minimum(upper, 10.0 * (own + c))
            bound = loss.gain(alpha, c) - alpha * _MARGINS
            slack = room + 1e-9 * (1.0 + np.abs(alpha * _MARGINS) + np.abs(bound))
            _hold(value >= bound - slack, "no alpha gives a bound above the loss", weight)
        _check_curvature(loss, weight)


def _check_curvature(loss: Loss, weight: float) -> None:
    """Compare the stated curvature of the dual with second differences."""
    c = np.array([weight])
    step = 0.1 * min(float(loss.upper(c)[0]), weight)
    values = [float(loss.gain(np.array([k * step]), c)[0]) for k in (1, 2, 3)]
    found = -(values[0] - 2.0 * values[1] + values[2]) / step**2
    stated = float(loss.curvature(c)[0])
    _hold(
        np.array([abs(found - stated) <= 1e-6 * (1.0 + stated)]),
        "curvature is that of gain",
        weight,
    )


def _hold(law: np.ndarray, sentence: str, weight: float) -> None:
    """Raise if the law fails for some margin."""
    broken = np.flatnonzero(~law)
    if len(broken):
        where = f"margin {_MARGINS[broken[0]]:g}, " if len(law) == len(_MARGINS) else ""
        raise AssertionError(f"not so: {sentence} ({where}weight {weight:g})")
