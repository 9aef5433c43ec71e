"""SVR and NuSVR: what they are equal to, what the tube holds, and what is kept."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import SVR, LinearSVR, NuSVR, load, save
from hedgerow.errors import DataError, NotCertifiedWarning, ParameterError, ScaleWarning
from tests.kernel_samples import waves

TOL = 1e-8
NEAR = 1e-6
"""Scores of two machines that both violate no condition by more than 1e-8 are this near."""
X, VALUES = waves(120)
ROWS = np.column_stack([X, np.cos(3 * X)])
MACHINES = [SVR(C=2.0, epsilon=0.1, gamma=0.5), NuSVR(C=2.0, nu=0.4, gamma=0.5)]


def by_name(model):
    return type(model).__name__


def made(model, **parameters):
    return type(model)(**model.get_params() | {"tol": TOL} | parameters)


def objective(fitted, ours):
    """Return the primal objective of a fitted SVR, which may be a peer, under the kernel of ours."""
    own = ROWS[fitted.support_]
    beta = fitted.dual_coef_[0]
    off = np.abs(VALUES - fitted.predict(ROWS))
    return (
        0.5 * beta @ ours.kernel_(own) @ beta + ours.C * np.maximum(0.0, off - ours.epsilon).sum()
    )


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_shapes_signs_and_values_are_scikit_learns(model, kernel):
    ours = made(model, kernel=kernel).fit(ROWS, VALUES)
    peer = getattr(sklearn.svm, by_name(model))
    shared = {k: v for k, v in ours.get_params().items() if k in peer().get_params()}
    theirs = peer(**shared).fit(ROWS, VALUES)
    # LIBSVM keeps kernel values as float32, whatever the tol: that moves large ones' machines most.
    near = 2e-6 if kernel == "rbf" else 1e-2 * np.abs(theirs.predict(ROWS)).max()
    np.testing.assert_allclose(ours.predict(ROWS), theirs.predict(ROWS), atol=near)
    if by_name(model) == "SVR":
        assert objective(ours, ours) <= objective(theirs, ours) * (1 + 1e-6)
    assert ours.dual_coef_.shape == (1, len(ours.support_))
    for name in ("intercept_", "n_support_", "dual_coef_"):
        assert getattr(ours, name).shape[:1] == getattr(theirs, name).shape[:1]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_linear_kernel_is_the_linear_machine(fit_intercept):
    how = {"epsilon": 0.1, "C": 2.0, "fit_intercept": fit_intercept}
    ours = SVR(kernel="linear", tol=1e-9, **how).fit(ROWS, VALUES)
    plane = LinearSVR(tol=1e-12, **how).fit(ROWS, VALUES)
    np.testing.assert_allclose(ours.coef_[0], plane.coef_, atol=NEAR)
    np.testing.assert_allclose(ours.intercept_, plane.intercept_, atol=NEAR)


def test_no_value_leaves_its_tube_without_being_a_support_vector():
    model = made(MACHINES[0]).fit(X, VALUES)
    off = np.abs(VALUES - model.predict(X))
    outside = off > 0.1 + NEAR
    assert outside.any()
    coef = np.zeros(len(X))
    coef[model.support_] = model.dual_coef_[0]
    assert np.abs(coef[outside]) == pytest.approx(2.0)
    assert (coef[off < 0.1 - NEAR] == 0).all()
    assert (np.sign(coef[outside]) == np.sign(VALUES - model.predict(X))[outside]).all()


@pytest.mark.parametrize("nu", [0.1, 0.5, 0.9])
def test_nu_lies_between_the_shares_outside_the_tube_and_of_support_vectors(nu):
    model = NuSVR(nu=nu, gamma=0.5, tol=1e-9).fit(X, VALUES)
    outside = np.abs(VALUES - model.predict(X)) > model.epsilon_ + NEAR
    assert outside.mean() <= nu + 1e-9
    assert len(model.support_) / len(X) >= nu - 1e-9


def test_the_tube_that_nu_finds_gives_the_same_machine():
    by_nu = NuSVR(nu=0.4, C=2.0, gamma=0.5, tol=1e-9).fit(X, VALUES)
    by_width = SVR(epsilon=by_nu.epsilon_, C=2.0, gamma=0.5, tol=TOL).fit(X, VALUES)
    np.testing.assert_allclose(by_nu.predict(X), by_width.predict(X), atol=1e-5)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_sparse_rows_a_table_and_a_function_give_the_same_values(model):
    plain = made(model, kernel="linear").fit(ROWS, VALUES)
    table = made(model, kernel="precomputed").fit(ROWS @ ROWS.T, VALUES)
    function = made(model, kernel=lambda a, b: a @ b.T).fit(ROWS, VALUES)
    sparse = made(model, kernel="linear").fit(sp.csr_array(ROWS), VALUES)
    for values in (table.predict(ROWS @ ROWS.T), function.predict(ROWS), sparse.predict(ROWS)):
        np.testing.assert_allclose(values, plain.predict(ROWS), atol=NEAR)
    assert sp.issparse(sparse.coef_)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_a_scale_is_that_of_a_pipeline(model):
    uneven = ROWS * [1e4, 1.0]
    ours = made(model, scale="standard").fit(uneven, VALUES)
    line = make_pipeline(StandardScaler(), made(model)).fit(uneven, VALUES)
    np.testing.assert_allclose(ours.predict(uneven), line.predict(uneven), atol=NEAR)
    with pytest.warns(ScaleWarning, match="feature 0 ranges"):
        made(model, tol=1e-3).fit(uneven, VALUES)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_a_fit_begun_at_the_one_before_takes_fewer_steps(model):
    rows, values = waves(1200, seed=1)
    warm = made(model, warm_start=True, tol=1e-3).fit(rows, values)
    first = warm.n_iter_
    assert warm.fit(rows, values).n_iter_ < 0.1 * first
    assert warm.fit(rows[:300], values[:300]).certificate_.is_certified


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
def test_rows_without_weight_are_as_if_they_were_not_there(model):
    weight = np.where(np.arange(120) % 4 == 0, 0.0, 1.5)
    some = made(model).fit(X, VALUES, weight)
    fewer = made(model).fit(X[weight > 0], VALUES[weight > 0], weight[weight > 0])
    np.testing.assert_allclose(some.predict(X), fewer.predict(X), atol=NEAR)


@pytest.mark.parametrize("model", MACHINES, ids=by_name)
@pytest.mark.parametrize("rows", [ROWS, sp.csr_array(ROWS), ROWS.astype(np.float32)])
def test_a_saved_or_pickled_model_is_the_same_to_the_bit(model, rows, tmp_path):
    fitted = made(model, tol=1e-3).fit(rows, VALUES)
    save(fitted, tmp_path / "m.hedge")
    for again in (load(tmp_path / "m.hedge"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict(rows), fitted.predict(rows))
        assert again.certificate_ == fitted.certificate_


def test_what_cannot_be_is_refused():
    with pytest.raises(ParameterError, match="C=inf"):
        SVR(C=np.inf).fit(X, VALUES)
    with pytest.raises(ParameterError, match=r"nu=1\.5"):
        NuSVR(nu=1.5).fit(X, VALUES)
    with pytest.raises(ParameterError, match="epsilon=-1"):
        SVR(epsilon=-1).fit(X, VALUES)
    with pytest.raises(DataError):
        SVR().fit(X, VALUES[:-1])


def test_a_fit_that_is_cut_short_warns_and_can_be_used():
    with pytest.warns(NotCertifiedWarning, match="raise max_iter"):
        model = SVR(C=1e6, max_iter=1).fit(*waves(400))
    assert model.status_ == "max_iter"
    assert np.isfinite(model.predict(X)).all()
