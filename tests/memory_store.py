"""A store of checkpoints that ends the program when it is told to."""

from __future__ import annotations

import copy


class CrashError(Exception):
    """The power is gone."""


class Memory:
    """A store that takes down every state, and ends the program after so many of them, or of results."""

    def __init__(self, crash_after=None, crash_after_results=None):
        self.entries = {}
        self.n_states = self.n_results = 0
        self.crash_after, self.crash_after_results = crash_after, crash_after_results

    def recall(self, key):
        return copy.deepcopy(self.entries.get(key))

    def remember(self, key, state):
        self.entries[key] = copy.deepcopy(state())
        self.n_states += 1
        if self.n_states == self.crash_after:
            raise CrashError

    def keep(self, key, result, *, instead_of):
        for old in instead_of:
            self.entries.pop(old, None)
        self.entries[key] = result
        self.n_results += 1
        if self.n_results == self.crash_after_results:
            raise CrashError
