"""A command line to call, and tables to call it on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.cli.main import run


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def hedgerow(capsys, monkeypatch, tmp_path: Path) -> Callable[..., Outcome]:
    """Run the command line in this process and the test's folder, as if piped at 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


def table_text(n_rows: int = 80, seed: int = 0) -> str:
    """Return a CSV table that a plane separates nearly, with text and gaps."""
    generator = np.random.default_rng(seed)
    lines = ["size,colour,weight,kind"]
    for i in range(n_rows):
        kind = ("apple", "plum")[i % 2]
        size = "" if i % 9 == 0 else f"{generator.normal() + 3 * (i % 2):.3f}"
        colour = generator.choice(["red", "green"])
        lines.append(f"{size},{colour},{generator.normal() + 2 * (i % 2):.3f},{kind}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "fruit.csv"
    path.write_text(table_text())
    return path


@pytest.fixture
def model(hedgerow, table: Path, tmp_path: Path) -> Path:
    path = tmp_path / "fruit.hedge"
    assert hedgerow("train", table, "--target", "kind", "--model", path).code == 0
    return path
