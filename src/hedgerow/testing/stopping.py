"""What every estimator must do when it is told to stop: by Ctrl-C, or by its time limit."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

__all__ = ["check_interrupt", "check_max_time"]

_PROMPT = 0.5
_ATTEMPTS = 3
_ROWS = 5
_ROUNDING = 1e-12
"""By so much, relatively, a dual that equals the primal may come out above it."""


def check_interrupt(estimator: Any, X: Any, y: Any, *, after: float = 0.7) -> None:
    """Check that Ctrl-C stops a fit within half a second and leaves a usable model.

    The signal is really sent, so this must run in the main thread. As a busy machine may be late by
    itself, the best of three attempts counts.

    Parameters
    ----------
    estimator : estimator
        Unfitted, and such that its fit takes much longer than ``after``; it is cloned.
    X, y : array-like
        What to fit.
    after : float, default=0.7
        Seconds from the beginning of the fit to Ctrl-C.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    name = type(estimator).__name__
    for attempt in range(1, _ATTEMPTS + 1):
        model = clone(estimator)
        late = _seconds_to_stop(model, X, y, after)
        assert late is not None, (
            f"{name}.fit ended within {after} s, before Ctrl-C; give it more to do"
        )
        if late <= _PROMPT:
            break
        assert attempt < _ATTEMPTS, f"{name}.fit took {late:.2f} s to obey Ctrl-C, not {_PROMPT} s"
    _check_status(model, "interrupted")
    _check_usable(model, X, y)
    with _no_warnings():
        model.set_params(max_time=after).fit(X, y)
    _check_status(model, "time_limit")


def check_max_time(estimator: Any, X: Any, y: Any, seconds: float) -> None:
    """Check that a fit keeps to its time limit and leaves a usable model.

    It may take 5 % and one second longer than it was told; the best of three attempts counts.

    Parameters
    ----------
    estimator : estimator
        Unfitted, and such that its fit takes much longer than the limit; it is cloned.
    X, y : array-like
        What to fit.
    seconds : float
        The limit.

    Raises
    ------
    AssertionError
        Saying what is wrong.
    """
    most = 1.05 * seconds + 1.0
    for attempt in range(1, _ATTEMPTS + 1):
        model = clone(estimator).set_params(max_time=seconds)
        began = time.monotonic()
        with _no_warnings():
            model.fit(X, y)
        took = time.monotonic() - began
        if took <= most:
            break
        assert attempt < _ATTEMPTS, (
            f"{type(estimator).__name__}.fit took {took:.2f} s with max_time={seconds}"
        )
    _check_status(model, "time_limit")
    _check_usable(model, X, y)


def _seconds_to_stop(model: Any, X: Any, y: Any, after: float) -> float | None:
    """Fit and press Ctrl-C; return how long it took to obey, or None if the fit had ended."""
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with _no_warnings():
            model.fit(X, y)
        timer.cancel()
        timer.join()
        time.sleep(0)  # a signal that came too late is raised here, and not later
    except KeyboardInterrupt:
        return time.monotonic() - pressed[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    return None


def _check_status(model: Any, expected: str) -> None:
    status = getattr(model, "status_", None)
    assert status == expected, (
        f"{type(model).__name__} has status_ {status!r}, where {expected!r} is the truth"
    )


def _check_usable(model: Any, X: Any, y: Any) -> None:
    """Check that the model predicts, and that its certificate bounds the optimum from both sides."""
    name = type(model).__name__
    predicted = np.asarray(model.predict(X[:_ROWS]))
    assert predicted.shape == (_ROWS,), (
        f"{name}.predict returned shape {predicted.shape} for {_ROWS} rows"
    )
    if is_classifier(model):
        assert np.isin(predicted, y).all(), f"{name} predicts labels that it was not given"
    else:
        assert np.isfinite(predicted).all(), f"{name} has predictions that are not finite"
    if hasattr(type(model), "decision_function"):
        scores = np.asarray(model.decision_function(X[:_ROWS]))
        assert np.isfinite(scores).all(), f"{name} has scores that are not finite"
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        assert certificate.gap >= -_ROUNDING * abs(certificate.primal), (
            f"{name} has the certificate {certificate}, whose primal is below its dual"
        )


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Keep quiet about a fit that was not let end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
