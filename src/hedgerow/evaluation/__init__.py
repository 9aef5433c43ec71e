"""Evaluate and compare fitted models on new rows, with bootstrap intervals.

Models predict once. Every metric is then computed on the same resamples of the rows, so metrics and
models can be compared row by row.
"""

from hedgerow.evaluation.judge import compare, evaluate
from hedgerow.evaluation.results import Comparison, Difference, Evaluation, Measurement

__all__ = ["Comparison", "Difference", "Evaluation", "Measurement", "compare", "evaluate"]
