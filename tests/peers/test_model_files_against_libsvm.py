"""Model files between LIBSVM itself and ours, both ways, where LIBSVM's own Python package is installed."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow import (
    SVC,
    SVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    read_libsvm_model,
    write_libsvm_model,
)
from tests.kernel_samples import blobs, waves

libsvm = pytest.importorskip("libsvm.svmutil", reason="LIBSVM is a peer that need not be there")

X, SIDES = blobs(90, d=3)
TWO = (SIDES > 0).astype(int)  # of -1 and +1 LIBSVM would take +1 first
THREE = np.arange(90) % 3
VALUES = waves(90)[1]
NEAR = 1e-12
"""Files hold every digit, and scores are sums of some tens of terms of moderate size."""
MACHINES = {
    "two classes": (SVC(gamma=0.5), TWO, "-s 0 -t 2 -g 0.5"),
    "three classes": (SVC(kernel="poly", degree=2, gamma=0.5), THREE, "-s 0 -t 1 -d 2 -g 0.5"),
    # Of three, its Python package ends the program for its own models too.
    "classes by nu": (NuSVC(nu=0.3, gamma=0.5), TWO, "-s 1 -n 0.3 -t 2 -g 0.5"),
    "one class": (OneClassSVM(nu=0.2, gamma=0.5), SIDES, "-s 2 -n 0.2 -t 2 -g 0.5"),
    "values": (SVR(kernel="linear"), VALUES, "-s 3 -t 0"),
    "values by nu": (NuSVR(gamma=0.5), VALUES, "-s 4 -t 2 -g 0.5"),
}


def ours(model):
    """Return our scores as LIBSVM has them: of two classes, for the first."""
    if not hasattr(model, "decision_function"):
        return model.predict(X)[:, None]
    if hasattr(model, "classes_"):
        model.set_params(decision_function_shape="ovo")
    scores = model.decision_function(X)
    is_of_two = hasattr(model, "classes_") and len(model.classes_) == 2
    return (-scores if is_of_two else scores).reshape(len(X), -1)


def theirs(model):
    """Return LIBSVM's scores, or its values."""
    _, _, scores = libsvm.svm_predict([], X.tolist(), model, "-q")
    return np.array(scores)


@pytest.mark.parametrize("name", MACHINES)
def test_libsvm_scores_by_what_we_wrote_as_we_do(name, tmp_path):
    model, y, _ = MACHINES[name]
    model.fit(X, y)
    path = tmp_path / "m.model"
    write_libsvm_model(model, path)
    np.testing.assert_allclose(
        theirs(libsvm.svm_load_model(str(path))), ours(model), rtol=NEAR, atol=NEAR
    )


@pytest.mark.parametrize("name", MACHINES)
def test_we_score_by_what_libsvm_wrote_as_it_does(name, tmp_path):
    _, y, options = MACHINES[name]
    order = np.argsort(y, kind="stable")  # so that LIBSVM meets the labels in their order
    trained = libsvm.svm_train(y[order].tolist(), X[order].tolist(), f"{options} -q")
    path = tmp_path / "m.model"
    libsvm.svm_save_model(str(path), trained)
    model = read_libsvm_model(path, n_features=3)
    assert type(model) is type(MACHINES[name][0])
    # From the file too: LIBSVM writes no more than 8 digits of a feature.
    again = libsvm.svm_load_model(str(path))
    np.testing.assert_allclose(ours(model), theirs(again), rtol=NEAR, atol=NEAR)
