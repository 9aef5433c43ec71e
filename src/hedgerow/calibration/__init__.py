"""Calibrated probabilities and decision thresholds for any classifier."""

from hedgerow.calibration.model import CalibratedModel, calibrate

__all__ = ["CalibratedModel", "calibrate"]
