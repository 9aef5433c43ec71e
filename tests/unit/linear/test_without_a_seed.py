"""What draws numbers only to deal out rows or to order steps says the same twice without a seed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier

from hedgerow import (
    SVC,
    CalibratedModel,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    RandomForestClassifier,
    ThresholdModel,
    regularization_path,
)

X, y = make_classification(120, 150, n_informative=8, flip_y=0.1, random_state=0)

MODELS = [
    CalibratedModel(),
    CalibratedModel(method="isotonic"),
    CalibratedModel(SGDClassifier()),
    CalibratedModel(RandomForestClassifier(5)),
    ThresholdModel(),
    SVC(probability=True),
    SVC(calibrate="isotonic"),
    NuSVC(nu=0.1, probability=True),
    LinearSVC(calibrate="sigmoid"),
    LinearSVC(loss="hinge", solver="dual_coordinate_descent"),
    LinearSVR(solver="dual_coordinate_descent"),
    LinearOneClassSVM(),
    LinearSVCCV(Cs=4, cv=3),
    LinearSVRCV(Cs=4, cv=3),
]


def said(model):
    method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    return getattr(model, method if hasattr(model, method) else "predict")(X)


@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_two_fits_agree(model):
    first = said(model.fit(X, y))
    np.random.rand(7)  # noqa: NPY002 - what the user draws elsewhere changes nothing
    np.testing.assert_array_equal(said(model.fit(X, y)), first)


def test_a_path_is_the_same_twice():
    machine = LinearSVC(loss="hinge", solver="dual_coordinate_descent")
    first, second = (regularization_path(machine, X, y, Cs=[0.01, 0.1]) for _ in range(2))
    np.testing.assert_array_equal(first.coefs, second.coefs)


def test_another_seed_draws_other_folds():
    one, two = (CalibratedModel(random_state=seed).fit(X, y).predict_proba(X) for seed in (0, 1))
    assert np.abs(one - two).max() > 1e-6


def test_a_forest_without_a_seed_still_varies():
    one, two = (RandomForestClassifier(5).fit(X, y).predict_proba(X) for _ in range(2))
    assert np.abs(one - two).max() > 0
