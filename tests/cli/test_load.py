"""Models given by ``--load``: parameters to train with, and models of every class to predict with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.tree import DecisionTreeClassifier

from hedgerow import (
    SVC,
    SVDD,
    SVR,
    AveragedPerceptron,
    DecisionTreeRegressor,
    KernelPerceptron,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    TableClassifier,
    TableEncoder,
    VotedPerceptron,
)
from hedgerow.cli.loaded_model import LoadedModel
from hedgerow.errors import ParameterError
from hedgerow.persist import load, save

CLASSIFIERS = [
    SVC,
    AveragedPerceptron,
    KernelPerceptron,
    LinearSVC,
    NuSVC,
    Perceptron,
    VotedPerceptron,
]


def points(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Return two columns of numbers, far enough apart that every learner separates them."""
    generator = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, "near", "far")
    frame = pd.DataFrame(generator.normal(size=(n, 2)) / 4, columns=["a", "b"])
    frame["a"] += np.where(y == "near", 2.0, -2.0)
    return frame, y


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    frame, y = points()
    path = tmp_path / "numbers.csv"
    frame.assign(where=y).to_csv(path, index=False)
    return path


# ------------------------------------------------------------------------------------------ train


def test_train_takes_what_is_not_given_from_the_loaded_model(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.hedge", tmp_path / "new.hedge"
    hedgerow(
        *("train", table, "--target", "kind", "--save", old, "--loss", "hinge", "--C", "0.5"),
        *("--scale", "maxabs", "--intercept", "penalized", "--class-weight", "balanced"),
    )
    outcome = hedgerow("train", table, "--load", old, "--save", new, "--C", "2")
    assert outcome.code == 0
    before, after = load(old), load(new)
    assert after.learner_.get_params() == before.learner_.get_params() | {"C": 2.0}
    assert (after.scale, after.target_) == ("maxabs", "kind")


def test_options_given_override_even_when_they_are_the_defaults(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.hedge", tmp_path / "new.hedge"
    hedgerow(
        *("train", table, "--target", "kind", "--save", old, "--class-weight", "balanced"),
        *("--intercept", "none", "--scale", "none", "--C", "9"),
    )
    hedgerow(
        *("train", table, "--load", old, "--save", new, "--class-weight", "none"),
        *("--intercept", "free", "--scale", "auto", "--C", "1"),
    )
    learner = load(new).learner_
    assert (learner.class_weight, learner.fit_intercept, learner.C) == (None, True, 1.0)
    assert load(new).scale == "auto"


def test_a_c_that_is_given_replaces_the_other_parametrisation(
    hedgerow, table: Path, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.hedge", tmp_path / "new.hedge"
    save(TableClassifier(LinearSVC(reg_lambda=0.1)), old)
    assert hedgerow("train", table, "--target", "kind", "--load", old, "--save", new).code == 0
    assert load(new).learner_.reg_lambda == 0.1
    arguments = ("train", table, "--target", "kind", "--load", old, "--save", new, "--C", "2")
    assert hedgerow(*arguments).code == 0
    assert (load(new).learner_.reg_lambda, load(new).learner_.C) == (None, 2.0)


def test_a_loaded_perceptron_is_trained_again_as_one(hedgerow, numbers: Path, tmp_path) -> None:
    old, new = tmp_path / "old.hedge", tmp_path / "new.hedge"
    save(Perceptron(eta0=0.5), old)
    outcome = hedgerow("train", numbers, "--target", "where", "--load", old, "--save", new)
    assert outcome.code == 0
    assert outcome.err == ""
    assert "the training rows are separated" in " ".join(outcome.out.split())
    assert (load(new).learner_.eta0, load(new).scale) == (0.5, None)
    arguments = ("train", numbers, "--target", "where", "--load", old, "--save", new)
    assert hedgerow(*arguments, "--json").json["certificate"] is None
    outcome = hedgerow(*arguments, "--C", "1")
    assert outcome.code == 2
    assert "has no parameter 'C'; leave --C out" in outcome.err


def test_an_encoder_is_no_classifier_to_train(hedgerow, numbers: Path, tmp_path: Path) -> None:
    save(TableEncoder(), tmp_path / "e.hedge")
    outcome = hedgerow(
        "train", numbers, "--load", tmp_path / "e.hedge", "--save", tmp_path / "m.hedge"
    )
    assert outcome.code == 2
    assert "holds a TableEncoder, which is no classifier" in outcome.err


def test_a_target_of_the_loaded_model_that_is_not_there_is_asked_for(
    hedgerow, model: Path, numbers: Path, tmp_path: Path
) -> None:
    outcome = hedgerow("train", numbers, "--load", model, "--save", tmp_path / "m.hedge")
    assert outcome.code == 2
    assert "--target is missing; choose the column to predict among 'a', 'b'" in outcome.err


# ---------------------------------------------------------------------------- predict and evaluate


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("named", [True, False])
def test_a_model_saved_from_python_predicts_tables_of_numbers(
    hedgerow, numbers: Path, tmp_path: Path, kind: type, named: bool
) -> None:
    frame, y = points()
    fitted = kind().fit(frame if named else frame.to_numpy(), y)
    save(fitted, tmp_path / "m.hedge")
    outcome = hedgerow("predict", "--load", tmp_path / "m.hedge", numbers, "--target", "where")
    assert outcome.out.split() == fitted.predict(frame).tolist()
    assert "The table has the target" in outcome.err
    found = hedgerow("evaluate", tmp_path / "m.hedge", numbers, "--target", "where", "--json").json[
        "measurements"
    ]
    assert [m["estimate"] for m in found] == [fitted.score(frame, y)] * 2


def test_named_columns_are_found_in_any_order_and_others_left_out(hedgerow, tmp_path: Path) -> None:
    frame, y = points()
    fitted = LinearSVC().fit(frame, y)
    save(fitted, tmp_path / "m.hedge")
    frame[["b"]].assign(note="x", a=frame["a"]).to_csv(tmp_path / "t.csv", index=False)
    outcome = hedgerow("predict", tmp_path / "m.hedge", tmp_path / "t.csv")
    assert outcome.out.split() == fitted.predict(frame).tolist()
    assert "Not used, because the model was not trained on it: 'note'." in outcome.err


def test_a_model_of_matrices_takes_a_libsvm_file(hedgerow, tmp_path: Path) -> None:
    frame, y = points()
    labels = np.where(y == "near", 1, -1)
    fitted = LinearSVC().fit(frame.to_numpy(), labels)
    save(fitted, tmp_path / "m.hedge")
    dump_svmlight_file(frame.to_numpy(), labels, str(tmp_path / "t"), zero_based=False)
    outcome = hedgerow("predict", tmp_path / "m.hedge", tmp_path / "t")
    assert [int(label) for label in outcome.out.split()] == fitted.predict(
        frame.to_numpy()
    ).tolist()
    outcome = hedgerow("evaluate", tmp_path / "m.hedge", tmp_path / "t", "--json")
    assert outcome.json["measurements"][0]["estimate"] == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,where\n1,2,near\n", "has 3 columns to predict from where the LinearSVC in"),
        ("a,b\n1,red\n", "column 'b' holds text, and the LinearSVC in"),
        ("a,b\n1,\n", "X contains NaN at row 0, column 1"),
    ],
)
def test_what_a_model_of_matrices_cannot_take_is_said_in_a_sentence(
    hedgerow, tmp_path: Path, text: str, words: str
) -> None:
    frame, y = points()
    save(LinearSVC().fit(frame.to_numpy(), y), tmp_path / "m.hedge")
    (tmp_path / "t.csv").write_text(text)
    outcome = hedgerow("predict", tmp_path / "m.hedge", tmp_path / "t.csv")
    assert outcome.code == 2
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_learner_without_scores_says_so() -> None:
    frame, y = points()
    model = TableClassifier(DecisionTreeClassifier()).fit(frame, y)
    with pytest.raises(
        ParameterError, match=r"the DecisionTreeClassifier in m\.hedge gives no scores"
    ):
        LoadedModel("m.hedge", model).scores(frame)


@pytest.mark.parametrize("verb", ["predict", "evaluate"])
def test_files_without_a_fitted_classifier_are_refused_by_name(
    hedgerow, numbers: Path, tmp_path: Path, verb: str
) -> None:
    save(TableEncoder().fit(points()[0]), tmp_path / "e.hedge")
    assert (
        "a TableEncoder, which predicts nothing"
        in hedgerow(verb, tmp_path / "e.hedge", numbers).err
    )
    save(LinearSVC(), tmp_path / "u.hedge")
    assert "a LinearSVC that is not fitted" in hedgerow(verb, tmp_path / "u.hedge", numbers).err


@pytest.mark.parametrize(
    "kind",
    [LinearSVR, LinearOneClassSVM, SVR, NuSVR, OneClassSVM, SVDD, DecisionTreeRegressor],
)
def test_what_is_no_classifier_is_not_evaluated_nor_trained_on_labels(
    hedgerow, numbers: Path, tmp_path: Path, kind: type
) -> None:
    frame, y = points()
    save(kind().fit(frame, np.arange(len(y))), tmp_path / "m.hedge")
    refusal = f"holds a {kind.__name__}, which is no classifier"
    assert refusal in hedgerow("evaluate", tmp_path / "m.hedge", numbers).err
    trained = hedgerow("train", numbers, "--load", tmp_path / "m.hedge", "--save", "n.hedge")
    assert refusal in trained.err


def test_a_regressor_predicts_values(hedgerow, numbers: Path, tmp_path: Path) -> None:
    frame, y = points()
    model = LinearSVR().fit(frame, np.arange(len(y)))
    save(model, tmp_path / "m.hedge")
    outcome = hedgerow("predict", tmp_path / "m.hedge", numbers)
    assert outcome.code == 0
    assert [float(line) for line in outcome.out.split()] == model.predict(frame).tolist()
    found = hedgerow("predict", tmp_path / "m.hedge", numbers, "--json").json
    assert found["values"] == model.predict(frame).tolist()
    assert found["accuracy"] is None
    written = hedgerow("predict", tmp_path / "m.hedge", numbers, "--output", "v.txt")
    assert f"Wrote {len(y)} values to v.txt." in written.err
    assert "gives no scores" in hedgerow("predict", tmp_path / "m.hedge", numbers, "--scores").err


def test_a_one_class_machine_predicts_inside_and_outside(
    hedgerow, numbers: Path, tmp_path: Path
) -> None:
    frame, _ = points()
    model = LinearOneClassSVM(nu=0.3).fit(frame)
    save(model, tmp_path / "m.hedge")
    outcome = hedgerow("predict", tmp_path / "m.hedge", numbers)
    assert [int(line) for line in outcome.out.split()] == model.predict(frame).tolist()
    scored = hedgerow("predict", tmp_path / "m.hedge", numbers, "--scores").out.splitlines()
    assert scored[0] == "label,score"
    assert float(scored[1].split(",")[1]) == model.decision_function(frame)[0]
