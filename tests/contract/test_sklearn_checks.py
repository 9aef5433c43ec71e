"""scikit-learn's own battery: once for every class, and slow for every way it is commonly made."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import (
    RBF,
    SVC,
    SVDD,
    SVR,
    AveragedPerceptron,
    BalancedRandomForestClassifier,
    CalibratedModel,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    KernelPerceptron,
    Linear,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    RandomForestClassifier,
    RandomForestRegressor,
    SelectFromForest,
    TableClassifier,
    TableEncoder,
    ThresholdModel,
    VotedPerceptron,
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
    SVC(multi_class="crammer_singer"),
    SVC(multi_class="crammer_singer", kernel="linear"),
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
    RandomForestClassifier(5),
    RandomForestClassifier(5, oob_score=True, voting="hard", class_weight="balanced_subsample"),
    RandomForestClassifier(5, stop_when_flat=0.01, max_samples=0.5, n_jobs=1),
    RandomForestRegressor(5, oob_score=True),
    RandomForestRegressor(5, criterion="absolute_error", ccp_alpha=0.01),
    ExtraTreesClassifier(5, class_weight="balanced"),
    ExtraTreesRegressor(5, splitter="median"),
    BalancedRandomForestClassifier(5),
    BalancedRandomForestClassifier(5, replacement=False, bootstrap=True),
    SelectFromForest(RandomForestClassifier(5), random_state=0),
    SelectFromForest(RandomForestClassifier(5), kind="impurity", one_of_each=True, random_state=0),
    Perceptron(),
    AveragedPerceptron(),
    VotedPerceptron(),
    KernelPerceptron(),
    TableEncoder(),
    TableClassifier(),
]


_FOLDS = "rows that are repeated fall into different folds, where a weight does not"
_FOLLOWS = "predict follows the probabilities, not the sign of the score"
_DRAWN = "rows are drawn, and a repeated row is drawn otherwise than one of weight 2"
_STEPS = "a weight is the length of a step, and a step of 2 is not two visits with steps of 1"


def _unequal_weights(reason):
    """Return that weights are not repetitions, for a reason."""
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}


_DRAWING = (
    RandomForestClassifier,
    RandomForestRegressor,
    BalancedRandomForestClassifier,
    SelectFromForest,
)
_STEPPING = (Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron)
_CALIBRATED = {
    **_unequal_weights(_FOLDS),
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
        return _unequal_weights(_FOLDS)
    if isinstance(estimator, _DRAWING):
        return _unequal_weights(_DRAWN)
    if isinstance(estimator, _STEPPING):
        return _unequal_weights(_STEPS)
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


def first_of_each_class(estimators):
    """Return the first estimator of every class, and the others."""
    first = {type(estimator): estimator for estimator in reversed(estimators)}
    return list(first.values()), [each for each in estimators if first[type(each)] is not each]


PLAIN, VARIANTS = first_of_each_class(ESTIMATORS)


@pytest.mark.filterwarnings("default")  # the battery provokes warnings on purpose
@parametrize_with_checks(PLAIN, expected_failed_checks=expected_to_fail)
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@parametrize_with_checks(VARIANTS, expected_failed_checks=expected_to_fail)
def test_scikit_learns_checks_pass_for_variants(estimator, check):
    check(estimator)
