"""``hedgerow describe``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

import hedgerow as package
from hedgerow import (
    SVC,
    SVDD,
    SVR,
    AveragedPerceptron,
    BalancedRandomForestClassifier,
    CalibratedModel,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    KernelPerceptron,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    RandomForestClassifier,
    RandomForestRegressor,
    ScoreCalibrator,
    SelectFromForest,
    TableClassifier,
    TableEncoder,
    ThresholdModel,
    VotedPerceptron,
)
from hedgerow.describe.model_file import file_facts
from hedgerow.persist import load, save

ESTIMATORS = [
    SVC,
    SVDD,
    SVR,
    AveragedPerceptron,
    BalancedRandomForestClassifier,
    CalibratedModel,
    DecisionStump,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    KernelPerceptron,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Perceptron,
    RandomForestClassifier,
    RandomForestRegressor,
    ScoreCalibrator,
    SelectFromForest,
    TableClassifier,
    TableEncoder,
    ThresholdModel,
    VotedPerceptron,
]


def words(text: str) -> str:
    return " ".join(text.split())


def sections(page: str) -> list[str]:
    return [line.split()[0] for line in page.splitlines() if line[:1].strip()]


def test_a_table_model_is_told_whole_within_80_columns(hedgerow, model: Path) -> None:
    outcome = hedgerow("describe", model.name)
    assert outcome.code == 0
    assert outcome.err == ""
    assert max(map(len, outcome.out.splitlines())) <= 80
    assert sections(outcome.out) == [
        *("Model", "Settings", "Columns", "Classes", "Weights", "Fit", "Proof")
    ]
    told = words(outcome.out)
    assert "fruit.hedge: TableClassifier with a LinearSVC, fitted." in told
    version = file_facts(model.name).format_version
    assert f"model format {version}, saved by Hedgerow {package.__version__}." in told
    assert "LinearSVC: random_state=0." in told
    assert (
        "2 columns of numbers, scaled to mean 0 and standard deviation 1; a missing value" in told
    )
    assert "1 column of text, a 0 or 1 for each value: colour (2 values)." in told
    assert "Predicts 'kind', one of 2 classes: apple, plum." in told
    assert "4 coefficients; above 0 speaks for 'plum', below 0 against:" in told
    assert str(load(model).learner_.certificate_) in told
    assert hedgerow("describe", "--load", model.name).out == outcome.out


def test_the_strongest_coefficients_come_first_by_their_encoded_names(
    hedgerow, model: Path
) -> None:
    fitted = load(model)
    coef = fitted.learner_.coef_[0]
    order = np.argsort(-np.abs(coef))[:3]
    names = fitted.encoder_.get_feature_names_out()
    found = hedgerow("describe", model, "--top", "3", "--json").json["weights"]
    assert found["strongest"] == [
        {"column": names[j], "index": j, "label": "plum", "value": coef[j]} for j in order
    ]
    assert found["width"] == pytest.approx(2 / np.linalg.norm(coef), rel=1e-12)
    lines = hedgerow("describe", model, "--top", "3").out.splitlines()
    drawn = [line.split() for line in lines if "█" in line or "░" in line]
    assert [cells[0] for cells in drawn] == names[order].tolist()
    assert [("█" in cells[2]) for cells in drawn] == (coef[order] > 0).tolist()


def test_many_classes_have_their_class_beside_each_coefficient(hedgerow, tmp_path: Path) -> None:
    X = np.repeat(np.eye(3), 4, axis=0)
    save(LinearSVC().fit(X, np.repeat(["red", "green", "blue"], 4)), tmp_path / "m.hedge")
    found = hedgerow("describe", tmp_path / "m.hedge", "--json").json["weights"]
    assert (found["n_all"], found["n_planes"], found["width"]) == (9, 3, None)
    assert {(w["column"], w["label"]) for w in found["strongest"] if w["value"] > 0} == {
        ("x0", "red"),
        ("x1", "green"),
        ("x2", "blue"),
    }
    assert "above 0 speaks for the class beside it" in words(
        hedgerow("describe", tmp_path / "m.hedge").out
    )


@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("form", ["named", "nameless", "unfitted"])
def test_every_public_estimator_can_be_described(
    hedgerow, tmp_path: Path, kind: type, form: str
) -> None:
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(30, 3)), columns=["a", "b", "c"])
    y = np.arange(30) % (2 if kind is ThresholdModel else 3)  # a threshold tells two apart
    estimator = kind()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if form != "unfitted":
            estimator.fit(X if form == "named" else X.to_numpy(), y)
    save(estimator, tmp_path / "m.hedge")
    outcome = hedgerow("describe", tmp_path / "m.hedge")
    assert outcome.code == 0
    assert kind.__name__ in outcome.out
    assert ("not fitted" in outcome.out) == (form == "unfitted")
    has_columns = kind is not ScoreCalibrator  # of scores, one a class
    assert ("a, b, c" in outcome.out) == (form == "named" and has_columns)
    found = hedgerow("describe", tmp_path / "m.hedge", "--json").json
    assert (found["kind"], found["is_fitted"]) == (kind.__name__, form != "unfitted")
    assert found["parameters"] == {kind.__name__: {}}


def test_a_kernel_is_no_model(hedgerow, tmp_path: Path) -> None:
    save(package.RBF(gamma=0.5), tmp_path / "k.hedge")
    outcome = hedgerow("describe", tmp_path / "k.hedge")
    assert outcome.code != 0
    assert "holds an RBF, which is not a model" in outcome.err


def test_every_public_estimator_is_among_those_described() -> None:
    public = [getattr(package, name) for name in package.__all__]
    estimators = {
        value.__name__
        for value in public
        if isinstance(value, type) and issubclass(value, BaseEstimator) and hasattr(value, "fit")
    }
    assert estimators == {kind.__name__ for kind in ESTIMATORS}


def test_a_regressor_tells_what_raises_its_prediction(hedgerow, tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": [0.0, 1.0, 2.0, 3.0], "age": [1.0, 0.0, 1.0, 0.0]})
    save(LinearSVR(C=5.0).fit(frame, [1.0, 3.0, 5.0, 7.0]), tmp_path / "m.hedge")
    outcome = hedgerow("describe", tmp_path / "m.hedge")
    told = words(outcome.out)
    assert sections(outcome.out) == ["Model", "Settings", "Columns", "Weights", "Fit", "Proof"]
    assert "2 coefficients; above 0 raises the prediction, below 0 lowers it:" in told
    assert "wide" not in told
    weights = hedgerow("describe", tmp_path / "m.hedge", "--json").json["weights"]
    assert [weight["label"] for weight in weights["strongest"]] == [None, None]


def test_a_one_class_machine_tells_what_speaks_for_its_rows(hedgerow, tmp_path: Path) -> None:
    save(LinearOneClassSVM(nu=0.25).fit([[2, 0], [0, 2], [3, 3], [4, 3]]), tmp_path / "m.hedge")
    told = words(hedgerow("describe", tmp_path / "m.hedge").out)
    assert "2 coefficients; above 0 speaks for 1, below 0 against:" in told
    assert "Intercept -2." in told
    assert "wide" not in told


def test_a_kernel_machine_tells_its_kernel_its_steps_and_its_support_vectors(
    hedgerow, tmp_path: Path
) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = SVC(kernel=package.RBF(gamma=0.5), scale="standard").fit(X, np.arange(40) % 3)
    save(fitted, tmp_path / "m.hedge")
    outcome = hedgerow("describe", tmp_path / "m.hedge")
    told = words(outcome.out)
    assert sections(outcome.out) == ["Model", "Settings", "Columns", "Classes", "Fit", "Proof"]
    assert "Settings SVC: kernel=RBF(gamma=0.5), scale='standard'." in told
    assert "2 columns of numbers, scaled to mean 0 and standard deviation 1" in told
    assert f"decomposition in {fitted.n_iter_.sum()} steps; status 'optimal'." in told
    assert "Kernel RBF(gamma=0.5)." in told
    assert f"{len(fitted.support_)} of 40 training rows are its support vectors." in told
    assert str(fitted.certificate_) in told


def test_planes_of_pairs_speak_for_the_class_that_they_are_said_to(
    hedgerow, tmp_path: Path
) -> None:
    X = np.repeat(np.eye(3), 4, axis=0)
    y = np.repeat(["red", "green", "blue"], 4)
    for model in (SVC(kernel="linear"), LinearSVC(multi_class="ovo")):
        save(model.fit(X, y), tmp_path / "m.hedge")
        found = hedgerow("describe", tmp_path / "m.hedge", "--json").json["weights"]["strongest"]
        column = {"red": "x0", "green": "x1", "blue": "x2"}
        for weight in found:
            winner, loser = weight["label"].split(" rather than ")
            if weight["column"] in (column[winner], column[loser]):
                assert (weight["value"] > 0) == (weight["column"] == column[winner])


def test_a_sparse_plane_a_ball_a_tube_and_a_table_are_told(hedgerow, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 2
    models = {
        "2 coefficients": SVC(kernel="linear").fit(sp.csr_array(X), y),
        "The ball has the radius": SVDD().fit(X),
        "The tube reaches": NuSVR().fit(X, X[:, 0]),
        "each of 30 training rows": SVC(kernel="precomputed").fit(X @ X.T, y),
    }
    for sentence, model in models.items():
        save(model, tmp_path / "m.hedge")
        assert sentence in words(hedgerow("describe", tmp_path / "m.hedge").out)


def test_a_perceptron_tells_its_mistakes_and_passes(hedgerow, tmp_path: Path) -> None:
    fitted = Perceptron(eta0=0.5).fit([[0.0], [1.0], [3.0]], [0, 0, 1])
    save(fitted, tmp_path / "m.hedge")
    told = words(hedgerow("describe", tmp_path / "m.hedge").out)
    assert (
        f"{fitted.n_mistakes_} mistakes in {fitted.n_iter_} passes; the last one made none" in told
    )
    assert "Perceptron: eta0=0.5." in told
    figures = hedgerow("describe", tmp_path / "m.hedge", "--json").json["figures"]
    assert figures["n_mistakes_"] == fitted.n_mistakes_


def test_parameters_of_any_kind_survive_json(hedgerow, tmp_path: Path) -> None:
    save(LinearSVC(class_weight={0: 2.0, 1: 1.0}, tol=1e-6), tmp_path / "m.hedge")
    found = hedgerow("describe", tmp_path / "m.hedge", "--json").json
    assert found["parameters"]["LinearSVC"] == {"tol": 1e-6, "class_weight": {"0": 2.0, "1": 1.0}}


def test_coefficients_that_are_all_zero_are_counted(hedgerow, tmp_path: Path) -> None:
    save(LinearSVC().fit([[0.0], [0.0]], [0, 1]), tmp_path / "m.hedge")
    outcome = hedgerow("describe", tmp_path / "m.hedge")
    assert outcome.code == 0
    assert "1 coefficient (1 is 0); above 0 speaks for 1" in outcome.out


def test_a_file_is_a_model_by_its_content_and_not_by_its_name(
    hedgerow, model: Path, table: Path, tmp_path: Path
) -> None:
    model_as_csv, table_as_hedge = tmp_path / "m.csv", tmp_path / "t.hedge"
    model_as_csv.write_bytes(model.read_bytes())
    table_as_hedge.write_bytes(table.read_bytes())
    assert sections(hedgerow("describe", model_as_csv).out)[0] == "Model"
    assert sections(hedgerow("describe", table_as_hedge).out)[0] == "Table"
    model_as_csv.write_bytes(model.read_bytes()[:-9])
    assert "cannot be loaded as a model" in hedgerow("describe", model_as_csv).err


def test_a_table_is_described_column_by_column(hedgerow, table: Path) -> None:
    outcome = hedgerow("describe", table, "--target", "kind")
    assert outcome.code == 0
    assert sections(outcome.out) == ["Table", "Columns", "Next"]
    rows = {line.split()[0]: line.split() for line in outcome.out.splitlines() if line.strip()}
    assert rows["size"][1:3] == ["numbers", "9"]
    assert rows["colour"][1:5] == ["text", "-", "2", "values,"]
    assert f"hedgerow auto {table} --target kind" in outcome.out
    found = json.loads(hedgerow("describe", table, "--json").out)
    assert [column["name"] for column in found["columns"]] == ["size", "colour", "weight", "kind"]
    assert found["profile"]["n_missing"] == 9


def test_columns_that_look_out_of_place_are_pointed_out(hedgerow, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x\n" + "".join(f"{i},{i % 7}\n" for i in range(30)))
    assert "Column 'id' only counts the rows" in words(hedgerow("describe", path).out)


def test_a_wide_table_shows_some_columns_and_says_how_to_see_all(hedgerow, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame(np.eye(15), columns=[f"c{i}" for i in range(15)]).to_csv(path, index=False)
    assert "And 5 columns more; --top 15 shows all." in hedgerow("describe", path).out
    assert "more" not in hedgerow("describe", path, "--top", "15").out


def test_a_libsvm_file_is_described_without_columns(hedgerow, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("1 1:1 3:1\n-1 2:1\n")
    outcome = hedgerow("describe", tmp_path / "t")
    assert "2 rows, 3 sparse features" in words(outcome.out)
    assert sections(outcome.out) == ["Table", "Next"]
