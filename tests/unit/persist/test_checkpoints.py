"""What was broken off goes on as if nothing had happened."""

from __future__ import annotations

import copy
import dataclasses
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import hedgerow
from hedgerow import (
    AveragedPerceptron,
    KernelPerceptron,
    LinearSVC,
    Perceptron,
    VotedPerceptron,
)
from hedgerow._base.fingerprint import fingerprint
from hedgerow.errors import ModelFormatError, ParameterError
from hedgerow.linear.paths import predictions_along
from hedgerow.monitor import keeping_in
from hedgerow.persist import read_state, write_state
from hedgerow.persist.checkpoints import CheckpointFile
from tests.memory_store import CrashError, Memory

# 90 sweeps and 12 passes are not many
pytestmark = [
    pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 8))
SIGNS = np.where(X[:, 0] + X[:, 1] + RNG.normal(size=300) > 0, 1, -1)
CLASSES = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=300), [-0.5, 0.5])


def fit_and_crash(model):
    model.fit(X, SIGNS)
    raise CrashError


def machine(loss, solver, **settings):
    return LinearSVC(loss=loss, solver=solver, random_state=3, n_jobs=1, max_iter=90, **settings)


MACHINES = {
    "interior point": (machine("hinge", "interior_point"), SIGNS),
    "newton": (machine("squared_hinge", "newton", C=100.0), SIGNS),
    "proximal newton": (machine("squared_hinge", "proximal_newton", penalty="l1"), SIGNS),
    "hard margin": (machine("hinge", "hard_margin", C=np.inf), np.where(X[:, 0] > 0, 1, -1)),
    "coordinate descent, free": (machine("hinge", "dual_coordinate_descent", tol=1e-6), SIGNS),
    "coordinate descent, penalised": (
        machine("squared_hinge", "dual_coordinate_descent", intercept="penalized", tol=1e-8),
        SIGNS,
    ),
    "three classes": (machine("hinge", "dual_coordinate_descent"), CLASSES),
    "l-bfgs": (machine("logistic", "lbfgs", tol=1e-10), SIGNS),
    "conjugate gradients": (
        machine("squared_hinge", "conjugate_gradient", intercept="penalized", tol=1e-10),
        SIGNS,
    ),
    "gradient descent": (machine("squared_hinge", "gradient_descent", tol=1e-8), SIGNS),
    "iterative scaling": (machine("logistic", "iterative_scaling"), SIGNS),
    "pegasos": (machine("hinge", "pegasos", intercept="penalized"), SIGNS),
    "sgd": (machine("hinge", "sgd", solver_options={"rate": 0.02}), SIGNS),
}


PERCEPTRONS = [
    Perceptron(max_iter=12, tol=None, n_jobs=1),
    Perceptron(max_iter=12, early_stopping=True, n_jobs=1),
    AveragedPerceptron(max_iter=12, n_iter_no_change=9, n_jobs=1),
    VotedPerceptron(max_iter=12, tol=None, n_jobs=1),
    KernelPerceptron(max_iter=12, tol=None, gamma=0.1),
]


def numbers(model):
    return [model.coef_, model.intercept_, model.alpha_, model.n_iter_, model.status_]


def assert_same_bits(a, b):
    for one, other in zip(numbers(a), numbers(b), strict=True):
        np.testing.assert_array_equal(one, other)
    assert a.certificates_ == b.certificates_


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
@pytest.mark.parametrize("name", MACHINES)
def test_a_fit_broken_off_after_any_round_ends_with_the_same_bits(name, wide):
    model, y = MACHINES[name]
    rows, y = (sp.csr_array(X[:30] @ RNG.normal(size=(8, 60))), y[:30]) if wide else (X, y)
    through = Memory()
    with keeping_in(through):
        expected = copy.deepcopy(model.fit(rows, y))
    assert_same_bits(expected, copy.deepcopy(model).fit(rows, y))
    for crash_after in {1, 2, through.n_states // 2, through.n_states} - {0}:
        store = Memory(crash_after)
        with pytest.raises(CrashError), keeping_in(store):
            model.fit(rows, y)
        store.crash_after = None
        with keeping_in(store):
            assert_same_bits(model.fit(rows, y), expected)
        assert store.n_states <= through.n_states + 1  # it did not begin anew


@pytest.mark.parametrize("y", [SIGNS, CLASSES], ids=["two classes", "three classes"])
@pytest.mark.parametrize("model", PERCEPTRONS, ids=lambda model: type(model).__name__)
def test_a_perceptron_broken_off_after_any_pass_ends_with_the_same_bits(model, y):
    through = Memory()
    with keeping_in(through):
        expected = fingerprint(fitted(clone(model).fit(X, y)))
    assert through.n_states > 3
    for crash_after in (1, 2, through.n_states // 2, through.n_states):
        store = Memory(crash_after)
        with pytest.raises(CrashError), keeping_in(store):
            clone(model).fit(X, y)
        store.crash_after = None
        with keeping_in(store):
            assert fingerprint(fitted(clone(model).fit(X, y))) == expected
        assert store.n_states <= through.n_states + 1


def fitted(model):
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def count_calls_and_fit(self, X, y, sample_weight=None):
    CountingSVC.n_fits += 1
    if CountingSVC.n_fits == CountingSVC.crash_after:
        raise CrashError
    return LinearSVC.fit(self, X, y, sample_weight)


class CountingSVC(LinearSVC):
    """Counts its fits, and ends the program in one of them."""

    n_fits = 0
    crash_after = None
    fit = count_calls_and_fit


def test_a_search_that_crashed_does_not_score_again_what_it_scored(monkeypatch):
    n_paths, crash_after = 0, None

    def count_and_predict(*arguments):
        nonlocal n_paths
        n_paths += 1
        if n_paths == crash_after:
            raise CrashError
        return predictions_along(*arguments)

    monkeypatch.setattr("hedgerow.auto.choose.predictions_along", count_and_predict)
    settings = {"Cs": [0.1, 1.0], "cv": 3, "n_jobs": 1}
    expected = hedgerow.auto_fit(X, SIGNS, **settings)
    assert n_paths == 3
    for fold in (1, 2, 3):
        n_paths, crash_after = 0, fold
        store = Memory()
        with pytest.raises(CrashError), keeping_in(store):
            hedgerow.auto_fit(X, SIGNS, **settings)
        crash_after = None
        with keeping_in(store):
            result = hedgerow.auto_fit(X, SIGNS, **settings)
        assert n_paths == 4  # the fold that crashed is the only one done twice
        assert result.scores == expected.scores
        np.testing.assert_array_equal(result.model.learner_.coef_, expected.model.learner_.coef_)


def test_an_error_estimate_that_crashed_does_not_fit_again_what_it_fitted(monkeypatch):
    monkeypatch.setattr(CountingSVC, "n_fits", 0)
    settings = {"n_resamples": 20, "random_state": 0, "n_jobs": 1}
    expected = hedgerow.bootstrap_error(CountingSVC(), X, SIGNS, **settings)
    CountingSVC.n_fits, CountingSVC.crash_after = 0, 4
    store = Memory()
    with pytest.raises(CrashError), keeping_in(store):
        hedgerow.bootstrap_error(CountingSVC(), X, SIGNS, **settings)
    CountingSVC.crash_after = None
    with keeping_in(store):
        assert hedgerow.bootstrap_error(CountingSVC(), X, SIGNS, **settings) == expected
    assert CountingSVC.n_fits == 22  # 20 resamples, all rows, and the one that crashed


def test_a_finished_fit_is_not_done_again():
    model, y = MACHINES["three classes"]
    store = Memory()
    with keeping_in(store):
        model.fit(X, y)
        n_states = store.n_states
        model.fit(X, y)
    assert store.n_states == n_states


def test_other_data_and_other_settings_begin_anew():
    store = Memory()
    with keeping_in(store):
        machine("hinge", "interior_point").fit(X, SIGNS)
        n_entries = len(store.entries)
        changed = X.copy()
        changed[17, 3] = np.nextafter(changed[17, 3], 1)
        machine("hinge", "interior_point").fit(changed, SIGNS)
        machine("hinge", "interior_point", C=2.0).fit(X, SIGNS)
        machine("hinge", "interior_point", tol=1e-3).fit(X, SIGNS)
    assert len(store.entries) == 4 * n_entries


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


PARTS = [
    None,
    0,
    0.0,
    "0",
    object(),
    pd.DataFrame({"a": np.arange(10_000)}),
    pd.DataFrame({"a": np.r_[:5_000, 1, 5_001:10_000]}),  # looks the same when it is printed
    [0],
    [[0]],
    [0, 0],
    {"a": 0},
    double,
    triple,
    np.zeros(1),
    np.zeros(1, dtype=np.int64),
    np.zeros((1, 1)),
    np.array(["0"], dtype=object),
    sp.csr_array(np.zeros((1, 1))),
    sp.csr_array(np.zeros((1, 2))),
    LinearSVC(),
    LinearSVC(C=2.0),
]


def test_fingerprints_differ_whenever_anything_does_and_only_then():
    marks = [fingerprint(part) for part in PARTS]
    assert len(set(marks)) == len(PARTS)
    assert marks == [fingerprint(copy.deepcopy(part)) for part in PARTS]
    assert fingerprint("a", "b") != fingerprint("ab")
    assert fingerprint(["a"], "b") != fingerprint(["a", "b"])


# ------------------------------------------------------------------------------------ the file


def test_a_block_that_ends_well_leaves_no_file(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with hedgerow.checkpoint(path, every=0):
        machine("hinge", "interior_point").fit(X, SIGNS)
        assert path.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_block_that_ends_badly_leaves_what_it_had(tmp_path):
    path = tmp_path / "fit.checkpoint"
    model = machine("hinge", "interior_point")
    with pytest.raises(CrashError), hedgerow.checkpoint(path):
        fit_and_crash(model)
    with hedgerow.checkpoint(path), hedgerow.watch(lambda _: pytest.fail("it was done already")):
        assert_same_bits(machine("hinge", "interior_point").fit(X, SIGNS), model)


def test_a_task_that_goes_on_does_not_change_what_is_remembered(tmp_path):
    file = CheckpointFile(tmp_path / "c", every=0.0)
    state = {"coef": np.zeros(3)}
    file.remember("key", lambda: state)
    state["coef"] += 1
    file.recall("key")["coef"] += 1
    file.remember("another", dict)
    again = CheckpointFile(tmp_path / "c", every=0.0)
    np.testing.assert_array_equal(again.recall("key")["coef"], np.zeros(3))


def test_states_are_written_no_more_often_than_asked(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with hedgerow.checkpoint(path, every=3600):
        machine("hinge", "interior_point").fit(X, SIGNS)
        assert not path.exists()


def test_a_model_is_no_checkpoint_and_a_checkpoint_no_model(tmp_path):
    path = tmp_path / "file"
    model = machine("hinge", "interior_point").fit(X, SIGNS)
    hedgerow.save(model, path)
    with pytest.raises(ModelFormatError, match="it is a model"), hedgerow.checkpoint(path):
        pass
    with pytest.raises(CrashError), hedgerow.checkpoint(path.with_name("other"), every=0):
        fit_and_crash(model)
    with pytest.raises(ModelFormatError, match="it is a checkpoint"):
        hedgerow.load(path.with_name("other"))


def test_a_checkpoint_of_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(CrashError), hedgerow.checkpoint(path, every=0):
        fit_and_crash(machine("hinge", "interior_point"))
    monkeypatch.setattr(hedgerow, "__version__", "9.0")
    with (
        pytest.raises(ModelFormatError, match="finish it with that version"),
        hedgerow.checkpoint(path),
    ):
        pass


@pytest.mark.parametrize("every", [-1, "often", None])
def test_a_pause_that_is_none_is_refused(every, tmp_path):
    with (
        pytest.raises(ParameterError, match="every="),
        hedgerow.checkpoint(tmp_path / "c", every=every),
    ):
        pass


def test_a_program_that_has_imported_nothing_yet_can_go_on(tmp_path):
    path = tmp_path / "fit.checkpoint"
    model = Perceptron(max_iter=3, tol=None)
    with pytest.raises(CrashError), hedgerow.checkpoint(path, every=0):
        fit_and_crash(model)
    code = "import sys, hedgerow\nwith hedgerow.checkpoint(sys.argv[1]): print('gone on')"
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)  # noqa: PLW1510
    assert run.stdout == "gone on\n", run.stderr


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"w": np.zeros(3)}, "fits cannot go on from"),
        ({"w": "text"}, "fits cannot go on from"),
        ("text", "fits cannot go on from"),
        ([], "fits cannot go on from"),
    ],
)
def test_a_state_that_no_fit_can_go_on_from_is_refused_in_one_sentence(tmp_path, changed, words):
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(CrashError), hedgerow.checkpoint(path, every=0):
        fit_and_crash(machine("hinge", "interior_point"))
    contents = read_state(path, "checkpoint")
    entries = dict.fromkeys(contents["entries"], changed)
    write_state(path, "checkpoint", {**contents, "entries": entries})
    with pytest.raises(ModelFormatError, match=words) as caught, hedgerow.checkpoint(path):
        machine("hinge", "interior_point").fit(X, SIGNS)
    assert "\n" not in str(caught.value)
    assert "remove the file to begin anew" in str(caught.value)
    assert path.exists()


def with_largest_counts(state):
    """Return the state of a loop with every whole number in it, and in its arrays, as large as can be."""
    if isinstance(state, dict):
        return {name: with_largest_counts(part) for name, part in state.items()}
    if isinstance(state, list | tuple):
        return tuple(with_largest_counts(part) for part in state)
    if isinstance(state, np.ndarray) and state.dtype.kind == "i":
        return np.full_like(state, np.iinfo(state.dtype).max)
    is_count = isinstance(state, int) and not isinstance(state, bool)
    return np.iinfo(np.int64).max if is_count else state


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (machine("hinge", "sgd"), SIGNS),
        (machine("hinge", "pegasos", intercept="penalized"), SIGNS),
        (machine("hinge", "dual_coordinate_descent", tol=1e-9), SIGNS),
        (machine("hinge", "sequential_dual", multi_class="crammer_singer", tol=1e-9), CLASSES),
    ],
    ids=lambda given: getattr(given, "solver", ""),
)
def test_counts_that_would_overflow_are_refused(tmp_path, model, y):
    path = tmp_path / "fit.checkpoint"

    def crash(event):
        if event.done >= 3:
            raise CrashError

    with (
        pytest.raises(CrashError),
        hedgerow.checkpoint(path, every=0),
        hedgerow.watch(crash),
    ):
        model.fit(X, y)
    contents = read_state(path, "checkpoint")
    entries = {
        key: {**left, "state": with_largest_counts(left["state"])} if "state" in left else left
        for key, left in contents["entries"].items()
    }
    write_state(path, "checkpoint", {**contents, "entries": entries})
    with pytest.raises(ModelFormatError, match="cannot go on from"), hedgerow.checkpoint(path):
        model.fit(X, y)


def test_a_model_from_a_checkpoint_keeps_the_rules_of_its_class(tmp_path):
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(CrashError), hedgerow.checkpoint(path, every=0):
        fit_and_crash(machine("hinge", "interior_point"))
    contents = read_state(path, "checkpoint")
    ((key, solution),) = contents["entries"].items()
    wrong = dataclasses.replace(solution, n_iter=-7)
    write_state(path, "checkpoint", {**contents, "entries": {key: wrong}})
    with pytest.raises(ModelFormatError, match="n_iter_"), hedgerow.checkpoint(path):
        machine("hinge", "interior_point").fit(X, SIGNS)


def test_a_checkpoint_without_entries_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    write_state(path, "checkpoint", {"hedgerow_version": hedgerow.__version__, "entries": 3})
    with (
        pytest.raises(ModelFormatError, match="its entries are not states"),
        hedgerow.checkpoint(path),
    ):
        pass


def test_an_error_of_a_fit_that_has_gone_on_from_nothing_stays_as_it_is(tmp_path):
    def refuse(_event):
        raise ValueError("the user's own")

    path = tmp_path / "fit.checkpoint"
    with (
        pytest.raises(ValueError, match="the user's own"),
        hedgerow.checkpoint(path, every=0),
        hedgerow.watch(refuse),
    ):
        machine("hinge", "interior_point").fit(X, SIGNS)
