"""Several classes as binary problems: any binary learner becomes a classifier by a reduction."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import scale

from hedgerow.data.training_data import (
    check_classification_data,
    check_label_matrix_data,
    check_prediction_rows,
)
from hedgerow.reduction import (
    REDUCTIONS,
    labels_from_scores,
    one_task_per_label,
    reduction_by_name,
)

X, KIND = load_wine(return_X_y=True)
X = scale(X)
Y = np.array(["barolo", "grignolino", "barbera"])[KIND]
JUDGES = {"ovr": OneVsRestClassifier, "ovo": OneVsOneClassifier}


class LeastSquares(ClassifierMixin, BaseEstimator):
    """A classifier of a few lines: the ridge plane of every task."""

    def __init__(self, multi_class="ovr", ridge=1.0):
        self.multi_class = multi_class
        self.ridge = ridge

    def fit(self, X, y, sample_weight=None):
        data = check_classification_data(self, X, y, sample_weight)
        tasks = reduction_by_name(self.multi_class).tasks(data)
        self.classes_ = data.classes
        self.planes_ = np.array([self._plane(data.X[task.rows], task) for task in tasks])
        return self

    def _plane(self, rows, task):
        weight, y = task.weight_of_rows, task.y_of_rows
        centre, middle = np.average(rows, axis=0, weights=weight), np.average(y, weights=weight)
        centred = rows - centre
        gram = (weight * centred.T) @ centred + self.ridge * np.eye(rows.shape[1])
        w = np.linalg.solve(gram, (weight * centred.T) @ (y - middle))
        return np.append(w, middle - w @ centre)

    def predict(self, X):
        rows, _ = check_prediction_rows(self, X)
        scores = rows @ self.planes_[:, :-1].T + self.planes_[:, -1]
        reduction = reduction_by_name(self.multi_class)
        return labels_from_scores(reduction.class_scores(scores, len(self.classes_)), self.classes_)


@pytest.mark.parametrize("multi_class", REDUCTIONS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_learner_of_two_classes_becomes_one_of_several(multi_class, n_classes):
    kept = np.isin(Y, np.unique(Y)[:n_classes])
    model = LeastSquares(multi_class).fit(X[kept], Y[kept])
    judge = JUDGES[multi_class](RidgeClassifier(alpha=1.0)).fit(X[kept], Y[kept])
    assert np.array_equal(model.predict(X), judge.predict(X))
    assert len(model.planes_) == REDUCTIONS[multi_class].n_tasks(n_classes)


@pytest.mark.parametrize("multi_class", REDUCTIONS)
def test_rows_that_take_part_are_those_with_weight_in_the_whole_data(multi_class):
    weight = np.where(np.arange(len(Y)) % 3 == 0, 0.0, 1.0 + np.arange(len(Y)))
    data = check_classification_data(LeastSquares(), X, Y, weight)
    for task in REDUCTIONS[multi_class].tasks(data):
        used = np.sort(task.rows)
        assert np.array_equal(used, np.flatnonzero(task.sample_weight > 0))
        assert np.array_equal(task.y_of_rows, task.y[task.rows])
        assert np.array_equal(task.weight_of_rows, weight[task.rows])
        if task.classes is not None:
            assert np.array_equal(task.rows, np.concatenate(task.classes))
            assert set(data.y[task.classes[1]]) == {task.positive}


def test_a_weightless_row_changes_no_plane():
    weight = np.append(np.ones(len(Y)), 0.0)
    more_X, more_Y = np.vstack([X, 100.0 * X[:1]]), np.append(Y, "barbera")
    for multi_class in REDUCTIONS:
        model = LeastSquares(multi_class).fit(more_X, more_Y, weight)
        assert np.array_equal(model.planes_, LeastSquares(multi_class).fit(X, Y).planes_)


def test_each_label_is_a_task_and_a_label_of_every_row_is_constant():
    table = np.column_stack([KIND == 0, np.ones(len(Y), dtype=int)])
    data = check_label_matrix_data(LeastSquares(), X, table)
    first, second = one_task_per_label(data)
    assert np.array_equal(first.y, np.where(KIND == 0, 1.0, -1.0))
    assert first.sides == "rows with and without label 0"
    assert (first.is_constant, second.is_constant) == (False, True)


def test_tasks_are_named_after_their_classes():
    data = check_classification_data(LeastSquares(), X, Y)
    assert next(task.sides for task in REDUCTIONS["ovr"].tasks(data)) == (
        "class 'barbera' and the rest"
    )
    assert [task.sides for task in REDUCTIONS["ovo"].tasks(data)] == [
        "the classes 'barbera' and 'barolo'",
        "the classes 'barbera' and 'grignolino'",
        "the classes 'barolo' and 'grignolino'",
    ]
