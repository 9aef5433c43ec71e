"""Hyperplanes, perceptrons and linear support vector machines."""

from hedgerow.linear.geometry import Hyperplane
from hedgerow.linear.one_class import LinearOneClassSVM
from hedgerow.linear.paths import RegularizationPath, regularization_path
from hedgerow.linear.point_groups import PointGroups
from hedgerow.linear.svc import LinearSVC
from hedgerow.linear.svc_cv import LinearSVCCV
from hedgerow.linear.svr import LinearSVR
from hedgerow.linear.svr_cv import LinearSVRCV
from hedgerow.perceptron.averaged import AveragedPerceptron
from hedgerow.perceptron.kernel import KernelPerceptron
from hedgerow.perceptron.rosenblatt import Perceptron
from hedgerow.perceptron.voted import VotedPerceptron

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
