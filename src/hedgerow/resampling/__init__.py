"""Confidence intervals by resampling."""

from hedgerow.resampling.bootstrapping import BootstrapResult, ConfidenceInterval, bootstrap
from hedgerow.resampling.intervals import Interval, accuracy_interval
from hedgerow.resampling.learner_error import ErrorEstimate, bootstrap_error

__all__ = [
    "BootstrapResult",
    "ConfidenceInterval",
    "ErrorEstimate",
    "Interval",
    "accuracy_interval",
    "bootstrap",
    "bootstrap_error",
]
