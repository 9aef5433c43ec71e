"""The bootstrap: SciPy and slow obvious callables are its judges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats
from scipy.stats import ks_2samp
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

import hedgerow
from hedgerow.errors import DataError, ParameterError, StoppedError
from hedgerow.resampling.bootstrapping import bootstrap


@pytest.fixture(scope="module")
def pair():
    generator = np.random.default_rng(0)
    x = generator.exponential(size=80).round(1)
    return x, x + generator.normal(size=80)


def gini_by_definition(x):
    return np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())


def coefficients(X, y):
    model = LinearRegression().fit(X, y)
    return np.append(model.intercept_, model.coef_)


OF_ONE = {
    "mean": np.mean,
    "median": np.median,
    ("quantile", 0.9): lambda x: np.quantile(x, 0.9),
    ("quantile", 0): np.min,
    "gini_coefficient": gini_by_definition,
}
OF_PAIRS = {
    "ratio": lambda x, y: x.sum() / y.sum(),
    "correlation": lambda x, y: np.corrcoef(x, y)[0, 1],
    "regression": lambda x, y: coefficients(x[:, None], y),
}


@pytest.mark.parametrize("name", OF_ONE, ids=str)
@pytest.mark.parametrize("groups", [None, np.arange(80) // 3])
def test_a_named_statistic_is_its_definition_on_the_same_resamples(name, groups, pair):
    options = {"n_resamples": 300, "random_state": 4, "method": "percentile", "groups": groups}
    fast = bootstrap(pair[0], name, **options)
    slow = bootstrap(pair[0], OF_ONE[name], vectorized=False, **options)
    # Both are sums of some 80 numbers in double precision.
    np.testing.assert_allclose(
        fast.bootstrap_distribution, slow.bootstrap_distribution, rtol=1e-11, atol=1e-12
    )
    assert fast.estimate == pytest.approx(slow.estimate, rel=1e-12)


@pytest.mark.parametrize("name", OF_PAIRS)
def test_a_named_statistic_of_two_columns_is_its_definition(name, pair):
    options = {"n_resamples": 300, "random_state": 4, "method": "percentile"}
    fast = bootstrap(pair, name, **options)
    slow = bootstrap(pair, OF_PAIRS[name], paired=True, **options)
    # The normal equations lose the square of a condition number of about 3.
    np.testing.assert_allclose(fast.bootstrap_distribution, slow.bootstrap_distribution, rtol=1e-10)


@pytest.mark.parametrize("decimals", [0, 9], ids=["ties", "no ties"])
def test_the_auc_is_scikit_learns(pair, decimals):
    x, score = pair[0] > 1, pair[1].round(decimals)
    options = {"n_resamples": 200, "random_state": 0, "method": "basic", "strata": x}
    fast = bootstrap((x, score), "auc", **options)
    slow = bootstrap((x, score), roc_auc_score, paired=True, **options)
    np.testing.assert_allclose(fast.bootstrap_distribution, slow.bootstrap_distribution, rtol=1e-12)
    gini = bootstrap((x, score), "gini_of_scores", **options)
    np.testing.assert_allclose(
        gini.bootstrap_distribution, 2 * fast.bootstrap_distribution - 1, rtol=1e-12
    )


def test_regression_takes_several_features_of_different_scales(pair):
    X = np.column_stack([1e4 + 100 * pair[0], np.random.default_rng(1).normal(size=80)])
    options = {"n_resamples": 100, "random_state": 0, "method": "percentile"}
    fast = bootstrap((X, pair[1]), "regression", **options)
    slow = bootstrap((X, pair[1]), coefficients, paired=True, **options)
    assert fast.bootstrap_distribution.shape == (3, 100)
    # The intercept is a difference of numbers some 100 times its size.
    np.testing.assert_allclose(fast.bootstrap_distribution, slow.bootstrap_distribution, rtol=1e-8)


def test_the_standard_error_of_a_mean_is_the_closed_form(pair):
    x = pair[0]
    result = bootstrap(x, "mean", n_resamples=50_000, random_state=0)
    # A standard deviation over 50 000 resamples has a relative error of 0.3 %; five of them.
    assert result.standard_error == pytest.approx(x.std() / np.sqrt(len(x)), rel=0.016)
    assert abs(result.bias) < 5 * result.standard_error / np.sqrt(50_000)


@pytest.mark.parametrize("statistic", ["mean", "median", "correlation"])
def test_the_distribution_is_that_of_scipys_bootstrap(statistic, pair):
    of_pairs = statistic == "correlation"
    data = pair if of_pairs else (pair[0],)
    function = {"mean": np.mean, "median": np.median, "correlation": OF_PAIRS["correlation"]}
    ours = bootstrap(data, statistic, n_resamples=4000, random_state=1)
    theirs = scipy.stats.bootstrap(
        data,
        function[statistic],
        n_resamples=4000,
        paired=of_pairs,
        vectorized=not of_pairs,
        rng=np.random.default_rng(2),
    )
    same = ks_2samp(ours.bootstrap_distribution, theirs.bootstrap_distribution, method="asymp")
    assert same.pvalue > 1e-3
    # Interval ends of 4000 resamples scatter by some 3 % of the standard error, six of those; a
    # median of values rounded to tenths moves in steps of 0.05.
    step = 0.0501 if statistic == "median" else 0
    for mine, other in zip(ours.confidence_interval, theirs.confidence_interval, strict=True):
        assert mine == pytest.approx(other, abs=0.2 * ours.standard_error + step)


@pytest.mark.parametrize("method", ["BCa", "percentile", "basic"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_the_interval_of_a_distribution_is_scipys(method, alternative, pair):
    options = {"method": method, "alternative": alternative, "confidence_level": 0.9}
    ours = bootstrap(pair[0], "mean", random_state=3, **options)
    theirs = scipy.stats.bootstrap(
        (pair[0],), np.mean, n_resamples=0, bootstrap_result=ours, **options
    )
    # The same resamples give the same interval to rounding.
    assert ours.confidence_interval.low == pytest.approx(theirs.confidence_interval.low, rel=1e-10)
    assert ours.confidence_interval.high == pytest.approx(
        theirs.confidence_interval.high, rel=1e-10
    )
    assert ours.standard_error == pytest.approx(theirs.standard_error, rel=1e-10)


def test_independent_samples_are_drawn_apart_as_in_scipy(pair):
    def difference(x, y, axis=-1):
        return x.mean(axis=axis) - y.mean(axis=axis)

    data = (pair[0], pair[1][:31])
    ours = bootstrap(data, difference, random_state=3)
    theirs = scipy.stats.bootstrap(data, difference, n_resamples=0, bootstrap_result=ours)
    np.testing.assert_allclose(ours.confidence_interval, theirs.confidence_interval, rtol=1e-10)
    variances = [x.var() / len(x) for x in data]
    # 9999 resamples: a relative error of 0.7 %; four of them.
    assert ours.standard_error == pytest.approx(np.sqrt(sum(variances)), rel=0.03)


def test_the_acceleration_of_many_rows_is_that_of_leaving_out_each():
    x = np.random.default_rng(5).exponential(size=6000)
    ours = bootstrap(x, "mean", n_resamples=2000, random_state=0)
    theirs = scipy.stats.bootstrap(
        (x,), np.mean, n_resamples=0, bootstrap_result=ours, vectorized=True, batch=200
    )
    # Groups estimate the acceleration to 0.4 / 2000, which moves an end by a thousandth of the
    # standard error; the gaps between the resamples' order statistics add to that.
    for mine, other in zip(ours.confidence_interval, theirs.confidence_interval, strict=True):
        assert mine == pytest.approx(other, abs=0.02 * ours.standard_error)


def test_studentized_intervals_are_by_the_textbook(pair):
    x = pair[0]
    result = bootstrap(x, "mean", method="studentised", random_state=1, n_resamples=2000)
    by_call = bootstrap(
        x,
        np.mean,
        method="studentized",
        standard_error=lambda x, axis: x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis]),
        random_state=1,
        n_resamples=2000,
    )
    np.testing.assert_allclose(result.confidence_interval, by_call.confidence_interval, rtol=1e-9)
    assert result.method == by_call.method == "studentized"
    nested = bootstrap(
        x, lambda x: x.mean(), method="studentized", random_state=1, n_resamples=1000
    )
    # Fifty nested resamples know the standard error to 10 %, which widens the interval a little.
    assert nested.confidence_interval.low == pytest.approx(
        result.confidence_interval.low, abs=0.4 * result.standard_error
    )
    assert nested.confidence_interval.high == pytest.approx(
        result.confidence_interval.high, abs=0.6 * result.standard_error
    )


def test_the_standard_error_of_a_ratio_is_that_of_its_resamples(pair):
    result = bootstrap(pair, "ratio", method="studentized", random_state=1)
    plain = bootstrap(pair, "ratio", method="BCa", random_state=1)
    np.testing.assert_allclose(
        result.confidence_interval, plain.confidence_interval, atol=0.5 * result.standard_error
    )


@pytest.mark.parametrize("n_jobs", [2, 5])
@pytest.mark.parametrize("method", ["BCa", "studentized"])
def test_any_number_of_threads_gives_the_same_bits(pair, n_jobs, method):
    for data, statistic in ((pair[0], "median"), (pair, "regression"), (pair, "ratio")):
        one, many = (
            bootstrap(data, statistic, method=method, n_resamples=2500, random_state=8, n_jobs=jobs)
            for jobs in (1, n_jobs)
        )
        assert one.bootstrap_distribution.tobytes() == many.bootstrap_distribution.tobytes()
        for mine, other in zip(one.confidence_interval, many.confidence_interval, strict=True):
            assert np.asarray(mine).tobytes() == np.asarray(other).tobytes()


def test_the_same_seed_gives_the_same_result_and_another_seed_another(pair):
    first, again, other = (
        bootstrap(pair[0], "mean", random_state=seed).confidence_interval for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_group_of_equal_rows_counts_as_one_observation():
    x = np.random.default_rng(2).normal(size=40)
    once = bootstrap(x, "mean", random_state=0)
    repeated = bootstrap(
        np.repeat(x, 5), "mean", groups=np.repeat(np.arange(40), 5), random_state=0
    )
    # Two times 9999 resamples: a relative error of 1 %; four of them.
    assert repeated.standard_error == pytest.approx(once.standard_error, rel=0.04)
    np.testing.assert_allclose(
        repeated.confidence_interval, once.confidence_interval, atol=0.2 * once.standard_error
    )


def test_strata_take_out_the_variance_between_them():
    label = np.repeat([0, 1], 50)
    x = np.random.default_rng(2).normal(size=100) + 10 * label
    result = bootstrap(x, "mean", strata=label, random_state=0)
    within = np.sqrt(sum(x[label == k].var() * 50 for k in (0, 1))) / 100
    assert result.standard_error == pytest.approx(within, rel=0.03)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_and_series_are_samples(frame, pair):
    table = frame({"x": pair[0], "y": pair[1]})
    options = {"n_resamples": 200, "random_state": 0}
    named = bootstrap(table, "correlation", **options)
    called = bootstrap(table, lambda t: np.corrcoef(t["x"], t["y"])[0, 1], **options)
    series = bootstrap((table["x"], table["y"]), "correlation", **options)
    arrays = bootstrap(pair, "correlation", **options)
    assert named.confidence_interval == series.confidence_interval == arrays.confidence_interval
    np.testing.assert_allclose(called.confidence_interval, arrays.confidence_interval, rtol=1e-10)


def test_the_columns_of_a_table_have_an_interval_each(pair):
    table = np.column_stack(pair)
    together = bootstrap(table, "mean", random_state=0)
    by_axis = bootstrap(table.T, np.mean, axis=1, random_state=0)
    alone = bootstrap(pair[1], "mean", random_state=0)
    assert together.bootstrap_distribution.shape == (2, 9999)
    assert together.confidence_interval.low[1] == pytest.approx(alone.confidence_interval.low)
    # Not the BCa ends: values of one digit have resamples whose mean is that of the data, and
    # rounding decides on which side of it they are counted.
    np.testing.assert_allclose(
        together.bootstrap_distribution, by_axis.bootstrap_distribution, rtol=1e-10
    )
    median = bootstrap(table, "median", n_resamples=100, random_state=0)
    assert median.estimate == pytest.approx(np.median(table, axis=0))


def test_a_result_reads_as_a_sentence(pair):
    text = str(bootstrap(pair[0], "mean", random_state=0, n_resamples=100))
    assert "95 % BCa interval" in text
    assert "from 100 resamples" in text
    assert len(str(bootstrap(pair, "regression", random_state=0)).splitlines()) == 3


@pytest.mark.parametrize(
    ("data", "statistic", "options", "sentence"),
    [
        (np.ones(20), "mean", {}, "every resample gives 1"),
        ([1.0, np.nan, 2.0], "mean", {}, "sample 0 holds nan at row 1"),
        ([1.0, 2.0, 3.0], lambda x: x.sum() * np.nan, {}, "the statistic of the data is nan"),
        ([0, 0, 0, 0, 1], lambda x: 1 / x.max(), {"method": "basic"}, "undefined in .* resamples"),
        (([0, 0, 0, 0, 1], [1, 2, 3, 4, 5]), "auc", {}, "keep class sizes with strata="),
        (([0, 0, 0], [1, 2, 3]), "auc", {}, "1 distinct value"),
        (([1, 2, 3], [1, 2]), "correlation", {}, "paired samples have 3, 2 rows"),
        (np.ones((5, 3)), "ratio", {}, "takes two columns"),
        ([1.0], "mean", {}, "sample 0 has 1 row"),
        ((), "mean", {}, "empty tuple"),
        (3.0, "mean", {}, "no axis 0"),
        (["a", "b"], "mean", {}, "is not numeric"),
        ([1.0, 2.0, 3.0], lambda x: f"{len(x)} rows", {}, "returned '3 rows'"),
        ([1.0, 2.0, 3.0], np.unique, {"vectorized": False}, "the same shape"),
        ([-1.0, 2.0, 3.0], "gini_coefficient", {}, "non-negative"),
        (([[1, 2], [1, 3], [1, 4]], [1, 2, 4]), "regression", {}, "column 0 of X is constant"),
        (np.arange(40.0), lambda x: np.unique(x).sum(), {}, "on one side of the estimate"),
    ],
)
def test_what_cannot_be_computed_is_said_in_a_sentence(data, statistic, options, sentence):
    with pytest.raises(DataError, match=sentence):
        bootstrap(data, statistic, random_state=0, n_resamples=400, **options)


@pytest.mark.parametrize(
    ("statistic", "options", "sentence"),
    [
        ("mean", {"method": "bootstrap-t"}, "method='bootstrap-t' is not known"),
        ("mean", {"n_resamples": 1}, "n_resamples=1 is not allowed"),
        ("mean", {"confidence_level": 95}, "confidence_level=95 is not between 0 and 1"),
        ("mean", {"alternative": "both"}, "alternative='both' is not allowed"),
        ("mean", {"n_jobs": 0}, "n_jobs=0"),
        ("mean", {"random_state": "x"}, "random_state='x' is no seed"),
        ("gini", {}, "gini_of_scores"),
        ("average", {}, "not a known name"),
        (("quantile", 2), {}, "between 0 and 1"),
        (3, {}, "neither a name nor a callable"),
        ("correlation", {"paired": False}, "belong together"),
    ],
)
def test_odd_parameters_are_refused(statistic, options, sentence, pair):
    with pytest.raises(ParameterError, match=sentence):
        bootstrap(pair[0], statistic, **options)


def test_strata_of_independent_samples_are_refused(pair):
    with pytest.raises(ParameterError, match="independent samples"):
        bootstrap(pair, lambda x, y: x.mean() - y.mean(), strata=np.arange(80))


def test_a_bootstrap_tells_how_far_it_is_and_can_be_stopped():
    sample = np.random.default_rng(0).normal(size=5000)
    events = []
    with hedgerow.watch(events.append):
        bootstrap(sample, "mean", n_resamples=2000, random_state=0)
    assert events[-1].path == ("bootstrap",)
    assert events[-1].done == events[-1].total > 1
    with pytest.raises(StoppedError, match="was stopped"), hedgerow.watch(lambda _: True):
        bootstrap(sample, "mean", n_resamples=2000, random_state=0)
    with pytest.raises(StoppedError, match="time_limit"), hedgerow.watch(max_time=1e-6):
        bootstrap(sample, "mean", n_resamples=2000, random_state=0)
