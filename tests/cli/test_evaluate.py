"""``hedgerow evaluate``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow import (
    DecisionStump,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    LinearSVC,
    RandomForestClassifier,
)
from hedgerow.data.io import read_table
from hedgerow.evaluation import compare, evaluate
from hedgerow.persist import load, save
from tests.cli.conftest import table_text


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Rows that the model was not trained on."""
    path = tmp_path / "new.csv"
    path.write_text(table_text(60, seed=1))
    return path


@pytest.fixture
def other(hedgerow, tmp_path: Path) -> Path:
    """A model that has learnt little, from few rows."""
    path, few = tmp_path / "other.hedge", tmp_path / "few.csv"
    few.write_text(table_text(8, seed=9))
    assert hedgerow("train", few, "--target", "kind", "--save", path).code == 0
    return path


def test_the_page_has_every_metric_with_its_interval(hedgerow, model: Path, new: Path) -> None:
    outcome = hedgerow("evaluate", model.name, new.name, "--metrics", "accuracy,roc_auc,f1_macro")
    assert outcome.code == 0
    assert outcome.err == ""
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line != line.rstrip() for line in lines)
    labels = [line.split()[0] for line in lines if line[:1].strip()]
    assert labels == ["Table", "Model", "Metrics", "Classes"]
    rows = [line.split() for line in lines if "●" in line]
    assert [row[0] for row in rows] == ["accuracy", "roc_auc", "f1_macro"]
    assert all(float(low) <= float(value) <= float(high) for _, value, low, _, high, *_ in rows)
    words = " ".join(outcome.out.split())
    assert "With 95 % intervals from 2,000 resamples of the rows" in words
    assert "Right by class: apple" in words
    assert "Always answering 'apple' would get 50.0 %." in words


def test_figures_are_those_of_evaluate_in_python(hedgerow, model: Path, new: Path) -> None:
    options = ("--metrics", "accuracy,roc_auc", "--confidence", "0.8", "--resamples", "300")
    found = hedgerow(
        "evaluate", model, new, *options, "--method", "BCa", "--seed", "3", "--json"
    ).json
    data = read_table(new, target="kind")
    expected = evaluate(
        load(model),
        data,
        data.y,
        metrics=["accuracy", "roc_auc"],
        confidence_level=0.8,
        n_resamples=300,
        method="BCa",
        random_state=3,
    )
    assert found["measurements"] == [vars(m) for m in expected.measurements]
    assert (found["n_rows"], found["n_resamples"], found["method"]) == (60, 300, "BCa")
    assert sum(recall["n_rows"] for recall in found["recalls"]) == 60


def test_two_models_are_compared_row_by_row(hedgerow, model: Path, other: Path, new: Path) -> None:
    found = hedgerow("evaluate", model, new, "--against", other, "--json").json
    data = read_table(new, target="kind")
    expected = compare(load(model), load(other), data, data.y, random_state=0)
    assert [d["estimate"] for d in found["differences"]] == [
        d.estimate for d in expected.differences
    ]
    assert [d["is_clear"] for d in found["differences"]] == [
        d.is_clear for d in expected.differences
    ]
    page = hedgerow("evaluate", model, new, "--against", other).out
    words = " ".join(page.split())
    assert all(" ".join(d.sentence.split()) in words for d in expected.differences)
    assert f"First: {model}, TableClassifier with a LinearSVC." in words
    assert "Second, right by class: apple" in words


def test_a_model_against_itself_is_the_same_on_every_resample(
    hedgerow, model: Path, new: Path
) -> None:
    outcome = hedgerow("evaluate", model, new, "--against", model)
    assert "accuracy: both models are equal on every resample." in outcome.out


def test_models_that_take_tables_and_matrices_can_be_compared(hedgerow, tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = np.where(frame["a"] + generator.normal(size=80) / 2 > 0, "up", "down")
    frame.assign(way=y).to_csv(tmp_path / "t.csv", index=False)
    plain = LinearSVC().fit(frame.to_numpy(), y)
    save(plain, tmp_path / "plain.hedge")
    table, whole = tmp_path / "t.csv", tmp_path / "whole.hedge"
    hedgerow("train", table, "--target", "way", "--save", whole)
    found = hedgerow(
        *("evaluate", whole, table, "--against", tmp_path / "plain.hedge"),
        *("--target", "way", "--json"),
    ).json
    (accuracy, _) = found["differences"]
    assert accuracy["second"] == plain.score(frame.to_numpy(), y)


def test_groups_are_drawn_whole_and_their_column_is_no_feature(
    hedgerow, model: Path, new: Path, tmp_path: Path
) -> None:
    rows = new.read_text().splitlines()
    grouped = tmp_path / "grouped.csv"
    grouped.write_text(
        "\n".join([f"{rows[0]},tree", *(f"{row},t{i // 6}" for i, row in enumerate(rows[1:]))])
    )
    outcome = hedgerow("evaluate", model, grouped, "--groups", "tree", "--strata", "target")
    assert outcome.code == 2
    assert "give every group one stratum" in outcome.err
    found = hedgerow("evaluate", model, grouped, "--groups", "tree", "--json").json
    data = read_table(new, target="kind")
    groups = np.arange(60) // 6
    expected = evaluate(load(model), data, data.y, groups=groups, random_state=0)
    assert found["measurements"][0]["low"] == expected["accuracy"].low
    notes = " ".join(found["notes"])
    assert "Rows with the same 'tree' are drawn together: 10 groups." in notes
    assert "Not used" not in notes


@pytest.mark.parametrize("strata", ["kind", "target"])
def test_strata_may_be_the_target_by_either_name(
    hedgerow, model: Path, new: Path, strata: str
) -> None:
    found = hedgerow("evaluate", model, new, "--strata", strata, "--json").json
    data = read_table(new, target="kind")
    expected = evaluate(load(model), data, data.y, strata=data.y, random_state=0)
    assert found["measurements"][0]["low"] == expected["accuracy"].low


def test_the_table_may_come_from_standard_input(
    hedgerow, model: Path, new: Path, monkeypatch
) -> None:
    expected = hedgerow("evaluate", model, new, "--json").json["measurements"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(new.read_bytes())))
    assert hedgerow("evaluate", "--load", model, "-", "--json").json["measurements"] == expected


def test_labels_never_seen_are_an_error_that_shows_both_sets(
    hedgerow, model: Path, new: Path, tmp_path: Path
) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text(new.read_text().replace("apple", "pear"))
    outcome = hedgerow("evaluate", model.name, odd.name)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err == (
        "hedgerow: 30 of the 60 labels of odd.csv never occur in the training rows of fruit.hedge: "
        "the labels of odd.csv are 'pear', 'plum', those of the training rows of fruit.hedge "
        "'apple', 'plum'; check --target, label the rows as the training table does, or remove "
        "those rows\n"
    )


def test_the_training_rows_are_recognised_and_others_are_not(
    hedgerow, model: Path, table: Path, tmp_path: Path
) -> None:
    """The optimality conditions hold row by row on the training table alone."""
    assert "These look like the rows" in hedgerow("evaluate", model, table).out
    others = tmp_path / "others.csv"
    others.write_text(table_text(80, seed=5))
    assert "These look like the rows" not in hedgerow("evaluate", model, others).out


def test_rows_of_auto_are_recognised_as_the_share_that_was_trained_on(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "auto.hedge"
    assert hedgerow("auto", table, "--target", "kind", "--Cs", "1", "--save", path).code == 0
    words = " ".join(hedgerow("evaluate", path, table).out.split())
    assert f"About 75 % of these rows look like the rows {path} was trained on" in words
    lines = table.read_text().splitlines()
    reversed_rows = tmp_path / "reversed.csv"
    reversed_rows.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert "About 75 % of these rows" in hedgerow("evaluate", path, reversed_rows).out
    others = tmp_path / "others.csv"
    others.write_text(table_text(80, seed=5))
    assert "look like the rows" not in hedgerow("evaluate", path, others).out


@pytest.mark.parametrize(
    "learner",
    [RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier, DecisionStump],
)
@pytest.mark.parametrize("text", [False, True])
def test_training_rows_of_trees_and_forests_are_recognised(
    hedgerow, tmp_path: Path, learner, text: bool
) -> None:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.normal(size=(240, 4)), columns=list("abcd"))
    frame.iloc[::7, 1] = np.nan
    if text:
        frame["e"] = generator.choice(["clay", "sand"], 240)
    y = np.where(frame["a"] > 0, "up", "down")
    save(learner(random_state=0).fit(frame[:120], y[:120]), tmp_path / "m.hedge")
    told = []
    for name, rows in (("train.csv", slice(0, 120)), ("test.csv", slice(120, 240))):
        frame[rows].assign(y=y[rows]).to_csv(tmp_path / name, index=False)
        page = hedgerow("evaluate", tmp_path / "m.hedge", tmp_path / name, "--target", "y").out
        told.append("These look like the rows" in page)
    assert told == [True, False]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [1.0, 30.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_rows_are_recognised_for_both_losses_and_any_number_of_classes(
    hedgerow, tmp_path: Path, loss: str, C: float, n_classes: int
) -> None:
    generator = np.random.default_rng(1)
    X = generator.normal(size=(240, 4))
    scores = X[:, 0] + generator.normal(size=240)
    y = np.digitize(scores, np.quantile(scores, np.arange(1, n_classes) / n_classes))
    save(LinearSVC(loss=loss, C=C).fit(X[:120], y[:120]), tmp_path / "m.hedge")
    told = []
    for name, rows in (("train.csv", slice(0, 120)), ("test.csv", slice(120, 240))):
        pd.DataFrame(X[rows]).assign(y=y[rows]).to_csv(tmp_path / name, index=False)
        page = hedgerow("evaluate", tmp_path / "m.hedge", tmp_path / name, "--target", "y").out
        told.append("These look like the rows" in page)
    assert told == [True, False]


def test_rows_that_agree_by_chance_are_not_taken_for_training_rows(
    hedgerow, tmp_path: Path
) -> None:
    """With a tiny C every margin is below 1 on any rows, and so proves nothing."""
    generator = np.random.default_rng(1)
    X = generator.normal(size=(120, 2))
    y = np.where(X[:, 0] > 0, "up", "down")
    save(LinearSVC(C=1e-6).fit(X[:60], y[:60]), tmp_path / "m.hedge")
    pd.DataFrame(X[60:]).assign(y=y[60:]).to_csv(tmp_path / "new.csv", index=False)
    outcome = hedgerow("evaluate", tmp_path / "m.hedge", tmp_path / "new.csv", "--target", "y")
    assert outcome.code == 0
    assert "These look like the rows" not in outcome.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "colour"], "new.csv are 'green', 'red', those of the training rows of"),
        (["--target", "nope"], "there is no column 'nope'; choose the target among"),
        (["--groups", "nope"], "--groups 'nope' is not a column; choose one of 'target', 'size'"),
        (["--strata", "size"], "--strata 'size' has no value at row 0; fill it in"),
        (
            ["--metrics", "acuracy"],
            "'acuracy' is not one of scikit-learn's scorers; try 'accuracy'",
        ),
        (["--metrics", "f1"], "metric 'f1' cannot be computed for this model and these labels"),
        (["--metrics", "neg_log_loss"], "metric 'neg_log_loss' cannot be computed for this model"),
        (["--confidence", "95"], "confidence_level=95.0 is not between 0 and 1"),
        (["--resamples", "1"], "n_resamples=1 is not allowed"),
    ],
)
def test_what_cannot_be_judged_gets_one_sentence(
    hedgerow, model: Path, new: Path, options: list[str], words: str
) -> None:
    outcome = hedgerow("evaluate", model, new, *options)
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_missing_target_or_column_is_named(
    hedgerow, model: Path, new: Path, tmp_path: Path
) -> None:
    lacking = tmp_path / "lacking.csv"
    lacking.write_text(new.read_text().replace("kind", "sort", 1))
    outcome = hedgerow("evaluate", model, lacking)
    assert f"has no column 'kind', which {model} predicts; name the column" in outcome.err
    assert hedgerow("evaluate", model, lacking, "--target", "sort").code == 0
    lacking.write_text(new.read_text().replace("size", "Size", 1))
    assert "lacks column 'size'" in hedgerow("evaluate", model, lacking).err


def test_a_model_that_does_not_know_its_target_asks_for_it(hedgerow, tmp_path: Path) -> None:
    save(LinearSVC().fit([[0.0], [1.0]], [0, 1]), tmp_path / "m.hedge")
    (tmp_path / "t.csv").write_text("x,y\n0,0\n1,1\n")
    outcome = hedgerow("evaluate", tmp_path / "m.hedge", tmp_path / "t.csv")
    assert outcome.code == 2
    assert "does not know which column it predicts; name it by --target, one of 'x', 'y'" in (
        outcome.err
    )


def test_a_narrow_page_leaves_the_drawing_out(
    hedgerow, model: Path, new: Path, other: Path, monkeypatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    for more in ((), ("--against", other)):
        page = hedgerow("evaluate", model, new, *more).out
        figures = [line for line in page.splitlines() if "accuracy  " in line]
        assert len(figures) == 2
        assert max(map(len, figures)) <= 60
        assert "●" not in page
