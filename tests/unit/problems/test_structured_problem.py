"""A problem with an oracle runs, stops, goes on and is certified by what every other problem uses."""

from __future__ import annotations

import signal

import numpy as np
import pytest

from hedgerow import Settings, certify, solve, watch
from hedgerow.data.rows import matrix_of
from hedgerow.monitor import keeping_in, monitored
from hedgerow.problems.crammer_singer import CrammerSingerProblem
from hedgerow.solvers.base import GapRun
from tests.memory_store import CrashError, Memory
from tests.structured_sample import StructuredProblem, block_frank_wolfe

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.digitize(X[:, 0] + 0.3 * RNG.normal(size=60), [-0.5, 0.5])
PROBLEM = StructuredProblem(X, Y, 3, C=0.2)
ENDLESS = Settings(tol=1e-300, max_iter=10**9)


def run_of(settings, key=None):
    return GapRun(PROBLEM, settings, "block_frank_wolfe", block_frank_wolfe, key=key)


def test_it_comes_to_the_optimum_of_crammer_and_singer_and_is_certified():
    solution = run_of(Settings(tol=1e-3, max_iter=5000)).solution()
    certificate = certify(PROBLEM, solution, 1e-3)
    assert solution.status == "optimal"
    assert certificate.is_certified
    assert certificate.criterion == "relative_gap"
    same = CrammerSingerProblem(
        matrix_of(X), Y.astype(float), np.full(60, 0.2), intercept="none", n_classes=3
    )
    best = certify(same, solve(same, Settings(tol=1e-9)), 1e-9)
    assert certificate.dual <= best.primal
    assert best.dual <= certificate.primal <= best.primal * (1.0 + 1e-3)


def test_whatever_alpha_a_solver_returns_its_dual_bounds_the_optimum():
    solution = run_of(Settings(tol=1e-4, max_iter=5000)).solution()
    for scale in (0.01, 1.0, 100.0):
        guess = RNG.normal(size=solution.alpha.shape) * scale
        forged = type(solution)(solution.w, 0.0, guess, "optimal", 1, "a guess")
        certificate = certify(PROBLEM, forged, 1e-4)
        assert certificate.dual < solution.history[-1][1]
        assert not certificate.is_certified


def test_a_run_that_was_broken_off_goes_on_to_the_same_bits():
    settings = Settings(tol=1e-3, max_iter=40)
    whole = run_of(settings).solution()
    store = Memory(crash_after=17)
    with pytest.raises(CrashError), keeping_in(store):
        run_of(settings, "task").solution()
    with keeping_in(store):
        run = run_of(settings, "task")
        resumed = run.solution()
        again = run_of(settings, "task").solution()
    for found in (resumed, again):
        np.testing.assert_array_equal(found.w, whole.w)
        np.testing.assert_array_equal(found.alpha, whole.alpha)
        assert found.history == whole.history
    assert list(store.entries) == ["task/solution"]
    assert store.n_states - 17 == whole.n_iter - 16


def test_a_time_limit_stops_it_and_leaves_what_it_has():
    with monitored("structured", max_time=0.2):
        solution = run_of(ENDLESS).solution()
    assert solution.status == "time_limit"
    assert certify(PROBLEM, solution, 0.1).relative_gap < 0.1


def test_a_callback_hears_of_every_pass_and_stops_it():
    heard = []

    def stop(event):
        heard.append(event.figures["relative_gap"])
        return len(heard) == 7

    with watch(stop):
        solution = run_of(ENDLESS).solution()
    assert solution.status == "stopped"
    assert (solution.n_iter, len(heard), len(solution.history)) == (7, 7, 7)
    assert heard == sorted(heard, reverse=True)


def test_ctrl_c_stops_it_after_its_solution_is_in_order():
    solutions = []

    def press(event):
        if event.done == 5:
            signal.raise_signal(signal.SIGINT)

    with (
        pytest.raises(KeyboardInterrupt),
        watch(press),
        monitored("structured"),
    ):
        solutions.append(run_of(ENDLESS).solution())
    assert [solution.status for solution in solutions] == ["interrupted"]
    assert solutions[0].n_iter == 5
