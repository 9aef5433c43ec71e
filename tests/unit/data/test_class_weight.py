"""A dictionary of class weights is read as scikit-learn reads it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.utils.class_weight import compute_class_weight

from hedgerow import (
    SVC,
    AveragedPerceptron,
    BalancedRandomForestClassifier,
    DataError,
    DecisionStump,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    KernelPerceptron,
    LinearSVC,
    LinearSVCCV,
    NuSVC,
    Perceptron,
    RandomForestClassifier,
    ThresholdModel,
    VotedPerceptron,
)
from hedgerow.data.training_data import class_factors

RNG = np.random.RandomState(0)
X = RNG.randn(60, 3)
y = (X[:, 0] + 0.5 * RNG.randn(60) > 0).astype(int)

MAKERS = {
    "SVC": SVC,
    "NuSVC": lambda **given: NuSVC(nu=0.1, **given),
    "LinearSVC": LinearSVC,
    "LinearSVCCV": lambda **given: LinearSVCCV(Cs=3, cv=3, **given),
    "Perceptron": Perceptron,
    "AveragedPerceptron": AveragedPerceptron,
    "VotedPerceptron": VotedPerceptron,
    "KernelPerceptron": KernelPerceptron,
    "DecisionTreeClassifier": DecisionTreeClassifier,
    "DecisionStump": DecisionStump,
    "RandomForestClassifier": lambda **given: RandomForestClassifier(5, random_state=0, **given),
    "ExtraTreesClassifier": lambda **given: ExtraTreesClassifier(5, random_state=0, **given),
    "BalancedRandomForestClassifier": lambda **given: BalancedRandomForestClassifier(
        5, random_state=0, **given
    ),
    "ThresholdModel": lambda **given: ThresholdModel(LinearSVC(**given)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
def test_a_class_that_y_lacks_may_have_a_weight(name):
    plain = MAKERS[name](class_weight={0: 2.0, 1: 1.0}).fit(X, y)
    wider = MAKERS[name](class_weight={0: 2.0, 1: 1.0, 7: 3.0}).fit(X, y)
    np.testing.assert_array_equal(wider.predict(X), plain.predict(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
def test_a_misspelt_class_is_refused(name):
    for class_weight in ({7: 3.0}, {0: 1.0, 7: 3.0}):
        with pytest.raises(DataError, match=r"class_weight names 7, .* has no weight for .*1"):
            MAKERS[name](class_weight=class_weight).fit(X, y)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], [-1.0, 1.0, 3.0]])
@pytest.mark.parametrize(
    "shares", [(2,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (), (2, None, None, 5), (None, None, None, 5)]
)
def test_factors_are_scikit_learns(labels, shares):
    names = [*labels, "other" if labels[0] == "a" else 99]
    given = {name: share for name, share in zip(names, shares, strict=False) if share is not None}
    classes, codes = np.array(labels), np.array([0, 1, 2, 2])
    try:
        expected = compute_class_weight(given, classes=classes, y=classes[codes])
    except ValueError:
        with pytest.raises(DataError):
            class_factors(given, classes, codes, np.ones(4))
    else:
        np.testing.assert_array_equal(class_factors(given, classes, codes, np.ones(4)), expected)


def test_a_fold_without_a_rare_class_is_fitted():
    labels = np.where(np.arange(60) < 3, 2, y)
    model = SVC(class_weight={0: 1.0, 1: 1.0, 2: 10.0})
    folds = [(np.arange(3, 60), np.arange(3)), (np.arange(30), np.arange(30, 60))]
    assert np.isfinite(cross_val_score(model, X, labels, cv=folds)).all()


def test_each_output_has_its_own_dictionary():
    outputs = np.column_stack([y, 1 - y + 5])
    plain = RandomForestClassifier(5, class_weight=[{0: 2.0, 1: 1.0}, {5: 1.0, 6: 3.0}])
    wider = RandomForestClassifier(5, class_weight=[{0: 2.0, 1: 1.0, 9: 4.0}, {6: 3.0}])
    forests = [each.set_params(random_state=0).fit(X, outputs) for each in (plain, wider)]
    np.testing.assert_array_equal(*[forest.predict(X) for forest in forests])
    with pytest.raises(DataError, match="names 9"):
        wider.set_params(class_weight=[{0: 2.0}, {9: 1.0}]).fit(X, outputs)


def test_labels_of_a_matrix_have_the_classes_0_and_1():
    matrix = np.column_stack([y, 1 - y])
    wider = LinearSVC(class_weight={0: 1.0, 1: 4.0, 2: 5.0}).fit(X, matrix)
    plain = LinearSVC(class_weight={1: 4.0}).fit(X, matrix)
    np.testing.assert_array_equal(wider.coef_, plain.coef_)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan, "much", None])
def test_a_weight_is_a_finite_number_that_is_not_negative(weight):
    with pytest.raises(DataError, match="class_weight must hold finite numbers"):
        SVC(class_weight={0: weight, 1: 1.0}).fit(X, y)


def test_batches_and_files_take_the_dictionary_too(tmp_path):
    wider, plain = ({0: 2.0, 1: 1.0, 7: 3.0}, {0: 2.0})
    table = tmp_path / "rows.csv"
    lines = [
        ",".join(map(repr, [*row.tolist(), int(label)])) for row, label in zip(X, y, strict=True)
    ]
    table.write_text("\n".join(["a,b,c,y", *lines]))
    streamed = [
        LinearSVC(class_weight=each).fit_files(table, target="y") for each in (wider, plain)
    ]
    np.testing.assert_array_equal(*[model.coef_ for model in streamed])
    batches = [
        Perceptron(class_weight=each).partial_fit(X, y, classes=[0, 1]) for each in (wider, plain)
    ]
    np.testing.assert_array_equal(*[model.coef_ for model in batches])
