"""How sure a number is: intervals by resampling."""

from hedgerow.resampling.intervals import Interval, accuracy_interval

__all__ = ["Interval", "accuracy_interval"]
