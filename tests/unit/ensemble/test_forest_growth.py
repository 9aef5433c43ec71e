"""How forests grow: side by side, on and on, and until they must or may stop."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_friedman1

import hedgerow
from hedgerow.ensemble import (
    BalancedRandomForestClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from hedgerow.ensemble.stopping import PlateauRule
from hedgerow.errors import DataError, ParameterError
from hedgerow.monitor import keeping_in
from hedgerow.testing import check_interrupt, check_max_time
from tests.memory_store import CrashError, Memory

IRIS = load_iris(return_X_y=True)
FRIEDMAN = make_friedman1(200, random_state=0)
FORESTS = [
    (RandomForestClassifier(25, oob_score=True, random_state=3), IRIS),
    (RandomForestClassifier(25, oob_score=True, random_state=3, voting="hard"), IRIS),
    (RandomForestRegressor(25, oob_score=True, random_state=3, max_features=0.5), FRIEDMAN),
    (ExtraTreesRegressor(25, random_state=3), FRIEDMAN),
    (BalancedRandomForestClassifier(25, oob_score=True, random_state=3), IRIS),
]


def bits(forest, X):
    """Everything that a forest has learnt, as bytes."""
    found = [part.tobytes() for part in forest.trees_.parts.values()]
    found.append(
        (
            forest.predict(X) if not hasattr(forest, "classes_") else forest.predict_proba(X)
        ).tobytes()
    )
    found.append(forest.feature_importances_.tobytes())
    if hasattr(forest, "oob_"):
        oob = forest.oob_
        found += [a.tobytes() for a in (oob.sums, oob.n_trees_of_row, oob.tree_losses, oob.curve)]
    return found


# ------------------------------------------------------------------------------- any way, the same


@pytest.mark.parametrize(("forest", "data"), FORESTS)
def test_the_forest_is_the_same_for_any_number_of_threads(forest, data):
    alone, together = (clone(forest).set_params(n_jobs=n).fit(*data) for n in (1, 3))
    assert bits(alone, data[0]) == bits(together, data[0])


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize(("forest", "data"), FORESTS)
def test_trees_that_are_added_are_those_of_a_forest_grown_at_once(forest, data):
    whole = clone(forest).fit(*data)
    grown = clone(forest).set_params(warm_start=True, n_estimators=7).fit(*data)
    first = grown.trees_
    grown.set_params(n_estimators=25).fit(*data)
    assert bits(whole, data[0]) == bits(grown, data[0])
    assert len(first) == 7
    assert grown.status_ == "grown"


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_a_forest_without_a_seed_goes_on_with_the_one_it_drew():
    X, y = IRIS
    forest = RandomForestClassifier(5, warm_start=True, oob_score=True).fit(X, y)
    seed = forest.sampler_.seed
    forest.set_params(n_estimators=60).fit(X, y)
    assert forest.sampler_.seed == seed
    assert forest.oob_.n_trees == 60


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_rows_are_judged_by_trees_that_were_grown_before_it_was_asked_for(voting):
    X, y = IRIS
    whole = RandomForestClassifier(30, oob_score=True, random_state=0, voting=voting).fit(X, y)
    forest = RandomForestClassifier(20, warm_start=True, random_state=0, voting=voting).fit(X, y)
    forest.set_params(n_estimators=30, oob_score=True).fit(X, y)
    assert bits(whole, X) == bits(forest, X)


def test_votes_are_counted_anew_if_they_are_asked_for_later():
    X, y = IRIS
    whole = RandomForestClassifier(30, oob_score=True, random_state=0, voting="hard").fit(X, y)
    forest = RandomForestClassifier(20, warm_start=True, oob_score=True, random_state=0).fit(X, y)
    forest.set_params(n_estimators=30, voting="hard").fit(X, y)
    assert np.array_equal(forest.oob_.sums, whole.oob_.sums)


def test_nothing_is_grown_and_a_warning_given_if_all_trees_are_there():
    X, y = IRIS
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    before = bits(forest, X)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, y)
    assert bits(forest, X) == before


def test_a_forest_cannot_shrink_or_go_on_with_other_rows():
    X, y = IRIS
    forest = RandomForestClassifier(5, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(
        ParameterError, match="n_estimators=4 must be larger or equal to the 5 trees"
    ):
        forest.set_params(n_estimators=4).fit(X, y)
    forest.set_params(n_estimators=6)
    with pytest.raises(DataError, match="the same X, y, sample_weight and oob_group"):
        forest.fit(X[:100], y[:100])
    with pytest.raises(DataError, match="the same X, y, sample_weight and oob_group"):
        forest.fit(X, y + 1)
    assert len(forest.set_params(warm_start=False).fit(X[:100], y[:100])) == 6


# ------------------------------------------------------------------------------------- enough trees


def test_growth_stops_where_the_out_of_bag_error_no_longer_falls():
    X, y = make_classification(400, random_state=0)
    rule = PlateauRule(0.003)
    forest = RandomForestClassifier(5000, stop_when_flat=0.003, random_state=0).fit(X, y)
    curve = forest.oob_.curve
    assert forest.status_ == "flat"
    assert 20 <= len(forest) < 500
    assert rule.holds(curve, 1.0)
    assert not any(rule.holds(curve[:n], 1.0) for n in range(len(curve)))
    alone = clone(forest).set_params(n_jobs=1).fit(X, y)
    assert np.array_equal(alone.oob_.curve, curve)


def test_a_smaller_tolerance_or_a_longer_stretch_grows_more_trees():
    X, y = FRIEDMAN
    sizes = [
        len(RandomForestRegressor(2000, stop_when_flat=rule, random_state=0).fit(X, y))
        for rule in (0.05, 0.0005, {"tol": 0.0005, "n_trees": 40})
    ]
    assert sizes[0] < sizes[1] < sizes[2]
    assert sizes[2] >= 80


def test_flat_means_that_the_mean_of_the_last_trees_is_hardly_below_the_mean_before():
    rule = PlateauRule(tol=0.1, n_trees=2)
    assert not rule.holds([1.0, 1.0, 1.0], 1.0)
    assert not rule.holds([1.0, 1.0, 0.8, 0.8], 1.0)
    assert rule.holds([1.0, 1.0, 0.95, 0.95], 1.0)
    assert rule.holds([1.0, 1.0, 1.5, 1.5], 1.0)
    assert rule.holds([1.0, 1.0, 0.8, 0.8], 10.0)
    assert not rule.holds([np.nan, 1.0, 1.0, 1.0], 1.0)


def test_flatness_needs_rows_that_are_left_out():
    with pytest.raises(ParameterError, match="leave stop_when_flat out"):
        ExtraTreesRegressor(stop_when_flat=0.01).fit(*FRIEDMAN)


# ------------------------------------------------------------------------------- stopped from outside


def noise(n_rows=3000):
    """Rows with random labels, each row twice: no tree can learn them all."""
    random = np.random.default_rng(0)
    X = np.tile(random.standard_normal((n_rows // 2, 20)), (2, 1))
    return X, random.integers(2, size=n_rows)


@pytest.mark.parametrize(
    "cls", [RandomForestClassifier, RandomForestRegressor, BalancedRandomForestClassifier]
)
def test_an_endless_forest_obeys_ctrl_c_and_its_time_limit(cls):
    forest = cls(10**9, oob_score=True, random_state=0)
    check_interrupt(forest, *noise(), after=0.4)
    check_max_time(forest, *noise(), seconds=1.0)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_a_forest_that_was_stopped_is_the_beginning_of_the_whole_one():
    X, y = noise()
    cut = RandomForestClassifier(10**9, max_time=1.5, random_state=0, oob_score=True).fit(X, y)
    assert cut.status_ == "time_limit"
    whole = RandomForestClassifier(len(cut), random_state=0, oob_score=True).fit(X, y)
    assert bits(cut, X) == bits(whole, X)


def test_half_a_tree_is_kept_if_there_is_no_time_for_a_whole_one():
    forest = RandomForestClassifier(100, max_time=1e-9, random_state=0).fit(*noise())
    assert len(forest) == 1
    assert forest.status_ == "time_limit"
    assert set(forest.predict(noise()[0])) <= {0, 1}


def test_every_tree_is_reported_and_a_callback_can_stop_the_growth():
    events = []

    def stop_after_6(event):
        events.append(event)
        return event.done == 6

    forest = RandomForestClassifier(50, oob_score=True, random_state=0, n_jobs=2)
    forest.set_callbacks(stop_after_6)
    forest.fit(*IRIS)
    assert forest.status_ == "stopped"
    assert len(forest) == 6
    assert [event.done for event in events] == [1, 2, 3, 4, 5, 6]
    assert events[-1].total == 50
    assert events[-1].task == "RandomForestClassifier"
    assert events[-1].figures["oob_error"] == forest.oob_.curve[-1]


def test_an_error_in_a_callback_ends_the_fit():
    def fail(event):
        if event.done == 3:
            raise RuntimeError("enough")

    forest = RandomForestClassifier(10**6, random_state=0, n_jobs=2).set_callbacks(fail)
    with pytest.raises(RuntimeError, match="enough"):
        forest.fit(*IRIS)


def test_a_watch_limits_the_time_of_a_forest():
    with hedgerow.watch(max_time=0.3):
        forest = RandomForestClassifier(10**9, random_state=0).fit(*noise())
    assert forest.status_ == "time_limit"


# -------------------------------------------------------------------------------------- checkpoints


@pytest.mark.parametrize(("forest", "data"), FORESTS)
def test_a_forest_goes_on_from_its_checkpoint_to_the_same_bits(forest, data):
    store = Memory(crash_after=9)
    with keeping_in(store), pytest.raises(CrashError):
        clone(forest).fit(*data)
    (state,) = store.entries.values()
    assert len(state["trees"]) == 9
    store.crash_after, store.n_states = None, 0
    with keeping_in(store):
        again = clone(forest).fit(*data)
    assert store.n_states == 25 - 9
    assert bits(again, data[0]) == bits(clone(forest).fit(*data), data[0])


def test_other_settings_or_data_do_not_take_the_checkpoint():
    X, y = IRIS
    store = Memory()
    with keeping_in(store):
        RandomForestClassifier(3, random_state=0).fit(X, y)
        RandomForestClassifier(3, random_state=0, max_depth=2).fit(X, y)
        RandomForestClassifier(3, random_state=0).fit(X * 2, y)
        RandomForestClassifier(3, random_state=0).fit(X, y, sample_weight=y + 1)
    assert len(store.entries) == 4
    assert store.n_states == 12
