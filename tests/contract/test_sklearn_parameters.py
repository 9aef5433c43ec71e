"""Every class that scikit-learn has too takes scikit-learn's parameters: to change the import is all."""

from __future__ import annotations

import inspect
from numbers import Integral

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree._criterion import Criterion
from sklearn.utils import all_estimators
from sklearn.utils._param_validation import generate_valid_param, make_constraint

import hedgerow
from hedgerow import HedgerowError

THEIRS = dict(all_estimators())
SHARED = [
    name for name in hedgerow.__all__ if name in THEIRS and inspect.isclass(getattr(hedgerow, name))
]

X, CLASSES = make_classification(60, 5, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
X = np.abs(X)
VALUES = X @ np.arange(5.0)

EXTRA = {
    "class_weight": [{0: 2.0}, {0: 1, 1: 2, 2: 3, 7: 4}, {}],
    "monotonic_cst": [np.array([1, 0, -1, 0, 1])],
    "random_state": [np.random.RandomState(0), np.int32(3)],
    "n_jobs": [1, 2, -1, None],
    "oob_score": [True],
    "max_samples": [0.5, 30],
    "probability": [True, False],
    "kernel": [lambda rows, others: rows @ others.T],
    "verbose": [True, False, np.bool_(True), 0, 1, 2],
}
"""Values that constraints do not name."""

REFUSED = {
    "max_iter": lambda value: value == 0,  # no iteration, no model
    "criterion": lambda value: isinstance(value, Criterion),  # compiled for scikit-learn's trees
    "penalty": lambda value: value is not None,  # the perceptron's rule has none
    "cache_size": lambda value: value < 1,  # too few kernel values to work on
    "class_weight": lambda value: value == [],  # one dictionary for each output, or no list
}
"""Which values that scikit-learn takes we refuse."""

FEWER = {"n_estimators": 5}
"""What makes the fits quick."""


def classes_of(name):
    return getattr(hedgerow, name), THEIRS[name]


def parameters(name, **changed):
    given = THEIRS[name]().get_params()
    few = {key: value for key, value in FEWER.items() if key in given}
    sampled = {"bootstrap": True} if changed.keys() & {"max_samples", "oob_score"} else {}
    return {**given, **few, **sampled, **changed}


def target_of(name):
    return CLASSES if is_classifier(THEIRS[name]()) or name == "OneClassSVM" else VALUES


def test_some_classes_are_shared():
    assert {"SVC", "NuSVR", "LinearSVC", "Perceptron", "RandomForestRegressor"} <= set(SHARED)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHARED)
def test_scikit_learns_own_parameters_make_a_model_that_fits(name):
    ours, theirs = classes_of(name)
    model = ours(**parameters(name)).fit(X, target_of(name))
    assert len(model.predict(X)) == len(X)
    assert set(theirs().get_params()) <= set(ours().get_params())


def values_allowed(constraint):
    """Return values that scikit-learn says it takes: choices, both ends of an interval, or one more."""
    rule = make_constraint(constraint)
    kind = type(rule).__name__
    if kind in ("StrOptions", "Options"):
        return [each for each in rule.options if each not in getattr(rule, "deprecated", ())]
    if kind == "_Booleans":
        return [True, False, np.bool_(True)]
    if kind == "Interval":
        number = int if rule.type is Integral else float
        ends = [(rule.left, 1, ("left", "both")), (rule.right, -1, ("right", "both"))]
        found = [number(end) for end, _, sides in ends if end is not None and rule.closed in sides]
        step = 1 if number is int else 0.001
        return found + [number(end + sign * step) for end, sign, _ in ends if end is not None]
    try:
        return [generate_valid_param(rule)]
    except NotImplementedError:
        return []


def sweep():
    for name in SHARED:
        for parameter, constraints in THEIRS[name]._parameter_constraints.items():
            if parameter not in THEIRS[name]().get_params() or constraints == "no_validation":
                continue
            yield name, parameter


def tried(model_class, name, parameter, value):
    """Return the error of a fit with the value, or None."""
    try:
        model_class(**parameters(name, **{parameter: value})).fit(X, target_of(name)).predict(X)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return error
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter"), list(sweep()))
def test_what_scikit_learn_takes_is_taken_or_refused_by_a_sentence(name, parameter, capfd):
    ours, theirs = classes_of(name)
    constraints = theirs._parameter_constraints[parameter]
    values = [value for each in constraints for value in values_allowed(each)]
    for value in [*values, *EXTRA.get(parameter, [])]:
        error = tried(ours, name, parameter, value)
        if error is None or tried(theirs, name, parameter, value) is not None:
            continue
        assert REFUSED.get(parameter, lambda _: False)(value), f"{parameter}={value!r}: {error}"
        assert isinstance(error, HedgerowError)
        assert "\n" not in str(error)
    capfd.readouterr()


# ---------------------------------------------------------------------- as in scikit-learn's gallery


def searched(name):
    """Return a parameter to search over."""
    given = THEIRS[name]().get_params()
    return next(each for each in ("C", "max_depth", "nu", "eta0") if each in given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SHARED)
def test_scikit_learns_tools_work_with_scikit_learns_parameters(name):
    ours, _ = classes_of(name)
    given = parameters(name)
    model, y = ours(**given), target_of(name)
    for key, value in clone(model).get_params().items():
        assert value is given.get(key, value)
    assert model.set_params(**given) is model
    line = make_pipeline(StandardScaler(), model)
    key = f"{ours.__name__.lower()}__{searched(name)}"
    values = [0.5, 0.4] if searched(name) != "max_depth" else [2, 3]
    scoring = "accuracy" if name == "OneClassSVM" else None
    truth = np.where(y == 0, 1, -1) if name == "OneClassSVM" else y
    search = GridSearchCV(line, {key: values}, cv=3, scoring=scoring).fit(X, truth)
    assert search.best_params_[key] in values
    assert cross_val_predict(line, X, truth, cv=3).shape == truth.shape
