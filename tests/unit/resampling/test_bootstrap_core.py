"""Statistics computed from counts in the core, against the drawn rows themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from hedgerow import _core
from hedgerow.resampling.statistics import Auc, sorted_rows

pytestmark = pytest.mark.sanitize

SIZES = [1, 2, 31, 512, 1100]


def resamples(n_rows, n_resamples=9):
    return _core.resample.multinomial_counts(4, 0, n_rows, n_resamples)


def column(n_rows, seed=0):
    """Values of one digit, so that many are equal."""
    return np.random.default_rng(seed).exponential(size=n_rows).round(1) + 0.1


@pytest.mark.parametrize("n_rows", SIZES)
def test_drawn_rows_are_as_many_copies_of_each_row_as_it_is_drawn(n_rows):
    counts = resamples(n_rows)
    counts[0] = 255
    expected = [np.repeat(np.arange(n_rows), row) for row in counts]
    assert np.array_equal(_core.resample.drawn_rows(counts), np.concatenate(expected))
    assert np.array_equal(_core.resample.count_sizes(counts), [len(rows) for rows in expected])


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("n_columns", [1, 2, 3, 4, 6])
def test_sums_are_products_of_the_counts_with_the_columns(n_rows, n_columns):
    counts = resamples(n_rows)
    columns = np.random.default_rng(1).normal(size=(n_columns, n_rows))
    # Two orders of adding at most 1100 terms of size one.
    np.testing.assert_allclose(
        _core.resample.count_sums(counts, columns), counts.astype(float) @ columns.T, atol=1e-10
    )


@pytest.mark.parametrize("n_rows", SIZES)
@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 0.875, 1.0])
def test_quantiles_are_numpys(n_rows, probability):
    counts, x = resamples(n_rows), column(n_rows)
    expected = [np.quantile(np.repeat(x, row), probability) for row in counts]
    quantiles = _core.resample.count_quantiles(counts, *sorted_rows(x), probability)
    # NumPy interpolates from the nearer end, which rounds in another way.
    np.testing.assert_allclose(quantiles, expected, rtol=1e-14)


@pytest.mark.parametrize("n_rows", SIZES)
def test_gini_coefficients_are_mean_differences(n_rows):
    counts, x = resamples(n_rows), column(n_rows)
    differences = np.abs(x[:, None] - x[None, :])
    weights = counts.astype(float)
    expected = np.einsum("ri,ij,rj->r", weights, differences, weights) / (2 * n_rows * weights @ x)
    coefficients = _core.resample.count_gini_coefficients(counts, *sorted_rows(x))
    np.testing.assert_allclose(coefficients, expected, atol=1e-12)


def test_a_gini_coefficient_keeps_its_digits_beside_one_huge_value():
    x = np.append(np.ones(99), 1e9)
    counts = np.ones((2, 100), dtype=np.uint8)
    counts[1, -1] = 0
    whole, without = _core.resample.count_gini_coefficients(counts, *sorted_rows(x))
    # All but one have nothing: 1 - 1 / n, less what little the others have.
    assert whole == pytest.approx(0.99 - 99e-9, rel=1e-12)
    assert without == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("n_rows", [8, 31, 512])
@pytest.mark.parametrize("decimals", [0, 8], ids=["ties", "no ties"])
def test_the_auc_is_scikit_learns_of_the_drawn_rows(n_rows, decimals):
    generator = np.random.default_rng(2)
    score = generator.normal(size=n_rows).round(decimals)
    y = np.arange(n_rows) % 3 == 0
    counts = np.maximum(resamples(n_rows), 1)  # both classes are there
    expected = [roc_auc_score(np.repeat(y, row), np.repeat(score, row)) for row in counts]
    np.testing.assert_allclose(Auc(y, score, gini=False)(counts), expected, rtol=1e-12)


def test_a_resample_does_not_see_its_neighbours():
    n_rows = 1100
    counts, order_and_values = resamples(n_rows), sorted_rows(column(n_rows))
    columns = np.stack([column(n_rows, seed) for seed in range(6)])
    auc = Auc(column(n_rows) > 1, column(n_rows, 1), gini=False)
    for statistic in (
        lambda counts: _core.resample.count_sums(counts, columns),
        lambda counts: _core.resample.count_quantiles(counts, *order_and_values, 0.3),
        lambda counts: _core.resample.count_gini_coefficients(counts, *order_and_values),
        auc,
    ):
        together = statistic(counts)
        alone = np.concatenate([statistic(counts[r : r + 1]) for r in range(len(counts))])
        assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: _core.resample.multinomial_counts(0, 0, 0, 1), "size is 0"),
        (lambda: _core.resample.drawn_rows(np.empty((2, 0), np.uint8)), "counts has no columns"),
        (
            lambda: _core.resample.count_sums(np.ones((2, 3), np.uint8), np.ones((1, 4))),
            "has 4 values",
        ),
        (lambda: quantiles_of_three([0, 1]), "order has 2 values"),
        (lambda: quantiles_of_three([0, 1, 3]), "order goes from 0 to 3"),
        (lambda: quantiles_of_three([-1, 1, 2]), "order goes from -1 to 2"),
        (lambda: quantiles_of_three([0, 1, 2], 1.5), "probability is 1.5"),
        (lambda: quantiles_of_three([0, 1, 2], np.nan), "probability is"),
    ],
)
def test_what_does_not_fit_is_a_value_error(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def quantiles_of_three(order, probability=0.5):
    counts = np.ones((1, 3), np.uint8)
    return _core.resample.count_quantiles(counts, np.array(order), np.arange(3.0), probability)


def test_an_order_that_repeats_a_row_is_not_read_past_its_end():
    counts = np.array([[1, 9, 1]], dtype=np.uint8)
    values = np.arange(3.0)
    found = _core.resample.count_quantiles(counts, np.zeros(3, dtype=np.int64), values, 1.0)
    assert found[0] in values
