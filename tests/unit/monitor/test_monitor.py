"""The monitor: who hears of a step, what stops a task, and how time is shared."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import hedgerow
from hedgerow import LinearSVC, _core
from hedgerow.errors import ParameterError
from hedgerow.monitor import Monitor, current, monitored, watch


def events_of(task):
    """Return the events of a task."""
    events = []
    with watch(events.append):
        task()
    return events


# ------------------------------------------------------------------------------------------ steps


def test_a_step_carries_its_path_its_counts_its_time_and_its_figures():
    def task():
        with monitored("outer"), monitored("inner") as inner:
            time.sleep(0.01)
            inner.report(2, 5, {"gap": 0.5})

    (event,) = events_of(task)
    assert (event.path, event.task) == (("outer", "inner"), "inner")
    assert (event.done, event.total, event.figures) == (2, 5, {"gap": 0.5})
    assert 0.01 <= event.seconds < 1


def test_outside_any_task_there_is_a_monitor_that_nobody_hears():
    monitor = current()
    monitor.report(1)
    assert monitor.reason is None
    assert monitor.time_left == np.inf
    assert current() is not monitor


def test_what_runs_outside_any_task_has_no_name():
    (event,) = events_of(lambda: current().report(1))
    assert (event.path, event.task) == ((), "")


def test_the_monitor_of_a_block_is_current_in_it_and_not_after():
    with monitored("outer") as outer:
        assert current() is outer
        with monitored("inner") as inner:
            assert current() is inner
            assert inner.parent is outer
        assert current() is outer
    assert current() is not outer


def test_every_listener_above_hears_and_none_beside():
    heard = {"outer": [], "inner": [], "beside": []}
    with watch(heard["outer"].append):
        with watch(heard["beside"].append):
            pass
        with watch(heard["inner"].append), monitored("task") as task:
            task.report(1)
    assert [len(heard[name]) for name in ("outer", "inner", "beside")] == [1, 1, 0]


def test_a_part_is_heard_as_the_task_itself_and_a_task_within_is_not():
    heard = []

    def listener(event, *, is_own, attributes):
        heard.append((event.path, is_own, attributes and attributes()))
        return False

    with monitored("task", listeners=(listener,)) as task:
        task.model_at = lambda point: {"coef_": point}
        task.report(1, point=7)
        with task.part("1/2") as part:
            part.report(1, point=8)
        with monitored("within") as within:
            within.report(1, point=9)
    assert heard == [
        (("task",), True, {"coef_": 7}),
        (("task", "1/2"), True, {"coef_": 8}),
        (("task", "within"), False, None),
    ]


def test_listeners_are_called_one_at_a_time():
    inside, most = [], []

    def listen(_event):
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.001)
        inside.pop()

    with watch(listen), monitored("task") as task:
        parts = [task.part(str(k)) for k in range(4)]
        threads = [
            threading.Thread(target=lambda part=part: [part.report(k) for k in range(10)])
            for part in parts
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == [1] * 40


def test_a_listener_may_fit_something_itself():
    X, y = np.eye(4), [0, 1, 0, 1]
    inner = []

    def fit_too(event):
        if event.path == ("outer",):
            inner.append(LinearSVC().fit(X, y).status_)

    with watch(fit_too), monitored("outer") as outer:
        outer.report(1)
    assert inner == ["optimal"]


# --------------------------------------------------------------------------------- what stops it


def test_what_stops_a_task_stops_all_within_it_and_none_around_it():
    with monitored("outer") as outer, monitored("middle") as middle, monitored("inner") as inner:
        middle.ask("interrupted")
        assert (outer.reason, middle.reason, inner.reason) == (None, "interrupted", "interrupted")
        outer.check()
        with pytest.raises(_core.system.Stopped):
            inner.check()


def test_the_first_reason_counts():
    with monitored("task") as task:
        task.ask("stopped")
        task.ask("interrupted")
        assert task.reason == "stopped"


def test_a_watcher_that_returns_true_stops_the_task_and_not_the_block():
    with watch(lambda event: event.done == 1):
        with monitored("first") as first, monitored("within") as within:
            within.report(1)
            assert first.reason == within.reason == "stopped"
        with monitored("second") as second:
            second.report(2)
            assert second.reason is None


def test_the_core_is_stopped_in_a_guarded_block_and_in_no_other():
    matrix = _core.data.Matrix.dense(np.ones((10, 2)))
    with monitored("task") as task:
        task.ask("stopped")
        _core.data.gram(matrix, np.ones(10), 0.0, 1)
        with task.guard(), pytest.raises(_core.system.Stopped):
            _core.data.gram(matrix, np.ones(10), 0.0, 1)
        _core.data.gram(matrix, np.ones(10), 0.0, 1)


def test_a_guard_needs_nobody_to_hold_its_monitor():
    matrix = _core.data.Matrix.dense(np.ones((10, 2)))
    with Monitor("").guard():
        others = [Monitor("") for _ in range(50)]  # would take the place of a token that is gone
        for other in others:
            other.ask("stopped")
        assert np.all(_core.data.gram(matrix, np.ones(10), 0.0, 1) == 10.0)


# ------------------------------------------------------------------------------------------- time


def test_a_task_out_of_time_says_so():
    with monitored("task", 0.02) as task:
        assert task.reason is None
        assert 0 < task.time_left <= 0.02
        time.sleep(0.03)
        assert task.reason == "time_limit"


def test_no_task_has_more_time_than_the_one_around_it():
    with monitored("outer", 1.0), monitored("inner", 100.0) as inner:
        assert inner.time_left <= 1.0
    with watch(max_time=1.0), monitored("task") as task:
        assert task.time_left <= 1.0


def test_a_part_gets_its_share_of_what_is_left():
    with monitored("task", 10.0) as task:
        assert task.part("a", 0.5).time_left == pytest.approx(5.0, abs=0.1)
        assert task.part("b").time_left == pytest.approx(10.0, abs=0.1)
    assert Monitor("endless").part("c", 0.5).time_left == np.inf


def test_time_that_is_reserved_is_kept_free_at_the_end():
    with monitored("task", 10.0) as task:
        task.reserve(9.99)
        assert task.reason is None
        time.sleep(0.02)
        assert task.reason == "time_limit"
        assert task.time_left > 9


def test_a_limit_above_is_the_reason_below():
    with monitored("outer") as outer, monitored("inner", 100.0) as inner:
        outer.ask("interrupted")
        assert inner.reason == "interrupted"


@pytest.mark.parametrize("wrong", [0, -1.0, True, "1", np.nan])
def test_what_is_no_time_is_refused(wrong):
    X, y = [[0.0], [1.0]], [0, 1]
    for call in (
        lambda: LinearSVC(max_time=wrong).fit(X, y),
        lambda: watch(max_time=wrong).__enter__(),
        lambda: hedgerow.auto_fit(X, y, max_time=wrong),
    ):
        with pytest.raises(ParameterError, match="give a positive number of seconds, or None"):
            call()


def test_what_cannot_be_called_is_no_watcher():
    with pytest.raises(ParameterError, match="cannot be called; give a function of one event"):
        watch("loudly").__enter__()
