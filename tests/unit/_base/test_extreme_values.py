"""Absurd parameters, entries and weights: a fit, or one sentence of a type that users can catch."""

from __future__ import annotations

import inspect
import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor

import hedgerow
from hedgerow import DataError, HedgerowError, ParameterError
from hedgerow._base.parameters import positive_number, real_number, shown, whole_number

random = np.random.default_rng(0)
X = random.normal(size=(24, 3))
LABELS = np.arange(24) % 2
VALUES = X[:, 0] + 0.1 * random.normal(size=24)

ESTIMATORS = [
    estimator
    for name in sorted(hedgerow.__all__)
    if inspect.isclass(estimator := getattr(hedgerow, name))
    and issubclass(estimator, BaseEstimator)
    and hasattr(estimator, "fit")
    and name != "TableEncoder"  # takes what auto has looked at
]
TREES = tuple(
    estimator
    for estimator in ESTIMATORS
    if any(word in estimator.__name__ for word in ("Tree", "Forest", "Stump"))
    and estimator is not hedgerow.SelectFromForest
)
ANY_ENTRIES = (
    *TREES,
    hedgerow.SelectFromForest,
    hedgerow.TableClassifier,
    hedgerow.ScoreCalibrator,
)
"""What compares entries, or scales them before it computes with them."""
EXTREMES = [
    10**5000,
    10**400,
    2**70,
    2**63,
    -(2**70),
    5e-324,
    1e-200,
    1e200,
    1.7e308,
    np.inf,
    np.nan,
]
FEW = {"n_estimators": 2, "max_time": 1.0, "random_state": 0, "cv": 2, "Cs": 2}


def made(estimator, **parameters):
    """Return an estimator that is done soon."""
    known = estimator().get_params(deep=False)
    return estimator(**{name: value for name, value in FEW.items() if name in known} | parameters)


def target_of(model):
    return VALUES if is_regressor(model) else LABELS


def numeric_parameters(estimator):
    """Return the parameters that are numbers by default, or may be."""
    also = ("max_depth", "max_leaf_nodes", "max_features", "max_samples", "gamma", "reg_lambda")
    also = (*also, "max_time", "n_jobs", "random_state", "nu", "stop_when_flat", "class_weight")
    return sorted(
        name
        for name, value in made(estimator).get_params(deep=False).items()
        if name in (*also, "solver_options")
        or (isinstance(value, int | float) and not isinstance(value, bool))
    )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: estimator.__name__)
@pytest.mark.filterwarnings("ignore")
def test_an_extreme_parameter_is_fitted_with_or_refused(estimator):
    for name in numeric_parameters(estimator):
        for value in EXTREMES:
            if name == "n_estimators" and value == 2**63:
                continue
            model = made(estimator, **{name: value})
            try:
                model.fit(X, target_of(model))
            except (HedgerowError, MemoryError) as error:
                assert len(str(error)) < 1000, name  # noqa: PT017 - whatever is refused
            except ValueError as error:
                assert name == "cv", error  # noqa: PT017 - scikit-learn's own words


def test_a_value_without_end_is_shown_by_its_beginning():
    assert shown(10**5000) == "an integer of 16610 bits"
    assert shown("x" * 1000) == "'" + "x" * 199 + "..."
    with pytest.raises(ParameterError, match=r"C=an integer of 16610 bits is not allowed"):
        hedgerow.LinearSVC(C=10**5000).fit(X, LABELS)


def test_rules_take_any_integer():
    assert real_number(0)(10**400) is not None
    assert real_number(0)(2**70) is None
    assert whole_number(0)(2**63 - 1) is None
    assert "at most 9223372036854775807" in whole_number(0)(2**63)
    assert positive_number()(5e-324) == "a finite number of at least 1e-200 and at most 1e+100"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [1e-200, 1e-100, 1e100])
@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
def test_the_least_and_the_largest_c_are_fitted_with(loss, C):
    model = hedgerow.LinearSVC(loss=loss, C=C, max_time=5.0).fit(X, LABELS)
    assert np.isfinite(model.coef_).all()


# ------------------------------------------------------------------------------------------ entries


HUGE_ENTRIES = [1.1e100, 1e160, -1e300, 1.7e308]
MACHINES = [estimator for estimator in ESTIMATORS if estimator not in ANY_ENTRIES]


@pytest.mark.parametrize("estimator", MACHINES, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("value", HUGE_ENTRIES)
def test_an_entry_whose_products_overflow_is_refused(estimator, value, capfd):
    rows = X.copy()
    rows[3, 1] = value
    model = made(estimator)
    with pytest.raises(DataError, match="at row 3, column 1; values beyond 1e\\+100 overflow"):
        model.fit(rows, target_of(model))
    assert capfd.readouterr() == ("", "")  # LAPACK writes to the terminal


@pytest.mark.parametrize("estimator", MACHINES, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("value", [1e60, 1e99, np.float32(3.4e38)])
@pytest.mark.filterwarnings("ignore")
def test_large_entries_are_fitted_or_refused_in_silence(estimator, value, capfd):
    rows = X.astype(np.asarray(value).dtype)
    all_large = rows * (value / 10)
    rows[3, 1] = value
    for each in (rows, all_large):
        model = made(estimator)
        with suppress(HedgerowError):
            model.fit(each, target_of(model))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("estimator", TREES, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("value", HUGE_ENTRIES)
def test_trees_only_compare_entries(estimator, value):
    rows = X.copy()
    rows[3, 1] = value
    model = made(estimator)
    assert np.isfinite(model.fit(rows, target_of(model)).predict(rows)).all()


@pytest.mark.parametrize("estimator", MACHINES, ids=lambda estimator: estimator.__name__)
def test_a_huge_entry_gets_no_prediction(estimator):
    model = made(estimator)
    if not hasattr(model, "predict"):
        pytest.skip("predicts nothing")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, target_of(model))
    with pytest.raises(DataError, match="row 0, column 1; values beyond"):
        model.predict([[1.0, 1e200, 1.0]])


REGRESSORS = [estimator for estimator in ESTIMATORS if is_regressor(estimator())]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda estimator: estimator.__name__)
def test_a_target_whose_square_overflows_is_refused(estimator):
    targets = VALUES.copy()
    targets[5] = -1e200
    with pytest.raises(DataError, match="y is -1e\\+200 at row 5; values beyond 1e\\+100"):
        made(estimator).fit(X, targets)


# ------------------------------------------------------------------------------------------ weights


WEIGHTED = [
    estimator
    for estimator in ESTIMATORS
    if "sample_weight" in inspect.signature(estimator.fit).parameters
    and estimator not in (hedgerow.ScoreCalibrator, hedgerow.SelectFromForest)
]


@pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("weight", [1e308, 2e100, 1e-101, 5e-324])
def test_weights_whose_sums_overflow_or_vanish_are_refused(estimator, weight):
    model = made(estimator)
    weights = np.full(24, weight)
    with pytest.raises(DataError, match=r"the largest sample_weight is .*; scale the weights"):
        model.fit(X, target_of(model), sample_weight=weights)
    if weight > 1:
        weights[::3] = 1e-308
        with pytest.raises(DataError, match="the largest sample_weight is"):
            model.fit(X, target_of(model), sample_weight=weights)


@pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("faint", [5e-324, 1e-308, 1e-150])
@pytest.mark.filterwarnings("ignore")
def test_a_weight_that_no_sum_sees_counts_for_nothing(estimator, faint):
    weights = np.ones(24)
    weights[:4] = faint
    without = np.where(weights < 1, 0.0, 1.0)
    faintly = made(estimator).fit(X, target_of(estimator()), sample_weight=weights)
    never = made(estimator).fit(X, target_of(estimator()), sample_weight=without)
    assert np.array_equal(faintly.predict(X), never.predict(X))


@pytest.mark.parametrize("estimator", WEIGHTED, ids=lambda estimator: estimator.__name__)
@pytest.mark.parametrize("weight", [1e-99, 1e-40, 1e40, 1e99])
@pytest.mark.filterwarnings("ignore")
def test_weights_within_bounds_give_finite_answers(estimator, weight):
    weights = weight * random.random(24)
    model = made(estimator)
    if estimator is hedgerow.SVDD:  # whose C bounds the weights from below
        model.set_params(nu=0.5)
    model.fit(X, target_of(model), sample_weight=weights)
    assert np.isfinite(model.predict(X)).all()
    if hasattr(model, "predict_proba"):
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("estimator", TREES, ids=lambda estimator: estimator.__name__)
def test_the_scale_of_weights_does_not_change_a_tree(estimator):
    weights = random.integers(1, 5, size=24).astype(float)
    model = made(estimator)
    plain = model.fit(X, target_of(model), sample_weight=weights).predict(X)
    for scale in (2.0**-300, 2.0**300):
        scaled = model.fit(X, target_of(model), sample_weight=scale * weights).predict(X)
        assert np.allclose(scaled, plain)


def test_class_weights_beyond_bounds_are_refused():
    for estimator in (hedgerow.LinearSVC, hedgerow.SVC, hedgerow.DecisionTreeClassifier):
        with pytest.raises(DataError, match="class_weight must hold finite numbers from 0 to 1e"):
            estimator(class_weight={0: 1e308}).fit(X, LABELS)
