"""Hyperplanes, perceptrons and linear support vector machines."""

from hedgerow.linear.averaged_perceptron import AveragedPerceptron
from hedgerow.linear.geometry import Hyperplane
from hedgerow.linear.kernel_perceptron import KernelPerceptron
from hedgerow.linear.one_class import LinearOneClassSVM
from hedgerow.linear.paths import RegularizationPath, regularization_path
from hedgerow.linear.perceptron import Perceptron
from hedgerow.linear.point_groups import PointGroups
from hedgerow.linear.svc import LinearSVC
from hedgerow.linear.svc_cv import LinearSVCCV
from hedgerow.linear.svr import LinearSVR
from hedgerow.linear.svr_cv import LinearSVRCV
from hedgerow.linear.voted_perceptron import VotedPerceptron

__all__ = [
    "AveragedPerceptron",
    "Hyperplane",
    "KernelPerceptron",
    "LinearOneClassSVM",
    "LinearSVC",
    "LinearSVCCV",
    "LinearSVR",
    "LinearSVRCV",
    "Perceptron",
    "PointGroups",
    "RegularizationPath",
    "VotedPerceptron",
    "regularization_path",
]
