"""``hedgerow auto``."""

from __future__ import annotations

import bz2
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from hedgerow.persist import load
from tests.cli.conftest import table_text


def test_the_report_tells_the_whole_story_within_80_columns(hedgerow, table: Path) -> None:
    outcome = hedgerow("auto", table.name, "--target", "kind", "--Cs", "0.1,1,10")
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    labels = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert labels == ["Table", "Search", "Test", "Proof", "Next", "Model"]
    words = " ".join(outcome.out.split())
    assert "80 rows, 2 columns of numbers and 1 column of text." in words
    assert "the first line names the columns" in words
    assert "apple in 40 rows (50.0 %), plum in 40 rows (50.0 %)" in words
    assert "Kept apart for the test: 20 rows; 60 to learn from." in words
    assert "of 20 unseen rows are predicted right; 95 % interval" in words
    assert "Certified:" in words
    assert "Not saved; add --save FILE.hedge" in words


def test_the_chosen_value_is_marked_and_drawn(hedgerow, table: Path) -> None:
    arguments = ("auto", table, "--target", "kind", "--Cs", "0.1,1,10")
    chosen = hedgerow(*arguments, "--json").json["C"]
    rows = [line for line in hedgerow(*arguments).out.splitlines() if "●" in line]
    assert len(rows) == 3
    (marked,) = [row for row in rows if "▸" in row]
    assert float(marked.split()[1]) == chosen


def test_json_is_one_object_with_everything(hedgerow, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.hedge"
    outcome = hedgerow("auto", table, "--target", "kind", "--Cs", "1", "--json", "--save", path)
    result = outcome.json
    assert result["target"] == "kind"
    assert result["model"] == str(path)
    assert result["test"]["accuracy"]["n"] == 20
    assert result["certificate"]["is_certified"] is True
    assert {"scores", "advice", "profile", "notes", "train_accuracy"} <= set(result)


def test_the_saved_model_is_the_tested_one(hedgerow, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "my model.hedge"
    arguments = ("auto", table, "--target", "kind", "--Cs", "0.5", "--model", path)
    outcome = hedgerow(*arguments)
    command = re.search(r"hedgerow predict (.*)", outcome.out).group(0)
    assert command == f"hedgerow predict '{path}' NEW_TABLE"
    model = load(path)
    assert model.learner_.C == 0.5
    assert model.target_ == "kind"


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "iris", "wine"])
def test_every_example_gives_a_certified_model(hedgerow, name: str) -> None:
    result = hedgerow("auto", "--example", name, "--Cs", "0.1", "--json").json
    assert result["table"] == name
    assert result["certificate"]["is_certified"] is True
    # Linear machines are known to do at least this well on all four.
    assert result["test"]["accuracy"]["estimate"] > 0.8


def test_a_libsvm_file_needs_no_target_and_can_have_a_test_file(hedgerow, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    X = np.maximum(generator.normal(size=(60, 5)) + y[:, None], 0)
    dump_svmlight_file(X[:40], y[:40], str(tmp_path / "train"), zero_based=False)
    dump_svmlight_file(X[40:, :4], y[40:], str(tmp_path / "test"), zero_based=False)
    (tmp_path / "train.bz2").write_bytes(bz2.compress((tmp_path / "train").read_bytes()))
    outcome = hedgerow(
        "auto", tmp_path / "train.bz2", "--test", tmp_path / "test", "--Cs", "1", "--loss", "hinge"
    )
    words = " ".join(outcome.out.split())
    assert outcome.code == 0
    assert "40 rows, 5 sparse features" in words
    assert "LIBSVM, features counted from 1." in words
    assert "Learnt from all of them; tested on 20 rows of" in words


def test_a_test_table_is_read_like_the_training_table(hedgerow, tmp_path: Path) -> None:
    """A column of codes is text because of one code; the test table has only digits in it."""
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("code,y\n" + "7,0\nB,1\n" * 10)
    test.write_text("code,y\n7,0\n7,0\n")
    outcome = hedgerow("auto", train, "--target", "y", "--test", test, "--Cs", "1", "--json")
    assert outcome.json["test"]["accuracy"]["estimate"] == 1


def test_a_seed_decides_the_split(hedgerow, table: Path) -> None:
    arguments = ("auto", table, "--target", "kind", "--Cs", "1", "--json", "--seed")
    assert hedgerow(*arguments, 1).out == hedgerow(*arguments, 1).out
    assert hedgerow(*arguments, 1).out != hedgerow(*arguments, 2).out


def test_odd_names_come_through_as_they_are(hedgerow, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(table_text().replace("kind", "[bold]:smile:<b>").replace("plum", "[red]plum"))
    outcome = hedgerow("auto", path, "--target", "[bold]:smile:<b>", "--Cs", "1")
    assert "Target '[bold]:smile:<b>'" in outcome.out
    assert "[red]plum" in outcome.out


def test_labels_of_the_test_file_that_never_occur_in_training_are_an_error(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text(table_text(20, seed=1).replace("plum", "Plum"))
    path = tmp_path / "m.hedge"
    outcome = hedgerow("auto", table, "--target", "kind", "--test", odd, "--save", path)
    assert outcome.code == 2
    assert "are 'Plum', 'apple', those of the training rows 'apple', 'plum'" in outcome.err
    assert outcome.err.count("\n") == 1
    assert not path.exists()


def test_where_a_plane_is_too_simple_the_page_has_the_lines_of_python_that_help(
    hedgerow, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).normal(size=(400, 2))
    path = tmp_path / "xor.csv"
    rows = "\n".join(f"{a},{b},{'same' if a * b > 0 else 'other'}" for a, b in X)
    path.write_text(f"a,b,sign\n{rows}\n")
    page = hedgerow("auto", path.name, "--target", "sign", "--Cs", "1").out
    assert "A linear classifier is too simple here" in page
    code = [
        line.strip() for line in page.splitlines() if "hedgerow import" in line or " = T" in line
    ]
    names: dict = {}
    exec("\n".join(code), names)
    assert (
        names["model"].score(
            names["read_table"](path).X, np.where(X.prod(axis=1) > 0, "same", "other")
        )
        > 0.9
    )
