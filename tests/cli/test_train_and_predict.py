"""``hedgerow train`` and ``hedgerow predict``."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import pytest

from hedgerow.auto import TableClassifier
from hedgerow.data.io import read_table
from hedgerow.linear import LinearSVC
from hedgerow.persist import load


def test_train_fits_what_python_would_fit(hedgerow, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.hedge"
    outcome = hedgerow(
        *("train", table, "--target", "kind", "--model", path, "--loss", "hinge", "--C", "0.5"),
        *("--tol", "1e-6", "--intercept", "penalized", "--class-weight", "balanced"),
        *("--max-iter", "5000", "--scale", "none", "--seed", "3"),
    )
    assert outcome.code == 0
    learner = LinearSVC(
        loss="hinge",
        C=0.5,
        tol=1e-6,
        intercept="penalized",
        class_weight="balanced",
        max_iter=5000,
        random_state=3,
    )
    expected = TableClassifier(learner, scale=None).fit(read_table(table, target="kind"))
    assert load(path).learner_.coef_.tolist() == expected.learner_.coef_.tolist()
    labels = [line.split()[0] for line in outcome.out.splitlines() if line[:1].strip()]
    assert labels == ["Table", "Fit", "Proof", "Model"]


def test_save_and_its_older_spelling_model_save_the_same_model(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    for option, name in (("--save", "a.hedge"), ("--model", "b.hedge")):
        arguments = ("train", table, "--target", "kind", option, tmp_path / name)
        assert hedgerow(*arguments).code == 0
    first, second = load(tmp_path / "a.hedge"), load(tmp_path / "b.hedge")
    assert first.learner_.coef_.tolist() == second.learner_.coef_.tolist()


def test_train_without_an_intercept_has_none(hedgerow, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.hedge"
    hedgerow("train", table, "--target", "kind", "--model", path, "--intercept", "none")
    assert load(path).learner_.intercept_.tolist() == [0.0]


def test_train_in_json_is_one_object(hedgerow, table: Path, tmp_path: Path) -> None:
    arguments = ("train", table, "--target", "kind", "--model", tmp_path / "m.hedge", "--json")
    result = hedgerow(*arguments).json
    assert result["parameters"]["C"] == 1.0
    assert result["classes"] == ["apple", "plum"]
    assert result["certificate"]["is_certified"] is True
    assert 0.8 < result["train_accuracy"] <= 1


def test_a_fit_that_is_not_certified_says_so_and_does_not_fail(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    outcome = hedgerow(
        *("train", table, "--target", "kind", "--model", tmp_path / "m.hedge"),
        *("--max-iter", "1", "--tol", "1e-15", "--C", "1000", "--loss", "hinge"),
    )
    assert outcome.code == 0
    assert "Not certified:" in outcome.out
    assert outcome.err == ""


def test_predict_writes_one_label_a_line_and_the_accuracy_aside(
    hedgerow, model: Path, table: Path
) -> None:
    outcome = hedgerow("predict", model, table)
    expected = load(model).predict(read_table(table, target="kind"))
    assert outcome.out.splitlines() == expected.tolist()
    assert "The table has the target:" in outcome.err
    assert "of 80 rows are predicted right; 95 % interval" in outcome.err


def test_predict_does_not_need_the_target_and_finds_columns_by_name(
    hedgerow, model: Path, table: Path, tmp_path: Path
) -> None:
    rows = list(csv.reader(table.read_text().splitlines()))
    shuffled = tmp_path / "new.csv"
    shuffled.write_text("\n".join(f"{w},{s},{c}" for s, c, w, _ in rows) + "\n")
    outcome = hedgerow("predict", model, shuffled)
    assert outcome.out == hedgerow("predict", model, table).out
    assert "target" not in outcome.err


def test_predict_reads_standard_input(hedgerow, model: Path, table: Path, monkeypatch) -> None:
    expected = hedgerow("predict", model, table).out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
    assert hedgerow("predict", model, "-").out == expected


def test_scores_are_csv_with_a_score_for_every_class(hedgerow, tmp_path: Path) -> None:
    table, model = tmp_path / "t.csv", tmp_path / "m.hedge"
    table.write_text(
        "x,y\n"
        + "".join(f"{i},{'a' if i < 5 else 'b,c'}\n" for i in range(9)).replace("b,c", '"b,c"')
    )
    hedgerow("train", table, "--target", "y", "--model", model)
    two = list(csv.reader(hedgerow("predict", model, table, "--scores").out.splitlines()))
    assert two[0] == ["label", "score"]
    assert all((float(score) > 0) == (label == "b,c") for label, score in two[1:])
    table.write_text("x,y\n" + "".join(f"{i},{i // 3}\n" for i in range(9)))
    hedgerow("train", table, "--target", "y", "--model", model)
    three = list(csv.reader(hedgerow("predict", model, table, "--scores").out.splitlines()))
    assert three[0] == ["label", "score_0", "score_1", "score_2"]
    for label, *scores in three[1:]:
        assert max(range(3), key=lambda k: float(scores[k])) == int(label)


def test_output_goes_to_a_file_whole(hedgerow, model: Path, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "labels.txt"
    outcome = hedgerow("predict", model, table, "--output", path)
    assert outcome.out == ""
    assert "Wrote 80 labels to" in outcome.err
    assert path.read_text() == hedgerow("predict", model, table).out
    path.unlink()
    assert hedgerow("predict", model, table, "--output", tmp_path / "no" / "x").code == 2


def test_predict_in_json_is_one_object(hedgerow, model: Path, table: Path, tmp_path: Path) -> None:
    outcome = hedgerow("predict", model, table, "--json", "--scores")
    assert outcome.err == ""
    assert len(outcome.json["labels"]) == len(outcome.json["scores"]) == 80
    assert outcome.json["accuracy"]["n"] == 80
    path = tmp_path / "labels.txt"
    result = hedgerow("predict", model, table, "--json", "--output", path).json
    assert result["output"] == str(path)
    assert "labels" not in result
    assert len(path.read_text().splitlines()) == 80


def test_text_that_training_did_not_know_is_noted(
    hedgerow, model: Path, table: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text(table.read_text().replace("red", "mauve"))
    outcome = hedgerow("predict", model, new)
    assert outcome.code == 0
    assert "Column 'colour' has" in outcome.err
    assert "'mauve'" in outcome.err


@pytest.mark.parametrize("position", [0, 1, -1])
def test_a_file_without_names_predicts_with_and_without_its_target(
    hedgerow, tmp_path: Path, position: int
) -> None:
    rows = [[i * 0.5, (i * 7) % 5 - 2.5] for i in range(20)]
    table, new, model = tmp_path / "t.csv", tmp_path / "new.csv", tmp_path / "m.hedge"
    place = position % 3
    full = [[*row[:place], int(row[0] > 5), *row[place:]] for row in rows]
    table.write_text("\n".join(",".join(map(str, row)) for row in full))
    new.write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert hedgerow("train", table, "--target", position, "--model", model).code == 0
    with_target, without = hedgerow("predict", model, table), hedgerow("predict", model, new)
    assert with_target.out == without.out
    assert "The table has the target" in with_target.err
    assert "The table has the target" not in without.err


def test_a_narrower_libsvm_file_is_predicted_and_dummy_labels_are_not_judged(
    hedgerow, tmp_path: Path
) -> None:
    train, new, model = tmp_path / "train", tmp_path / "new", tmp_path / "m.hedge"
    train.write_text("1 1:1 3:1\n2 2:1\n" * 5)
    new.write_text("0 1:1\n0 2:1\n")
    hedgerow("train", train, "--model", model)
    outcome = hedgerow("predict", model, new)
    assert outcome.out.split() == ["1", "2"]
    assert "right" not in outcome.err
    assert "right" in hedgerow("predict", model, train).err
