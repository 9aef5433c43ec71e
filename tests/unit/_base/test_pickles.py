"""Every estimator pickles and copies to equal predictions, with a note of the versions that made it."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_outlier_detector
from sklearn.exceptions import InconsistentVersionWarning

import hedgerow
from hedgerow import SVC, LinearSVC, ModelVersionWarning, RandomForestClassifier, TableClassifier
from hedgerow._base.estimator import Estimator

RNG = np.random.RandomState(0)
X = RNG.rand(40, 3)
y = (X[:, 0] + 0.2 * RNG.randn(40) > 0.5).astype(int)


def estimators():
    classes = [getattr(hedgerow, name) for name in hedgerow.__all__]
    return [
        each
        for each in classes
        if inspect.isclass(each) and issubclass(each, BaseEstimator) and hasattr(each, "fit")
    ]


def fitted(cls):
    model = cls(RandomForestClassifier(5)) if cls.__name__ == "SelectFromForest" else cls()
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=5)
    if cls is hedgerow.ScoreCalibrator:
        return model.fit(X[:, 0], y)
    return model.fit(X) if is_outlier_detector(model) else model.fit(X, y)


def said(model):
    """Return what a model says of the rows, by every method that it has."""
    rows = X[:, 0] if isinstance(model, hedgerow.ScoreCalibrator) else X
    methods = ("predict", "predict_proba", "decision_function", "score_samples", "transform")
    return [getattr(model, each)(rows) for each in methods if hasattr(model, each)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
@pytest.mark.parametrize("cls", estimators())
def test_copies_say_the_same(cls):
    model = fitted(cls)
    assert isinstance(model, Estimator)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        for ours, copied in zip(
            said(model), said(pickle.loads(pickle.dumps(model, protocol))), strict=True
        ):
            np.testing.assert_array_equal(ours, copied)
    for ours, copied in zip(said(model), said(copy.deepcopy(model)), strict=True):
        np.testing.assert_array_equal(ours, copied)
    assert not [name for name in vars(copy.copy(model)) if name.endswith("_version")]
    assert not hasattr(pickle.loads(pickle.dumps(clone(model))), "n_features_in_")


def altered(model, **versions):
    """Return the model's pickle as other versions would have made it."""
    state = {**model.__getstate__(), **versions}
    state = {name: value for name, value in state.items() if value is not None}
    fresh = clone(model)
    return lambda: fresh.__setstate__(state)


def test_a_pickle_says_which_versions_made_it():
    state = SVC().__getstate__()
    assert state["_hedgerow_version"] == hedgerow.__version__
    assert state["_sklearn_version"] == sklearn.__version__


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({"_sklearn_version": "1.6.0"}, "scikit-learn 1.6.0, and is read"),
        ({"_hedgerow_version": "0.0.1"}, "SVC was pickled with Hedgerow 0.0.1 and"),
        ({"_hedgerow_version": None, "_sklearn_version": None}, "with Hedgerow unknown and"),
    ],
)
def test_another_version_warns_as_scikit_learn_does(versions, expected):
    model = SVC().fit(X, y)
    with pytest.warns(ModelVersionWarning, match=expected) as told:
        altered(model, **versions)()
    (warning,) = told
    assert isinstance(warning.message, InconsistentVersionWarning)
    assert warning.message.estimator_name == "SVC"
    assert warning.filename == __file__


def test_the_warning_itself_can_be_sent_to_another_process():
    warning = ModelVersionWarning("SVC", ("0.0.1", "1.6.0"), ("0.1.0", "1.9.0"))
    copied = pickle.loads(pickle.dumps(warning))
    assert str(copied) == str(warning)
    assert copied.original_sklearn_version == "1.6.0"


def test_the_same_versions_do_not_warn(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joblib.dump(LinearSVC().fit(X, y), tmp_path / "model.joblib")
        assert joblib.load(tmp_path / "model.joblib").score(X, y) > 0.5


def test_a_class_of_the_users_is_noted_too():
    class Mine(TableClassifier):
        pass

    assert "_hedgerow_version" in Mine().__getstate__()
