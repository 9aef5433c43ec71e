"""print(auto_fit(...)) is the page of the command line; repr is one line."""

from __future__ import annotations

import io
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from hedgerow.auto import auto_fit
from hedgerow.cli.main import run


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def small(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(0)
    y = np.arange(n) % 2
    return generator.normal(size=(n, 3)) + 2 * y[:, None], y


def test_the_page_is_that_of_the_command_line(capsys) -> None:
    table = load_breast_cancer(as_frame=True)
    labels = table.target.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    assert run(["auto", "--example", "breast_cancer", "--Cs", "0.1,1"]) == 0
    shown = capsys.readouterr().out.split("\n\n")
    printed = str(auto_fit(table.data, labels, Cs=[0.1, 1.0])).split("\n\n")
    assert [part.split()[0] for part in printed] == [part.split()[0] for part in shown]
    assert printed[1:-1] == shown[1:-1]
    assert printed[0].startswith("Table    569 rows, 30 columns of numbers.")
    assert "hedgerow.save(result.model, 'FILE.hedge')" in printed[-1]


def test_the_page_is_at_most_as_wide_as_the_terminal_and_has_no_colour() -> None:
    page = str(auto_fit(*small(), Cs=[0.1, 1.0]))
    assert max(map(len, page.splitlines())) <= 80
    assert "\x1b" not in page
    assert "●" in page


def test_a_terminal_without_unicode_gets_a_page_that_it_can_show(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    str(auto_fit(*small(), Cs=[0.1, 1.0])).encode("ascii")


def test_the_repr_is_one_short_line() -> None:
    result = auto_fit(*small(), Cs=[0.1, 1.0])
    assert repr(result) == (
        f"<AutoResult: C={result.C:.3g}, {100 * result.test.accuracy.estimate:.1f} % of 50 test rows "
        "predicted right; print it for the whole page>"
    )


def test_given_test_rows_are_told_of() -> None:
    X, y = small()
    page = str(auto_fit(X, y, test=(X[:40], y[:40]), Cs=[1.0]))
    assert "Learnt from all of them; tested on 40 rows given for it." in page


def test_the_python_of_a_hint_runs_on_the_rows_that_were_given() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(400, 2)), columns=["a", "b"])
    y = np.where(X["a"] * X["b"] > 0, "same", "other")
    page = str(auto_fit(X, y, Cs=[1.0]))
    lines = [line.strip() for line in page.splitlines()]
    code = [line for line in lines if line.startswith(("from hedgerow import", "model = "))]
    names = {"X": X, "y": y}
    exec("\n".join(code), names)
    assert names["model"].score(X, y) > 0.9
