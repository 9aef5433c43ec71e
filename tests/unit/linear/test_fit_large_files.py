"""fit_files beyond what its sample holds: few passes, rare features, and alphas that need no memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from hedgerow import LinearSVC, LinearSVR, UnavailableError, load, save
from hedgerow.data.even_sample import EvenSample
from hedgerow.data.io import Block
from hedgerow.data.io.cache import BlockCache, FileVector
from hedgerow.data.rows import matrix_of

pytestmark = pytest.mark.long

N_ROWS, N_FEATURES = 20_000, 12
BLOCK = 20_000
"""Bytes of a block: some 60 blocks, of whose rows a sample holds a fifteenth."""
FEW = 10
"""Passes that are enough, where augmented Lagrangians by blocks took 30 and more."""


def many_rows():
    """Return rows whose last features are ever rarer, and the scores that their targets are made of."""
    random = np.random.default_rng(0)
    X = random.normal(size=(N_ROWS, N_FEATURES)).round(2)
    X[:, 4:] *= random.random((N_ROWS, 8)) < 0.5 ** np.arange(1, 16, 2)
    score = X @ np.linspace(-1, 2, N_FEATURES) + random.normal(size=N_ROWS)
    return X, score.round(2)


@pytest.fixture(scope="module")
def rows():
    return many_rows()


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    X, score = rows
    place = tmp_path_factory.mktemp("many")
    labels = np.where(score > 0, 1, -1)
    dump_svmlight_file(X, labels, str(place / "labels.svm"), zero_based=False)
    dump_svmlight_file(X, score, str(place / "values.svm"), zero_based=False)
    return place


INTERCEPTS = [{"fit_intercept": False}, {"intercept": "penalized"}, {"intercept": "free"}]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_sample_leaves_few_passes(rows, folder, loss, intercept, C):
    X, score = rows
    settings = {"loss": loss, "C": C, "random_state": 0, **intercept}
    streamed = LinearSVC(**settings).fit_files(folder / "labels.svm", block_bytes=BLOCK)
    whole = LinearSVC(**settings, tol=1e-7).fit(X, np.where(score > 0, 1, -1))
    found, best = streamed.certificate_, whole.certificate_
    assert found.is_certified
    assert streamed.n_iter_ <= FEW
    # Each bound holds whatever the other fit did, to the rounding of a sum in another order.
    assert found.dual <= best.primal * (1 + 1e-9)
    assert best.dual <= found.primal * (1 + 1e-9)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_a_sample_leaves_few_passes_for_values_too(rows, folder, loss, intercept):
    X, score = rows
    settings = {"loss": loss, "C": 0.1, "epsilon": 0.1, "random_state": 0, **intercept}
    streamed = LinearSVR(**settings).fit_files(folder / "values.svm", block_bytes=BLOCK)
    found, best = streamed.certificate_, LinearSVR(**settings).fit(X, score).certificate_
    assert found.is_certified
    assert streamed.n_iter_ <= FEW
    assert found.dual <= best.primal * (1 + 1e-9)
    assert best.dual <= found.primal * (1 + 1e-9)


@pytest.mark.parametrize("solver", ["auto", "dual_coordinate_descent"])
def test_alphas_that_take_many_blocks_are_not_kept(folder, tmp_path, solver):
    model = LinearSVC(loss="hinge", solver=solver, C=0.001, random_state=0)
    small = model.fit_files(folder / "labels.svm", block_bytes=BLOCK)
    assert small.alpha_.shape == (1, N_ROWS)  # 8 blocks of 20 kB hold them
    kept = small.coef_
    large = model.fit_files(folder / "labels.svm", block_bytes=BLOCK - 1000)
    assert not hasattr(large, "alpha_")
    assert large.certificate_.is_certified
    assert np.allclose(large.coef_, kept, rtol=0.05, atol=0.02)  # a gap of 1e-4 leaves w some room
    with pytest.raises(UnavailableError, match="kept no alpha_"):
        large.point_groups()
    save(large, tmp_path / "model.hedgerow")
    assert np.array_equal(load(tmp_path / "model.hedgerow").coef_, large.coef_)


def test_neither_threads_nor_the_copy_change_a_bit(folder):
    model = LinearSVC(loss="hinge", C=0.01, random_state=0, n_jobs=1)
    path = folder / "labels.svm"
    one = model.fit_files(path, block_bytes=BLOCK).coef_
    assert np.array_equal(model.fit_files(path, block_bytes=BLOCK, cache=False).coef_, one)
    assert np.array_equal(model.set_params(n_jobs=2).fit_files(path, block_bytes=BLOCK).coef_, one)


def _sampled(X, n_bytes):
    """Return the sample of rows that come in blocks of 500."""
    sample = EvenSample(n_bytes, N_FEATURES, seed=0)
    for begin in range(0, len(X), 500):
        part = np.ascontiguousarray(X[begin : begin + 500])
        sample.add(matrix_of(part), np.arange(begin, begin + len(part)), None)
    return sample.close(0, X.shape[1])


def test_a_sample_has_about_as_many_rows_of_every_feature(rows):
    X, _ = rows
    found = _sampled(X, 12 * 8 * 2000)
    assert len(found.labels) <= 2000
    counts, totals = np.count_nonzero(X[found.labels], axis=0), np.count_nonzero(X, axis=0)
    rare = totals < 100
    assert rare.any()
    assert np.array_equal(counts[rare], totals[rare])  # all of their rows are there
    assert np.all(found.stands_for[X[found.labels][:, rare].any(axis=1)] == 1.0)
    # What the rows stand for adds up to all rows, but for the spread of some 1000 draws: 3 %, thrice.
    assert np.sum(found.stands_for) == pytest.approx(len(X), rel=0.1)


def test_a_sample_with_room_is_all_rows(rows):
    X, _ = rows
    found = _sampled(X[:1500], 12 * 8 * 2000)
    assert np.array_equal(found.labels, np.arange(1500))
    assert np.all(found.stands_for == 1.0)
    assert found.is_whole
    assert not _sampled(X[:3000], 12 * 8 * 2000).is_whole


def test_a_copy_gives_back_what_was_put_in(tmp_path):
    random = np.random.default_rng(0)
    for values in (random.normal(size=5), np.array([0.5, 1.0, -2.0, 3.0, 0.0])):
        indices, bounds = np.array([1, 70_000, 2, 3, 4], np.int32), np.array([0, 2, 5], np.int32)
        block = Block((values, indices, bounds), np.array([-1, 1]), 17, np.array([0.1, 2.0]))
        cache = BlockCache(tmp_path / "copy")
        cache.add(block)
        cache.add(block)
        for found in cache.blocks():
            for ours, theirs in zip(found.parts, block.parts, strict=True):
                assert ours.dtype == theirs.dtype
                assert np.array_equal(ours, theirs)
            assert found.labels.tolist() == [-1, 1]
            assert found.weights.tolist() == [0.1, 2.0]
            assert found.n_bytes == 17


def test_numbers_in_a_file_are_those_of_an_array(tmp_path):
    numbers, array = FileVector(tmp_path / "numbers", 1000), np.zeros(1000)
    for begin, end in ((0, 10), (990, 1000), (5, 700)):
        numbers[begin:end] = array[begin:end] = np.arange(begin, end) / 3.0
    assert np.array_equal(numbers[0:1000], array)
    assert np.array_equal(numbers[600:800], array[600:800])
    numbers.close()
