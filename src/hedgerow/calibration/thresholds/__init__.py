"""Where to draw the line between two classes, for a metric or for what errors cost."""

from hedgerow.calibration.thresholds.curve import ThresholdCurve
from hedgerow.calibration.thresholds.model import ThresholdModel, tune_threshold

__all__ = ["ThresholdCurve", "ThresholdModel", "tune_threshold"]
