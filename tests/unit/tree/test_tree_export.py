"""A tree written as text, rules, JSON or Python code says what the tree says."""

from __future__ import annotations

import json
import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor
from sklearn.tree import export_text as their_text

from hedgerow.errors import ParameterError
from hedgerow.tree import DecisionTreeClassifier, DecisionTreeRegressor
from hedgerow.tree.export import (
    InSet,
    Interval,
    export_graphviz,
    export_json,
    export_python,
    export_rules,
    export_svg,
    export_text,
)
from tests.tree_samples import TreeModel, chain, random_tree, tree_by_hand

EXPORTS = [export_text, export_rules, export_json, export_python, export_graphviz, export_svg]
NAMES = ["age", 'a "quoted" <name> & more\n', "class", "x y", "x-y"]
CATEGORIES = [[], ["red", 'gr"een', "blue, dark"], [], list(range(70)), [False, True]]
IRIS = load_iris()
EXAMPLES = Path(__file__).parents[3] / "examples"


def rows_for(model, random, n):
    """Random rows for CATEGORIES: numbers, also those at thresholds; categories; what is missing or new."""
    thresholds = model.tree_.threshold[model.tree_.category_start < 0].tolist()
    rows = []
    for _ in range(n):
        row = []
        for known in CATEGORIES:
            values = [*known, "never seen", 1e9] if known else [*random.normal(size=4), *thresholds]
            row.append(values[random.integers(len(values))])
            if random.random() < 0.15:
                row[-1] = (None, math.nan)[random.integers(2)]
        rows.append(row)
    return rows


def random_model(seed, *, n_outputs=1, is_classifier=True, names=NAMES, **options):
    """A random tree over CATEGORIES whose labels are text, numbers and truths, an output each."""
    random = np.random.default_rng(seed)
    n_categories = [len(each) for each in CATEGORIES]
    options = {"n_leaves": 25, "width": 3 if is_classifier else 1, **options}
    tree = random_tree(random, n_categories=n_categories, n_outputs=n_outputs, **options)
    labels = [np.array(["a", "it's", '"b"\n']), np.array([3, 1, 2]), np.array([1.5, -0.0, 1e300])]
    classes = None
    if is_classifier:
        classes = labels[seed % 3] if n_outputs == 1 else labels[:n_outputs]
    return TreeModel(tree, classes, CATEGORIES, names), random


@pytest.fixture(params=[{}, {"n_outputs": 2}, {"is_classifier": False}, {"n_leaves": 1}], ids=str)
def kind(request):
    return request.param


# ------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"show_weights": True},
        {"feature_names": IRIS.feature_names, "class_names": ["s", "e", "v"], "decimals": 0},
        {"max_depth": 0, "spacing": 1},
        {"max_depth": 2, "spacing": 5, "decimals": 4},
    ],
    ids=str,
)
def test_text_is_that_of_scikit_learn(options):
    theirs = TheirClassifier(random_state=0).fit(IRIS.data, IRIS.target)
    assert export_text(TreeModel.of_sklearn(theirs), **options) == their_text(theirs, **options)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_text_of_a_regression_is_that_of_scikit_learn(n_outputs):
    X, y = load_diabetes(return_X_y=True)
    y = np.column_stack([y, X[:, 2]])[:, :n_outputs]
    theirs = TheirRegressor(random_state=0, max_depth=5).fit(X, y)
    for depth in (0, 3, 10):
        ours = export_text(TreeModel.of_sklearn(theirs), max_depth=depth)
        assert ours == their_text(theirs, max_depth=depth)


def test_text_of_one_leaf_is_one_line():
    theirs = TheirClassifier().fit([[0.0], [1.0]], ["x", "x"])
    assert export_text(TreeModel.of_sklearn(theirs)) == "|--- class: x\n"


def test_text_names_the_smaller_set_of_categories_and_where_missing_values_go():
    frame = pd.DataFrame({"town": list("aabbccdd") * 3, "n": np.r_[np.arange(23.0), np.nan]})
    model = DecisionTreeClassifier(max_depth=1).fit(frame, frame["town"] == "a")
    assert sorted(export_text(model).splitlines()[::2]) == ["|--- town != a", "|--- town = a"]
    model.fit(frame[["n"]], frame["n"].isna())
    assert export_text(model).splitlines()[::2] == ["|--- n is not missing", "|--- n is missing"]
    halves = DecisionTreeClassifier(max_depth=1).fit(frame[["town"]], frame["town"] < "c")
    told = export_text(halves, show_missing=True)
    assert "town in {a, b}" in told
    assert "town in {c, d}" in told
    assert told.count(" or missing") == 1


def test_labels_of_several_outputs_are_told_one_by_one():
    model, _ = random_model(0, n_outputs=2, n_leaves=1)
    labels = model.predict_row([None] * 5)
    assert export_text(model) == f"|--- class: [{labels[0]}, {labels[1]}]\n".replace(
        '"\n,', '"\\n,'
    )
    weights = export_text(model, show_weights=True)
    assert weights.startswith("|--- weights: [[")


# ------------------------------------------------------------------------------------------ rules


@pytest.mark.parametrize("seed", range(4))
def test_every_row_meets_the_rule_of_its_leaf_and_no_other(seed, kind):
    model, random = random_model(seed, **kind)
    rules = export_rules(model)
    for row in rows_for(model, random, 60):
        [rule] = [rule for rule in rules if rule.holds(row)]
        assert rule.leaf == model.leaf(row)
        assert rule.holds(dict(zip(NAMES, row, strict=True)))
        told = rule.prediction if isinstance(rule.prediction, tuple) else (rule.prediction,)
        assert list(told) == model.predict_row(row)


def test_a_rule_asks_for_each_feature_once():
    model, _ = random_model(1, n_leaves=60, deepest=True)
    for rule in export_rules(model):
        features = [condition.feature for condition in rule.conditions]
        assert len(features) == len(set(features))
        for each in rule.conditions:
            assert isinstance(each, InSet if CATEGORIES[each.feature] else Interval)


def test_rules_are_sentences_and_can_be_sorted_by_coverage():
    nodes = [
        {"feature": 0, "threshold": 2.45, "left": 1, "right": 2, "n": 150},
        {"n": 50},
        {"feature": 1, "threshold": 1.75, "left": 3, "right": 4, "n": 100, "missing_left": True},
        {"feature": 0, "threshold": 4.9512, "left": 5, "right": 6, "n": 54},
        {"n": 46},
        {"n": 48},
        {"n": 6},
    ]
    thirds = [[1, 1, 1], [3, 0, 0], [0, 1.5, 1.5], [0, 2, 1], [0, 0, 3], [0, 2, 1], [0, 1, 2]]
    tree = tree_by_hand(nodes, [0, 0], np.array(thirds)[:, None] / 3)
    model = TreeModel(tree, np.arange(3), names=["length", "width"])
    rules = export_rules(model, sort_by_coverage=True)
    assert list(map(str, rules)) == [
        "if length <= 2.45 then 0: 100 % of 50 rows (33.3 % of all)",
        "if 2.45 < length <= 4.951 and width <= 1.75 then 1: 66.7 % of 48 rows (32 % of all)",
        "if length > 2.45 and width > 1.75 then 2: 100 % of 46 rows (30.7 % of all)",
        "if length > 4.951 and width <= 1.75 then 2: 66.7 % of 6 rows (4 % of all)",
    ]
    assert sum(rule.n_rows for rule in rules) == 150
    assert sum(rule.share for rule in rules) == pytest.approx(1)
    assert "and (width <= 1.75 or missing) then" in rules[1].words(show_missing=True)
    assert "(length > 4.951 or missing) and" in rules[3].words(show_missing=True)
    assert [rule.leaf for rule in export_rules(model)] == [1, 5, 6, 4]
    root = DecisionTreeClassifier().fit([[0.0]], [7])
    assert str(export_rules(root)[0]) == "always 7: 100 % of 1 row (100 % of all)"


def test_a_rule_of_values_tells_the_value():
    X, y = np.arange(8.0)[:, None], np.repeat([1.25, 3.0], 4)
    rules = export_rules(DecisionTreeRegressor().fit(X, y), feature_names=["t"])
    assert str(rules[0]) == "if t <= 3.5 then 1.25: 4 rows (50 % of all)"
    assert rules[0].class_shares == ()


# ------------------------------------------------------------------------------------------- JSON


def predicted_by_json(form, row):
    """Walk through the JSON form of a tree as its description says."""
    node = form["nodes"][0]
    while "left" in node:
        value, feature = row[node["feature"]], form["features"][node["feature"]]
        is_missing = value is None or (isinstance(value, float) and math.isnan(value))
        if is_missing or value not in feature.get("categories", [value]):
            side = node["missing"]
        elif "threshold" in node:
            side = "left" if value <= float(node["threshold"]) else "right"
        else:
            side = "left" if value in node["left_categories"] else "right"
        node = form["nodes"][node[side]]
    return node["prediction"]


@pytest.mark.parametrize("seed", range(4))
def test_json_is_all_that_is_needed_to_predict(seed, kind):
    model, random = random_model(seed, **kind)
    form = json.loads(json.dumps(export_json(model), allow_nan=False))
    for row in rows_for(model, random, 60):
        assert predicted_by_json(form, row) == model.predict_row(row)
    assert [each["name"] for each in form["features"]] == NAMES
    assert len(form["nodes"]) == model.tree_.node_count
    assert form["kind"] == ("classifier" if hasattr(model, "classes_") else "regressor")


def test_json_writes_infinity_and_dates_as_text():
    leaf = {"value": [[1.0]]}
    split = {"feature": 0, "left": 1, "right": 2, "threshold": math.inf, **leaf}
    days = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    by_day = {"feature": 1, "left": 3, "right": 4, "in": [1], **leaf}
    tree = tree_by_hand([split, by_day, leaf, leaf, leaf], [0, 2])
    form = export_json(TreeModel(tree, None, [[], days]))
    assert form["nodes"][0]["threshold"] == "inf"
    assert form["nodes"][1]["left_categories"] == ["2021-01-01"]
    with pytest.raises(ParameterError, match="cannot be written as Python code"):
        export_python(TreeModel(tree, None, [[], days]))


# ----------------------------------------------------------------------------------------- Python


def function_of(model, name="predict", **options):
    source = export_python(model, name, **options)
    assert "import" not in source
    space = {}
    exec(compile(source, "exported", "exec"), space)
    return space[name]


@pytest.mark.parametrize("deepest", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_python_code_predicts_what_the_tree_predicts(seed, kind, deepest):
    # At the greatest depth 70 leaves are more levels than are nested.
    model, random = random_model(seed, **{"n_leaves": 70, **kind}, deepest=deepest)
    function = function_of(model)
    for row in rows_for(model, random, 60):
        expected = model.predict_row(row)
        for given in (row, dict(zip(NAMES, row, strict=True)), np.array(row, dtype=object)):
            found = function(given)
            assert (found if len(expected) > 1 else [found]) == expected
            assert type(found) is type(expected[0] if len(expected) == 1 else expected)


def test_python_code_of_shallow_trees_is_nested_and_of_deep_ones_a_table():
    assert "while" not in export_python(TreeModel(chain(50), np.array([0, 1])))
    assert "while" in export_python(TreeModel(chain(51), np.array([0, 1])))


def test_python_code_compares_single_precision_as_the_tree_does():
    X = np.array([[0.1], [0.3]], dtype=np.float32)
    model = DecisionTreeClassifier().fit(X, [0, 1])
    at = float(model.tree_.threshold[0])
    function = function_of(model)
    for value in np.float32([at, np.nextafter(np.float32(at), 1), np.nextafter(np.float32(at), 0)]):
        assert function([value]) == model.predict(np.array([[value]]))[0]


def test_python_code_takes_missing_values_of_pandas():
    frame = pd.DataFrame(
        {"n": pd.array([1, 2, 3, 4, None, None], dtype="Int64"), "c": list("aabbab")}
    )
    model = DecisionTreeClassifier(random_state=0).fit(frame, [0, 0, 1, 1, 2, 2])
    function = function_of(model)
    found = [function(row) for row in frame.to_dict("records")]
    assert found == model.predict(frame).tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(
    "names", [["row", "named", "number", "float", "def"], ["é", "1", "", "_", " "]]
)
def test_python_code_makes_variables_of_any_names(names):
    model, random = random_model(3, names=names)
    function = function_of(model, "naïve")
    for row in rows_for(model, random, 20):
        assert [function(dict(zip(names, row, strict=True)))] == model.predict_row(row)


@pytest.mark.parametrize("name", ["1st", "class", "float", "a b", "", None])
def test_a_function_needs_a_name_of_its_own(name):
    with pytest.raises(ParameterError, match="name="):
        export_python(random_model(0)[0], name)


# ------------------------------------------------------------------------------------ real models


def test_exports_of_a_fitted_tree_agree_with_its_predictions():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "n": np.where(random.random(400) < 0.1, np.nan, random.normal(size=400)),
            "c": pd.Categorical(random.choice(list("abcdefgh"), 400)),
            "b": random.random(400) < 0.5,
        }
    )
    frame.loc[::17, "c"] = None
    y = np.where(frame["c"].isin(["a", "d"]) ^ (frame["n"] > 0.3), "yes", "no")
    model = DecisionTreeClassifier(random_state=0).fit(frame[:300], y[:300])
    function, rules, form = function_of(model), export_rules(model), export_json(model)
    for row, expected in zip(frame.to_dict("records"), model.predict(frame), strict=True):
        assert function(row) == expected
        assert [rule.prediction for rule in rules if rule.holds(row)] == [expected]
        assert predicted_by_json(form, list(row.values())) == [expected]


def test_the_example_shows_a_tree_and_saves_it(tmp_path, capsys):
    main = runpy.run_path(str(EXAMPLES / "show_a_tree.py"))["main"]
    picture, code = tmp_path / "tree.svg", tmp_path / "tree.py"
    assert main(["--svg", str(picture), "--python", str(code)]) is None
    told = capsys.readouterr().out
    assert told.count("|--- class: ") == told.count(" of all)") == 4
    assert picture.read_text(encoding="utf-8").startswith("<svg")
    predict = runpy.run_path(str(code))["predict"]
    found = np.array([predict(row) for row in IRIS.data])
    assert np.mean(found == IRIS.target_names[IRIS.target]) > 0.95
    assert "2 or more" in main(["--leaves", "1"])
    assert "cannot be written" in main(["--svg", str(tmp_path / "nowhere" / "tree.svg")])


# ------------------------------------------------------------------------------- depth and refusal


@pytest.mark.long
def test_a_chain_of_a_hundred_thousand_splits_overflows_nothing():
    model = TreeModel(chain(100_000), np.array(["even", "odd"]))
    assert export_text(model).count("truncated branch") == 1
    with pytest.raises(ParameterError, match="smaller max_depth"):
        export_text(model, max_depth=None)
    rules = export_rules(model)
    assert len(rules) == 100_001
    assert rules[77].words().startswith("if 76.5 < feature_0 <= 77.5 then")
    assert len(export_json(model)["nodes"]) == 200_001
    assert export_graphviz(model).count("->") == 200_000
    assert export_svg(model).count("<path") == 12
    short = TreeModel(chain(10_000), np.array(["even", "odd"]))
    assert export_svg(short, max_depth=None).count("<path") == 20_000
    function = function_of(model)
    assert [function([k]) for k in (0, 1, 99_999, 10**6)] == [
        model.predict_row([k])[0] for k in (0, 1, 99_999, 10**6)
    ]


@pytest.mark.parametrize("export", EXPORTS)
def test_what_is_no_fitted_tree_is_refused(export):
    with pytest.raises(NotFittedError):
        export(DecisionTreeClassifier())
    with pytest.raises(ParameterError, match="takes a fitted tree of Hedgerow"):
        export(TheirClassifier().fit([[0], [1]], [0, 1]))


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("names", [["a"], "abcde", [1, 2, 3, 4, 5]])
def test_names_must_fit_the_features(export, names):
    with pytest.raises(ParameterError, match="feature_names"):
        export(random_model(0)[0], feature_names=names)


@pytest.mark.parametrize(
    ("export", "options"),
    [
        (export_text, {"class_names": ["a"]}),
        (export_text, {"max_depth": -1}),
        (export_text, {"spacing": 0}),
        (export_rules, {"sort_by_coverage": "yes"}),
        (export_graphviz, {"label": "some"}),
        (export_graphviz, {"filled": 1}),
        (export_graphviz, {"out_file": 3}),
        (export_svg, {"theme": "blue"}),
        (export_svg, {"output": 1}),
        (export_svg, {"class_names": "abc"}),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(export, options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        export(random_model(0)[0], **options)


@pytest.mark.parametrize("export", [export_text, export_graphviz, export_svg])
def test_classes_of_several_outputs_keep_their_names(export):
    model = random_model(0, n_outputs=2)[0]
    options = {"output": 0} if export is export_svg else {}
    with pytest.raises(ParameterError, match="class_names cannot be given to a tree of 2 outputs"):
        export(model, class_names=["a", "b", "c"], **options)
