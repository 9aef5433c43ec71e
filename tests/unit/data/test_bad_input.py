"""Bad input gets one sentence that says what, where and what to do, of a type users can catch."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import hedgerow
from hedgerow import LinearSVC

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 3.0]])
y = np.array([0, 0, 1, 1])


def changed(row, column, value):
    wrong = X.copy()
    wrong[row, column] = value
    return wrong


CASES = {
    "NaN": (changed(2, 1, np.nan), y, None, "NaN at row 2, column 1; fill missing values"),
    "inf": (changed(0, 0, np.inf), y, None, "inf at row 0, column 0; replace infinite"),
    "minus inf": (changed(3, 0, -np.inf), y, None, "-inf at row 3, column 0"),
    "NaN in a named column": (
        pd.DataFrame(changed(1, 1, np.nan), columns=["age", "height"]),
        y,
        None,
        "NaN at row 1, column 'height'",
    ),
    "null in polars": (
        pl.DataFrame({"a": [1, None, 2, 3], "b": [1, 2, 3, 4]}),
        y,
        None,
        "NaN at row 1, column 'a'",
    ),
    "NaN in a sparse matrix": (
        sp.csr_array(changed(2, 1, np.nan)),
        y,
        None,
        "NaN at row 2, column 1",
    ),
    "no rows": (np.empty((0, 3)), [], None, "0 rows .*give at least one"),
    "no columns": (np.empty((4, 0)), y, None, "0 feature"),
    "one class": (X, [1, 1, 1, 1], None, "one class .*add rows of another class"),
    "1-D": (X[:, 0], y, None, "1 dimension.*Reshape your data"),
    "3-D": (np.zeros((2, 2, 2)), y, None, "3 dimension"),
    "ragged": ([[1, 2], [3]], [0, 1], None, "every row the same number of values"),
    "wrong length of y": (X, y[:3], None, "4 rows but y has 3 labels"),
    "no y": (X, None, None, "requires y to be passed"),
    "two columns of y": (
        X,
        [[0, 1], [2, 0], [1, 1], [0, 0]],
        None,
        "label, and holds .*2.* at row 1",
    ),
    "rows of labels too few": (X, [[0, 1], [1, 0]], None, "X has 4 rows but y has 2"),
    "a real-valued y": (X, [0.1, 0.2, 0.3, 0.7], None, "Unknown label type.*use a regressor"),
    "NaN in y": (X, [0.0, np.nan, 1.0, 1.0], None, "y contains nan at row 1, which is no class"),
    "None in y": (
        X,
        np.array(["a", None, "b", "b"], dtype=object),
        None,
        "y contains None at row 1",
    ),
    "complex": (X + 1j, y, None, "Complex data not supported"),
    "text": (X.astype(str), y, None, "not numbers; encode them first"),
    "text objects": (np.array([["a", 1]] * 4, dtype=object), y, None, "not a number at row 0"),
    "dates": (X.astype("datetime64[D]"), y, None, "not numbers"),
    "a text column": (
        pd.DataFrame({"city": ["A", "B", "C", "D"], "age": [1, 2, 3, 4]}),
        y,
        None,
        "Column 'city' of X holds .*encode it first",
    ),
    "negative weight": (X, y, [1, 1, -2, 1], "-2.0 at row 2; weights must be finite"),
    "NaN weight": (X, y, [1, np.nan, 2, 1], "nan at row 1; weights must be finite"),
    "all weights zero": (X, y, np.zeros(4), "every sample_weight is zero"),
    "too few weights": (X, y, [1, 2], r"shape \(2,\) but X has 4 rows"),
    "text weights": (X, y, ["a"] * 4, "sample_weight cannot be read as numbers"),
    "one class has all the weight": (X, y, [0, 0, 1, 1], "one class with positive weight"),
}


@pytest.mark.sanitize
@pytest.mark.parametrize("name", CASES)
def test_bad_data_is_refused_in_one_sentence(name):
    data, labels, weights, expected = CASES[name]
    with pytest.raises(hedgerow.DataError, match=expected) as caught:
        LinearSVC().fit(data, labels, weights)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


PARAMETERS = {
    "C": (-1.0, "C=-1.0 is not allowed in LinearSVC: it must be a finite number above 0"),
    "tol": (0, "tol=0 is not allowed"),
    "loss": ("huber", "one of 'hinge', 'squared_hinge'"),
    "penalty": ("l0", "penalty='l0' is not allowed in LinearSVC: it must be one of 'l2', 'l1'"),
    "multi_class": ("all", "must be one of 'ovr', 'ovo', 'crammer_singer'"),
    "max_iter": (0, "an integer of at least 1"),
    "intercept": ("none", "one of 'free', 'penalized'"),
    "solver": ("simplex", "one of 'auto', 'interior_point'"),
    "fit_intercept": ("yes", "True or False"),
    "class_weight": ("even", "None, 'balanced' or a dictionary of label: weight"),
    "n_jobs": (0, "n_jobs=0 is no number of threads"),
    "random_state": (-1, "random_state=-1 is not between"),
    "reg_lambda": (-2.0, "reg_lambda=-2.0 is not allowed"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_bad_parameter_is_refused_in_one_sentence(name):
    value, expected = PARAMETERS[name]
    with pytest.raises(hedgerow.ParameterError, match=expected) as caught:
        LinearSVC(**{name: value}).fit(X, y)
    assert isinstance(caught.value, ValueError)
    assert "\n" not in str(caught.value)


def test_c_and_lambda_together_are_refused():
    with pytest.raises(hedgerow.ParameterError, match="give one of them"):
        LinearSVC(C=2.0, reg_lambda=0.1).fit(X, y)


def test_a_solver_that_cannot_take_a_loss_says_which_can():
    with pytest.raises(hedgerow.ParameterError, match=r"solvers that can are .*'interior_point'"):
        LinearSVC(loss="hinge", solver="newton").fit(X, y)


def test_a_class_weight_for_no_class_is_refused():
    with pytest.raises(hedgerow.DataError, match="class_weight names 7, which is not a class"):
        LinearSVC(class_weight={7: 2.0}).fit(X, y)


def test_predict_checks_the_columns():
    frame = pd.DataFrame(X, columns=["age", "height"])
    model = LinearSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["age", "height"]
    with pytest.raises(hedgerow.DataError, match=r"columns 'size' that .* and lacks 'height'"):
        model.predict(frame.rename(columns={"height": "size"}))
    with pytest.raises(hedgerow.DataError, match="lacks the columns 'height'"):
        model.predict(frame[["age"]])
    with pytest.raises(hedgerow.DataError, match=r"has columns 'more'.*drop them"):
        model.predict(frame.assign(more=1.0))
    with pytest.raises(hedgerow.DataError, match="in another order"):
        model.predict(frame[["height", "age"]])
    with pytest.raises(hedgerow.DataError, match="X has 1 features, but LinearSVC is expecting 2"):
        model.predict(X[:, :1])
    assert model.predict(X).tolist() == model.predict(frame).tolist()


def test_an_unfitted_model_says_so():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError, match="call fit"):
        LinearSVC().predict(X)


def test_stopping_early_is_a_warning_that_carries_the_gap():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 4))
    labels = rng.integers(0, 2, 60)
    model = LinearSVC(loss="hinge", C=100.0, max_iter=1, solver="dual_coordinate_descent")
    with pytest.warns(hedgerow.NotCertifiedWarning, match="Not certified.*raise max_iter"):
        model.fit(data, labels)
    assert model.status_ == "max_iter"
    assert not model.certificate_.is_certified
    assert model.predict(data).shape == (60,)


def test_a_missing_core_says_how_to_build_it(tmp_path):
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['hedgerow._core'] = None\n"
        "import hedgerow\n"
        "try:\n    hedgerow.LinearSVC\n"
        "except ImportError as error:\n    print(error.__notes__)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "make demo" in run.stdout
