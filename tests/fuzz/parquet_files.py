"""Parquet files, which machines are fitted to in blocks."""

from __future__ import annotations

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.byte_edits import damaged
from tests.fuzz.csv_files import fit_files
from tests.fuzz.target import Seeds, Target, choices_of, n_steps

__all__ = ["TARGET"]

_N_ROWS = 12


def _tables() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    a = np.linspace(-1.0, 1.0, _N_ROWS)
    kinds = [int(i % 3 == 0) for i in range(_N_ROWS)]
    words = ["yes" if kind else "no" for kind in kinds]
    return {
        "numbers": ({"a": a, "b": a**2, "kind": kinds}, {}),
        "plain": (
            {"a": a, "b": a**2, "kind": kinds},
            {"compression": "none", "use_dictionary": False},
        ),
        "words": ({"a": a, "weight": abs(a), "kind": words}, {}),
        "groups": ({"a": a, "kind": kinds}, {"row_group_size": 5}),
        "mixed": ({"a": a.astype("f4"), "b": np.arange(_N_ROWS), "c": a > 0, "kind": words}, {}),
        "nulls": ({"a": [None, *a[1:]], "kind": kinds}, {}),
        "values": ({"a": a, "value": a / 3}, {"compression": "gzip"}),
        "text": ({"a": a, "b": words, "kind": kinds}, {}),
        "lists": ({"a": [[1.0]] * _N_ROWS, "kind": kinds}, {}),
        "odd-labels": ({"a": a, "kind": [[kind] for kind in kinds]}, {}),
        "empty": ({"a": a[:0], "kind": kinds[:0]}, {}),
    }


def _seeds() -> dict[str, bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    found = {}
    for name, (columns, options) in _tables().items():
        stream = io.BytesIO()
        parquet.write_table(pa.table(columns), stream, **options)
        found[name] = stream.getvalue()
    return found


def _mutate(rng: Random, seeds: Seeds, most: int) -> bytes:
    data = seeds[rng.choice(list(seeds))]
    in_footer = rng.random() < 0.6
    for _ in range(n_steps(rng, most)):
        length = int.from_bytes(data[-8:-4], "little") if in_footer else 0
        start = max(len(data) - 8 - length, 0) if length <= len(data) else 0
        end = len(data) - 8 if in_footer else len(data)
        data = data[:start] + damaged(rng, data[start:end], list(seeds.values())) + data[end:]
        if in_footer and rng.random() < 0.7:  # the length of the footer made right
            data = data[:-8] + (len(data) - 8 - start).to_bytes(4, "little") + data[-4:]
    return data


def _consume(data: bytes, folder: Path) -> None:
    path, rng = folder / "rows.parquet", choices_of(data)
    path.write_bytes(data)
    fit_files(path, rng, rng.choice(["auto", "parquet"]), rng.choice([None, None, "kind", 0]))


TARGET = Target("parquet", 4, _seeds, _mutate, _consume)
