"""Every model and table is described in words and numbers, and a user's class can join in."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_diabetes, load_iris

import hedgerow
from hedgerow import SVC, LinearSVC, LinearSVCCV, RandomForestClassifier, RandomForestRegressor
from hedgerow.describe import Description, describe, describes
from hedgerow.describe.sections import sections_of
from hedgerow.errors import DataTypeError, ParameterError
from tests.model_zoo import SPECIMENS, specimen

KEYS = {
    *("subject", "kind", "what", "is_fitted", "parameters", "settings", "inputs", "target"),
    *("classes", "data", "training", "figures", "certificate", "quality", "weights"),
    *("importances", "support", "advice"),
}
FITTED = [name for name in SPECIMENS if not name.startswith("kernel/")]


@pytest.mark.parametrize("name", FITTED)
def test_every_model_has_a_complete_description_that_json_can_hold(name):
    model = specimen(name).model
    found = describe(model, top=3)
    assert set(found) >= KEYS
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["subject"], found["kind"]) == ("model", type(model).__name__)
    assert found["is_fitted"] is True
    assert found["what"].endswith(".")
    assert found["data"].keys() == {"n_rows", "n_features", "n_classes"}
    assert found["data"]["n_features"] == model.n_features_in_
    training = found["training"]
    assert training.keys() == {"sentences", "status", "solver", "n_iter", "seconds"}
    assert training["sentences"]
    for evidence in found["quality"]:
        assert {"method", "metric", "estimate", "low", "high", "n_rows"} <= set(evidence)
    told = [*found["settings"], found["what"], *training["sentences"]]
    told += [each["sentence"] for each in (*found["quality"], *found["advice"])]
    for sentence in told:
        assert sentence[0] == sentence[0].upper() or sentence.split(":")[0] == found["kind"]
        assert sentence.endswith("."), sentence
        assert "None" not in sentence or sentence in found["settings"]
    for features in filter(None, (found["weights"], found["importances"])):
        values = [abs(entry["value"]) for entry in features["strongest"]]
        assert 1 <= len(values) <= 3
        assert values == sorted(values, reverse=True)
    assert [section.label for section in sections_of(found)][:2] == ["Model", "Settings"]


def test_every_public_estimator_can_be_described_before_it_is_fitted():
    public = [getattr(hedgerow, name) for name in hedgerow.__all__]
    classes = [c for c in public if isinstance(c, type) and issubclass(c, BaseEstimator)]
    fitting = {cls.__name__ for cls in classes if hasattr(cls, "fit")}
    assert fitting == {type(specimen(name).model).__name__ for name in FITTED}
    for cls in classes:
        if hasattr(cls, "fit"):
            found = describe(cls())
            assert set(found) >= KEYS
            assert found["is_fitted"] is False
            assert found["inputs"] is None
            assert found["training"]["sentences"] == []
            assert "not fitted" in sections_of(found)[0].parts[0]


def test_a_description_of_a_saved_model_differs_only_in_the_time(tmp_path: Path):
    for name in ("SVC-probabilities", "RandomForestClassifier-groups", "TableClassifier-forest"):
        model = specimen(name).model
        hedgerow.save(model, tmp_path / "m.hedge")
        before, after = describe(model), describe(hedgerow.load(tmp_path / "m.hedge"))
        assert before["training"].pop("seconds") > 0
        assert after["training"].pop("seconds") is None
        assert before == after


# --------------------------------------------------------------------------------------- families


def test_a_forest_tells_its_trees_its_depth_and_its_error_out_of_bag():
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    found = describe(forest, top=2)
    depth = max(tree.get_depth() for tree in forest.estimators_)
    leaves = np.mean([tree.get_n_leaves() for tree in forest.estimators_])
    figures = found["figures"]
    assert (figures["n_trees"], figures["depth"], figures["mean_n_leaves"]) == (30, depth, leaves)
    (sentence,) = found["training"]["sentences"]
    assert (
        sentence
        == f"Grew 30 trees with {leaves:.0f} leaves on average; the deepest has depth {depth}."
    )
    (evidence,) = found["quality"]
    interval = forest.oob_.measure()
    assert (evidence["method"], evidence["metric"]) == ("out-of-bag", "accuracy")
    assert evidence["estimate"] == forest.oob_score_ == interval.estimate
    assert (evidence["low"], evidence["high"]) == (interval.low, interval.high)
    assert evidence["low"] < evidence["estimate"] < evidence["high"]
    order = np.argsort(-forest.feature_importances_)[:2]
    listed = found["importances"]["strongest"]
    assert [entry["column"] for entry in listed] == [X.columns[j] for j in order]
    assert [entry["value"] for entry in listed] == forest.feature_importances_[order].tolist()
    assert found["data"] == {"n_rows": 150, "n_features": 4, "n_classes": 3}
    assert found["advice"] == []


def test_a_forest_of_numbers_tells_its_mean_squared_error_out_of_bag():
    X, y = load_diabetes(return_X_y=True)
    forest = RandomForestRegressor(20, oob_score=True, random_state=0).fit(X, y)
    (evidence,) = describe(forest)["quality"]
    assert evidence["metric"] == "mean_squared_error"
    assert evidence["estimate"] == forest.oob_.vote_error
    assert evidence["low"] < evidence["estimate"] < evidence["high"]
    assert f"R^2 is {forest.oob_score_:.3f}." in evidence["sentence"]


def test_a_forest_that_stopped_early_or_was_not_judged_says_so():
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(2000, stop_when_flat=0.05, random_state=0).fit(X, y)
    assert forest.status_ == "flat"
    assert "Stopped before all the trees" in describe(forest)["training"]["sentences"][1]
    found = describe(RandomForestClassifier(5, random_state=0).fit(X, y))
    assert found["quality"] == []
    assert [hint["name"] for hint in found["advice"]] == ["no_out_of_bag"]


@pytest.mark.filterwarnings("ignore::hedgerow.EdgeOfGridWarning")
def test_a_choice_of_c_tells_its_cross_validated_score_and_the_edge_of_the_grid():
    X, y = load_iris(return_X_y=True)
    model = LinearSVCCV(Cs=[0.1, 1.0, 10.0], cv=3, random_state=0).fit(X, y)
    found = describe(model)
    (evidence,) = found["quality"]
    scores = model.scores_[model.Cs_.tolist().index(model.C_)]
    assert evidence["estimate"] == scores.mean()
    assert evidence["standard_error"] == pytest.approx(scores.std(ddof=1) / np.sqrt(3), rel=1e-12)
    assert (evidence["method"], evidence["metric"]) == ("3-fold cross-validation", "accuracy")
    at_edge = model.C_ in (0.1, 10.0)
    assert ([hint["name"] for hint in found["advice"]] == ["c_at_edge"]) == at_edge
    one = LinearSVCCV(Cs=[1e-9, 1e-8], cv=3, random_state=0).fit(X, y)
    assert "try some" in describe(one)["advice"][-1]["sentence"]


def test_a_fit_without_a_certificate_is_told_what_to_do():
    X, y = load_iris(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(solver="dual_coordinate_descent", max_iter=1, tol=1e-12).fit(X, y)
    found = describe(model)
    assert found["certificate"]["is_certified"] is False
    assert found["certificate"]["sentence"] == str(model.certificate_)
    assert [hint["name"] for hint in found["advice"]] == ["not_certified"]
    assert "raise max_iter" in found["advice"][0]["sentence"]


def test_a_kernel_machine_tells_its_support_vectors():
    X, y = load_iris(return_X_y=True)
    model = SVC().fit(X, y)
    found = describe(model)
    assert found["support"]["n_support"] == len(model.support_)
    assert found["support"]["n_by_class"] == model.n_support_.tolist()
    assert found["data"]["n_rows"] == 150
    assert found["training"]["n_iter"] == model.n_iter_.sum()
    assert found["weights"] is None


def test_a_model_around_a_learner_tells_of_both():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = hedgerow.CalibratedModel(SVC(C=3.0), random_state=0).fit(X, y)
    found = describe(model)
    assert found["learner"] == "SVC"
    assert found["parameters"] == {"CalibratedModel": {"random_state": 0}, "SVC": {"C": 3.0}}
    assert found["data"]["n_rows"] == 150
    assert found["certificate"]["is_certified"]
    assert len(found["training"]["sentences"]) == 4
    assert sections_of(found)[0].parts[0] == "CalibratedModel with an SVC, fitted."


def test_columns_behind_an_encoder_have_the_names_of_the_table():
    found = describe(specimen("TableClassifier-forest").model)
    names = {entry["column"] for entry in found["importances"]["strongest"]}
    assert names == {"size", "colour=red", "colour=blau", "colour=grün"}
    assert [column["name"] for column in found["inputs"]["columns"]] == ["size", "colour"]


# ----------------------------------------------------------------------------------------- tables


def test_a_table_is_described_by_its_columns_and_classes():
    X = {"n": np.array([1.0, np.nan, 4.0]), "t": np.array(["a", "a", None], dtype=object)}
    found = describe(hedgerow.Table(X, np.array([0, 1, 1]), target="y"))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["subject"], found["target"]) == ("table", "y")
    assert found["profile"]["classes"] == [{"label": 0, "rows": 1}, {"label": 1, "rows": 2}]
    numbers, text = found["columns"]
    assert (numbers["low"], numbers["mean"], numbers["high"]) == (1.0, 2.5, 4.0)
    assert (text["commonest"], text["n_missing"]) == ("a", 1)
    sparse = describe(hedgerow.Table(sp.csr_matrix(np.eye(4))))
    assert (sparse["profile"]["density"], sparse["columns"]) == (0.25, [])
    assert "<td" in found._repr_html_()


def test_tables_of_every_kind_are_described_alike():
    columns = {"n": [1.0, None, 4.0], "t": ["a", "a", None], "b": [True, False, True]}
    tables = [pd.DataFrame(columns), columns, pl.DataFrame(columns), pa.table(columns)]
    found = [describe(table) for table in tables]
    assert all(each == found[0] for each in found)
    assert [column["n_missing"] for column in found[0]["columns"]] == [1, 1, 0]
    assert [column["is_text"] for column in found[0]["columns"]] == [False, True, False]
    array = describe(np.arange(6).reshape(3, 2))
    assert [(c["name"], c["mean"]) for c in array["columns"]] == [("x0", 2.0), ("x1", 3.0)]
    assert describe(sp.csr_array(np.eye(4)))["profile"]["density"] == 0.25


# ------------------------------------------------------------------------------------ the registry


class Mean(BaseEstimator):
    """Predicts the mean of the targets."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.n_features_in_ = len(X[0])
        self.mean_ = float(np.mean(y)) + self.shift
        return self


class Median(Mean):
    """Predicts the median of the targets."""


@describes(Mean)
def _mean(model, top):
    return {"training": {"sentences": [f"The mean is {model.mean_:g}; top {top}."]}}


@describes(Median)
def _median(model, top):
    advice = [{"name": "none", "sentence": "All is well."}]
    return {"training": {"sentences": ["It is the median."]}, "what": "A median.", "advice": advice}


class OurSVC(SVC):
    """A machine of our own."""


def test_a_class_of_the_user_joins_by_registering_and_inherits_along_its_bases():
    found = describe(Mean(shift=2.0).fit([[0.0]], [1.0]), top=4)
    assert set(found) >= KEYS
    assert found["what"] == "Predicts the mean of the targets."
    assert found["parameters"] == {"Mean": {"shift": 2.0}}
    assert found["figures"]["mean_"] == 3.0
    assert found["training"]["sentences"] == ["The mean is 3; top 4."]
    derived = describe(Median().fit([[0.0]], [1.0]), top=1)
    assert derived["what"] == "A median."
    assert derived["training"]["sentences"] == ["The mean is 1; top 1.", "It is the median."]
    assert [hint["sentence"] for hint in derived["advice"]] == ["All is well."]
    X, y = load_iris(return_X_y=True)
    ours, plain = describe(OurSVC().fit(X, y)), describe(SVC().fit(X, y))
    assert (ours["kind"], ours["what"]) == ("OurSVC", "A machine of our own.")
    assert ours["certificate"] == plain["certificate"]


@pytest.mark.parametrize("subject", [3, "SVC", object(), [1.0, 2.0], np.ones(3)])
def test_what_is_neither_a_model_nor_a_table_is_refused(subject):
    with pytest.raises(DataTypeError, match=r"no description of .* hedgerow.describe.describes"):
        describe(subject)


@pytest.mark.parametrize("top", [0, -1, 2.5, "all", None])
def test_top_must_be_a_whole_number_above_zero(top):
    with pytest.raises(ParameterError, match="top="):
        describe(SVC(), top=top)


@pytest.mark.parametrize(
    "first", ["", "import hedgerow.describe;", "from hedgerow.describe import describes;"]
)
def test_the_function_can_be_called_in_whatever_order_things_are_imported(first):
    code = f"""{first}
import hedgerow, sys
found = hedgerow.describe(hedgerow.LinearSVC().fit([[0.0], [1.0]], [0, 1]))
print(found["kind"], "hedgerow.ensemble" in sys.modules, "hedgerow.auto" in sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["LinearSVC", "False", "False"]


# ------------------------------------------------------------------------------------ in notebooks


def test_a_notebook_shows_the_diagram_and_after_the_fit_a_summary_below():
    X, y = load_iris(return_X_y=True)
    model = SVC()
    before = model._repr_html_()
    assert "sk-top-container" in before
    assert "hedgerow-summary" not in before
    after = model.fit(X, y)._repr_html_()
    diagram, _, summary = after.partition('<table class="hedgerow-summary"')
    assert "sk-top-container" in diagram
    assert "support vectors" in summary
    assert str(model.certificate_)[:60] in summary
    bundle = model._repr_mimebundle_()
    assert "hedgerow-summary" in bundle["text/html"]
    assert bundle["text/plain"] == repr(model)
    assert "hedgerow-summary" not in clone(model)._repr_html_()


@pytest.mark.parametrize("name", FITTED)
def test_the_summary_is_small_well_formed_and_complete_by_itself(name):
    from xml.etree import ElementTree

    html = describe(specimen(name).model, top=6)._repr_html_()
    assert len(html) < 12_000
    tags = {element.tag for element in ElementTree.fromstring(html).iter()}
    assert tags <= {"table", "tr", "th", "td", "div"}
    assert "http" not in html
    assert "url(" not in html


def test_names_and_labels_are_escaped():
    evil = "<script>alert('x')</script>&"
    X = {evil: np.arange(6.0), "b": np.arange(6.0) % 2}
    y = np.array([evil, evil, evil, "no", "no", "no"])
    for model in (hedgerow.TableClassifier(), RandomForestClassifier(3, random_state=0)):
        html = describe(model.fit(X, y))._repr_html_()
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_the_diagram_can_be_switched_off_as_in_scikit_learn():
    import sklearn

    with sklearn.config_context(display="text"):
        assert not hasattr(SVC(), "_repr_html_")
        assert set(SVC()._repr_mimebundle_()) == {"text/plain"}


def test_a_description_is_a_dictionary():
    found = describe(SVC())
    assert isinstance(found, Description)
    assert dict(found) == found


def test_bars_of_values_that_are_not_finite_can_be_drawn():
    from hedgerow.describe.sections import Listing

    listing = Listing(("a", "b", "c", "d"), None, (np.inf, -2.0, 1.0, np.nan), is_signed=True)
    assert listing.shares == (1.0, -1.0, 0.5, 0.0)
