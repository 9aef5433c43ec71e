"""Data files in LIBSVM's format, plain and compressed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import hedgerow
from tests.fuzz.byte_edits import compressed
from tests.fuzz.csv_files import fit_files, use_table
from tests.fuzz.target import WIDE, Seeds, Target, attempt, choices_of, n_steps
from tests.fuzz.text_edits import edited_text

__all__ = ["TARGET"]

_SEEDS = {
    "two": "+1 1:0.5 3:-1.25\n-1 2:1e-3\n+1 1:2 2:3 3:4\n-1 3:1\n" * 3,
    "three": "0 1:1 2:2\n1 2:1\n2 1:-1\n" * 4,
    "values": "0.25 1:1\n-1.5 2:1 4:2\n3e2 1:0.125\n" * 3,
    "from-zero": "1 0:1 2:2\n0 1:1\n1 0:3\n",
    "remarks": "# a remark\n1 qid:3 1:2 # more\n\n0 1:1\n1 1:4\n",
    "far": "1 1:1 30000:2\n0 29999:1\n1 5:1\n",
    "empty-rows": "1\n0 1:1\n1 2:1\n0\n",
}
_WORDS = (
    b"1:",
    b":1",
    b"1:2:3",
    b"0:1",
    b"-1:1",
    b"2147483647:1",
    b"4294967297:1",
    b"qid:1",
    b"qid:",
)


def _seeds() -> dict[str, bytes]:
    return {name: text.encode() for name, text in _SEEDS.items()}


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    text = seeds[rng.choice(list(seeds))]
    wrap = rng.random() < 0.15
    after = Random(rng.random())
    for _ in range(n_steps(rng, most)):
        text = edited_text(rng, text, list(seeds.values()), _WORDS)[:300_000]
    return compressed(after, text) if wrap else text


def _consume(data: bytes, folder: Path) -> None:
    path, rng = folder / "rows.svm", choices_of(data)
    path.write_bytes(data)
    n_features = rng.choice([None, None, None, 3, 3000, 2**40])
    file_format = rng.choice(["auto", "libsvm", "libsvm"])
    table: Any = attempt(hedgerow.read_table, path, format=file_format, n_features=n_features)
    if table is not None:
        use_table(table, rng)
        if not isinstance(table.X, dict) and table.X.shape[1] > WIDE:
            return
    fit_files(path, rng, rng.choice(["auto", "libsvm"]), None)


TARGET = Target("libsvm", 8, _seeds, _mutate, _consume)
