"""The benchmarks of forests: their adapters, and what each suite measures."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.contest import Case, Contest, Limits, is_missing
from benchmarks.datasets import Dataset, some_rows
from benchmarks.forest_scores import ForestTask, score
from benchmarks.peers.forest_base import Grown, OneHot
from benchmarks.peers.forests_like_sklearn import (
    HedgerowForest,
    HedgerowTree,
    IntelexForest,
    ScikitLearnForest,
    ScikitLearnTree,
)
from benchmarks.suites import load_suite
from benchmarks.suites.forest import CONTESTANTS
from benchmarks.suites.forest_files import Saver
from benchmarks.suites.forest_memory import WeighedForest, codes_bytes, work_bytes
from benchmarks.suites.forest_oob import OutOfBag
from benchmarks.suites.kernel_predict import Predictor, PredictTask, with_test_rows
from benchmarks.worker import FellBackError

pytestmark = pytest.mark.long

CLASSES, NUMBERS = ForestTask(n_trees=10), ForestTask("numbers", n_trees=10)


def signals(n_classes=3):
    """Rows whose class one column tells, and another half of the time; labels in no order."""
    random = np.random.default_rng(0)
    y = (7 * np.arange(600)) % n_classes
    X = random.normal(size=(600, 6)).astype(np.float32)
    X[:, 2] = y + random.uniform(-0.4, 0.4, 600)
    X[:300, 4] = -y[:300]
    return Dataset(X[:400], y[:400], X[400:], y[400:])


def slopes():
    random = np.random.default_rng(0)
    X = random.uniform(size=(600, 4)).astype(np.float32)
    y = 3.0 * X[:, 1] + np.sin(6 * X[:, 2]) + 0.05 * random.normal(size=600)
    return Dataset(X[:400], y[:400], X[400:], y[400:])


def shop():
    """A table whose class depends on a category and a number, of both of which some are missing."""
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    town = random.choice(["Ulm", "Bonn", "Köln", "Kiel"], 600)
    price = random.integers(1, 100, 600).astype(float)
    y = (np.isin(town, ["Ulm", "Kiel"]) & (price > 30)).astype(np.int64)
    town = np.where(random.uniform(size=600) < 0.02, None, town)
    price[random.uniform(size=600) < 0.02] = np.nan
    table = pd.DataFrame({"price": price, "town": pd.Categorical(town), "count": np.arange(600)})
    return Dataset(table[:400], y[:400], table[400:].reset_index(drop=True), y[400:])


def there(contestant, task=CLASSES):
    if is_missing(contestant) or not contestant.ladder(task):
        pytest.skip(f"{contestant.name} is not there")
    return contestant


each_contestant = pytest.mark.parametrize(
    "contestant", [*CONTESTANTS, HedgerowTree(), ScikitLearnTree()], ids=lambda c: c.name
)
peers_may_warn = pytest.mark.filterwarnings("ignore")

# ------------------------------------------------------------------------------ the adapters


@peers_may_warn
@each_contestant
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_adapter_returns_labels_of_the_test_rows(contestant, n_classes):
    contestant, data = there(contestant), signals(n_classes)
    fitted = contestant.fit(CLASSES, data, 0.0, 1)
    assert contestant.ran(fitted)
    predicted = contestant.result(fitted)["predicted"]
    assert predicted.dtype == np.float64
    assert set(np.unique(predicted)) == set(range(n_classes))
    assert score(CLASSES, data.y_test, predicted) > 0.85


@peers_may_warn
@each_contestant
def test_every_adapter_returns_numbers_of_the_test_rows(contestant):
    contestant, data = there(contestant, NUMBERS), slopes()
    fitted = contestant.fit(NUMBERS, data, 0.0, 1)
    assert score(NUMBERS, data.y_test, contestant.result(fitted)["predicted"]) > 0.85


@peers_may_warn
@each_contestant
def test_every_adapter_takes_a_table_with_categories_and_holes(contestant):
    contestant, data = there(contestant), shop()
    fitted = contestant.fit(CLASSES, data, 0.0, 1)
    assert score(CLASSES, data.y_test, contestant.result(fitted)["predicted"]) > 0.8
    assert contestant.predict(fitted, data.X_test[:1]).shape == (1,)


@peers_may_warn
@pytest.mark.parametrize("contestant", CONTESTANTS, ids=lambda c: c.name)
def test_every_fit_has_a_seed_of_its_own(contestant):
    data = signals()
    noise = replace(data, y=np.random.default_rng(0).permutation(data.y))
    there(contestant)
    fits = [contestant.fit(CLASSES, noise, 0.0, 1) for _ in range(3)]
    predicted = [contestant.result(fitted)["predicted"] for fitted in fits]
    assert any(not np.array_equal(predicted[0], other) for other in predicted[1:])


def test_settings_are_those_of_the_task():
    forest = ScikitLearnForest().model(ForestTask("numbers", 7, 3), 5, 2)
    assert type(forest).__name__ == "RandomForestRegressor"
    chosen = {"n_estimators": 7, "min_samples_leaf": 3, "random_state": 5, "n_jobs": 2}
    assert chosen.items() <= forest.get_params().items()
    tree = ScikitLearnTree().model(ForestTask(min_leaf=3), 5, 2)
    assert type(tree).__name__ == "DecisionTreeClassifier"
    assert {"min_samples_leaf": 3, "random_state": 5}.items() <= tree.get_params().items()


def test_a_single_row_does_not_pay_for_threads_it_has_no_use_for():
    contestant, data = ScikitLearnForest(), signals()
    fitted = contestant.fit(CLASSES, data, 0.0, 2)
    contestant.predict(fitted, data.X_test[:1])
    assert fitted.model.n_jobs == 1
    contestant.predict(fitted, data.X_test)
    assert fitted.model.n_jobs == 2


def test_a_patched_forest_of_scikit_learn_is_refused():
    patched = type("RandomForestClassifier", (), {"__module__": "sklearnex.ensemble"})()
    with pytest.raises(FellBackError, match=r"sklearnex\.ensemble"):
        ScikitLearnForest().ran(Grown(patched, None))


def test_every_value_is_a_bin_where_scikit_learn_intelex_is_exact(monkeypatch):
    asked = []

    def forest(**settings):
        asked.append(settings["max_bins"])
        return SimpleNamespace(fit=lambda *_: None)

    ensemble = SimpleNamespace(RandomForestClassifier=forest)
    for is_exact in (True, False):
        contestant = IntelexForest(is_exact=is_exact)
        monkeypatch.setattr(contestant, "_module", lambda: ensemble)
        monkeypatch.setattr(contestant, "_watched", ScikitLearnForest()._watched)
        contestant.fit(CLASSES, signals(), 0.0, 1)
    assert asked == [400, 256]


def test_a_version_without_trees_or_forests_is_said_to_have_none(monkeypatch):
    monkeypatch.setattr("hedgerow.__all__", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
    assert HedgerowForest().ladder(CLASSES) == ()
    assert HedgerowTree().ladder(CLASSES) == (0.0,)


def test_columns_of_categories_are_zero_for_those_not_seen_and_holes_are_filled_if_asked():
    pd = pytest.importorskip("pandas")
    known = pd.DataFrame({"a": pd.Categorical(["x", "y", None]), "b": [1.0, np.nan, 3.0]})
    new = pd.DataFrame({"a": pd.Categorical(["y", "z"]), "b": [np.nan, 5.0]})
    for fills in (False, True):
        encoder = OneHot(fills=fills)
        rows = encoder.fit_transform(known)
        assert rows.dtype == np.float32
        hole = 2.0 if fills else np.nan
        expected = [[1, 0, 0, 1], [0, 1, 0, hole], [0, 0, 1, 3]]
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(encoder.transform(new), [[0, 1, 0, hole], [0, 0, 0, 5]])


# -------------------------------------------------------------------------------- the suites


def held(suite, case, data):
    """The standings of a contest, by contestant."""
    crew = {}
    limits = Limits(repeats=1, budget=60.0, threads=1)
    contest = Contest(suite, case, data, limits=limits, crew=crew, say=lambda _: None)
    try:
        contest.hold()
    finally:
        for worker in crew.values():
            worker.stop()
    return contest


@pytest.mark.parametrize("one_by_one", [False, True])
def test_predictions_of_a_table_are_timed_without_the_fit(one_by_one):
    shop()
    suite = replace(load_suite("forest_predict"), contestants=[Predictor(ScikitLearnForest())])
    data = with_test_rows(250 if not one_by_one else 10, lambda _: shop(), None)
    contest = held(suite, Case("shop", None, PredictTask(CLASSES, one_by_one)), data)
    (standing,) = contest.standings()
    assert standing.status == "reached", contest.runs
    assert all(run.details["score"] > 0.5 for run in contest.runs if run.phase == "repeat")


def test_test_rows_of_a_table_are_repeated_as_often_as_it_takes():
    data = with_test_rows(450, lambda _: shop(), None)
    assert data.X_test.shape == (450, 3)
    assert data.X_test["count"].iloc[200] == data.X_test["count"].iloc[0]
    assert list(some_rows(data.X, np.array([3, 1]))["count"]) == [3, 1]


def test_a_thin_table_keeps_its_types():
    data = shop().thinned(20)
    assert len(data.X) == len(data.y) <= 22
    assert data.X["town"].dtype == "category"


def test_the_cost_of_out_of_bag_is_that_of_neighbours():
    suite = load_suite("forest_oob")
    seconds = np.array([[1.1, 1.0], [2.4, 2.0], [1.02, 1.0]])
    result = {"seconds": seconds, "oob_score": np.array([0.8])}
    verdict = suite.referee(CLASSES, None, None)(result)
    assert verdict.figure == pytest.approx(0.1)
    assert verdict.details == {"with_oob": 1.1, "without": 1.0, "oob_score": 0.8}


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_fits_with_out_of_bag_and_without_are_both_timed():
    contestant = OutOfBag(ScikitLearnForest())
    result = contestant.result(contestant.fit(ForestTask(n_trees=20), signals(), 0.0, 1))
    assert result["seconds"].shape == (3, 2)
    assert (result["seconds"] > 0).all()
    assert 0.7 < result["oob_score"][0] <= 1.0


def test_codes_are_as_wide_as_the_values_ask_for():
    n_rows = 70_000
    columns = [np.arange(n_rows) % n for n in (2, 256, 257, 65_536, 65_537)]
    X = np.stack(columns, axis=1).astype(np.float32)
    distinct = 8 * (2 + 256 + 257 + 65_536 + 65_537)
    assert codes_bytes(X) == 2 * n_rows * (1 + 1 + 2 + 2 + 4) + distinct
    assert work_bytes(1000, 2) == 2 * work_bytes(1000, 1)
    assert work_bytes(2000, 1) - work_bytes(1000, 1) == 64_000


def test_a_forest_is_weighed_in_a_process_of_its_own_against_codes_and_work():
    data, suite = signals(), load_suite("forest_memory")
    task = suite.cases[0].task
    contestant = WeighedForest(ScikitLearnForest())
    fitted = contestant.fit(task, data, 0.0, 1)
    assert contestant.ran(fitted) == "RandomForestClassifier, 4 trees"
    verdict = suite.referee(task, data, None)(contestant.result(fitted))
    room = codes_bytes(data.X) + work_bytes(400, 1)
    assert verdict.figure == verdict.details["bytes_beyond_data"] / room > 0


def test_files_are_held_against_scikit_learns_pickle_node_by_node():
    suite = load_suite("forest_files")
    suite = replace(suite, contestants=[c for c in suite.contestants if not c.is_ours])
    contest = held(suite, Case("three", None, CLASSES), signals())
    (repeat,) = [run for run in contest.runs if run.phase == "repeat"]
    assert repeat.figure == pytest.approx(1.0, rel=0.01)
    assert 50 < repeat.details["bytes_a_node"] < 500
    statuses = [standing.status for standing in contest.standings()]
    assert statuses == ["reached", "never reached"]


def test_our_forests_are_saved_by_hedgerow():
    contestant = there(Saver(HedgerowForest()))
    contestant.prepare(CLASSES, signals(), 1)
    result = contestant.result(contestant.fit(CLASSES, None, 0.0, 1))
    assert result["bytes"][0] > result["nodes"][0] > 30


def test_a_file_from_which_another_forest_comes_back_is_no_result(monkeypatch):
    contestant, data = Saver(ScikitLearnForest()), signals()
    contestant.prepare(CLASSES, data, 1)
    other = ScikitLearnForest().fit(CLASSES, replace(data, y=data.y[::-1]), 0.0, 1).model
    monkeypatch.setattr("benchmarks.suites.forest_files.pickle.loads", lambda _: other)
    with pytest.raises(ValueError, match="predicts otherwise"):
        contestant.result(contestant.fit(CLASSES, data, 0.0, 1))
