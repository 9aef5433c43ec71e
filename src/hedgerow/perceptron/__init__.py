"""Rosenblatt's perceptron, averaged, voted and with kernels."""

from hedgerow.perceptron.averaged import AveragedPerceptron
from hedgerow.perceptron.kernel import KernelPerceptron
from hedgerow.perceptron.rosenblatt import Perceptron
from hedgerow.perceptron.voted import VotedPerceptron

__all__ = ["AveragedPerceptron", "KernelPerceptron", "Perceptron", "VotedPerceptron"]
