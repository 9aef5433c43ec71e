"""Computable learning theory: enclosing balls, margins, VC dimensions and error bounds."""

from hedgerow.theory.bounds import (
    balanced_error_bound,
    balancing_lambda,
    c_of_lambda,
    hard_margin_error_bound,
    lambda_of_c,
    margin_error_bound,
    margin_vc_dimension,
    soft_margin_error_bound,
)
from hedgerow.theory.dimension import hyperplane_vc_dimension, shatters
from hedgerow.theory.enclosing_ball import EnclosingBall, enclosing_ball
from hedgerow.theory.fitted import LinearBounds, bounds_of, kernel_norm, margin_of
from hedgerow.theory.histograms import DistanceHistogram, distance_histogram, margin_histogram
from hedgerow.theory.structural_risk import StructuralRisk, structural_risk

__all__ = [
    "DistanceHistogram",
    "EnclosingBall",
    "LinearBounds",
    "StructuralRisk",
    "balanced_error_bound",
    "balancing_lambda",
    "bounds_of",
    "c_of_lambda",
    "distance_histogram",
    "enclosing_ball",
    "hard_margin_error_bound",
    "hyperplane_vc_dimension",
    "kernel_norm",
    "lambda_of_c",
    "margin_error_bound",
    "margin_histogram",
    "margin_of",
    "margin_vc_dimension",
    "shatters",
    "soft_margin_error_bound",
    "structural_risk",
]
