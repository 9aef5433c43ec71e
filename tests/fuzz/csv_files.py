"""CSV files, plain and compressed: tables, blocks of rows, and models fitted to them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import scipy.sparse as sp

import hedgerow
from tests.fuzz.byte_edits import compressed
from tests.fuzz.target import WIDE, Seeds, Target, attempt, choices_of, n_steps
from tests.fuzz.text_edits import edited_text

__all__ = ["TARGET", "fit_files", "use_table"]

_ROWS = [(0.98, "red", 1), (-1.05, "blue", 0), (0.96, "red", 1), (-0.42, "", 0), (0.63, "grün", 1)]
_NUMBERS = "\n".join(f"{a},{2 * a + 1:.2f},{y}" for a, _, y in _ROWS * 3)
_SEEDS = {
    "header": f"size,weight,kind\n{_NUMBERS}\n",
    "no-header": f"{_NUMBERS}\n",
    "text": "size,colour,kind\n" + "".join(f"{a},{c},{y}\n" for a, c, y in _ROWS * 2),
    "labels": "size,colour,kind\n" + "".join(f"{a},{c},{['no', 'yes'][y]}\n" for a, c, y in _ROWS),
    "semicolon": f"size;weight;kind\n{_NUMBERS}\n".replace(",", ";"),
    "tab": f"size\tweight\tkind\n{_NUMBERS}\n".replace(",", "\t"),
    "quoted": '"a, b","c ""d""","kind"\n' + "".join(f'"{a}","x\ny",{y}\n' for a, _, y in _ROWS),
    "missing": "a,b,kind\n1,,0\nNA,2,1\n?,3,0\n4,nan,1\n",
    "decimal-comma": "a;b;kind\n1,5;2;0\n2,5;3;1\n3,5;4;0\n",
    "one-column": "kind\n0\n1\n1\n",
    "values": "a,b,value\n" + "".join(f"{a},{a * a:.3f},{a / 3:.4f}\n" for a, _, _ in _ROWS * 2),
    "wide": ",".join(f"c{i}" for i in range(40))
    + "\n"
    + "\n".join(",".join("10" * 20) for _ in range(3)),
}
_WORDS = (b"size", b"kind", b"weight", b"red", b"value", b"c1")


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
    path, rng = folder / "table.csv", choices_of(data)
    path.write_bytes(data)
    target = rng.choice([None, -1, 0, "kind", "-1", "no such column", 99])
    table = attempt(
        hedgerow.read_table,
        path,
        target=target,
        format=rng.choice(["auto", "csv", "csv"]),
        n_features=rng.choice([None, None, 2, 10**9]),
        text_columns=rng.choice([(), (), ("size",), ("kind", "nowhere")]),
        require_target=rng.random() < 0.7,
    )
    if table is not None:
        use_table(table, rng)
    fit_files(path, rng, rng.choice(["auto", "csv"]), rng.choice([target, None]))


def use_table(table: Any, rng: Random) -> None:
    """Read all of a table, and learn from it if it has labels."""
    assert table.n_rows >= 0
    _ = table.feature_names, table.target, table.notes
    if sp.issparse(table.X) and table.X.shape[1] > WIDE:
        return
    if table.y is None:
        attempt(hedgerow.TableEncoder().fit, table.X)
        return
    model = rng.choice([_learners(), _learners(), [hedgerow.TableEncoder]])
    learner: Any = attempt(rng.choice(model)().fit, table.X, table.y)
    if learner is not None:
        attempt(getattr(learner, "predict", None) or learner.transform, table.X)


def _learners() -> list[Any]:
    return [
        lambda: hedgerow.TableClassifier(hedgerow.LinearSVC(max_iter=50)),
        hedgerow.DecisionTreeClassifier,
        lambda: hedgerow.DecisionTreeRegressor(max_depth=3),
        lambda: hedgerow.RandomForestClassifier(2, random_state=0),
    ]


def fit_files(path: Path, rng: Random, file_format: str, target: Any) -> None:
    """Fit a machine to the rows of the file in blocks."""
    machine = rng.choice(
        [
            lambda: hedgerow.LinearSVC(max_iter=20),
            lambda: hedgerow.LinearSVC(loss="hinge", max_iter=20),
            lambda: hedgerow.LinearSVR(max_iter=20),
        ]
    )()
    attempt(
        machine.fit_files,
        path,
        target=target,
        weight=rng.choice([None, None, None, 1, "weight"]),
        format=file_format,
        n_features=rng.choice([None, None, None, 3, 3000]),
        block_bytes=rng.choice([1, 64, 1 << 24]),
        cache=rng.random() < 0.8,
    )


TARGET = Target("csv", 12, _seeds, _mutate, _consume)
