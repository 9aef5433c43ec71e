"""``plot_tree`` draws the boxes of scikit-learn, and the exports take scikit-learn's arguments."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from sklearn.datasets import load_diabetes, load_iris

import hedgerow.tree
from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from hedgerow.errors import ParameterError
from hedgerow.tree import export_graphviz, export_text, plot_tree

IRIS = load_iris()


@pytest.fixture(autouse=True)
def drawing():
    """Matplotlib without a screen, and no figure left behind."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def drawn(draw, model, plt, **options):
    """All that a drawing shows: texts, places, sizes, colours and forms of boxes."""
    plt.figure(figsize=(9, 6))
    found = draw(model, **options)
    boxes = []
    for each in found:
        patch = each.get_bbox_patch()
        style = None if patch is None else type(patch.get_boxstyle()).__name__
        color = None if patch is None else np.round(patch.get_facecolor(), 6).tolist()
        places = np.round([*each.xy, *each.xyann], 9).tolist()
        boxes.append((each.get_text(), places, each.get_ha(), each.get_zorder(), style, color))
    return boxes, [each.get_fontsize() for each in found]


@pytest.mark.parametrize("name", ["plot_tree", "export_text", "export_graphviz"])
def test_the_arguments_are_those_of_scikit_learn(name):
    ours = list(inspect.signature(getattr(hedgerow.tree, name)).parameters.values())
    theirs = list(inspect.signature(getattr(sklearn.tree, name)).parameters.values())
    asked = [(each.name, each.kind, each.default) for each in theirs]
    assert [(each.name, each.kind, each.default) for each in ours[: len(theirs)]] == asked
    assert [each.name for each in ours[len(theirs) :]] == ["show_missing"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"filled": True, "rounded": True},
        {"class_names": list(IRIS.target_names), "feature_names": list(IRIS.feature_names)},
        {"class_names": True, "max_depth": 1, "filled": True, "label": "root"},
        {"proportion": True, "node_ids": True, "impurity": False, "precision": 2},
        {"max_depth": 0, "fontsize": 7, "label": "none"},
    ],
    ids=str,
)
def test_boxes_of_classes_are_those_of_scikit_learn(options, drawing):
    model = DecisionTreeClassifier(max_depth=4).fit(IRIS.data, IRIS.target)
    theirs = model.to_sklearn()
    boxes, sizes = drawn(plot_tree, model, drawing, **options)
    expected, expected_sizes = drawn(sklearn.tree.plot_tree, theirs, drawing, **options)
    assert boxes == expected
    np.testing.assert_allclose(sizes, expected_sizes)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_boxes_of_numbers_are_those_of_scikit_learn(n_outputs, drawing):
    rows, y = load_diabetes(return_X_y=True)
    y = np.stack([y, y[::-1]], axis=1)[:, :n_outputs]
    model = DecisionTreeRegressor(max_depth=3).fit(rows, y)
    boxes, _ = drawn(plot_tree, model, drawing, filled=True)
    expected, _ = drawn(sklearn.tree.plot_tree, model.to_sklearn(), drawing, filled=True)
    assert boxes == expected


def test_boxes_do_not_overlap(drawing):
    model = DecisionTreeClassifier().fit(IRIS.data, IRIS.target)
    figure = drawing.figure(figsize=(8, 6))
    found = plot_tree(model, rounded=True)
    figure.canvas.draw()
    patches = [each.get_bbox_patch() for each in found]
    boxes = [patch.get_window_extent() for patch in patches if patch is not None]
    assert len(boxes) == model.tree_.node_count
    assert not any(
        one.shrunk(0.98, 0.98).overlaps(two) for one, two in itertools.combinations(boxes, 2)
    )


def test_categories_are_named_and_signs_of_money_stay_signs(drawing):
    table = pd.DataFrame({"pays in $ or $$": ["cash", "card", "cash", "card"], "n": [1.0, 2, 3, 4]})
    model = DecisionTreeClassifier().fit(table, [0, 1, 0, 1])
    found = plot_tree(model)
    assert found[0].get_text().startswith("pays in $ or $$ = ca")
    assert not found[0].get_parse_math()


def test_a_tree_of_a_forest_is_drawn_with_its_figures(drawing):
    forest = RandomForestClassifier(3, bootstrap=False, max_depth=2, random_state=0)
    member = forest.fit(IRIS.data, IRIS.target).estimators_[0]
    root = plot_tree(member)[0].get_text()
    assert "gini = 0.667\nsamples = 150\nvalue = [50, 50, 50]" in root


def test_the_axes_that_are_given_are_drawn_into(drawing):
    _, (left, right) = drawing.subplots(1, 2)
    found = plot_tree(DecisionTreeClassifier(max_depth=1).fit(IRIS.data, IRIS.target), ax=left)
    assert all(each.axes is left for each in found)
    assert not right.texts


def test_a_forest_and_odd_options_are_refused():
    forest = RandomForestClassifier(2).fit(IRIS.data, IRIS.target)
    with pytest.raises(
        ParameterError, match=r"plot_tree takes a fitted tree .* give one of its estimators_"
    ):
        plot_tree(forest)
    with pytest.raises(ParameterError, match="fontsize='big' is not allowed in plot_tree"):
        plot_tree(forest[0], fontsize="big")
    with pytest.raises(ParameterError, match="label='some' is not allowed in plot_tree"):
        plot_tree(forest[0], label="some")


@pytest.mark.parametrize("options", [{}, {"show_weights": True, "decimals": 4}, {"max_depth": 1}])
def test_the_text_is_that_of_scikit_learn_on_the_same_tree(options):
    rows, y = load_diabetes(return_X_y=True)
    for model in (
        DecisionTreeClassifier(max_depth=4).fit(IRIS.data, IRIS.target),
        DecisionTreeRegressor(max_depth=4).fit(rows, y),
    ):
        if isinstance(model, DecisionTreeRegressor):
            options = {**options, "show_weights": False}
        assert export_text(model, **options) == sklearn.tree.export_text(
            model.to_sklearn(), **options
        )


def test_the_graph_is_that_of_scikit_learn_on_the_same_tree():
    model = DecisionTreeClassifier(max_depth=4).fit(IRIS.data, IRIS.target)
    options = {"filled": True, "rounded": True, "class_names": list(IRIS.target_names)}
    expected = sklearn.tree.export_graphviz(model.to_sklearn(), **options)
    assert export_graphviz(model, **options) == expected
