"""A random forest and an SVC beside the linear classifier: measured on rows they have not seen."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from hedgerow import RandomForestClassifier
from hedgerow.auto import AutoInterrupt, auto_fit
from hedgerow.monitor import Event, watch


def exclusive_or(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that no plane separates: the label is the sign of a product."""
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def test_where_no_plane_separates_a_better_learner_is_found_and_is_better() -> None:
    X, y = exclusive_or()
    result = auto_fit(X, y, Cs=[1.0])
    hint = next(hint for hint in result.advice if hint.name == "too_simple")
    best = result.rivals.others[0]
    assert hint.learner == best.learner
    assert best.accuracy > 0.75
    assert result.rivals.accuracy < 0.6
    new, labels = exclusive_or(seed=1)
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    assert forest.score(new, labels) > result.model.score(new, labels) + 0.2


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_where_a_plane_will_do_nothing_else_is_advised(load) -> None:
    result = auto_fit(*load(return_X_y=True))
    assert "too_simple" not in {hint.name for hint in result.advice}


def test_noise_makes_no_learner_look_better() -> None:
    generator = np.random.default_rng(0)
    for _ in range(5):
        X, y = generator.normal(size=(300, 5)), generator.integers(0, 2, 300)
        result = auto_fit(X, y, Cs=[1.0])
        assert not any(rival.is_better for rival in result.rivals.others)


def test_the_comparison_does_not_depend_on_threads_and_takes_few_rows() -> None:
    X, y = exclusive_or(2000)
    first, second = (auto_fit(X, y, Cs=[1.0], n_jobs=n) for n in (1, 2))
    assert first.rivals == second.rivals
    assert first.rivals.n_rows == 1000 + 75


def test_text_and_sparse_rows_are_compared_too() -> None:
    X, y = exclusive_or(400)
    signs = np.where(X > 0, "up", "down").astype(object)
    text = auto_fit({"a": signs[:, 0], "b": signs[:, 1]}, y, Cs=[1.0])
    assert text.rivals.others[0].accuracy == 1
    assert auto_fit(sp.csr_matrix(X > 0, dtype=float), y, Cs=[1.0]).rivals is not None


def test_tables_that_are_too_small_or_too_wide_are_not_compared() -> None:
    X, y = exclusive_or(60)
    assert auto_fit(X, y, Cs=[1.0]).rivals is None
    generator = np.random.default_rng(0)
    wide = sp.random(200, 20_000, 0.001, format="csr", random_state=0)
    assert auto_fit(wide, generator.integers(0, 2, 200), Cs=[1.0]).rivals is None


def test_ctrl_c_ends_the_comparison_and_not_the_result() -> None:
    X, y = exclusive_or(2000)
    pressed: list[Event] = []

    def press_once(event: Event) -> None:
        if "rivals" in event.path and not pressed:
            pressed.append(event)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(AutoInterrupt) as caught, watch(press_once):
        auto_fit(X, y, Cs=[1.0])
    assert pressed
    result = caught.value.finish()
    assert (result.rivals, result.interrupted) == (None, "test")


def test_without_time_left_there_is_no_comparison(monkeypatch) -> None:
    X, y = exclusive_or(2000)
    fit = RandomForestClassifier.fit

    def slow(self, *rows):
        time.sleep(2.0)
        return fit(self, *rows)

    monkeypatch.setattr(RandomForestClassifier, "fit", slow)
    result = auto_fit(X, y, Cs=[1.0], max_time=2.0)
    assert result.rivals is None
    assert result.certificate.is_certified
