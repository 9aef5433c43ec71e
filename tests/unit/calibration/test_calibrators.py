"""Scores to probabilities: against scikit-learn, and against what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from hedgerow import ScoreCalibrator, load, save
from hedgerow.calibrators.maps import METHODS, fit_maps
from hedgerow.errors import DataError, ParameterError

BOTH = pytest.mark.parametrize("method", METHODS)


def noisy(n=400, seed=0, slope=2.0):
    """Return scores, labels drawn by a sigmoid of them, and weights."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=n)
    y = (random.random(n) < expit(slope * scores - 0.5)).astype(int)
    return scores, y, random.integers(0, 4, size=n).astype(float)


def platt_targets(y, weight):
    positive, negative = weight[y == 1].sum(), weight[y == 0].sum()
    return np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_the_sigmoid_is_scikit_learns(scale, is_weighted):
    scores, y, weight = noisy()
    weight = weight if is_weighted else np.ones(len(y))
    ours = ScoreCalibrator().fit(scale * scores, y, weight).predict_proba(scale * scores)[:, 1]
    theirs = _SigmoidCalibration().fit(scores, y, weight).predict(scores)
    # Theirs ends by L-BFGS-B's default tolerance on the loss.
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_at_the_sigmoid_the_gradient_of_the_log_loss_vanishes(shift):
    scores, y, weight = noisy(seed=1)
    scores = scores + shift
    p = ScoreCalibrator().fit(scores, y, weight).predict_proba(scores)[:, 1]
    error = weight * (p - platt_targets(y, weight)) / weight.sum()
    # Sums of 400 numbers of which none is above 1 / 400, and scores up to 100: rounding.
    assert abs(error.sum()) < 1e-12
    assert abs((error * (scores - shift)).sum()) < 1e-11


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("decimals", [1, 8])
def test_the_isotonic_map_is_scikit_learns_on_platts_targets(is_weighted, decimals):
    scores, y, weight = noisy()
    scores = scores.round(decimals)
    weight = weight if is_weighted else np.ones(len(y))
    new = np.linspace(-5, 5, 1001)
    ours = ScoreCalibrator("isotonic").fit(scores, y, weight).predict_proba(new)[:, 1]
    theirs = IsotonicRegression(out_of_bounds="clip")
    theirs.fit(scores, platt_targets(y, weight), sample_weight=weight)
    np.testing.assert_allclose(ours, theirs.predict(new), atol=1e-12)


@BOTH
@settings(max_examples=60)
@example(scores=[-1.2952695225648645e-55, 0.0], n_classes=2, seed=0)  # a slope of 10^55
@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    n_classes=st.integers(2, 4),
    seed=st.integers(0, 1000),
)
def test_probabilities_rise_with_the_score_and_are_never_0_or_1(method, scores, n_classes, seed):
    random = np.random.default_rng(seed)
    values = np.array(scores)
    codes = np.resize(np.arange(n_classes), len(values))
    weight = random.random(len(values)) + 0.1
    columns = values if n_classes == 2 else np.tile(values[:, None], n_classes)
    order = np.unique(np.concatenate([values, random.normal(size=20) * 1e6, [-1e300, 1e300]]))
    for each in fit_maps(columns, codes, n_classes, weight, method):
        p = each(order)
        assert p.min() > 0
        assert p.max() < 1
        # A correctly rounded sum and product never fall; of exp, one unit in the last place.
        assert np.diff(p).min() >= -2.3e-16


@BOTH
def test_a_weight_is_a_number_of_equal_rows(method):
    scores, y, weight = noisy()
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    weighted = ScoreCalibrator(method).fit(scores, y, weight).predict_proba(scores)
    repeated = ScoreCalibrator(method).fit(scores[rows], y[rows]).predict_proba(scores)
    np.testing.assert_allclose(weighted, repeated, atol=1e-10)


@BOTH
def test_scores_that_point_the_wrong_way_give_a_constant(method):
    scores, y, _ = noisy(slope=-3.0)
    p = ScoreCalibrator(method).fit(scores, y).predict_proba(scores)[:, 1]
    if method == "sigmoid":
        assert np.ptp(p) == 0
        assert p[0] == pytest.approx(platt_targets(y, np.ones(len(y))).mean(), abs=1e-12)
    assert np.diff(p[np.argsort(scores)]).min() >= 0


@BOTH
def test_separated_classes_have_finite_log_losses(method):
    scores = np.concatenate([np.linspace(-9, -1, 50), np.linspace(1, 9, 50)])
    p = ScoreCalibrator(method).fit(scores, scores > 0).predict_proba([-1e9, 0.0, 1e9])
    assert np.isfinite(np.log(p)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    assert p[0, 1] < 0.03
    assert p[2, 1] > 0.97


@BOTH
def test_several_classes_have_a_map_each_and_their_shares_add_up(method):
    random = np.random.default_rng(0)
    y = random.choice(["a", "b", "c"], size=300)
    scores = random.normal(size=(300, 3)) + 2 * (y[:, None] == ["a", "b", "c"])
    calibrator = ScoreCalibrator(method).fit(scores, y)
    p = calibrator.predict_proba(scores)
    assert len(calibrator.probability_maps_) == 3
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    assert calibrator.predict(scores).tolist() == np.array(["a", "b", "c"])[p.argmax(1)].tolist()
    assert np.mean(calibrator.predict(scores) == y) > 0.8


@BOTH
def test_equal_scores_give_the_share_of_the_class(method):
    p = ScoreCalibrator(method).fit(np.full(40, 3.0), [1, 0, 0, 0] * 10).predict_proba([3.0, 9.0])
    expected = (10 * 11 / 12 + 30 / 32) / 40
    np.testing.assert_allclose(p[:, 1], expected, rtol=1e-12)


@BOTH
def test_a_saved_calibrator_is_the_same(method, tmp_path):
    scores, y, weight = noisy()
    calibrator = ScoreCalibrator(method).fit(scores, y, weight)
    save(calibrator, tmp_path / "c.hedge")
    loaded = load(tmp_path / "c.hedge")
    assert loaded.predict_proba(scores).tobytes() == calibrator.predict_proba(scores).tobytes()


@pytest.mark.parametrize(
    ("scores", "y", "says"),
    [
        ([1.0, np.nan], [0, 1], "not finite at row 1"),
        ([1.0, 2.0], [0, 0], "one class"),
        ([[1.0], [2.0]], [0, 1], r"shape \(2, 1\) but 2 classes"),
        ([1.0, 2.0, 3.0], [0, 1, 2], "give the output of decision_function"),
        (["x", "y"], [0, 1], "cannot be read as numbers"),
        (1.0, [0], "a single number"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused(scores, y, says):
    with pytest.raises(DataError, match=says):
        ScoreCalibrator().fit(scores, y)


def test_an_unknown_method_is_refused():
    with pytest.raises(ParameterError, match="'sigmoid', 'isotonic'"):
        ScoreCalibrator("beta").fit([0.0, 1.0], [0, 1])
