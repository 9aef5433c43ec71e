"""Decision thresholds between two classes that optimise a metric or the cost of errors."""

from hedgerow.calibration.thresholds.curve import ThresholdCurve
from hedgerow.calibration.thresholds.model import ThresholdModel, tune_threshold

__all__ = ["ThresholdCurve", "ThresholdModel", "tune_threshold"]
