"""Pairs of classes, and several labels a row: the planes, and how they predict."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_digits, load_iris, make_multilabel_classification
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.preprocessing import scale

from hedgerow import DataError, LinearSVC, NotSeparableError, ParameterError, load, save
from hedgerow.reduction import scores_from_pairs


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


@pytest.fixture(scope="module")
def labelled():
    return make_multilabel_classification(
        n_samples=200, n_features=10, n_classes=4, n_labels=2, random_state=0
    )


# ------------------------------------------------------------------------------- pairs of classes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_each_pair_has_the_plane_of_its_own_rows(loss):
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = LinearSVC(multi_class="ovo", loss=loss, tol=1e-8).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert len(model.certificates_) == 3
    for plane, (j, k) in enumerate(combinations(range(3), 2)):
        rows = np.isin(y, (j, k))
        alone = LinearSVC(loss=loss, tol=1e-8).fit(X[rows], y[rows])
        # |w - w*|^2 is at most twice the gap, 1e-8 of an objective below 50, for either solution.
        np.testing.assert_allclose(model.coef_[plane], alone.coef_[0], atol=2e-3)
        assert (model.alpha_[plane, ~rows] == 0.0).all()
        assert model.certificates_[plane].is_certified
        assert model.certificates_[plane].primal == pytest.approx(
            alone.certificate_.primal, rel=2e-8
        )


def test_predictions_are_those_of_scikit_learns_one_vs_one(digits):
    X, y = digits
    ours = LinearSVC(multi_class="ovo", intercept="penalized", tol=1e-8).fit(X, y)
    peer = OneVsOneClassifier(sklearn.svm.LinearSVC(dual=False, tol=1e-10)).fit(X, y)
    # Scores are the same to 1e-3, and each of 9 pairs adds at most a third of that to a class.
    np.testing.assert_allclose(
        ours.decision_function(X), peer.decision_function(X), atol=9 * 1e-3 / 3
    )
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


def test_a_tie_of_votes_is_broken_by_the_scores():
    ring = np.array([[2.0, -1.0, 3.5]])  # 1 beats 0, 0 beats 2, 2 beats 1
    scores = scores_from_pairs(ring, 3)
    np.testing.assert_array_equal(np.floor(scores + 1 / 3), 1.0)
    assert scores.argmax() == 2  # whose sum is 2.5, against -1 and -1.5


def test_votes_outweigh_any_score():
    scores = scores_from_pairs(np.array([[-1e-9, -1e-9, 1e9]]), 3)
    assert scores.argmax() == 0


def test_two_classes_have_one_plane_whatever_the_reduction():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    pair, rest = (LinearSVC(multi_class=name).fit(X, y) for name in ("ovo", "ovr"))
    np.testing.assert_array_equal(pair.coef_, rest.coef_)
    assert pair.decision_function(X).shape == (len(y),)


def test_weights_are_repetitions_in_every_pair():
    X, y = load_iris(return_X_y=True)
    times = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = LinearSVC(multi_class="ovo").fit(X, y, times)
    repeated = LinearSVC(multi_class="ovo").fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-6)


def test_threads_change_no_bit_of_any_pair(digits):
    X, y = digits
    one, two = (LinearSVC(multi_class="ovo", n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_a_pair_without_weight_has_no_plane_and_classes_without_weight_lose():
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(len(y)) % 10 == 0, 3, y)
    for intercept in ("free", "penalized"):
        model = LinearSVC(multi_class="ovo", intercept=intercept).fit(X, y, (y < 2) * 1.0)
        assert all(certificate.is_certified for certificate in model.certificates_)
        np.testing.assert_array_equal(model.coef_[5], 0.0)  # of classes 2 and 3
        if intercept == "free":
            assert set(model.predict(X)) <= {0, 1}


def test_a_hard_margin_of_a_pair_names_the_pair_and_its_rows():
    X = np.array([[0.0], [1.0], [5.0], [6.0], [5.5], [7.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    with pytest.raises(NotSeparableError, match="the classes 'b' and 'c'") as caught:
        LinearSVC(multi_class="ovo", C=np.inf).fit(X, y)
    assert set(caught.value.proof.rows) <= {2, 3, 4, 5}
    assert caught.value.proof.is_certified
    apart = LinearSVC(multi_class="ovo", C=np.inf).fit(X[[0, 1, 2, 3, 5]], y[[0, 1, 2, 3, 5]])
    assert apart.score(X[[0, 1, 2, 3, 5]], y[[0, 1, 2, 3, 5]]) == 1.0


@pytest.mark.parametrize("n_classes", [3, 4, 10])
def test_a_model_file_keeps_all_pairs(digits, tmp_path, n_classes):
    X, y = digits
    X, y = X[y < n_classes], y[y < n_classes]
    model = LinearSVC(multi_class="ovo").fit(X, y)
    save(model, tmp_path / "pairs.hedgerow")
    np.testing.assert_array_equal(load(tmp_path / "pairs.hedgerow").predict(X), model.predict(X))


# --------------------------------------------------------------------------------- several labels


def test_each_label_is_a_machine_of_its_own(labelled):
    X, Y = labelled
    model = LinearSVC().fit(X, Y)
    assert model.multilabel_
    assert model.decision_function(X).shape == Y.shape
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    for k, labels in enumerate(Y.T):
        alone = LinearSVC().fit(X, labels)
        np.testing.assert_array_equal(model.coef_[k], alone.coef_[0])
        np.testing.assert_array_equal(model.predict(X)[:, k], alone.predict(X))


def test_predictions_are_those_of_scikit_learns_one_vs_rest(labelled):
    X, Y = labelled
    ours = LinearSVC(intercept="penalized", tol=1e-8).fit(X, Y)
    peer = OneVsRestClassifier(sklearn.svm.LinearSVC(dual=False, tol=1e-10, max_iter=10_000))
    np.testing.assert_array_equal(ours.predict(X), peer.fit(X, Y).predict(X))
    assert ours.score(X, Y) == peer.score(X, Y)


@pytest.mark.parametrize(
    "kind", [np.asarray, sp.csr_matrix, sp.csc_array, np.ndarray.tolist, pd.DataFrame, np.bool_]
)
def test_labels_may_come_in_any_container(labelled, kind):
    X, Y = labelled
    np.testing.assert_array_equal(
        LinearSVC().fit(X, kind(Y)).predict(X), LinearSVC().fit(X, Y).predict(X)
    )


@pytest.mark.parametrize("parameters", [{}, {"intercept": "penalized"}, {"fit_intercept": False}])
def test_a_label_with_one_value_only_is_a_constant_plane(labelled, parameters):
    X, Y = labelled
    Y = Y.copy()
    Y[:, 1], Y[:, 2] = 0, 1
    model = LinearSVC(**parameters).fit(X, Y)
    np.testing.assert_array_equal(model.coef_[1:3], 0.0)
    np.testing.assert_array_equal(model.predict(-10 * X)[:, 1:3], [[0, 1]] * len(X))
    assert model.certificates_[1].is_certified
    assert model.certificates_[1].primal == 0.0


def test_two_labels_are_two_planes_and_a_model_file_keeps_them(labelled, tmp_path):
    X, Y = labelled
    model = LinearSVC().fit(X, Y[:, :2])
    assert model.coef_.shape == (2, 10)
    save(model, tmp_path / "labels.hedgerow")
    again = load(tmp_path / "labels.hedgerow")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.multilabel_ is True


def test_balanced_weights_balance_each_label(labelled):
    X, Y = labelled
    model = LinearSVC(class_weight="balanced").fit(X, Y)
    alone = LinearSVC(class_weight="balanced").fit(X, Y[:, 3])
    np.testing.assert_array_equal(model.coef_[3], alone.coef_[0])


def test_weights_of_rows_are_weights_for_every_label(labelled):
    X, Y = labelled
    times = np.random.default_rng(0).integers(0, 3, size=len(X))
    weighted = LinearSVC().fit(X, Y, times)
    repeated = LinearSVC().fit(X.repeat(times, axis=0), Y.repeat(times, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("multi_class", ["ovo", "crammer_singer"])
def test_several_labels_are_only_fitted_one_against_the_rest(labelled, multi_class):
    with pytest.raises(
        ParameterError, match="y has 4 columns, a label each; use multi_class='ovr'"
    ):
        LinearSVC(multi_class=multi_class).fit(*labelled)


def test_what_is_no_label_is_named_with_its_place(labelled):
    X, Y = labelled
    Y = Y.astype(float)
    Y[7, 2] = np.nan
    with pytest.raises(DataError, match=r"nan.* at row 7, column 2"):
        LinearSVC().fit(X, Y)
