"""Rows, targets and weights are checked once, where they come in: below that nothing is scanned again."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.utils import validation

from hedgerow import (
    RBF,
    SVC,
    SVDD,
    SVR,
    FunctionKernel,
    HistogramIntersection,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    _core,
)
from hedgerow.data import training_data
from hedgerow.perceptron import KernelPerceptron, Perceptron

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(90, 4)) * (RNG.random((90, 4)) < 0.8)
Y = np.repeat([0, 1, 2], 30)
X[Y == 1, 0] += 2.0
X[Y == 2, 1] += 2.0


def product(A, B):
    return A @ B.T


class Scans:
    """Counts the values that checks for finite numbers read."""

    def __init__(self):
        self.n_values = 0
        self._ours, self._sklearns = _core.data.first_beyond, validation._assert_all_finite

    def ours(self, matrix, limit):
        self.n_values += matrix.parts[0].size
        return self._ours(matrix, limit)

    def sklearns(self, values, *rest, **named):
        if not sklearn.get_config()["assume_finite"]:
            self.n_values += np.asarray(values).size
        return self._sklearns(values, *rest, **named)


@pytest.fixture
def scans(monkeypatch):
    counter = Scans()

    monkeypatch.setattr(_core.data, "first_beyond", counter.ours)
    monkeypatch.setattr(validation, "_assert_all_finite", counter.sklearns)
    return counter


EVERY = [
    LinearSVC(),
    LinearSVC(multi_class="ovo"),
    LinearSVR(),
    Perceptron(),
    SVC(),
    SVC(multi_class="ovr", scale="standard"),
    SVC(multi_class="crammer_singer"),
    SVC(kernel=HistogramIntersection()),
    SVC(kernel=product),
    SVC(kernel=RBF(gamma=1.0) + FunctionKernel(product)),
    NuSVC(nu=0.1),
    SVR(),
    NuSVR(),
    OneClassSVM(),
    SVDD(),
    KernelPerceptron(),
    KernelPerceptron(kernel=RBF(gamma=1.0)),
]


@pytest.mark.parametrize("container", [np.array, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", EVERY)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_scans_its_rows_once(model, container, scans):
    rows = container(X)
    values = rows.data if sp.issparse(rows) else rows
    scans.n_values = 0
    model.fit(rows, Y)
    # y and other vectors of one number for each row may be looked at; rows only once.
    assert values.size <= scans.n_values < 2 * values.size


def test_weights_and_labels_are_read_once():
    with (
        patch.object(training_data, "check_weights", wraps=training_data.check_weights) as weights,
        patch.object(training_data, "check_labels", wraps=training_data.check_labels) as labels,
    ):
        SVC().fit(X, Y, np.linspace(0.5, 1.5, len(Y)))
        LinearSVC().fit(X, Y, np.linspace(0.5, 1.5, len(Y)))
    assert weights.call_count == labels.call_count == 2


@pytest.mark.parametrize("model", [SVC(), OneClassSVM(), KernelPerceptron()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_prediction_scans_its_rows_once(model, scans):
    model.fit(X, Y)
    scans.n_values = 0
    model.predict(X[:50])
    assert scans.n_values == 50 * X.shape[1]
