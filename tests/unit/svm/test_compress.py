"""Kernel machines with fewer support vectors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

import hedgerow
from hedgerow import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from hedgerow.errors import DataError, ParameterError, UnavailableError
from tests.kernel_samples import blobs, waves

GAMMA = 0.5


def three_classes(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + y[:, None], y


def fitted(kind):
    """A fitted machine of each kind, with its rows."""
    if kind == "SVC of two classes":
        X, y = blobs(200)
        return SVC(gamma=GAMMA).fit(X, y), X
    if kind == "SVC of pairs":
        X, y = three_classes()
        return SVC(gamma=GAMMA).fit(X, y), X
    if kind == "SVC against the rest":
        X, y = three_classes()
        return SVC(gamma=GAMMA, multi_class="ovr").fit(X, y), X
    if kind == "NuSVC":
        X, y = blobs(200)
        return NuSVC(gamma=GAMMA).fit(X, y), X
    if kind == "scaled SVC":
        X, y = three_classes()
        return SVC(gamma=GAMMA, scale="standard").fit(10 * X, y), 10 * X
    X, y = waves(150)
    if kind == "SVR":
        return SVR(gamma=GAMMA).fit(X, y), X
    if kind == "NuSVR":
        return NuSVR(gamma=GAMMA).fit(X, y), X
    if kind == "OneClassSVM":
        return OneClassSVM(gamma=GAMMA, nu=0.3).fit(X), X
    return SVDD(gamma=GAMMA, nu=0.3).fit(X), X


KINDS = [
    "SVC of two classes",
    "SVC of pairs",
    "SVC against the rest",
    "NuSVC",
    "scaled SVC",
    "SVR",
    "NuSVR",
    "OneClassSVM",
    "SVDD",
]


def planes_among(model, n_rows):
    """The coefficients of each plane over all rows that were fitted."""
    planes = np.zeros((len(model.intercept_), n_rows))
    planes[:, model.support_] = model._coefficients().planes()
    return planes


def sq_errors(model, other, X):
    """|w - w'|^2 / |w|^2 of each plane by all kernel values of the rows fitted, and how exact that is."""
    rows = model.scaling_.apply(X) if hasattr(model, "scaling_") else X
    values = rbf_kernel(rows, gamma=GAMMA)
    planes = planes_among(model, len(X))
    change = planes - planes_among(other, len(X))
    size = np.array([w @ values @ w for w in planes])
    # Kernel values are right to 3e-14.
    exact_to = 1e-13 * np.sum(np.abs(change), axis=1) ** 2
    return np.array([w @ values @ w for w in change]) / size, exact_to / size


def least_sq_errors(model, small):
    """|w - w'|^2 / |w|^2 of the nearest planes that the support vectors which stay allow, by least squares.

    As the ridge has it, every support vector has a direction of its own, of squared length 1e-9.
    """
    vectors = model.support_vectors_
    rows = model.scaling_.apply(vectors) if hasattr(model, "scaling_") else vectors
    sizes, directions = np.linalg.eigh(rbf_kernel(rows, gamma=GAMMA))
    features = directions * np.sqrt(np.maximum(sizes, 0.0))
    features = np.hstack([features, np.sqrt(1e-9) * np.eye(len(rows))])
    coef, stays = model._coefficients(), np.isin(model.support_, small.support_)
    planes = coef.planes() @ features
    left = planes.copy()
    for mine, points in coef.planes_by_support(np.arange(len(rows))):
        basis = features[points[stays[points]]].T
        left[mine] -= (basis @ np.linalg.lstsq(basis, planes[mine].T)[0]).T
    return np.sum(left**2, axis=1) / np.sum(planes**2, axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_error_reported_is_the_one_measured(kind):
    model, X = fitted(kind)
    n = len(model.support_) // 4
    small = model.compress(n)
    report = small.compression_
    assert report.n_support_before == len(model.support_)
    assert report.n_support_after == len(small.support_) == small.n_support_.sum() <= n
    measured, exact_to = sq_errors(model, small, X)
    assert np.all(np.abs(report.relative_errors**2 - measured) <= exact_to)
    assert np.all(exact_to < 1e-6)
    vectors = model.support_vectors_
    before, after = model._scores(vectors), small._scores(vectors)
    assert report.largest_change == pytest.approx(np.max(np.abs(before - after)), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_more_support_vectors_never_give_a_larger_error(kind):
    model, X = fitted(kind)
    n = len(model.support_)
    sizes = [1, 2, 5, n // 6, n // 3, n // 2, n - 1]
    found = [sq_errors(model, model.compress(n), X) for n in sizes]
    for (fewer, _), (more, exact_to) in pairwise(found):
        assert np.all(more <= fewer + 2 * exact_to + 1e-10)  # 1e-10: what the ridge costs


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "SVDD"])
def test_planes_are_the_nearest_that_the_support_vectors_which_stay_allow(kind):
    """To leave out even one can cost some per cent of |w|, if it is at its bound and far from the others."""
    model, X = fitted(kind)
    n = len(model.support_)
    for size in (2, n // 4, n // 2, n - 1):
        small = model.compress(size)
        measured, exact_to = sq_errors(model, small, X)
        least = least_sq_errors(model, small)
        # 1e-24: the rounding of planes that are left as they were
        assert np.all(measured <= 1.001 * least + 2 * exact_to + 1e-24)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_support_vectors_that_stay_do_not_change(kind):
    model, _ = fitted(kind)
    small = model.compress(len(model.support_) // 2)
    vectors = small.support_vectors_
    if kind.endswith("of pairs") or kind == "scaled SVC":  # those of its classes, in every plane
        ends = np.cumsum(small.n_support_)
        vectors, planes = vectors[: ends[1]], [0]
    else:
        planes = slice(None)
    np.testing.assert_allclose(
        small._scores(vectors)[:, planes], model._scores(vectors)[:, planes], atol=1e-6
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_machine_with_no_more_support_vectors_stays_as_it_is(kind):
    model, X = fitted(kind)
    same = model.compress(len(model.support_))
    assert same is not model
    np.testing.assert_array_equal(same._scores(X), model._scores(X))
    assert not np.any(same.compression_.relative_errors)
    assert same.compression_.largest_change == 0.0
    assert same.certificate_ == model.certificate_
    assert not hasattr(model, "compression_")


@pytest.mark.parametrize("kind", KINDS)
def test_no_support_vectors_but_copies_are_left_out_without_a_loss(kind):
    """Of rows that come twice one of each will do."""
    model, X = fitted(kind)
    twice = model.__class__(**model.get_params())
    if hasattr(model, "classes_"):
        y = np.repeat(model.predict(X), 2)
        twice.fit(np.repeat(X, 2, axis=0), y)
    elif kind.endswith("SVR"):
        twice.fit(
            np.repeat(X, 2, axis=0), np.repeat(model.predict(X) + 0.3 * np.cos(9 * X[:, 0]), 2)
        )
    else:
        twice.fit(np.repeat(X, 2, axis=0))
    n = len(np.unique(twice.support_vectors_, axis=0))
    assert n < len(twice.support_)
    assert np.max(twice.compress(n).compression_.relative_errors) < 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_a_compressed_machine_claims_no_certificate(kind):
    model, _ = fitted(kind)
    assert model.certificate_.is_certified
    small = model.compress(5)
    assert small.status_ == "compressed"
    assert small.fit_status_ == 1
    assert not small.certificate_.is_certified
    assert small.certificate_.dual == model.certificate_.dual
    assert "'compressed'" in str(small.certificate_)
    assert not any(one.is_certified for one in getattr(small, "certificates_", ()))
    assert model.certificate_.is_certified
    assert model.status_ == "optimal"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_keeps_the_compression(kind, tmp_path):
    model, X = fitted(kind)
    small = model.compress(7)
    hedgerow.save(small, tmp_path / "model.hedgerow")
    loaded = hedgerow.load(tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(loaded._scores(X), small._scores(X))
    assert str(loaded.compression_) == str(small.compression_)
    np.testing.assert_array_equal(
        loaded.compression_.relative_errors, small.compression_.relative_errors
    )


def test_a_ball_keeps_the_sum_of_its_coefficients_and_where_its_support_vectors_lie():
    model, _ = fitted("SVDD")
    small = model.compress(4)
    assert small.dual_coef_.sum() == pytest.approx(1.0, abs=1e-9)
    values = rbf_kernel(small.support_vectors_, gamma=GAMMA)
    centre = small.dual_coef_[0]
    assert small.sq_norm_ == pytest.approx(centre @ values @ centre, abs=1e-9)
    inside = small.radius_**2 - (1.0 - 2.0 * values @ centre + small.sq_norm_)
    np.testing.assert_allclose(small.decision_function(small.support_vectors_), inside, atol=1e-7)
    np.testing.assert_allclose(inside, model.decision_function(small.support_vectors_), atol=1e-7)


@pytest.mark.parametrize(
    "kernel", ["linear", "poly", "rbf", "cosine", "laplacian", lambda X, Y: (1 + X @ Y.T) ** 2]
)
def test_every_kernel_with_a_norm_can_be_compressed(kernel):
    X, y = blobs(100)
    model = SVC(kernel=kernel, coef0=1.0).fit(X, y)
    small = model.compress(12)
    assert len(small.support_) <= 12
    assert np.mean(small.predict(X) == model.predict(X)) > 0.9


def test_a_linear_plane_needs_no_more_support_vectors_than_features():
    X, y = blobs(100)
    small = SVC(kernel="linear").fit(X, y).compress(2)
    assert small.compression_.relative_errors[0] < 1e-6


def test_sparse_rows_are_compressed_as_dense_ones():
    X, y = three_classes()
    dense, sparse = (SVC(gamma=GAMMA).fit(rows, y).compress(20) for rows in (X, sp.csr_array(X)))
    assert sp.issparse(sparse.dual_coef_)
    assert sp.issparse(sparse.support_vectors_)
    np.testing.assert_array_equal(dense.support_, sparse.support_)
    np.testing.assert_allclose(dense.dual_coef_, sparse.dual_coef_.toarray(), rtol=1e-6)


def test_a_precomputed_kernel_is_compressed_with_its_table():
    X, y = three_classes()
    values = rbf_kernel(X, gamma=GAMMA)
    by_rows = SVC(gamma=GAMMA).fit(X, y).compress(20)
    model = SVC(kernel="precomputed").fit(values, y)
    by_table = model.compress(20, X=values)
    np.testing.assert_allclose(by_table._scores(values), by_rows._scores(X), atol=1e-6)
    with pytest.raises(UnavailableError, match="give the one that was fitted"):
        model.compress(20)
    with pytest.raises(DataError, match=r"shape \(10, 150\)"):
        model.compress(20, X=values[:10])


def test_the_number_of_threads_changes_no_bit():
    X, y = three_classes(400)
    one, two = (SVC(gamma=GAMMA, n_jobs=n).fit(X, y).compress(60) for n in (1, 2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


def test_a_new_fit_is_not_compressed_any_more():
    X, y = blobs(60)
    model = SVC().fit(X, y).compress(5).fit(X, y)
    assert not hasattr(model, "compression_")
    assert model.status_ == "optimal"


def test_a_kernel_without_a_norm_is_refused():
    X, y = blobs(60)
    model = SVC(kernel="sigmoid", gamma=0.1).fit(X, y)
    with pytest.raises(UnavailableError, match="not positive semi-definite"):
        model.compress(5)


@pytest.mark.parametrize("n_support", [0, -3, 2.5, "few", None, True])
def test_a_wrong_number_of_support_vectors_is_refused(n_support):
    X, y = blobs(60)
    with pytest.raises(ParameterError, match="n_support="):
        SVC().fit(X, y).compress(n_support)


def test_a_machine_that_is_not_fitted_is_not_compressed():
    with pytest.raises(NotFittedError, match="fit"):
        SVC().compress(5)


def test_a_fifth_of_the_support_vectors_tells_digits_nearly_as_well():
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 1200), slice(1200, None)
    model = SVC(gamma=0.001, C=10.0).fit(X[train], y[train])
    small = model.compress(len(model.support_) // 5)
    assert model.score(X[test], y[test]) - small.score(X[test], y[test]) < 0.02
