"""Kernels of strings and of sequences, written as ones that are to come would be, and strings to learn from."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from hedgerow._base.parameters import whole_number
from hedgerow._base.state import stateful
from hedgerow.kernels import ObjectKernel

_RULES = {"length": whole_number(1)}


@stateful(_RULES)
class Spectrum(ObjectKernel):
    """How many substrings of a length two strings have in common, counted as often as they occur."""

    _rules = _RULES

    def __init__(self, length=2):
        self.length = length

    def value(self, x, z):
        counts = self.counts(x), self.counts(z)
        return sum(counts[0][part] * counts[1][part] for part in counts[0])

    def counts(self, text):
        return Counter(text[i : i + self.length] for i in range(len(text) - self.length + 1))

    def item_problem(self, item):
        return None if isinstance(item, str) else "a string"


class SpectrumByBlocks(Spectrum):
    """The same, from the counts of two blocks."""

    def values(self, rows, others):
        both = (self.length, self.length)
        words = CountVectorizer(analyzer="char", ngram_range=both, lowercase=False)
        counts = words.fit_transform([*rows, *others]).astype(np.float64)
        return (counts[: len(rows)] @ counts[len(rows) :].T).toarray()


@stateful()
class Alignment(ObjectKernel):
    """Sums of exp(-(a - b)^2) over all values a and b of two sequences of numbers, of whatever lengths."""

    def value(self, x, z):
        return float(np.sum(np.exp(-(np.subtract.outer(x, z) ** 2))))


def strings(n_rows, seed=0):
    """Return strings of three kinds, which differ in the letters that follow each other, and their kinds."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n_rows) % 3
    letters = ["abab", "bcbd", "cada"]
    return [
        "".join(rng.choice(list(letters[kind]), size=rng.integers(4, 12))) for kind in kinds
    ], kinds
