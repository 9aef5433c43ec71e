"""Trees on the command line: they take columns of categories as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow import DecisionStump, DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.persist import load, save


def hedges(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Return hedges of some length, kind and age, and whether they are high."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "length": np.round(generator.normal(size=n), 3),
            "kind": generator.choice(["ash", "elm", "fir", "oak"], size=n),
            "is_old": generator.random(n) < 0.5,
        }
    )
    high = frame["kind"].isin(["ash", "oak"]) ^ frame["is_old"]
    return frame, np.where(high, "high", "low")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame, y = hedges()
    frame.loc[3, "length"] = np.nan
    path = tmp_path / "hedges.csv"
    frame.assign(height=y).to_csv(path, index=False)
    return path


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionStump])
def test_a_tree_predicts_from_a_file_what_it_predicts_from_a_frame(
    hedgerow, table: Path, tmp_path: Path, kind: type
) -> None:
    frame, y = hedges()
    model = kind().fit(frame, y)
    save(model, tmp_path / "m.hedge")
    outcome = hedgerow("predict", tmp_path / "m.hedge", table)
    assert outcome.code == 0
    frame.loc[3, "length"] = np.nan
    assert outcome.out.split() == model.predict(frame).tolist()


def test_columns_go_to_a_tree_by_name_and_others_are_left_out(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    frame, y = hedges()
    save(DecisionTreeClassifier().fit(frame, y), tmp_path / "m.hedge")
    turned = pd.read_csv(table)[["height", "is_old", "kind", "length"]].assign(more=1)
    turned.to_csv(tmp_path / "turned.csv", index=False)
    plain = hedgerow("predict", tmp_path / "m.hedge", table).out
    outcome = hedgerow("predict", tmp_path / "m.hedge", "turned.csv")
    assert outcome.out == plain
    assert "Not used, because the model was not trained on it" in words(outcome.err)


def test_a_tree_without_names_takes_columns_in_their_order(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    frame, y = hedges()
    model = DecisionTreeClassifier().fit(frame[["length", "kind"]].to_numpy(dtype=object), y)
    save(model, tmp_path / "m.hedge")
    frame[["length", "kind"]].to_csv(tmp_path / "two.csv", index=False)
    outcome = hedgerow("predict", tmp_path / "m.hedge", tmp_path / "two.csv")
    assert outcome.out.split() == model.predict(frame[["length", "kind"]].to_numpy(object)).tolist()


def test_a_tree_is_evaluated_on_a_table_with_its_target(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    frame, y = hedges()
    save(DecisionTreeClassifier().fit(frame, y), tmp_path / "m.hedge")
    outcome = hedgerow("evaluate", tmp_path / "m.hedge", table, "--target", "height", "--json")
    measured = {each["metric"]: each for each in outcome.json["measurements"]}
    assert measured["accuracy"]["estimate"] == 1.0


def test_a_tree_for_values_predicts_values(hedgerow, table: Path, tmp_path: Path) -> None:
    frame, y = hedges()
    model = DecisionTreeRegressor().fit(frame, np.where(y == "high", 2.5, 1.25))
    save(model, tmp_path / "m.hedge")
    found = hedgerow("predict", tmp_path / "m.hedge", table, "--json").json
    assert found["values"] == np.where(y == "high", 2.5, 1.25).tolist()


def test_a_tree_tells_its_size_and_its_categories(hedgerow, tmp_path: Path) -> None:
    frame, y = hedges()
    model = DecisionTreeClassifier().fit(frame, y)
    save(model, tmp_path / "m.hedge")
    told = words(hedgerow("describe", tmp_path / "m.hedge").out)
    assert "1 column of numbers, taken as they are: length." in told
    assert "2 columns of categories, taken as they are: kind (4 values), is_old (2 values)." in told
    assert f"Grew a tree with {model.get_n_leaves()} leaves and depth {model.get_depth()}." in told
    found = hedgerow("describe", tmp_path / "m.hedge", "--json").json
    assert found["inputs"]["columns"][1] == {"name": "kind", "values": ["ash", "elm", "fir", "oak"]}


def test_a_tree_of_several_outputs_is_described(hedgerow, tmp_path: Path) -> None:
    frame, y = hedges()
    save(DecisionTreeClassifier().fit(frame, np.column_stack([y, y])), tmp_path / "m.hedge")
    told = words(hedgerow("describe", tmp_path / "m.hedge").out)
    assert "Predicts 2 outputs of so many classes: 2, 2." in told
    found = hedgerow("describe", tmp_path / "m.hedge", "--json").json
    assert found["classes"] == [["high", "low"], ["high", "low"]]


def test_text_where_a_tree_knows_numbers_is_refused(hedgerow, table: Path, tmp_path: Path) -> None:
    frame, y = hedges()
    save(DecisionTreeClassifier().fit(frame, y), tmp_path / "m.hedge")
    frame.assign(length="long").to_csv(tmp_path / "odd.csv", index=False)
    outcome = hedgerow("predict", tmp_path / "m.hedge", tmp_path / "odd.csv")
    assert outcome.code != 0
    assert "column 'length' of X holds text, 'long' at row 0" in words(outcome.err)


def test_a_tree_is_trained_again_by_its_settings(hedgerow, table: Path, tmp_path: Path) -> None:
    save(DecisionTreeClassifier(max_depth=3, criterion="entropy"), tmp_path / "old.hedge")
    arguments = ("train", table, "--target", "height", "--load", "old.hedge", "--save", "new.hedge")
    outcome = hedgerow(*arguments)
    assert outcome.code == 0
    learner = load(tmp_path / "new.hedge").learner_
    assert (learner.max_depth, learner.criterion) == (3, "entropy")
    assert "Grew a tree with" in words(outcome.out)
