"""Maps from scores to probabilities, and scores of rows that a model has not seen."""

from hedgerow.calibrators.maps import ScoreCalibrator

__all__ = ["ScoreCalibrator"]
