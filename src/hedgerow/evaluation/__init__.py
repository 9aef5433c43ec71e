"""How good a model is on rows it has not seen, how sure that is, and which of two is better.

Models predict once; every metric is then computed on the same resamples of the rows, so that
metrics, and models, can be compared row by row.
"""

from hedgerow.evaluation.judge import compare, evaluate
from hedgerow.evaluation.results import Comparison, Difference, Evaluation, Measurement

__all__ = ["Comparison", "Difference", "Evaluation", "Measurement", "compare", "evaluate"]
