"""LIBSVM's model files: what LIBSVM wrote is read, what is written is read again, damage names its line."""

from __future__ import annotations

import gzip
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from hedgerow import (
    RBF,
    SVC,
    SVDD,
    SVR,
    Linear,
    NuSVC,
    NuSVR,
    OneClassSVM,
    load,
    read_libsvm_model,
    save,
    write_libsvm_model,
)
from hedgerow.errors import FileAccessError, FileFormatError, ParameterError
from tests.kernel_samples import blobs, waves

FOLDER = Path(__file__).parents[2] / "models" / "libsvm"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
NEAR = 1e-12
"""Files hold every digit, and scores are sums of some twenty terms of moderate size."""


def read(name, **options):
    return read_libsvm_model(FOLDER / f"{name}.model", **options)


def scores_for(classes, told):
    """Return LIBSVM's scores as ours: pairs in the order of our classes, each for its first."""
    order, scores = told["labels"], np.array(told["scores"])
    column = {pair: scores[:, k] for k, pair in enumerate(combinations(order, 2))}
    ours = [column.get((a, b), -column.get((b, a), 0.0)) for a, b in combinations(classes, 2)]
    return np.stack(ours, axis=1)


def of_kind(is_of_classes):
    return [
        name for name, told in EXPECTED.items() if (told["labels"] is not None) == is_of_classes
    ]


@pytest.mark.parametrize("name", of_kind(True))
def test_classes_that_libsvm_trained_score_as_there(name):
    told, model = EXPECTED[name], read(name)
    model.set_params(decision_function_shape="ovo")
    ours, theirs = model.decision_function(told["inputs"]), scores_for(model.classes_, told)
    assert model.classes_.tolist() == sorted(told["labels"])
    if len(model.classes_) == 2:
        ours = -ours[:, None]  # of two classes ours is above 0 for the second
    np.testing.assert_allclose(ours, theirs, rtol=NEAR, atol=NEAR)


@pytest.mark.parametrize("name", of_kind(True))
def test_classes_that_libsvm_trained_are_predicted_as_there(name):
    """Where votes are equal ours go by the scores, LIBSVM's by the order of its labels."""
    told, model = EXPECTED[name], read(name)
    pairs = np.array(list(combinations(range(len(model.classes_)), 2)))
    for_first = scores_for(model.classes_, told) > 0
    winners = np.where(for_first, pairs[:, 0], pairs[:, 1])
    most = np.array([np.sort(np.bincount(row, minlength=3))[-2:] for row in winners])
    decided = most[:, 1] > most[:, 0]
    assert decided.sum() > 3
    ours = model.predict(told["inputs"])
    if "probabilities" not in told:
        assert ours[decided].tolist() == np.array(told["predict"])[decided].tolist()


@pytest.mark.parametrize("name", of_kind(False))
def test_values_and_outliers_of_libsvm_are_the_same(name):
    told, model = EXPECTED[name], read(name)
    np.testing.assert_allclose(model.predict(told["inputs"]), told["predict"], rtol=NEAR, atol=NEAR)
    if isinstance(model, OneClassSVM):
        scores = np.array(told["scores"])[:, 0]
        ours = model.decision_function(told["inputs"])
        np.testing.assert_allclose(ours, scores, rtol=NEAR, atol=1e-9)  # below is put to 0


@pytest.mark.parametrize("name", [name for name in EXPECTED if "probabilities" in name])
def test_probabilities_of_two_classes_are_libsvms(name):
    told, model = EXPECTED[name], read(name)
    column = [told["labels"].index(label) for label in model.classes_]
    theirs = np.array(told["probabilities"])[:, column]
    np.testing.assert_allclose(model.predict_proba(told["inputs"]), theirs, rtol=1e-9)
    assert model.predict(told["inputs"]).tolist() == model.classes_[theirs.argmax(axis=1)].tolist()


def test_what_a_file_does_not_tell_is_not_claimed():
    model = read("c_svc-rbf")
    assert model.status_ == "unknown"
    assert not model.certificate_.is_certified
    assert model.kernel_ == RBF(gamma=0.5)
    assert model.C == SVC().C


def test_a_tube_of_which_the_file_does_not_tell_has_no_width(tmp_path):
    model = read("nu_svr-rbf")
    assert not hasattr(model, "epsilon_")
    save(model, tmp_path / "m.hedge")
    again = load(tmp_path / "m.hedge")
    rows = EXPECTED["nu_svr-rbf"]["inputs"]
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


# ------------------------------------------------------------------------------- there and back

X, SIDES = blobs(60, d=3)
THREE = np.arange(60) % 3 - 1
VALUES = waves(60)[1]
MACHINES = {
    "two classes": lambda: SVC(C=2.0).fit(X, SIDES),
    "two classes linear": lambda: SVC(kernel="linear").fit(X, SIDES),
    "three classes": lambda: SVC(kernel="poly", degree=2, coef0=1.0).fit(X, THREE),
    "sigmoid": lambda: SVC(kernel="sigmoid", gamma=0.05).fit(X, THREE),
    "one against the rest of two": lambda: SVC(multi_class="ovr").fit(X, SIDES),
    "probabilities": lambda: SVC(calibrate="sigmoid", random_state=0).fit(X, SIDES),
    "nu": lambda: NuSVC(nu=0.3).fit(X, THREE),
    "values": lambda: SVR(kernel=RBF(sigma=2.0)).fit(X, VALUES),
    "values by nu": lambda: NuSVR(kernel=Linear()).fit(X, VALUES),
    "one class": lambda: OneClassSVM(nu=0.2).fit(X),
    "sparse": lambda: SVC().fit(sp.csr_array(np.where(X > 0.5, X, 0.0)), THREE),
}


def answers(model, rows):
    methods = ("predict", "decision_function", "predict_proba")
    return {name: getattr(model, name)(rows) for name in methods if hasattr(model, name)}


@pytest.mark.parametrize("name", MACHINES)
def test_what_is_written_is_read_again(name, tmp_path):
    model = MACHINES[name]()
    write_libsvm_model(model, tmp_path / "m")
    again = read_libsvm_model(tmp_path / "m", n_features=3)
    before, after = answers(model, X), answers(again, X)
    assert before.keys() == after.keys()
    for method, values in before.items():
        np.testing.assert_allclose(after[method], values, rtol=NEAR, atol=NEAR, err_msg=method)
    assert again.n_support_.tolist() == model.n_support_.tolist()


@pytest.mark.parametrize("name", MACHINES)
def test_writing_what_was_read_gives_the_same_file(name, tmp_path):
    write_libsvm_model(MACHINES[name](), tmp_path / "first")
    write_libsvm_model(read_libsvm_model(tmp_path / "first", n_features=3), tmp_path / "second")
    assert (tmp_path / "second").read_text() == (tmp_path / "first").read_text()


def test_a_given_table_keeps_the_numbers_of_its_rows(tmp_path):
    table = X @ X.T
    model = SVC(kernel="precomputed").fit(table, THREE)
    write_libsvm_model(model, tmp_path / "m")
    again = read_libsvm_model(tmp_path / "m", n_features=60)
    assert again.support_.tolist() == model.support_.tolist()
    np.testing.assert_allclose(
        again.decision_function(table), model.decision_function(table), rtol=NEAR, atol=NEAR
    )
    with pytest.raises(ParameterError, match="n_features=3 is too few"):
        read_libsvm_model(tmp_path / "m", n_features=3)


def test_a_compressed_file_is_read(tmp_path):
    plain = (FOLDER / "c_svc-rbf.model").read_bytes()
    (tmp_path / "m.gz").write_bytes(gzip.compress(plain))
    model = read_libsvm_model(tmp_path / "m.gz")
    assert (
        model.predict(EXPECTED["c_svc-rbf"]["inputs"]).tolist() == EXPECTED["c_svc-rbf"]["predict"]
    )


REFUSED = [
    (lambda: SVDD().fit(X), "no model like SVDD"),
    (lambda: SVC(scale="standard").fit(X, SIDES), "scale='standard' has no place"),
    (lambda: SVC().fit(X, np.where(SIDES > 0, "a", "b")), "has 'a'; encode the labels"),
    (lambda: SVC(multi_class="ovr").fit(X, THREE), "fit with multi_class='ovo'"),
    (lambda: SVC(kernel=RBF() + Linear()).fit(X, SIDES), "LIBSVM has no kernel"),
    (lambda: SVC(kernel="laplacian").fit(X, SIDES), "LIBSVM has no kernel"),
    (lambda: SVC(calibrate="isotonic").fit(X, SIDES), "fit without calibrate"),
    (lambda: SVC(calibrate="sigmoid").fit(X, THREE), "fit without calibrate"),
]


@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_what_libsvm_cannot_hold_is_refused_and_an_older_file_left_alone(make, words, tmp_path):
    (tmp_path / "m").write_text("older")
    with pytest.raises(ParameterError, match=re.escape(words)):
        write_libsvm_model(make(), tmp_path / "m")
    assert (tmp_path / "m").read_text() == "older"


# ------------------------------------------------------------------------------------- damage

WRONG = [
    ("svm_type c_svc", "svm_type d_svc", 1, "none of c_svc"),
    ("kernel_type rbf", "kernel_type rbf rbf", 2, "none of linear"),
    ("gamma 0.5", "gamma much", 3, "no number"),
    ("gamma 0.5", "gamma -0.5", 3, "gamma"),
    ("gamma 0.5", "gamma nan", 3, "finite"),
    ("gamma 0.5\n", "", 8, "lacks 'gamma'"),
    ("nr_class 2", "nr_class two", 4, "no number"),
    ("nr_class 2", "nr_class 2.5", 4, "whole number"),
    ("nr_class 2", "nr_class 1", 4, "at least 2"),
    ("nr_class 2", "nr_class inf", 4, "finite"),
    ("nr_class 2", "nr_class 3", 6, "1 numbers, where 3"),
    ("total_sv ", "total_sv 9", 5, "cut short"),
    ("total_sv ", "total_sv -", 5, "at least"),
    ("label 1 2", "label 1 1", 7, "same label twice"),
    ("label 1 2", "label 1 2.5", 7, "whole number"),
    ("label 1 2", "label 1", 7, "1 numbers, where 2"),
    ("nr_sv ", "nr_sv 9", 8, "in all"),
    ("\nSV\n", "\nVS\n", None, "no line 'SV'"),
    ("SV\n", "SV\nx", 10, "not 1 coefficients"),
    ("SV\n", "SV\nnan ", 10, "not 1 coefficients"),
    ("3:0.64", "0:0.64", 10, "count features from 1"),
    ("3:0.64", "3:inf", 10, "not 1 coefficients"),
    ("3:0.64", "x:0.64", 10, "not 1 coefficients"),
    ("3:0.64", "2.5:0.64", 10, "not 1 coefficients"),
    ("3:0.64", "3:0.64:1", 10, "not 1 coefficients"),
    ("3:0.64 4:", "3:0.64 3:", 10, "not 1 coefficients"),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), WRONG)
def test_damage_is_told_with_its_line(old, new, line, words, tmp_path):
    text = (FOLDER / "c_svc-rbf.model").read_text()
    assert old in text
    (tmp_path / "m").write_text(text.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=re.escape(words)) as caught:
        read_libsvm_model(tmp_path / "m")
    assert caught.value.line == line


def test_a_file_that_ends_before_its_last_line_is_refused(tmp_path):
    text = (FOLDER / "c_svc-polynomial-three.model").read_text().rstrip()
    for end in range(0, text.rindex("\n"), 7):
        (tmp_path / "m").write_text(text[:end])
        with pytest.raises(FileFormatError):
            read_libsvm_model(tmp_path / "m")


def test_a_file_that_is_not_there_and_too_few_columns_are_told(tmp_path):
    with pytest.raises(FileAccessError):
        read_libsvm_model(tmp_path / "nothing")
    with pytest.raises(ParameterError, match="n_features=2 is too few"):
        read("c_svc-rbf", n_features=2)
