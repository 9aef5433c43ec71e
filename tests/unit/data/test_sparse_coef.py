"""The coefficients of linear classifiers can be kept sparse, and nothing else changes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from hedgerow import (
    AveragedPerceptron,
    CalibratedModel,
    Hyperplane,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    Perceptron,
    load,
    save,
)

X, TWO = make_classification(80, 20, n_informative=5, random_state=0)
THREE = np.arange(80) % 3

MODELS = [
    LinearSVC(penalty="l1", C=0.05),
    LinearSVC(multi_class="ovo"),
    LinearSVC(calibrate="sigmoid"),
    LinearSVCCV(Cs=3, cv=3),
    Perceptron(max_iter=5),
    AveragedPerceptron(max_iter=5),
]
quietly = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore::hedgerow.EdgeOfGridWarning"
)


@quietly
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_sparse_coefficients_predict_the_same_bits_everywhere(model, y, tmp_path):
    model = clone(model).fit(X, y)
    coef, scores, labels = model.coef_.copy(), model.decision_function(X), model.predict(X)
    of_sparse_rows = model.decision_function(sp.csr_array(X))
    assert model.sparsify() is model
    assert sp.issparse(model.coef_)
    assert model.coef_.shape == coef.shape
    save(model, tmp_path / "model.hedge")
    copies = [load(tmp_path / "model.hedge"), pickle.loads(pickle.dumps(model))]
    for each in [model, copy.deepcopy(model), *copies]:
        assert sp.issparse(each.coef_)
        np.testing.assert_array_equal(each.decision_function(X), scores)
        np.testing.assert_array_equal(each.decision_function(sp.csr_array(X)), of_sparse_rows)
        np.testing.assert_array_equal(each.predict(X), labels)
        np.testing.assert_array_equal(each.densify().coef_, coef)
        assert isinstance(each.coef_, np.ndarray)


def test_few_coefficients_make_a_small_file(tmp_path):
    wide = np.random.RandomState(0).randn(30, 5000)
    model = LinearSVC(penalty="l1", C=0.02).fit(wide, TWO[:30])
    save(model, tmp_path / "dense.hedge")
    save(model.sparsify(), tmp_path / "sparse.hedge")
    sizes = [(tmp_path / name).stat().st_size for name in ("sparse.hedge", "dense.hedge")]
    assert sizes[0] < sizes[1] / 4


def test_a_fit_makes_them_dense_again():
    model = LinearSVC().fit(X, TWO).sparsify()
    assert isinstance(model.fit(X, TWO).coef_, np.ndarray)
    assert isinstance(model.densify().coef_, np.ndarray)


@quietly
@pytest.mark.parametrize("first", [Perceptron(max_iter=3), LinearSVC()], ids=str)
def test_a_sparse_model_learns_on(first):
    models = [clone(first).partial_fit(X, TWO, classes=[0, 1]) for _ in range(2)]
    models[0].sparsify()
    coefs = [model.partial_fit(X[::2], TWO[::2]).coef_ for model in models]
    np.testing.assert_array_equal(*coefs)


@quietly
def test_a_warm_start_takes_sparse_coefficients():
    models = [Perceptron(max_iter=3, warm_start=True).fit(X, TWO) for _ in range(2)]
    models[0].sparsify()
    np.testing.assert_array_equal(*[model.fit(X, TWO).coef_ for model in models])


def test_others_can_read_them():
    model = LinearSVC().fit(X, TWO)
    plane = Hyperplane.of(model)
    sparse = Hyperplane.of(model.sparsify())
    np.testing.assert_array_equal(sparse.signed_distance(X), plane.signed_distance(X))
    calibrated = CalibratedModel(model, cv=None).fit(X, TWO)
    assert calibrated.predict_proba(X).shape == (80, 2)


def test_nothing_is_sparse_before_a_fit():
    for method in ("sparsify", "densify"):
        with pytest.raises(NotFittedError):
            getattr(LinearSVC(), method)()
    assert not hasattr(LinearSVR(), "sparsify")  # nor has scikit-learn's
