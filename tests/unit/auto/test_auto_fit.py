"""auto_fit: the whole way from a table to a tested model."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from hedgerow.auto import TableClassifier, TableEncoder, auto_fit
from hedgerow.auto.choose import Search, cross_validate, training_folds
from hedgerow.auto.columns import as_columns
from hedgerow.auto.sample import held_out_mask
from hedgerow.data.io import Table
from hedgerow.errors import DataError, NotCertifiedWarning, ParameterError
from hedgerow.linear import LinearSVC
from hedgerow.resampling import accuracy_interval
from hedgerow.search.trials import Trials

IRIS = load_iris(return_X_y=True)
FEW_CS = [0.1, 1.0]


def blobs(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return generator.normal(size=(n, 3)) + 3 * y[:, None], y


# --------------------------------------------------------------------------------- the classifier


def test_a_classifier_takes_tables_and_gives_their_labels() -> None:
    table = {"size": np.array([1.0, 2.0, 8.0, 9.0]), "kind": np.array(["a", None, "b", "b"])}
    y = np.array(["s", "s", "l", "l"])
    model = TableClassifier().fit(Table(table, y, "class"))
    assert model.predict(table).tolist() == y.tolist()
    assert model.score(table, y) == 1
    assert model.decision_function(table).shape == (4,)
    assert (model.target_, model.n_features_in_) == ("class", 2)
    assert model.feature_names_in_.tolist() == ["size", "kind"]


def test_the_name_of_a_series_of_labels_is_kept() -> None:
    X, y = blobs()
    assert TableClassifier().fit(X, pd.Series(y, name="outcome")).target_ == "outcome"
    assert TableClassifier().fit(X, y).target_ is None


def test_the_learner_given_is_not_changed() -> None:
    learner = LinearSVC(C=0.3)
    model = TableClassifier(learner).fit(*blobs())
    assert not hasattr(learner, "coef_")
    assert model.learner_.C == 0.3


# -------------------------------------------------------------------------------------- the split


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_every_class_gives_its_share_to_the_test_but_never_all(share: float) -> None:
    codes = np.repeat([0, 1, 2, 3], [100, 40, 2, 1])
    held_out = held_out_mask(codes, share, np.random.default_rng(0))
    taken = np.bincount(codes, held_out)
    assert taken[0] == round(100 * share)
    assert taken[1] == round(40 * share)
    assert taken[2] <= 1
    assert taken[3] == 0


def test_folds_are_even_within_every_class_and_as_a_whole() -> None:
    codes = np.repeat([0, 1, 2], [50, 23, 7])
    folds = training_folds(codes, 5, np.random.default_rng(0))
    assert np.ptp([len(fold.test) for fold in folds]) <= 1
    for code in range(3):
        assert np.ptp([np.sum(codes[fold.test] == code) for fold in folds]) <= 1
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(80))


def test_no_fold_takes_away_all_classes_but_one() -> None:
    codes = np.repeat([0, 1, 2], [50, 3, 1])
    folds = training_folds(codes, 10, np.random.default_rng(0))
    assert len(folds) == 3
    for fold in folds:
        assert len(np.unique(codes[fold.train])) >= 2


# ------------------------------------------------------------------------------------- the search


def test_the_encoder_never_sees_the_rows_it_is_judged_on(monkeypatch) -> None:
    seen: list[set[float]] = []
    fit = TableEncoder.fit

    def spy(self, X, y=None):
        seen.append(set(as_columns(X).numbers[:, 0]))
        return fit(self, X, y)

    monkeypatch.setattr(TableEncoder, "fit", spy)
    X, y = blobs(60)
    X[:, 0] = np.arange(60)  # names the row
    result = auto_fit(X, y, Cs=FEW_CS, cv=3)
    *inside_folds, final = seen
    assert len(final) == result.n_train == 44
    assert len(inside_folds) == 3
    for rows in inside_folds:
        assert rows < final  # a fold is fitted on fewer rows than the final model
        assert len(rows) in (29, 30)
    left_out = [final - rows for rows in inside_folds]
    assert set.union(*left_out) == final
    assert sum(map(len, left_out)) == len(final)


def test_a_leak_through_the_encoder_would_be_seen() -> None:
    """Text that occurs once tells nothing; a leaky encoder would still score 100 % in the folds."""
    names = np.array([f"name {i}" for i in range(80)], dtype=object)
    y = np.random.default_rng(0).permutation(80) % 2
    result = auto_fit({"name": names}, y, Cs=[100.0])
    # 60 coin tosses: 0.5 within three standard errors of 0.065.
    assert abs(result.scores[0].accuracy - 0.5) < 0.2
    assert result.train_accuracy == 1


def test_scores_are_those_of_a_plain_loop() -> None:
    X, y = blobs(50, seed=3)
    X[:, 0] += np.random.default_rng(1).normal(scale=6, size=50)
    columns = as_columns(X)
    folds = training_folds(y, 4, np.random.default_rng(0))
    (score,) = cross_validate(TableClassifier(LinearSVC()), columns, y, [0.5], folds).scores
    accuracies = [
        TableClassifier(LinearSVC(C=0.5))
        .fit(X[fold.train], y[fold.train])
        .score(X[fold.test], y[fold.test])
        for fold in folds
    ]
    assert score.accuracy == pytest.approx(np.mean(accuracies))
    assert score.standard_error == pytest.approx(np.std(accuracies, ddof=1) / 2)


def test_of_equally_good_values_the_smallest_is_chosen() -> None:
    scores = np.array([[0.8, 0.8], [0.9, 0.9], [0.9, np.nextafter(0.9, 1.0)]])
    found = Search(Trials.of_scores([{"C": C} for C in (1.0, 2.0, 4.0)], scores))
    assert found.best.C == 2


def test_progress_counts_every_fit() -> None:
    calls: list[tuple[int, int]] = []
    auto_fit(*blobs(), Cs=FEW_CS, cv=3, progress=lambda *call: calls.append(call))
    assert calls == [(i, 6) for i in range(1, 7)]


def test_fits_that_end_uncertified_in_the_search_do_not_warn() -> None:
    X, y = blobs()
    learner = LinearSVC(tol=1e-14, max_iter=1, solver="dual_coordinate_descent")
    with pytest.warns(NotCertifiedWarning):
        learner.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        folds = training_folds(y, 3, np.random.default_rng(0))
        found = cross_validate(TableClassifier(learner), as_columns(X), y, FEW_CS, folds)
    assert not found.unfinished


# ------------------------------------------------------------------------------------- the result


def test_a_model_is_chosen_tested_and_certified() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    result = auto_fit(X, y)
    assert result.n_train + result.test.accuracy.n == len(y)
    assert result.C == max(result.scores, key=lambda score: score.accuracy).C
    assert result.model.learner_.C == result.C
    assert result.test.accuracy.low <= result.test.accuracy.estimate <= result.test.accuracy.high
    # scikit-learn's scaled LinearSVC gets 0.95 to 0.99 on such splits.
    assert result.test.accuracy.estimate > 0.93
    assert result.test.baseline == pytest.approx(np.mean(y), abs=0.01)
    assert result.certificate.is_certified
    assert sum(r.n_found for r in result.test.recalls) == pytest.approx(
        result.test.accuracy.estimate * result.test.accuracy.n
    )


def test_the_same_seed_gives_the_same_result_for_any_number_of_threads() -> None:
    first = auto_fit(*IRIS, random_state=7, n_jobs=1, Cs=FEW_CS)
    second = auto_fit(*IRIS, random_state=7, n_jobs=2, Cs=FEW_CS)
    assert first.as_dict() == second.as_dict()
    assert first.model.learner_.coef_.tobytes() == second.model.learner_.coef_.tobytes()
    other = auto_fit(*IRIS, random_state=8, n_jobs=1, Cs=FEW_CS)
    assert other.as_dict() != first.as_dict()


def test_the_result_goes_through_json() -> None:
    X, y = IRIS
    labels = np.array(["a", "b", "c"])[y]
    result = auto_fit(Table({"w": X[:, 0], "h": X[:, 1]}, labels, "kind"), Cs=FEW_CS)
    back = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert back["profile"]["classes"][0] == {"label": "a", "rows": 50}
    assert back["certificate"]["is_certified"] is True
    assert [score["C"] for score in back["scores"]] == FEW_CS
    assert result.model.target_ == "kind"


def test_rows_for_the_test_can_be_given() -> None:
    X, y = blobs(60)
    result = auto_fit(X[:40], y[:40], test=(X[40:], y[40:]), Cs=FEW_CS)
    assert result.n_train == 40
    assert result.test.accuracy.n == 20
    correct = result.model.predict(X[40:]) == y[40:]
    assert result.test.accuracy == accuracy_interval(correct, seed=0)


def test_sparse_rows_work_too() -> None:
    X, y = blobs(60)
    X[X < 0.5] = 0
    result = auto_fit(sp.csr_matrix(X), y, Cs=FEW_CS)
    assert result.profile.density == pytest.approx(np.count_nonzero(X) / X.size)
    assert result.test.accuracy.estimate > 0.8


def test_classes_with_a_row_or_two_do_not_stop_the_search() -> None:
    X, y = blobs(60)
    y = y.copy()
    y[:3] = [7, 8, 8]
    result = auto_fit(X, y, Cs=FEW_CS)
    assert "rare_classes" in {hint.name for hint in result.advice}


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"test_size": 1.0}, ParameterError, "test_size=1.0 is not between 0 and 1"),
        ({"test_size": 0.001}, DataError, "leaves none for the test"),
        ({"cv": 1}, ParameterError, "cv=1 is too few folds"),
        ({"Cs": []}, ParameterError, "Cs=.* one or more finite numbers above 0"),
        ({"Cs": [0.0]}, ParameterError, "Cs=.* one or more finite numbers above 0"),
        ({"loss": "log"}, ParameterError, "loss='log' is not allowed"),
        ({"y": None}, DataError, "there are no labels"),
        ({"y": [1, 0]}, DataError, "X has 60 rows but y has 2 labels"),
        ({"y": np.zeros(60)}, DataError, "one class"),
        ({"y": [0] * 59 + [1]}, DataError, "two classes with at least two training rows"),
        ({"y": np.linspace(0, 1, 60)}, DataError, "y is continuous"),
        ({"y": np.array(["a", "b", None] * 20, dtype=object)}, DataError, "row 2"),
        (
            {"test": (np.zeros((2, 3)), ["1", "0"])},
            DataError,
            "2 of the 2 labels of the test rows never occur .* are '0', '1', those .* 0, 1; label",
        ),
        ({"test": (np.zeros((3, 3)), [0, 7, 1])}, DataError, "1 of the 3 .* are 7, 0, 1, those"),
        ({"y": np.array([b"no", b"yes"] * 30)}, DataError, "y cannot be used as labels: .*bytes"),
    ],
)
def test_what_cannot_work_is_refused(arguments: dict, kind: type, words: str) -> None:
    X, y = blobs(60)
    with pytest.raises(kind, match=words):
        auto_fit(X, **{"y": y, "Cs": FEW_CS, **arguments})


# ------------------------------------------------------------------------------ kinds of labels


WORDS = np.array(["no", "yes"])[blobs(60)[1]]
IS_YES = blobs(60)[1] == 1


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (WORDS.tolist(), ["no", "yes"]),
        (WORDS.astype(object), ["no", "yes"]),
        (pd.Series(WORDS, dtype=object), ["no", "yes"]),
        (pd.Series(WORDS, dtype="string"), ["no", "yes"]),
        (pd.Series(WORDS, dtype="category"), ["no", "yes"]),
        (pd.Categorical(WORDS), ["no", "yes"]),
        (pd.Series(WORDS, index=np.arange(60)[::-1]), ["no", "yes"]),
        (pl.Series(WORDS), ["no", "yes"]),
        (pl.Series(WORDS.tolist(), dtype=pl.Categorical), ["no", "yes"]),
        (pd.Series(IS_YES), [False, True]),
        (pd.Series(IS_YES, dtype="boolean"), [False, True]),
        (IS_YES.astype(object), [False, True]),
        (pd.Series(IS_YES.astype(int), dtype="Int64"), [0, 1]),
        (pd.Series(IS_YES.astype(int), dtype="category"), [0, 1]),
        (IS_YES.astype(int).astype(object), [0, 1]),
        (pl.Series(IS_YES.astype(int)), [0, 1]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_labels_of_every_kind_give_the_same_model(y, labels: list) -> None:
    X, numbers = blobs(60)
    result, expected = auto_fit(X, y, Cs=FEW_CS), auto_fit(X, numbers, Cs=FEW_CS)
    assert result.model.classes_.tolist() == labels
    assert type(result.test.baseline_label) is type(labels[0])
    np.testing.assert_array_equal(result.model.learner_.coef_, expected.model.learner_.coef_)
    assert json.loads(json.dumps(result.as_dict()))["test"]["recalls"][0]["label"] == labels[0]


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_rows_of_every_container_give_the_same_model(convert) -> None:
    X, y = blobs(60)
    result, expected = auto_fit(convert(X), y, Cs=FEW_CS), auto_fit(X, y, Cs=FEW_CS)
    np.testing.assert_array_equal(result.model.learner_.coef_, expected.model.learner_.coef_)


def test_the_name_of_a_series_of_labels_is_the_target() -> None:
    X, y = blobs(60)
    assert auto_fit(X, pd.Series(y, name="kind"), Cs=FEW_CS).model.target_ == "kind"


def test_long_lists_of_labels_are_cut_short() -> None:
    X, y = blobs(60)
    with pytest.raises(DataError, match="are 100, 101, 102, 103, 104 and 55 more, those") as caught:
        auto_fit(X, y, test=(X, np.arange(100, 160)), Cs=FEW_CS)
    assert len(str(caught.value)) < 300
