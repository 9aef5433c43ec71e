"""Model files of LIBSVM's, plain and compressed, and every method of what is read from them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import hedgerow
from tests import model_zoo
from tests.fuzz.byte_edits import compressed
from tests.fuzz.target import WIDE, Seeds, Target, attempt, choices_of, n_steps
from tests.fuzz.text_edits import edited_text
from tests.models.write import HERE

__all__ = ["TARGET"]

_WORDS = (
    *(b"svm_type", b"kernel_type", b"nr_class", b"total_sv", b"rho", b"label", b"nr_sv", b"SV"),
    *(b"probA", b"probB", b"gamma", b"coef0", b"degree", b"c_svc", b"nu_svc", b"one_class"),
    *(b"epsilon_svr", b"nu_svr", b"linear", b"polynomial", b"rbf", b"sigmoid", b"precomputed"),
    *(b"0:1", b"0:1e10", b"1:", b"1:2:3", b"2147483648:1", b"1e10:1", b"-1:1", b"1.5:1"),
)
_MOST_COLUMNS = 1000


def _seeds() -> dict[str, bytes]:
    return {file.stem: file.read_bytes() for file in sorted(HERE.glob("libsvm/*.model"))}


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    text = seeds[rng.choice(list(seeds))]
    wrap = rng.random() < 0.1
    after = Random(rng.random())
    for _ in range(n_steps(rng, most)):
        text = edited_text(rng, text, list(seeds.values()), _WORDS)[:300_000]
    return compressed(after, text) if wrap else text


def _consume(data: bytes, folder: Path) -> None:
    path, rng = folder / "a.model", choices_of(data)
    path.write_bytes(data)
    n_features = rng.choice([None, None, None, 2, 10, 10**6, 2**40])
    model: Any = attempt(hedgerow.read_libsvm_model, path, n_features=n_features)
    if model is None:
        return
    if model.n_features_in_ <= WIDE:
        n_columns = model.n_features_in_ if model.n_features_in_ <= _MOST_COLUMNS else 2
        X = np.random.default_rng(0).normal(size=(4, n_columns))
        model_zoo.exercise(model, X, attempt(model.predict, X))
    attempt(hedgerow.save, model, folder / "a.hedge")
    if (folder / "a.hedge").exists():
        hedgerow.load(folder / "a.hedge")
    attempt(hedgerow.write_libsvm_model, model, folder / "b.model")
    if (folder / "b.model").exists():
        hedgerow.read_libsvm_model(folder / "b.model")


TARGET = Target("libsvm-model", 8, _seeds, _mutate, _consume)
