"""A solver of rows in blocks sees only RowBlocks, whoever makes them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from hedgerow import LinearProblem, Settings, Solution, certify
from hedgerow.data.blocks import MemoryBlocks, RowBlock, survey
from hedgerow.data.rows import matrix_of
from hedgerow.losses import loss_by_name
from hedgerow.solvers.streamed.solve import most_sampled_features, solve_blocks
from hedgerow.solvers.streamed.task import StreamedTask

N_BLOCKS, HEIGHT, N_FEATURES = 8, 500, 6
COST = 0.05


class GeneratedBlocks:
    """Rows that exist only while they are read: block k comes from seed k."""

    n_rows, n_features, n_bytes = N_BLOCKS * HEIGHT, N_FEATURES, N_BLOCKS
    n_passes = 0

    def blocks(self):
        self.n_passes += 1
        for k in range(N_BLOCKS):
            rows = slice(k * HEIGHT, (k + 1) * HEIGHT)
            yield RowBlock(rows, matrix_of(generated(k)[0]), generated(k)[1])


def generated(k):
    random = np.random.default_rng(k)
    X = random.normal(size=(HEIGHT, N_FEATURES))
    return X, np.where(X[:, 0] - X[:, 1] + random.normal(size=HEIGHT) > 0.5, 1.0, -1.0)


def in_memory():
    X, y = zip(*map(generated, range(N_BLOCKS)), strict=True)
    return np.concatenate(X), np.concatenate(y)


def arrays(k, targets):
    return {"y": targets, "weight": np.full(len(targets), COST)}


def fitted(rows, loss, solver):
    """Return a fit that starts from a sample of about a tenth of the rows."""
    found = survey(rows, 20_000, most_sampled_features(solver))
    problem = partial(LinearProblem, intercept="free")
    weight = np.array([COST])
    task = StreamedTask(rows, found, 1, loss_by_name(loss), arrays, problem, weight)
    return solve_blocks(task, Settings(1e-4, 1000, 0), solver)


@pytest.mark.parametrize("solver", ["auto", "dual_coordinate_descent"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_generated_blocks_are_certified_as_rows_in_memory_are(loss, solver):
    rows = GeneratedBlocks()
    fit = fitted(rows, loss, solver)
    (certificate,) = fit.certificates
    assert fit.status == "optimal"
    assert certificate.is_certified
    assert rows.n_passes >= fit.n_iter + 2  # one for the survey and one for the certificate

    X, y = in_memory()
    same = fitted(MemoryBlocks(X, y, block_rows=HEIGHT), loss, solver)
    assert_array_equal(same.w, fit.w)
    assert same.certificates == fit.certificates

    loss = loss_by_name(loss)
    problem = LinearProblem(matrix_of(X), loss=loss, intercept="free", **arrays(0, y))
    solution = Solution(fit.w[0], fit.intercepts[0], fit.alpha[0], fit.status, fit.n_iter, solver)
    whole = certify(problem, solution, 1e-4)
    assert whole.is_certified
    assert certificate.primal == pytest.approx(whole.primal, rel=1e-12)
    # Rows in blocks can be balanced only by a factor, which the dual of all rows together is not below.
    assert certificate.dual <= whole.dual + 1e-12 * whole.primal
    assert certificate.dual == pytest.approx(whole.dual, rel=1e-4)


def test_the_size_of_blocks_in_memory_changes_no_more_than_the_tolerance():
    X, y = in_memory()
    one, many = (fitted(MemoryBlocks(X, y, block_rows=n), "hinge", "auto") for n in (4000, 300))
    assert many.certificates[0].is_certified
    assert one.certificates[0].primal == pytest.approx(many.certificates[0].primal, rel=1e-4)


def test_blocks_in_memory_cover_all_rows_and_weights_once_a_pass():
    X, y = in_memory()
    weights = np.arange(len(y), dtype=float)
    rows = MemoryBlocks(X, y, weights, block_rows=700)
    for _ in range(2):
        blocks = list(rows.blocks())
        assert [block.rows.start for block in blocks] == list(range(0, 4000, 700))
        assert_array_equal(np.concatenate([block.weights for block in blocks]), weights)
        assert_array_equal(np.concatenate([block.targets for block in blocks]), y)
        assert sum(block.n_bytes for block in blocks) == rows.n_bytes


def test_a_survey_finds_the_mean_squared_norm_and_all_rows_that_fit():
    X, y = in_memory()
    found = survey(MemoryBlocks(X, y, block_rows=HEIGHT), X.nbytes, 0)
    assert found.mean_sq_norm == pytest.approx(np.mean(np.sum(X**2, axis=1)))
    assert found.sample.is_whole
    assert_array_equal(found.sample.labels, y)
    assert survey(MemoryBlocks(X, y, block_rows=HEIGHT), X.nbytes // 2, 0).sample is None
