"""Masked arrays: what lies under a mask is never learnt from without a word."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow
from hedgerow import DataError

random = np.random.default_rng(0)
X = random.normal(size=(40, 3))
y = (X[:, 0] > 0).astype(int)
MASKED = np.ma.masked_array(np.where(X > 1.5, 999.0, X), mask=X > 1.5)
FIRST = "X is masked at row {}, column {}".format(*np.argwhere(X > 1.5)[0])
SOME = np.ma.masked_array(y, mask=np.arange(40) == 7)

CLASSIFIERS = [
    hedgerow.LinearSVC(),
    hedgerow.LinearSVCCV(),
    hedgerow.SVC(),
    hedgerow.NuSVC(nu=0.2),
    hedgerow.Perceptron(),
    hedgerow.VotedPerceptron(),
    hedgerow.AveragedPerceptron(),
    hedgerow.KernelPerceptron(),
    hedgerow.CalibratedModel(),
    hedgerow.ThresholdModel(),
]
REGRESSORS = [hedgerow.LinearSVR(), hedgerow.LinearSVRCV(), hedgerow.SVR(), hedgerow.NuSVR()]
OUTLIERS = [hedgerow.LinearOneClassSVM(), hedgerow.OneClassSVM(), hedgerow.SVDD()]
TREES = [
    hedgerow.DecisionTreeClassifier(random_state=0),
    hedgerow.DecisionTreeRegressor(random_state=0),
    hedgerow.RandomForestClassifier(5, random_state=0),
    hedgerow.ExtraTreesRegressor(5, random_state=0),
]


def name_of(model):
    return type(model).__name__


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS + OUTLIERS, ids=name_of)
def test_masked_features_are_refused(model):
    with pytest.raises(DataError, match=FIRST):
        model.fit(MASKED, y)


@pytest.mark.parametrize("model", CLASSIFIERS + REGRESSORS + TREES, ids=name_of)
def test_masked_targets_are_refused(model):
    with pytest.raises(DataError, match="y is masked at row 7; fill masked values first"):
        model.fit(X, SOME)


@pytest.mark.parametrize("model", [hedgerow.LinearSVC(), hedgerow.SVC(), *TREES], ids=name_of)
def test_masked_weights_are_refused(model):
    weights = np.ma.masked_array(np.ones(40), mask=np.arange(40) == 3)
    with pytest.raises(DataError, match="sample_weight is masked at row 3"):
        model.fit(X, y, sample_weight=weights)


def test_masked_rows_get_no_predictions():
    model = hedgerow.LinearSVC().fit(X, y)
    with pytest.raises(DataError, match="X is masked"):
        model.predict(MASKED)


@pytest.mark.parametrize("model", TREES, ids=name_of)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_trees_take_masked_cells_for_missing(model, kind):
    rows = np.ma.masked_array((10 * MASKED.data).astype(kind), mask=MASKED.mask)
    filled = rows.astype(np.float64).filled(np.nan)
    on_masked = model.fit(rows, y).predict(rows)
    assert np.array_equal(on_masked, model.fit(filled, y).predict(filled))
    by_name = {str(j): rows[:, j] for j in range(3)}
    assert np.array_equal(model.fit(by_name, y).predict(by_name), on_masked)


@pytest.mark.parametrize("model", TREES, ids=name_of)
def test_masked_outputs_are_refused(model):
    two = np.ma.masked_array(np.c_[y, y], mask=np.arange(80).reshape(40, 2) == 9)
    with pytest.raises(DataError, match="y is masked at row 4"):
        model.fit(X, two)


def test_a_masked_category_is_missing():
    colours = np.array(["red", "blue"], dtype=object)[y]
    table = np.ma.masked_array(np.c_[X[:, :1].astype(object), colours], mask=False)
    table[5, 1] = np.ma.masked
    plain = table.data.copy()
    plain[5, 1] = None
    tree = hedgerow.DecisionTreeClassifier(categorical_features=[1], random_state=0)
    assert np.array_equal(tree.fit(table, y).predict(table), tree.fit(plain, y).predict(plain))


@pytest.mark.parametrize("mask", [False, np.ma.nomask, np.zeros((40, 3), bool)])
def test_a_mask_that_hides_nothing_changes_nothing(mask):
    plain = hedgerow.LinearSVC().fit(X, y).coef_
    assert np.array_equal(hedgerow.LinearSVC().fit(np.ma.masked_array(X, mask), y).coef_, plain)


def test_what_judges_models_refuses_masked_targets():
    model = hedgerow.LinearSVC().fit(X, y)
    for judge in (
        lambda: hedgerow.evaluate(model, X, SOME),
        lambda: hedgerow.bootstrap_error(model, X, SOME, n_resamples=5),
        lambda: hedgerow.auto_fit(X, SOME),
    ):
        with pytest.raises(DataError, match="y is masked at row 7"):
            judge()
