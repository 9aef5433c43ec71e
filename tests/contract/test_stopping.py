"""Every estimator obeys Ctrl-C and its time limit, and is usable afterwards.

Classes are found by themselves: one that is not made endless by the settings below, or that has no
``max_time``, fails here until it is.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

import hedgerow
from hedgerow.testing import check_interrupt, check_max_time

WITHOUT_A_LOOP = {
    "DecisionStump": "makes one split; DecisionTreeClassifier is interrupted while it encodes too",
    "SelectFromForest": "predicts nothing to be asked for; test_select_from_forest.py stops it",
    "ScoreCalibrator": "takes some Newton steps on a column of scores",
    "TableEncoder": "reads each column once; TableClassifier is interrupted while it does",
}

ENDLESS = {
    "max_iter": 10**9,
    "tol": 1e-300,
    "n_iter_no_change": 10**9,
    "C": 1e6,
    "Cs": [1e5, 1e6, 1e7],
    "path_tol": 1e-300,
    "nu": 1e-6,
    "solver": "dual_coordinate_descent",
    "n_estimators": 10**9,
    "random_state": 0,
}
"""Values of parameters, by their names, that make a fit go on for ever."""

LONGEST = {"SVDD": {"C": 1.0}, "DecisionTreeRegressor": {"criterion": "absolute_error"}}
"""The same for classes of which one of these values would be refused, or another takes longer."""


def estimators():
    """Return every public class that can be fitted."""
    public = (getattr(hedgerow, name) for name in hedgerow.__all__)
    return [
        each
        for each in public
        if inspect.isclass(each) and issubclass(each, BaseEstimator) and hasattr(each, "fit")
    ]


def endless(cls):
    """Return an estimator of the class that does not end by itself."""
    settings = ENDLESS | LONGEST.get(cls.__name__, {}) | {"learner": None}
    if "learner" in cls().get_params(deep=False):
        settings["learner"] = endless(hedgerow.LinearSVC)
    known = cls().get_params(deep=False)
    return cls(**{name: value for name, value in settings.items() if name in known})


COPIES = {"OneClassSVM": 36, "SVDD": 12}
"""How often each row is there for a machine that would else stall, at rounding, before it is stopped."""


SHAPES = {"DecisionTreeClassifier": (60_000, 150), "DecisionTreeRegressor": (25_000, 100)}
"""Different rows, and columns, for what ends at last: so many that it takes seconds."""


def noise(n_classes, kind, cls=None):
    """Return rows with random labels, each row twice: no kernel and no tree can learn them all."""
    random, name = np.random.default_rng(0), getattr(cls, "__name__", "")
    X = random.standard_normal(SHAPES.get(name, (1500, 20)))
    X = np.tile(X, (COPIES.get(name, 2), 1))
    y = random.integers(n_classes, size=len(X))
    return (X if kind == "dense" else sp.csr_array(np.where(X > 0.5, X, 0.0))), y


LOOPS = [cls for cls in estimators() if cls.__name__ not in WITHOUT_A_LOOP]


def test_every_class_without_a_loop_exists_and_is_no_other():
    names = {cls.__name__ for cls in estimators()}
    assert set(WITHOUT_A_LOOP) <= names
    assert {cls.__name__ for cls in LOOPS} >= {
        "LinearSVC",
        "LinearSVR",
        "LinearOneClassSVM",
        "Perceptron",
        "TableClassifier",
    }


@pytest.mark.parametrize("cls", LOOPS)
def test_every_class_has_a_time_limit_and_callbacks(cls):
    assert list(inspect.signature(cls).parameters)[-1] == "max_time"
    assert callable(cls.set_callbacks)


def with_classes():
    """Return every class with each number of classes that it can tell apart."""
    many = [cls for cls in LOOPS if _tells_many_apart(cls())]
    return [*((cls, 2) for cls in LOOPS), *((cls, 3) for cls in many)]


def _tells_many_apart(estimator):
    tags = get_tags(estimator).classifier_tags
    return tags is None or tags.multi_class


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("cls", "n_classes"), with_classes())
def test_ctrl_c_is_obeyed_within_half_a_second(cls, n_classes, kind):
    check_interrupt(endless(cls), *noise(n_classes, kind, cls), after=0.4)


@pytest.mark.parametrize("multi_class", ["ovo", "crammer_singer"])
def test_every_way_with_several_classes_obeys(multi_class):
    model = endless(hedgerow.LinearSVC).set_params(multi_class=multi_class)
    if multi_class == "crammer_singer":
        model.set_params(solver="sequential_dual")
    check_interrupt(model, *noise(4, "sparse"), after=0.4)
    check_max_time(model, *noise(4, "dense"), seconds=1.5)


@pytest.mark.parametrize(("cls", "n_classes"), with_classes())
def test_the_time_limit_is_kept(cls, n_classes):
    kind = "dense" if n_classes == 2 else "sparse"
    check_max_time(endless(cls), *noise(n_classes, kind, cls), seconds=1.5)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_learnt_within_the_time_limit_and_after_ctrl_c(n_classes):
    machine = endless(hedgerow.LinearSVC).set_params(calibrate="sigmoid")
    check_interrupt(machine, *noise(n_classes, "dense"), after=0.4)
    check_max_time(machine, *noise(n_classes, "dense"), seconds=1.5)


def test_a_tree_that_is_stopped_while_its_table_is_encoded_is_one_leaf():
    X, y = noise(2, "dense", hedgerow.DecisionTreeClassifier)
    model = hedgerow.DecisionTreeClassifier(max_time=1e-3, monotonic_cst=[1] * X.shape[1])
    model.fit(X, y)
    assert (model.status_, model.tree_.node_count) == ("time_limit", 1)
    assert model.n_features_in_ == X.shape[1]
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / len(y))
