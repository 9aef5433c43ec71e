"""Searches share folds, trials, the choice among them, and resumption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.neighbors import KNeighborsClassifier

import hedgerow
from hedgerow import (
    DecisionTreeRegressor,
    EdgeOfGridWarning,
    LinearSVCCV,
    ParameterError,
    RandomForestClassifier,
    engine,
    tune_by_oob,
)
from hedgerow.linear import _c_path
from hedgerow.monitor import keeping_in, monitored
from hedgerow.search.folds import class_folds, dealt_folds
from hedgerow.search.known_predictions import KnownClassifier, KnownRegressor
from hedgerow.search.running import run_trials
from hedgerow.search.trials import Trial, Trials
from hedgerow.tree.pruning import cross_validated_path
from tests.memory_store import CrashError, Memory

X, Y = load_iris(return_X_y=True)
GRID = list(ParameterGrid({"n_neighbors": [1, 3, 5, 60]}))
SIMPLEST_FIRST = [3, 2, 1, 0]


@dataclass(frozen=True)
class FitAndScore:
    """All that a search over any scikit-learn estimator must add to the parts of every search."""

    estimator: Any
    X: np.ndarray
    y: np.ndarray
    n_fits: ClassVar[int] = 0
    crash_at: ClassVar[int | None] = None

    def __call__(self, fold, candidates):
        for parameters in candidates:
            FitAndScore.n_fits += 1
            if FitAndScore.n_fits == FitAndScore.crash_at:
                raise CrashError
            model = clone(self.estimator).set_params(**parameters)
            model.fit(self.X[fold.train], self.y[fold.train])
            yield model.score(self.X[fold.test], self.y[fold.test])


def search(grid=GRID, **options):
    folds = dealt_folds(Y, 5, np.random.default_rng(0))
    return run_trials(FitAndScore(KNeighborsClassifier(), X, Y), grid, folds, **options)


@pytest.fixture(autouse=True)
def _count(monkeypatch):
    monkeypatch.setattr(FitAndScore, "n_fits", 0)
    monkeypatch.setattr(FitAndScore, "crash_at", None)


def test_a_search_of_ones_own_takes_few_lines():
    trials = search()
    best = trials.choose()
    plain = trials.choose("one_standard_error", simplest_first=SIMPLEST_FIRST)
    means, errors = trials.means, trials.standard_errors
    assert means[best] == means.max()
    assert SIMPLEST_FIRST.index(plain) <= SIMPLEST_FIRST.index(best)
    assert means[plain] >= means[best] - errors[best]
    assert all(means[k] < means[best] - errors[best] for k in SIMPLEST_FIRST[: 3 - plain])


def test_the_edge_of_its_grid_is_told():
    trials = search([{"n_neighbors": k} for k in (40, 60, 80)])
    with pytest.warns(EdgeOfGridWarning, match="best n_neighbors is 40, the smallest one tried"):
        trials.warn_at_edge(trials.choose(), add_to="the grid")


@pytest.mark.parametrize("at_once", [False, True])
def test_it_goes_on_after_an_interruption(tmp_path, at_once):
    expected = search()
    path = tmp_path / "search.checkpoint"
    FitAndScore.n_fits, FitAndScore.crash_at = 0, 11
    with pytest.raises(CrashError), hedgerow.checkpoint(path, every=0), monitored("search"):
        search(at_once=at_once)
    FitAndScore.n_fits, FitAndScore.crash_at = 0, None
    with hedgerow.checkpoint(path), monitored("search"):
        found = search(at_once=at_once)
    assert FitAndScore.n_fits == 20 - (8 if at_once else 10)  # whole folds, or single fits
    assert found.means.tobytes() == expected.means.tobytes()


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("where", [None, "threads", "threading"])
def test_scores_do_not_depend_on_how_trials_are_run(at_once, n_workers, where):
    calls = []
    expected = search()
    with engine(where):
        found = search(
            at_once=at_once, n_workers=n_workers, progress=lambda *call: calls.append(call)
        )
    assert found.means.tobytes() == expected.means.tobytes()
    assert calls == sorted(calls)
    assert calls[-1] == (20, 20)
    assert len(calls) == 20 or where == "threading"  # from joblib's workers come whole folds


@pytest.mark.parametrize(("n_done", "n_counted"), [(1, 0), (4, 1), (7, 1), (8, 2), (19, 4)])
def test_a_search_that_is_stopped_ends_with_the_folds_it_has_finished(n_done, n_counted):
    whole = search()
    with monitored("search") as monitor:
        found = search(progress=lambda done, _: done == n_done and monitor.ask("stopped"))
    assert found.n_folds == 5
    for trial, of_all in zip(found.trials, whole.trials, strict=True):
        assert trial.scores.tolist() == of_all.scores[:n_counted].tolist()
        assert trial.status == ("complete" if n_counted else "stopped")


def test_a_candidate_without_a_score_is_not_complete_and_costs_no_fold():
    def judge(_, candidates):
        return [np.nan if each["a"] == 2 else each["a"] for each in candidates]

    folds = dealt_folds(Y, 3, np.random.default_rng(0))
    trials = run_trials(judge, [{"a": 1.0}, {"a": 2.0}], folds)
    assert [len(trial.scores) for trial in trials.trials] == [3, 3]
    assert [trial.status for trial in trials.trials] == ["complete", "time_limit"]
    assert trials.choose() == 0
    assert trials.complete == trials.trials[:1]


def test_complete_candidates_are_preferred_and_of_equal_ones_the_first():
    def trial(score, status="complete"):
        return Trial({}, np.array([score]), status)

    assert Trials((trial(0.9, "time_limit"), trial(0.5), trial(0.6), trial(0.6))).choose() == 2
    assert Trials((trial(0.5, "time_limit"), trial(0.9, "stopped"))).choose() == 1
    assert Trials((trial(0.6), trial(0.6 + 1e-13))).choose() == 1
    assert Trials((trial(0.6), trial(0.6 + 1e-13))).choose(tie=1e-12) == 0
    with pytest.raises(ParameterError, match="no candidate could be scored"):
        Trials((trial(np.nan), trial(np.nan))).choose()
    with pytest.raises(ParameterError, match="choice='worst' is not known"):
        Trials((trial(1.0),)).choose("worst")


def test_the_table_of_results_is_that_of_a_grid_search():
    folds = class_folds(4, Y, np.arange(3), np.ones(len(Y)), seed=1)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 60]}, cv=folds).fit(
        X, Y
    )

    def judge(fold, candidates):
        models = [KNeighborsClassifier(**parameters) for parameters in candidates]
        fitted = [model.fit(X[fold.train], Y[fold.train]) for model in models]
        return [model.score(X[fold.test], Y[fold.test]) for model in fitted]

    found, expected = run_trials(judge, GRID, folds).cv_results(), search.cv_results_
    assert set(found) <= set(expected)
    assert found["params"] == expected["params"]
    assert found["param_n_neighbors"].tolist() == expected["param_n_neighbors"].tolist()
    for name in ("mean_test_score", "std_test_score", "split3_test_score"):
        assert found[name] == pytest.approx(expected[name], abs=1e-15)
    assert found["rank_test_score"].tolist() == expected["rank_test_score"].tolist()
    assert (found["mean_fit_time"] > 0).all()


@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
def test_a_machine_that_chooses_C_has_the_same_table():
    model = LinearSVCCV(Cs=[0.1, 1.0], cv=3).fit(X, Y)
    assert model.cv_results_["params"] == [{"C": 0.1}, {"C": 1.0}]
    assert model.cv_results_["split2_test_score"].tolist() == model.scores_[:, 2].tolist()
    assert not hasattr(LinearSVCCV(), "cv_results_")


# ------------------------------------------------------------------------------------- resumption


def n_results_after_a_crash(task, crash_after: int) -> tuple[int, object]:
    """Return how many results the second run has computed, and what it returned."""
    store = Memory(crash_after_results=crash_after)
    with pytest.raises(CrashError), keeping_in(store):
        task()
    store.n_results, store.crash_after_results = 0, None
    with keeping_in(store):
        found = task()
    return store.n_results, found


@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
def test_folds_along_C_are_not_solved_again(monkeypatch):
    n_paths, crash_at, along = 0, 5, _c_path._along

    def count_and_solve(*given, **options):
        nonlocal n_paths
        n_paths += 1
        if n_paths == crash_at:
            raise CrashError
        return along(*given, **options)

    monkeypatch.setattr(_c_path, "_along", count_and_solve)
    model, store = LinearSVCCV(Cs=[0.1, 1.0], cv=5, n_jobs=1, random_state=0), Memory()
    with pytest.raises(CrashError), keeping_in(store):
        model.fit(X, Y)
    n_paths, crash_at = 0, None
    with keeping_in(store):
        model.fit(X, Y)
    assert n_paths == 15 - 4  # three classes in five folds
    assert model.scores_.tobytes() == clone(model).fit(X, Y).scores_.tobytes()


def test_folds_of_pruned_trees_are_not_grown_again():
    rows, values = load_diabetes(return_X_y=True)
    model = DecisionTreeRegressor(random_state=0).fit(rows, values)

    def task():
        return cross_validated_path(model, rows, values, random_state=0, n_jobs=1)

    n_results, path = n_results_after_a_crash(task, crash_after=3)
    assert n_results == 5 - 3
    assert path.errors.tobytes() == task().errors.tobytes()


@pytest.mark.parametrize("depths", [[1, 6, 2], [6, 1, 2]])
def test_forests_that_have_judged_themselves_are_not_grown_again(depths, monkeypatch):
    n_fits = []
    grow = RandomForestClassifier._grow
    monkeypatch.setattr(
        RandomForestClassifier, "_grow", lambda *given: n_fits.append(1) or grow(*given)
    )
    rows, y = load_breast_cancer(return_X_y=True)

    def task():
        forest = RandomForestClassifier(20, random_state=0)
        return tune_by_oob(forest, {"max_depth": depths}, rows, y, n_resamples=50)

    expected = task()
    n_fits.clear()
    n_results, found = n_results_after_a_crash(task, crash_after=2)
    assert n_results == 1
    assert len(n_fits) == 3 + 1  # the chosen one, of which only figures were kept
    assert found.parameters == expected.parameters == {"max_depth": 6}
    assert found.chosen.figure == expected.chosen.figure
    assert np.array_equal(found.forest.predict_proba(rows), expected.forest.predict_proba(rows))


# ------------------------------------------------------------------------------ known predictions


def test_scorers_take_predictions_that_are_known():
    y = np.array([0, 1, 1, 0])
    scores = np.array([-1.0, 2.0, -0.5, 0.1])
    known = KnownClassifier((scores > 0).astype(int), np.array([0, 1]), scores)
    rows = np.arange(4)
    assert get_scorer("accuracy")(known, rows, y) == 0.5
    assert get_scorer("roc_auc")(known, rows, y) == 0.75
    with pytest.raises(AttributeError, match="predict_proba"):
        get_scorer("neg_log_loss")(known, rows, y)
    assert get_scorer("r2")(KnownRegressor(y.astype(float)), rows, y) == 1.0
