"""The suite that times the monitor: what it takes out, and what it leaves."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.datasets import two_clouds
from benchmarks.suites import monitor as suite
from hedgerow import LinearSVC, Perceptron
from hedgerow.monitor import Monitor

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    "model", [LinearSVC(), LinearSVC(solver="dual_coordinate_descent"), Perceptron(tol=10.0)]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_a_monitor_the_fit_is_the_same_and_there_is_none(model, monkeypatch):
    data = two_clouds(None)
    expected = model.set_params(random_state=0).fit(data.X, data.y).coef_
    made = []

    def note(monitor):
        made.append(monitor)

    monkeypatch.setattr(Monitor, "__post_init__", note)
    with suite.unmonitored(model) as bare:
        bare(data.X, data.y)
    assert not made
    np.testing.assert_array_equal(model.coef_, expected)


def test_the_judge_sees_how_much_longer_the_watched_fit_takes():
    judge = suite.SUITE.referee(None, None, None)
    verdict = judge({"seconds": np.array([[1.1, 1.0], [2.4, 2.0], [1.02, 1.0]])})
    assert verdict.figure == pytest.approx(0.1)
    assert verdict.details == {"watched": 1.1, "bare": 1.0}


def test_every_listener_is_timed(monkeypatch):
    monkeypatch.setattr(suite, "_SECONDS", 0.0)
    monkeypatch.setattr(suite, "_BLOCK_SECONDS", 1e-6)
    monkeypatch.setattr(suite, "_FEWEST_PAIRS", 2)
    case = suite.SUITE.cases[0]
    for contestant in suite.SUITE.contestants:
        times = contestant.fit(case.task, case.load(None), 0.0, 1)
        assert times.shape == (2, 2)
        assert (times > 0).all()
