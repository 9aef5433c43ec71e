"""Real data sets, where HEDGEROW_DATA points at them."""

from __future__ import annotations

import tarfile

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfVectorizer

from hedgerow import LinearSVC
from tests.reference import linear_svm

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def a9a(request):
    import os
    from pathlib import Path

    folder = Path(os.environ["HEDGEROW_DATA"]) / "a9a"
    train = load_svmlight_file(str(folder / "a9a.bz2"), n_features=123)
    test = load_svmlight_file(str(folder / "a9a.t.bz2"), n_features=123)
    return train, test


@pytest.mark.parametrize("intercept", ["free", "penalized"])
@pytest.mark.parametrize("C", [1.0, 32.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a9a_is_certified_and_classified(a9a, loss, C, intercept):
    (X, y), (X_test, y_test) = a9a
    model = LinearSVC(loss=loss, C=C, intercept=intercept).fit(X, y)
    assert model.certificate_.is_certified
    # The published accuracy of a linear machine on a9a is 84.98 % (hinge or not, C = 32).
    assert abs(model.score(X_test, y_test) - 0.8498) < 0.003


def test_a9a_with_coordinate_descent_comes_to_the_same_objective(a9a):
    (X, y), _ = a9a
    exact = LinearSVC(C=0.1, tol=1e-6).fit(X, y)
    swept = LinearSVC(C=0.1, solver="dual_coordinate_descent", random_state=0).fit(X, y)
    assert swept.certificate_.is_certified
    assert abs(swept.certificate_.primal / exact.certificate_.primal - 1) < 1e-4


def test_a9a_is_never_worse_than_liblinear(a9a):
    (X, y), _ = a9a
    ours = LinearSVC(intercept="penalized", tol=1e-6).fit(X, y)
    short = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    peer = sklearn.svm.LinearSVC(dual=False, tol=1e-6).fit(short, y)
    value = linear_svm.primal(
        X,
        y,
        np.ones(len(y)),
        peer.coef_[0],
        peer.intercept_[0],
        loss="squared_hinge",
        intercept="penalized",
    )
    assert ours.certificate_.primal <= value * (1 + 1e-6)


def test_ijcnn1_at_a_large_C_is_certified(data_folder):
    X, y = load_svmlight_file(str(data_folder / "ijcnn1" / "ijcnn1.bz2"), n_features=22)
    for loss in ("hinge", "squared_hinge"):
        assert LinearSVC(loss=loss, C=32.0).fit(X, y).certificate_.is_certified


def newsgroups(folder):
    """Posts of the bydate training part as tf-idf rows with 64-bit indices."""
    texts, labels = [], []
    archive = next((folder / "20newsgroups").glob("*.tar*"))
    with tarfile.open(archive) as tar:
        for member in tar:
            parts = member.name.split("/")
            if member.isfile() and any("train" in part for part in parts):
                texts.append(tar.extractfile(member).read().decode("latin-1"))
                labels.append(parts[-2])
    return TfidfVectorizer(sublinear_tf=True).fit_transform(texts), np.array(labels)


def test_newsgroups_wide_and_sparse_with_twenty_classes(data_folder):
    X, y = newsgroups(data_folder)
    assert X.shape[0] == 11314
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, random_state=0).fit(X, y)
        assert model.solver_ == "dual_coordinate_descent"
        assert len(model.certificates_) == 20
        assert all(certificate.is_certified for certificate in model.certificates_)
        assert model.score(X, y) > 0.99
