"""SVC and NuSVC: what they are equal to, what they keep, and what they refuse."""

from __future__ import annotations

import pickle
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from hedgerow import (
    RBF,
    SVC,
    FunctionKernel,
    Linear,
    LinearSVC,
    NuSVC,
    Polynomial,
    Precomputed,
    RowsKernel,
    load,
    save,
)
from hedgerow.errors import (
    DataError,
    NotCertifiedWarning,
    ParameterError,
    ScaleWarning,
    UnavailableError,
)
from tests.kernel_samples import blobs

TOL = 1e-8
NEAR = 1e-6
"""Scores of two machines that both violate no condition by more than 1e-8 are this near."""
IRIS, SPECIES = load_iris(return_X_y=True)
X, SIDES = blobs(120)


def scores_of(model, rows=X):
    return model.decision_function(rows)


def assert_same_scores(ours, other, rows=X, near=NEAR):
    np.testing.assert_allclose(scores_of(ours, rows), scores_of(other, rows), atol=near, rtol=near)


# ----------------------------------------------------------------------- scikit-learn's form


@pytest.mark.parametrize("y", [SPECIES == 1, SPECIES], ids=["two", "three"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_shapes_and_signs_are_scikit_learns(kernel, y):
    ours = SVC(kernel=kernel, tol=TOL).fit(IRIS, y)
    theirs = sklearn.svm.SVC(kernel=kernel, tol=TOL).fit(IRIS, y)
    names = ["classes_", "n_support_", "dual_coef_", "intercept_", "support_vectors_", "n_iter_"]
    for name in [*names, *(["coef_"] if kernel == "linear" else [])]:
        mine, given = getattr(ours, name), getattr(theirs, name)
        assert mine.shape[:1] == given.shape[:1] or name == "support_vectors_"
        assert mine.ndim == given.ndim
    assert ours.dual_coef_.shape == (len(ours.classes_) - 1, len(ours.support_))
    assert ours.n_support_.sum() == len(ours.support_)
    assert (np.diff(y[ours.support_].astype(int)) >= 0).all()
    for shape in ("ovo", "ovr"):
        ours.set_params(decision_function_shape=shape)
        theirs.set_params(decision_function_shape=shape)
        mine, given = scores_of(ours, IRIS), scores_of(theirs, IRIS)
        assert mine.shape == given.shape
        # LIBSVM keeps kernel values as float32, whatever the tol: that moves large ones' machines most.
        near = 2e-6 if kernel == "rbf" else 5e-5 * np.abs(given).max()
        np.testing.assert_allclose(mine, given, atol=near)


def test_a_label_is_always_that_of_the_largest_score():
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(80, 2)), rng.integers(5, size=80)
    model = SVC(C=10.0, gamma=2.0).fit(rows, y)
    new = rng.normal(size=(500, 2))
    scores = scores_of(model, new)
    votes = np.round(scores)
    tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert tied.any()
    assert model.predict(new).tolist() == model.classes_[scores.argmax(axis=1)].tolist()


def test_a_coefficient_lies_between_0_and_its_bound_on_the_side_of_its_class():
    weight = np.random.default_rng(1).uniform(0.2, 2.0, len(X))
    model = SVC(C=0.7, class_weight={1.0: 2.0}).fit(X, SIDES, weight)
    alpha = model.dual_coef_[0] * SIDES[model.support_]
    bound = 0.7 * weight * np.where(SIDES > 0, 2.0, 1.0)
    assert (alpha > 0).all()
    assert (alpha <= bound[model.support_] * (1 + 1e-12)).all()
    assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()


# ---------------------------------------------------------------------------- what equals what


def test_a_polynomial_of_degree_2_is_linear_in_its_own_features():
    lifted = np.column_stack([X[:, 0] ** 2, X[:, 1] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1]])
    curved = SVC(kernel=Polynomial(degree=2, gamma=1.0, coef0=0.0), tol=TOL).fit(X, SIDES)
    flat = SVC(kernel="linear", tol=TOL).fit(lifted, SIDES)
    np.testing.assert_allclose(scores_of(curved), scores_of(flat, lifted), atol=NEAR)
    np.testing.assert_allclose(curved.dual_coef_, flat.dual_coef_, atol=NEAR)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_linear_kernel_is_the_linear_machine(loss, fit_intercept):
    ours = SVC(kernel="linear", loss=loss, fit_intercept=fit_intercept, tol=1e-9).fit(X, SIDES)
    plane = LinearSVC(loss=loss, fit_intercept=fit_intercept, tol=1e-12).fit(X, SIDES)
    np.testing.assert_allclose(ours.coef_, plane.coef_, rtol=NEAR, atol=NEAR)
    np.testing.assert_allclose(ours.intercept_, plane.intercept_, rtol=NEAR, atol=NEAR)
    primal = plane.certificate_.primal
    assert ours.certificate_.primal == pytest.approx(primal, rel=1e-9)
    assert ours.certificate_.dual == pytest.approx(primal, rel=1e-9)


def test_one_against_the_rest_is_a_binary_machine_a_class():
    model = SVC(multi_class="ovr", tol=TOL).fit(IRIS, SPECIES)
    assert model.dual_coef_.shape == (3, len(model.support_))
    for k, scores in enumerate(scores_of(model, IRIS).T):
        gamma = model.kernel_.gamma
        alone = SVC(gamma=gamma, tol=TOL).fit(IRIS, (k == SPECIES).astype(int))
        np.testing.assert_allclose(scores, scores_of(alone, IRIS), atol=NEAR)
    assert len(model.certificates_) == 3


def test_the_machine_by_nu_is_one_of_some_C():
    by_nu = NuSVC(nu=0.4, gamma=0.5, tol=1e-10).fit(X, SIDES)
    C = np.abs(by_nu.dual_coef_).max()
    assert_same_scores(by_nu, SVC(C=C, gamma=0.5, tol=TOL).fit(X, SIDES), near=1e-5)


FORMS = {
    "sparse": sp.csr_array,
    "sparse with long indices": lambda rows: _with_long_indices(sp.csr_array(rows)),
    "Fortran order": np.asfortranarray,
}


def _with_long_indices(rows):
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("y", [SIDES, np.arange(120) % 3], ids=["two", "three"])
def test_the_container_does_not_matter(form, y):
    rows = np.where(np.abs(X) > 0.3, X, 0.0)
    plain, other = (SVC(tol=TOL, gamma=0.5).fit(one, y) for one in (rows, FORMS[form](rows)))
    assert_same_scores(plain, other, rows)
    np.testing.assert_allclose(
        scores_of(other, FORMS[form](rows)), scores_of(other, rows), atol=1e-12
    )
    assert sp.issparse(other.support_vectors_) == sp.issparse(FORMS[form](rows))


def test_float32_stays_float32_and_is_certified_in_float64():
    short = X.astype(np.float32)
    model = SVC(gamma=0.5, tol=1e-6).fit(short, SIDES)
    assert model.support_vectors_.dtype == np.float32
    assert model.certificate_.is_certified
    exact = SVC(gamma=0.5, tol=1e-6).fit(short.astype(np.float64), SIDES)
    assert_same_scores(model, exact, short.astype(np.float64), near=1e-5)
    assert_same_scores(model, exact, short, near=1e-4)  # kernel values of float32 rows are float32


# ------------------------------------------------------------------------------ given kernels


def product(rows, others):
    return np.asarray(rows) @ np.asarray(others).T


class Products:
    """Whole rows of the table of dot products."""

    def rows(self, X, indices):
        return np.asarray(X)[indices] @ np.asarray(X).T

    def __call__(self, X, Y):
        return product(X, Y)


@pytest.mark.parametrize("y", [SIDES, np.arange(120) % 3], ids=["two", "three"])
@pytest.mark.parametrize(
    "kernel",
    [product, FunctionKernel(product), Linear(), "precomputed"],
    ids=["function", "kernel of a function", "kernel", "table"],
)
def test_a_kernel_is_the_same_however_it_is_given(kernel, y):
    named = SVC(kernel="linear", tol=TOL).fit(X, y)
    is_table = kernel == "precomputed"
    rows = X @ X.T if is_table else X
    given = SVC(kernel=kernel, tol=TOL).fit(rows, y)
    np.testing.assert_allclose(scores_of(given, rows), scores_of(named), atol=NEAR)
    assert given.certificate_.is_certified


def test_an_object_that_gives_whole_rows_is_a_kernel():
    model = SVC(kernel=RowsKernel(Products()), tol=TOL).fit(X, SIDES)
    named = SVC(kernel="linear", tol=TOL).fit(X, SIDES)
    np.testing.assert_allclose(scores_of(model), scores_of(named), atol=NEAR)


def test_a_sum_of_kernels_is_the_sum_of_their_tables():
    kernel = 0.5 * RBF(gamma=1.0) + Linear()
    model = SVC(kernel=kernel, tol=TOL).fit(X, SIDES)
    table = SVC(kernel="precomputed", tol=TOL).fit(kernel(X), SIDES)
    np.testing.assert_allclose(scores_of(model), scores_of(table, kernel(X)), atol=NEAR)


def test_probabilities_of_a_given_table_are_those_of_its_rows():
    how = {"calibrate": "sigmoid", "random_state": 0, "tol": TOL}
    named = SVC(kernel="linear", **how).fit(X, SIDES)
    table = SVC(kernel="precomputed", **how).fit(X @ X.T, SIDES)
    np.testing.assert_allclose(table.predict_proba(X @ X.T), named.predict_proba(X), rtol=1e-4)


@pytest.mark.parametrize("kernel", ["precomputed", 2 * Precomputed()], ids=["table", "multiple"])
def test_what_is_no_table_is_refused(kernel):
    assert SVC(kernel=kernel).__sklearn_tags__().input_tags.pairwise
    with pytest.raises(DataError, match="square"):
        SVC(kernel=kernel).fit(X, SIDES)
    with pytest.raises(DataError, match="scale='standard' has no features"):
        SVC(kernel=kernel, scale="standard").fit(X @ X.T, SIDES)


def test_a_multiple_of_a_table_is_the_table_of_the_multiple():
    how = {"calibrate": "sigmoid", "random_state": 0, "tol": TOL}
    table = X @ X.T
    model = SVC(kernel=2 * Precomputed(), **how).fit(table, SIDES)
    named = SVC(kernel="precomputed", **how).fit(2 * table, SIDES)
    np.testing.assert_allclose(scores_of(model, table), scores_of(named, 2 * table), atol=NEAR)
    np.testing.assert_allclose(
        model.predict_proba(table), named.predict_proba(2 * table), rtol=1e-4
    )


# ---------------------------------------------------------------------------- scale and columns

UNEVEN = X * [1.0, 1e4]


@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
def test_a_feature_that_the_kernel_hardly_sees_is_named():
    with pytest.warns(ScaleWarning, match=r"feature 1 ranges .* feature 0 .* scale='standard'"):
        SVC().fit(UNEVEN, SIDES)
    import pandas as pd

    with pytest.warns(ScaleWarning, match=r"feature 'wide' ranges .* feature 'narrow'"):
        SVC().fit(pd.DataFrame(UNEVEN, columns=["narrow", "wide"]), SIDES)


@pytest.mark.parametrize(
    ("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_a_scale_is_that_of_a_pipeline_and_no_warning_is_left(scale, scaler):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = SVC(scale=scale, tol=TOL).fit(UNEVEN, SIDES)
        line = make_pipeline(scaler, SVC(tol=TOL)).fit(UNEVEN, SIDES)
    assert_same_scores(ours, line, UNEVEN)
    np.testing.assert_array_equal(ours.support_vectors_, UNEVEN[ours.support_])


def test_normal_vectors_of_scaled_features_are_not_given():
    model = SVC(kernel="linear", scale="standard").fit(X, SIDES)
    with pytest.raises(UnavailableError, match="of scaled features"):
        _ = model.coef_
    with pytest.raises(UnavailableError, match="linear kernel"):
        _ = SVC().fit(X, SIDES).coef_


# ------------------------------------------------------------------------------ nu and weights


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
def test_nu_lies_between_the_shares_of_margin_errors_and_of_support_vectors(nu):
    # At nu = 0.05 rho is 2e-9: in units of it, rounding leaves no proof of a smaller violation.
    model = NuSVC(nu=nu, gamma=0.5).fit(X, SIDES)
    errors = np.mean(SIDES * scores_of(model) < 1 - NEAR)
    assert errors <= nu + 1e-9
    assert len(model.support_) / len(X) >= nu - 1e-9


def test_a_nu_that_cannot_be_is_refused_with_the_largest_that_can():
    y = np.where(np.arange(100) < 20, 1, 0)
    with pytest.raises(ParameterError, match=r"the classes 0 and 1, .* use nu of at most 0\.4$"):
        NuSVC(nu=0.41).fit(X[:100], y)
    assert NuSVC(nu=0.4).fit(X[:100], y).certificate_.is_certified


def test_class_weights_are_weights_of_rows():
    y = np.arange(120) % 3
    by_class = SVC(class_weight={0: 2.0, 2: 0.5}, gamma="auto", tol=TOL).fit(X, y)
    by_row = SVC(gamma="auto", tol=TOL).fit(X, y, np.array([2.0, 1.0, 0.5])[y])
    assert_same_scores(by_class, by_row)
    assert by_class.class_weight_.tolist() == [2.0, 1.0, 0.5]
    counts = np.where(np.arange(120) < 30, 0, 1)
    balanced = SVC(class_weight="balanced").fit(X, counts)
    np.testing.assert_allclose(balanced.class_weight_, [2.0, 2 / 3])
    with pytest.raises(ParameterError, match="class_weight='even' is not allowed"):
        SVC(class_weight="even").fit(X, y)


def test_rows_without_weight_are_as_if_they_were_not_there():
    weight = np.where(np.arange(120) % 4 == 0, 0.0, 1.0)
    some = SVC(gamma=0.5, tol=TOL).fit(X, SIDES, weight)
    fewer = SVC(gamma=0.5, tol=TOL).fit(X[weight > 0], SIDES[weight > 0])
    assert_same_scores(some, fewer)
    assert (weight[some.support_] > 0).all()


def test_a_class_without_weight_is_refused():
    with pytest.raises(DataError):
        SVC().fit(X, SIDES, (SIDES > 0).astype(float))


# --------------------------------------------------------------------------- how a fit may end


def test_a_hard_margin_keeps_every_row_at_its_distance():
    apart = X + 4.0 * SIDES[:, None]
    model = SVC(kernel="linear", C=np.inf, tol=1e-9).fit(apart, SIDES)
    assert (SIDES * scores_of(model, apart)).min() == pytest.approx(1.0, abs=1e-7)
    soft = SVC(kernel="linear", C=1e6, tol=1e-9).fit(apart, SIDES)
    np.testing.assert_allclose(model.coef_, soft.coef_, rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_an_indefinite_kernel_ends_with_a_status_and_without_a_certificate(gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        model = SVC(kernel="sigmoid", gamma=gamma, coef0=-1.0, C=10.0).fit(X, SIDES)
    assert model.status_ in {"optimal", "stalled"}
    assert not model.certificate_.is_certified
    assert np.isfinite(scores_of(model)).all()


def test_a_fit_that_is_cut_short_warns_and_can_be_used():
    with pytest.warns(NotCertifiedWarning, match="raise max_iter"):
        model = SVC(C=1e6, max_iter=1).fit(*blobs(400))
    assert model.status_ == "max_iter"
    assert np.isfinite(scores_of(model)).all()


def test_a_budget_that_holds_no_working_set_is_refused_at_once_with_what_else_can_be_done():
    rows, y = blobs(4000)
    began = time.monotonic()
    with pytest.raises(ParameterError, match=r"allow at least \d+ MB.*LinearSVC"):
        SVC(cache_size=0.1, n_jobs=1).fit(rows, y)
    assert time.monotonic() - began < 0.1


def test_a_fit_begun_at_the_one_before_takes_fewer_steps():
    rows, y = blobs(1500, seed=3)
    model = SVC(C=10.0, warm_start=True, gamma=0.5).fit(rows, y)
    first = model.n_iter_[0]
    assert model.fit(rows, y).n_iter_[0] < 0.1 * first
    model.set_params(C=12.0).fit(rows, y)
    cold = SVC(C=12.0, gamma=0.5).fit(rows, y)
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-4)


def test_a_warm_start_with_other_classes_or_fewer_rows_begins_anew():
    model = SVC(warm_start=True).fit(X, SIDES)
    assert model.fit(X, np.arange(120) % 3).certificate_.is_certified
    assert model.fit(X[:50], np.arange(50) % 3).certificate_.is_certified


# -------------------------------------------------------------------------------- what is kept


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(scale="standard", multi_class="ovr"),
        SVC(kernel=RBF(sigma=2.0) + Linear(), loss="squared_hinge"),
        SVC(calibrate="sigmoid", random_state=0),
        NuSVC(nu=0.2),
    ],
)
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_a_saved_or_pickled_model_is_the_same_to_the_bit(model, rows, tmp_path):
    model.fit(rows, np.arange(120) % 3)
    save(model, tmp_path / "m.hedge")
    for again in (load(tmp_path / "m.hedge"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(scores_of(again), scores_of(model))
        assert again.certificates_ == model.certificates_
        assert again.get_params().keys() == model.get_params().keys()


def test_a_function_cannot_be_saved_and_its_model_says_so(tmp_path):
    with pytest.raises(ParameterError, match="cannot be saved"):
        save(SVC(kernel=product).fit(X, SIDES), tmp_path / "m.hedge")


def test_a_pickle_holds_nothing_that_is_made_anew():
    model = SVC().fit(X, SIDES)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before
