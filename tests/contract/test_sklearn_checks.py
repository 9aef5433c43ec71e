"""scikit-learn's own battery, on every way the machines are commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import (
    RBF,
    SVC,
    SVDD,
    SVR,
    CalibratedModel,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    Linear,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    ThresholdModel,
)

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(intercept="penalized"),
    LinearSVC(penalty="l1"),
    LinearSVC(multi_class="ovo"),
    LinearSVC(multi_class="crammer_singer"),
    LinearSVC(multi_class="crammer_singer", intercept="penalized"),
    LinearSVC(loss="hinge", intercept="penalized", n_jobs=1),
    SVC(multi_class="crammer_singer"),
    SVC(multi_class="crammer_singer", kernel="linear"),
    LinearSVC(calibrate="sigmoid", random_state=0),
    LinearSVC(calibrate="isotonic", random_state=0),
    CalibratedModel(random_state=0),
    CalibratedModel(LinearSVC(loss="logistic"), "isotonic", random_state=0),
    ThresholdModel(metric="accuracy", random_state=0),
    ThresholdModel(),
    ThresholdModel(costs=[[0, 1], [4, 0]]),
    ThresholdModel(metric="f1_macro"),
    LinearSVR(),
    LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, intercept="penalized"),
    LinearOneClassSVM(),
    LinearOneClassSVM(nu=0.1, intercept="penalized"),
    LinearOneClassSVM(fit_intercept=False),
    LinearSVCCV(Cs=3, cv=3),
    LinearSVRCV(Cs=3, cv=3, scale="standard"),
    SVC(),
    SVC(multi_class="ovr"),
    SVC(decision_function_shape="ovo", class_weight="balanced"),
    SVC(loss="squared_hinge"),
    SVC(kernel="linear"),
    SVC(kernel="poly", coef0=1.0, fit_intercept=False),
    SVC(kernel=RBF(gamma=0.5) + Linear(), warm_start=True),
    SVC(scale="standard"),
    SVC(calibrate="sigmoid", random_state=0),
    SVC(kernel="precomputed"),
    NuSVC(nu=0.1),
    NuSVC(nu=0.1, multi_class="ovr", scale="minmax"),
    SVR(),
    SVR(kernel="linear", fit_intercept=False),
    NuSVR(),
    NuSVR(scale="standard"),
    OneClassSVM(),
    OneClassSVM(nu=0.1, scale="minmax"),
    SVDD(),
    SVDD(nu=0.1),
    DecisionTreeClassifier(),
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=20, class_weight="balanced"),
    DecisionTreeClassifier(criterion="misclassification", max_features="sqrt", random_state=0),
    DecisionTreeClassifier(splitter="random", random_state=0),
    DecisionTreeClassifier(splitter="median", ccp_alpha=0.001),
    DecisionStump(),
    DecisionTreeRegressor(),
    DecisionTreeRegressor(criterion="absolute_error", n_jobs=1),
    DecisionTreeRegressor(criterion="poisson", min_samples_leaf=0.01),
    DecisionTreeRegressor(splitter="mean", max_depth=8),
]


_FOLDS = "rows that are repeated fall into different folds, where a weight does not"
_FOLLOWS = "predict follows the probabilities, not the sign of the score"
_BY_FOLDS = {
    "check_sample_weight_equivalence_on_dense_data": _FOLDS,
    "check_sample_weight_equivalence_on_sparse_data": _FOLDS,
}
_CALIBRATED = {
    **_BY_FOLDS,
    "check_classifiers_train": _FOLLOWS,
    "check_class_weight_classifiers": "probabilities are those of the rows as they come",
}


_NU = "nu fixes the share of margin errors, whatever the weights"
_PAIRS = "scores of pairs of classes were asked for"
_WIDTH = "a table of another width is refused before its values are looked at"
_HARD = "a ball around all rows leaves none outside"
_COUNTS = "the check's values are below 0, which counts are not"


def expected_to_fail(estimator):
    """Return what a machine does otherwise on purpose."""
    if getattr(estimator, "calibrate", None):
        kernel_machines_pass = {"check_classifiers_train"} if isinstance(estimator, SVC) else set()
        return {name: why for name, why in _CALIBRATED.items() if name not in kernel_machines_pass}
    if isinstance(estimator, LinearSVCCV):
        return _BY_FOLDS
    if isinstance(estimator, NuSVC):
        return {"check_class_weight_classifiers": _NU}
    if isinstance(estimator, SVDD) and estimator.nu is None:
        return {"check_outliers_fit_predict": _HARD, "check_outliers_train": _HARD}
    if getattr(estimator, "criterion", None) == "poisson":
        return {"check_regressor_multioutput": _COUNTS}
    if isinstance(estimator, SVC) and estimator.kernel == "precomputed":
        return {"check_estimators_nan_inf": _WIDTH}
    if isinstance(estimator, SVC) and estimator.decision_function_shape == "ovo":
        return {"check_classifiers_train": _PAIRS}
    return {}


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)
