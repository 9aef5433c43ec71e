"""Callbacks: plain functions and scikit-learn's, on estimators alone and within others."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import (
    AveragedPerceptron,
    KernelPerceptron,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    Perceptron,
    TableClassifier,
    VotedPerceptron,
)
from hedgerow.errors import ParameterError

sklearn_callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")

PERCEPTRONS = [Perceptron, AveragedPerceptron, VotedPerceptron, KernelPerceptron]
MACHINES = [LinearSVC, LinearSVR, LinearOneClassSVM]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def noise(n_classes=2, n_samples=60):
    random = np.random.default_rng(0)
    return random.standard_normal((n_samples, 4)), random.integers(n_classes, size=n_samples)


def machine(**others):
    return LinearSVC(solver="dual_coordinate_descent", **others)


class Recorder:
    """A callback of scikit-learn's kind that writes down what it is told."""

    def __init__(self, stop_at=None):
        self.told, self.stop_at, self.fitted = [], stop_at, []

    def setup(self, estimator, context):  # noqa: ARG002 - given by name
        self.told.append("setup")

    def teardown(self, estimator, context):  # noqa: ARG002 - given by name
        self.told.append("teardown")

    def on_fit_task_begin(self, _estimator, context, *, X=None, y=None, metadata=None):
        self.told.append(("begin", context.task_name))
        self.seen = X, y, metadata

    def on_fit_task_end(self, _estimator, context, *, fitted_estimator=None):
        self.told.append(("end", context.task_name))
        self.fitted.append(fitted_estimator)
        return len(self.fitted) == self.stop_at


# ------------------------------------------------------------------------------- plain callables


def test_callbacks_come_along_with_a_clone_and_can_be_taken_off():
    events = []
    model = clone(machine().set_callbacks(events.append))
    model.fit(*noise())
    n_heard = len(events)
    assert n_heard > 1
    model.set_callbacks().fit(*noise())
    assert len(events) == n_heard


def test_only_true_itself_stops_a_fit():
    X, y = noise()
    assert machine().set_callbacks(lambda _: "a true value").fit(X, y).status_ == "optimal"
    assert machine().set_callbacks(lambda _: True).fit(X, y).status_ == "stopped"


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stopped_machine_has_a_certificate_and_no_warning_is_given(n_classes, recwarn):
    X, y = noise(n_classes)
    model = machine(tol=1e-12).set_callbacks(lambda event: event.done > 4).fit(X, y)
    assert model.status_ == model.certificate_.status == "stopped"
    assert 0 <= model.certificate_.dual < model.certificate_.primal
    assert model.predict(X).shape == y.shape
    assert not len(recwarn)


def test_that_one_class_was_stopped_is_not_hidden_by_another_that_had_enough_iterations():
    X, y = noise(3)
    model = machine(tol=1e-12, max_iter=8, n_jobs=1)
    model.set_callbacks(lambda event: event.path[-1] == "2/3").fit(X, y)
    assert [each.status for each in model.certificates_] == ["max_iter", "stopped", "stopped"]
    assert model.status_ == "stopped"


def test_a_callback_of_the_whole_hears_of_the_part():
    paths = set()
    TableClassifier(machine()).set_callbacks(lambda event: paths.add(event.path)).fit(*noise())
    assert paths == {("TableClassifier", "LinearSVC")}


def test_a_callback_of_the_whole_stops_the_part():
    model = TableClassifier(machine(tol=1e-12)).set_callbacks(lambda _: True).fit(*noise())
    assert model.status_ == "stopped"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_on_a_learner_is_heard_in_a_grid_search(n_jobs):
    learner = machine(tol=1e-12).set_callbacks(lambda _: True)
    search = GridSearchCV(learner, {"C": [0.1, 1.0]}, cv=2, n_jobs=n_jobs).fit(*noise())
    assert search.best_estimator_.status_ == "stopped"


@pytest.mark.parametrize("wrong", [3, "bar", sklearn_callback.ProgressBar])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(ParameterError, match="is no callback; give a function of one event"):
        machine().set_callbacks(wrong)


def test_one_callback_is_called_at_a_time():
    X, y = noise(3)
    inside, most = [], []

    def callback(_event):
        inside.append(1)
        most.append(len(inside))
        inside.pop()

    machine(n_jobs=3).set_callbacks(callback).fit(X, y)
    assert set(most) == {1}


# ---------------------------------------------------------------------------- scikit-learn's hooks


def test_the_hooks_are_called_in_order_with_the_data():
    X, y = noise()
    weight = np.ones(len(y))
    recorder = Recorder()
    model = machine().set_callbacks(recorder).fit(X, y, weight)
    assert recorder.told[:3] == ["setup", ("begin", "fit"), ("begin", "step")]
    assert recorder.told[-2:] == [("end", "fit"), "teardown"]
    assert recorder.told[2:-2] == [("begin", "step"), ("end", "step")] * (len(recorder.fitted) - 1)
    assert recorder.seen[0] is X
    assert recorder.seen[1] is y
    assert recorder.seen[2] == {"sample_weight": weight}
    np.testing.assert_array_equal(recorder.fitted[-1].coef_, model.coef_)


@pytest.mark.parametrize("perceptron", PERCEPTRONS)
def test_at_every_step_there_is_a_model_that_predicts(perceptron):
    X, y = noise()
    recorder = Recorder()
    model = perceptron(max_iter=3, tol=None).set_callbacks(recorder).fit(X, y)
    *steps, last = recorder.fitted
    assert len(steps) == 3
    for n_passes, step in enumerate(steps, start=1):
        shorter = perceptron(max_iter=n_passes, tol=None).fit(X, y)
        np.testing.assert_array_equal(step.decision_function(X), shorter.decision_function(X))
    np.testing.assert_array_equal(last.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("machine", MACHINES)
def test_at_every_step_there_is_a_machine_that_predicts(machine):
    X, y = noise()
    recorder = Recorder()
    model = machine().set_callbacks(recorder).fit(X + 1.0, y)
    *steps, last = recorder.fitted
    assert len(steps) > 1
    assert all(np.isfinite(step.predict(X)).all() for step in steps)
    np.testing.assert_array_equal(last.predict(X), model.predict(X))


def test_a_hook_that_returns_true_stops_the_fit():
    model = Perceptron(max_iter=10**9, tol=None).set_callbacks(Recorder(stop_at=3)).fit(*noise())
    assert (model.status_, model.n_iter_) == ("stopped", 3)


def test_steps_of_several_classes_have_no_model_but_the_end_has():
    recorder = Recorder()
    machine().set_callbacks(recorder).fit(*noise(3))
    *steps, last = recorder.fitted
    assert steps
    assert not any(steps)
    assert last.coef_.shape == (3, 4)


def test_after_ctrl_c_callbacks_are_torn_down():
    recorder = Recorder()

    def press(event):
        if event.done == 2:
            signal.raise_signal(signal.SIGINT)

    model = Perceptron(max_iter=10**9, tol=None).set_callbacks(recorder, press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*noise())
    signal.signal(signal.SIGINT, before)
    assert recorder.told[-1] == "teardown"
    assert model.status_ == "interrupted"
    assert not hasattr(model, "_callback_fit_ctx")


# ------------------------------------------------------------------------ scikit-learn's callbacks


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model", [LinearSVC(), Perceptron(max_iter=5), TableClassifier(LinearSVC())]
)
def test_a_progress_bar_runs_and_ends(model, n_classes, capsys):
    model.set_callbacks(sklearn_callback.ProgressBar()).fit(*noise(n_classes))
    assert not [each for each in threading.enumerate() if "Progress" in type(each).__name__]
    assert "100%" in capsys.readouterr().out
    model.set_callbacks()


def test_a_progress_bar_goes_down_to_the_learner_of_a_table_classifier(capsys):
    TableClassifier(LinearSVC()).set_callbacks(sklearn_callback.ProgressBar()).fit(*noise())
    assert "fit LinearSVC" in capsys.readouterr().out


def accuracies(monitor):
    """Return the scores of the steps, and that of the whole fit."""
    rows = monitor.get_logs().data
    steps = [row["accuracy"] for row in rows if row["task_name"] == "step"]
    return steps, [row["accuracy"] for row in rows if row["task_name"] != "step"]


@pytest.mark.parametrize("perceptron", PERCEPTRONS)
def test_a_scoring_monitor_scores_every_pass(perceptron):
    X, y = noise()
    monitor = sklearn_callback.ScoringMonitor(scoring="accuracy")
    model = perceptron(max_iter=4, tol=None).set_callbacks(monitor).fit(X, y)
    steps, (whole,) = accuracies(monitor)
    assert len(steps) == 4
    assert steps[-1] == whole == model.score(X, y)


def test_a_scoring_monitor_scores_every_measurement_of_a_machine():
    X, y = noise()
    monitor, events = sklearn_callback.ScoringMonitor(scoring="accuracy"), []
    model = machine().set_callbacks(monitor, events.append).fit(X, y, np.arange(len(y)) % 3)
    steps, (whole,) = accuracies(monitor)
    assert len(steps) == len(events)
    assert whole == model.score(X, y, np.arange(len(y)) % 3)


@pytest.mark.parametrize("model", [LinearSVC(), Perceptron(max_iter=5), TableClassifier()])
def test_of_several_classes_a_scoring_monitor_scores_the_end(model):
    X, y = noise(3)
    monitor = sklearn_callback.ScoringMonitor(scoring="accuracy")
    model.set_callbacks(monitor).fit(X, y)
    assert accuracies(monitor) == ([], [model.score(X, y)])


def test_callbacks_work_within_a_pipeline(capsys):
    X, y = noise()
    monitor = sklearn_callback.ScoringMonitor(scoring="accuracy")
    pipeline = make_pipeline(StandardScaler(), machine().set_callbacks(monitor))
    pipeline.set_callbacks(sklearn_callback.ProgressBar()).fit(X, y)
    steps, (whole,) = accuracies(monitor)
    assert len(steps) > 1
    assert whole == pipeline.score(X, y)
    assert "LinearSVC - fit" in capsys.readouterr().out


def test_callbacks_work_within_a_grid_search(capsys):
    X, y = noise()
    monitor = sklearn_callback.ScoringMonitor(scoring="accuracy")
    pipeline = make_pipeline(StandardScaler(), Perceptron(max_iter=2, tol=None))
    pipeline[-1].set_callbacks(monitor)
    search = GridSearchCV(pipeline, {"perceptron__eta0": [0.5, 1.0]}, cv=2)
    search.set_callbacks(sklearn_callback.ProgressBar(max_propagation_depth=None)).fit(X, y)
    steps, wholes = accuracies(monitor)
    assert (len(steps), len(wholes)) == (2 * 5, 5)  # two values, two folds, and the last fit
    assert "Perceptron - fit" in capsys.readouterr().out


def test_a_fitted_model_with_callbacks_goes_through_a_pickle():
    X, y = noise()
    model = machine().set_callbacks(print_nothing, Recorder()).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.fit(X, y).status_ == "optimal"


def print_nothing(_event):
    """Hear and say nothing."""


# --------------------------------------------------------------------- scikit-learn without them


def test_without_scikit_learns_callbacks_plain_ones_work():
    program = """
    import sys
    import sklearn.pipeline, sklearn.model_selection
    from sklearn.base import clone
    from sklearn.datasets import load_iris
    sys.modules["sklearn.callback"] = None      # as if it had never been written
    import hedgerow
    X, y = load_iris(return_X_y=True)
    events = []
    model = clone(hedgerow.LinearSVC().set_callbacks(events.append)).fit(X, y)
    assert len(events) > 3, events
    assert model.status_ == "optimal"
    stopped = hedgerow.TableClassifier(hedgerow.LinearSVC(tol=1e-12)).set_callbacks(lambda _: True)
    assert stopped.fit(X, y).status_ == "stopped"
    assert not hasattr(model.set_callbacks(), "_skl_callbacks")
    class Theirs:
        def on_fit_task_end(self): ...
    try:
        model.set_callbacks(Theirs())
    except hedgerow.ParameterError as error:
        assert "give a function of one event" in str(error)
    else:
        raise AssertionError
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
