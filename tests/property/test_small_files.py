"""Small files: a fit to a file is the fit to the same rows in memory, whatever they are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hedgerow import DataError, LinearSVC, LinearSVR, NotCertifiedWarning

INTERCEPTS = [{"fit_intercept": False}, {"intercept": "penalized"}, {"intercept": "free"}]


def random_rows(random):
    """Return 2 to 60 rows, some with a constant column, repeated rows or many zeros, and targets."""
    n_rows, n_features = int(random.integers(2, 61)), int(random.integers(1, 5))
    X = random.normal(size=(n_rows, n_features)).round(2)
    if random.random() < 0.3:
        X[:, random.integers(n_features)] = random.choice([0.0, 1.0, 3.0])
    if random.random() < 0.3:
        X = X[random.integers(n_rows, size=n_rows)]
    if random.random() < 0.3:
        X *= random.random(X.shape) < 0.3
    values = (X @ random.normal(size=n_features) + random.normal(size=n_rows)).round(2)
    weights = random.integers(0, 4, size=n_rows).astype(float) if random.random() < 0.4 else None
    return X, values, weights


def random_model(random):
    """Return a machine with random parameters, and whether it is a classifier."""
    common = {"C": float(10 ** random.uniform(-3, 3)), "random_state": 0}
    common |= INTERCEPTS[random.integers(3)]
    if random.random() < 0.5:
        loss = ["hinge", "squared_hinge", "logistic"][random.integers(3)]
        return LinearSVC(loss=loss, **common), True
    loss = ["epsilon_insensitive", "squared_epsilon_insensitive"][random.integers(2)]
    return LinearSVR(loss=loss, epsilon=float(random.choice([0.0, 0.1])), **common), False


def random_task(seed, path):
    """Write a file of random rows; return a model and what its fits take."""
    random = np.random.default_rng(seed)
    X, values, weights = random_rows(random)
    model, is_classifier = random_model(random)
    n_classes = int(random.integers(2, 4))
    y = np.arange(len(X)) % n_classes if is_classifier else values
    np.savetxt(path, np.c_[X, y], delimiter=",", fmt="%.10g")
    return model, X, y, weights


def certificates_of(model):
    return getattr(model, "certificates_", (model.certificate_,))


def fitted(fit):
    """Return the model, or the error of a fit that has too little to learn from."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            return fit()
    except DataError as error:
        return error


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_a_small_file_gives_the_model_of_memory(tmp_path, first):
    path = tmp_path / "rows.csv"
    for seed in range(first, first + 40):
        model, X, y, weights = random_task(seed, path)
        whole = fitted(lambda: type(model)(**model.get_params()).fit(X, y, weights))  # noqa: B023
        found = fitted(lambda: model.fit_files(path, format="csv", sample_weight=weights))  # noqa: B023
        if isinstance(whole, DataError):
            assert type(found) is type(whole), seed
            continue
        assert whole.certificate_.is_certified, seed
        assert found.certificate_.is_certified, seed
        assert found.solver_ == whole.solver_
        scale = 1.0 + np.max(np.abs(whole.coef_))
        assert np.max(np.abs(found.coef_ - whole.coef_)) < 1e-9 * scale, seed
        assert np.max(np.abs(found.intercept_ - whole.intercept_)) < 1e-9 * scale, seed
        assert found.alpha_.shape == whole.alpha_.shape


@pytest.mark.parametrize("seed", range(24))
def test_blocks_of_a_few_rows_raise_nothing_and_prove_nothing_false(tmp_path, seed):
    path = tmp_path / "rows.csv"
    model, X, y, weights = random_task(seed, path)
    whole = fitted(lambda: type(model)(**model.get_params()).fit(X, y, weights))
    found = fitted(
        lambda: model.fit_files(path, format="csv", sample_weight=weights, block_bytes=64)
    )
    if isinstance(whole, DataError):
        assert type(found) is type(whole)
        return
    for ours, theirs in zip(certificates_of(found), certificates_of(whole), strict=True):
        # Each bound holds whatever the other fit did, to the rounding of a sum in another order.
        assert ours.dual <= theirs.primal * (1 + 1e-9) + 1e-12
        assert theirs.dual <= ours.primal * (1 + 1e-9) + 1e-12
