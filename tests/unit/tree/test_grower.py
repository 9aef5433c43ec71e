"""Trees grow side by side and are taken in one by one; an error anywhere ends it all."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.ensemble.forest.builder import ForestBuilder


class Stand:
    """Takes its time for every tree."""

    def __init__(self, fails_at=None):
        self.trees = SimpleNamespace(n_trees=0)
        self.tally = None
        self.taken = []
        self._fails_at = fails_at

    def with_targets(self, grown):
        return grown

    def add(self, grown, sampler):  # noqa: ARG002 - the form of the real one
        if grown.number == self._fails_at:
            raise ArithmeticError
        time.sleep(0.002)
        self.taken.append(grown.number)
        self.trees.n_trees += 1


class Ground:
    """Grows trees in no time, now and then slowly."""

    sampler = None

    def __init__(self, fails_at=None):
        self._pauses = np.random.default_rng(0).choice([0.0, 0.0, 0.01], size=60)
        self._fails_at = fails_at
        self.numbers = []

    def tree(self, number, monitor):  # noqa: ARG002 - the form of the real one
        self.numbers.append(number)
        if number == self._fails_at:
            time.sleep(0.02)  # the others run ahead
            raise ArithmeticError
        time.sleep(self._pauses[number])
        return SimpleNamespace(was_stopped=False, number=number)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_trees_are_taken_in_in_the_order_of_their_numbers(n_threads):
    stand = Stand()
    assert ForestBuilder(Ground(), stand, 60, None, None).run(n_threads) == "grown"
    assert stand.taken == list(range(60))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_no_thread_grows_far_ahead_of_what_is_taken_in(n_threads):
    ground, stand, lead = Ground(), Stand(), []
    add = stand.add

    def watched(grown, sampler):
        lead.append(len(ground.numbers) - grown.number)
        add(grown, sampler)

    stand.add = watched
    ForestBuilder(ground, stand, 60, None, None).run(n_threads)
    assert max(lead) <= 3 * n_threads + 1  # that wait, that grow, and the one that is taken in


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("place", ["ground", "stand"])
def test_an_error_in_one_thread_ends_all(n_threads, place):
    ground, stand = (Ground(7), Stand()) if place == "ground" else (Ground(), Stand(7))
    with pytest.raises(ArithmeticError):
        ForestBuilder(ground, stand, 60, None, None).run(n_threads)
    assert stand.taken == list(range(len(stand.taken)))
    assert len(stand.taken) <= 7
    assert len(ground.numbers) < 60
