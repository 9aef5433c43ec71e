"""Pictures of a tree, as Graphviz and as SVG: well formed, faithful, and tidy."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor
from sklearn.tree import export_graphviz as their_graphviz

from hedgerow.errors import FileAccessError, ParameterError
from hedgerow.tree.export import export_graphviz, export_svg
from hedgerow.tree.export._tidy import places
from tests.tree_samples import TreeModel, chain, random_tree, tree_by_hand

IRIS = load_iris()
SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    '"',
    "\\",
    "<b>&amp;</b>",
    "]]>",
    "new\nline",
    "\x00\x1b\ufffe",
    "\udc80",
    "{|}",
    "%s",
    "'",
]
QUOTED = r'"(?:[^"\\]|\\.)*"'
STATEMENT = re.compile(
    rf'\d+ \[label={QUOTED}(, fillcolor="#[0-9a-fA-F]{{6}}")?\] ;|\d+ -> \d+.* ;'
)


@pytest.fixture(scope="module")
def theirs():
    return TheirClassifier(random_state=0).fit(IRIS.data, IRIS.target)


@pytest.fixture
def nasty():
    """A tree all of whose names, categories and classes would break what they are pasted into."""
    random = np.random.default_rng(0)
    tree = random_tree(random, 30, [len(NASTY), 0, len(NASTY)], width=len(NASTY))
    categories = [NASTY, [], [f"{name}!" for name in NASTY]]
    categories = [np.array(values, dtype=object) for values in categories]
    return TreeModel(tree, np.array(NASTY, dtype=object), categories, NASTY[:3])


# --------------------------------------------------------------------------------------- Graphviz


@pytest.mark.parametrize("label", ["all", "root", "none"])
@pytest.mark.parametrize("flags", list(itertools.product([False, True], repeat=3)), ids=str)
def test_graphviz_is_that_of_scikit_learn(theirs, label, flags):
    first, second, third = flags
    options = {
        "label": label,
        "max_depth": 2 if first else None,
        "feature_names": IRIS.feature_names if first else None,
        "class_names": IRIS.target_names if first else second,
        "filled": second,
        "rounded": third,
        "impurity": first,
        "node_ids": second,
        "proportion": third,
        "rotate": first,
        "leaves_parallel": second,
        "special_characters": third,
        "precision": 2 if first else 4,
        "fontname": "courier" if third else "helvetica",
    }
    options["class_names"] = None if options["class_names"] is False else options["class_names"]
    assert export_graphviz(TreeModel.of_sklearn(theirs), **options) == their_graphviz(
        theirs, **options
    )


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("kind", ["values", "classes"])
def test_graphviz_of_weights_and_outputs_is_that_of_scikit_learn(kind, n_outputs):
    X, y = load_diabetes(return_X_y=True)
    y = np.column_stack([y, X[:, 2]])[:, :n_outputs]
    weights = np.random.default_rng(0).random(len(X))
    if kind == "classes":
        y = np.digitize(y, [0, 80, 200])
        model = TheirClassifier(max_depth=3).fit(X, y, sample_weight=weights)
    else:
        model = TheirRegressor(max_depth=3).fit(X, y, sample_weight=weights)
    for filled in (False, True):
        ours = export_graphviz(TreeModel.of_sklearn(model), filled=filled)
        assert ours == their_graphviz(model, filled=filled)


@pytest.mark.parametrize("n_classes", [2, 5, 11, 30])
def test_graphviz_paints_classes_as_scikit_learn_does(n_classes):
    y = np.arange(120) % n_classes
    model = TheirClassifier().fit(y[:, None], y)
    pattern = re.compile('fillcolor="(.*?)"')
    ours, theirs = (
        pattern.findall(source)
        for source in (
            export_graphviz(TreeModel.of_sklearn(model), filled=True),
            their_graphviz(model, filled=True),
        )
    )
    assert ours == theirs


def test_graphviz_escapes_what_would_end_a_label(nasty):
    source = export_graphviz(nasty, class_names=NASTY, filled=True, show_missing=True)
    lines = source.splitlines()
    assert all(STATEMENT.fullmatch(line) for line in lines[3:-1])
    assert "<b>&amp;amp;</b>" in source  # Graphviz reads entities in every label
    assert len(lines) == 4 + 2 * nasty.tree_.node_count - 1
    marked = export_graphviz(nasty, class_names=NASTY, special_characters=True)
    for label in re.findall(r"^\d+ \[label=(<.*>)\] ;$", marked, re.MULTILINE):
        ElementTree.fromstring(f"<label>{label[1:-1].replace('&le;', '≤')}</label>")


def test_graphviz_writes_to_files_and_paths(theirs, tmp_path):
    model = TreeModel.of_sklearn(theirs)
    expected, stream = export_graphviz(model), io.StringIO()
    assert export_graphviz(model, stream) is None
    assert stream.getvalue() == expected
    for path in (tmp_path / "a.dot", str(tmp_path / "b.dot")):
        export_graphviz(model, path)
    assert (tmp_path / "a.dot").read_text() == (tmp_path / "b.dot").read_text() == expected
    with pytest.raises(FileAccessError, match="cannot be written"):
        export_graphviz(model, tmp_path / "nowhere" / "a.dot")


def test_graphviz_lists_some_categories_and_counts_the_rest():
    leaf = {"value": [[1.0]]}
    root = {"feature": 0, "in": range(30), "left": 1, "right": 2, **leaf}
    model = TreeModel(tree_by_hand([root, leaf, leaf], [90]), None, [range(90)])
    assert 'label="x[0] in {0, 1, 2, 3, 4, 5, 6, 7, … 22 more}\\n' in export_graphviz(model)


# -------------------------------------------------------------------------------------------- SVG


def parsed(source):
    """Parse a picture, and see that it needs nothing from elsewhere."""
    assert not re.search(r"href|<script|<image|@import|@font-face|url\((?!#)", source)
    return ElementTree.fromstring(source)


def texts(root):
    return ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]


def boxes(root):
    """The left edge, right edge and top of every card, in the order of the nodes."""
    cards = (group.find(f"{SVG}rect") for group in root.iter(f"{SVG}g"))
    sides = ([float(card.get(key)) for key in ("x", "width", "y")] for card in cards)
    return [(x, x + width, y) for x, width, y in sides]


def assert_no_overlap(found):
    by_level = sorted(found, key=lambda box: (box[2], box[0]))
    for one, other in itertools.pairwise(by_level):
        assert one[2] < other[2] or one[1] < other[0]


def test_svg_shows_every_question_and_every_leaf(theirs):
    root = parsed(export_svg(TreeModel.of_sklearn(theirs, IRIS.feature_names)))
    shown = texts(root)
    tree = theirs.tree_
    assert sum(" ≤ " in each for each in shown) == tree.node_count - tree.n_leaves
    assert shown.count("yes") == shown.count("no") == 2 * (tree.node_count - tree.n_leaves)
    assert len(boxes(root)) == tree.node_count
    assert shown[:3] == ["0", "1", "2"]  # the legend
    assert "petal width (cm) ≤ 0.8" in shown
    assert root.get("role") == "img"
    title, desc = root.get("aria-labelledby").split()
    by_id = {each.get("id"): each for each in root.iter()}
    assert by_id[title].text == "Classification tree with 9 leaves"
    assert "5 deep, grown on 150 rows" in by_id[desc].text


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("deepest", [False, True])
def test_cards_do_not_overlap_and_lie_inside_the_picture(seed, deepest):
    random = np.random.default_rng(seed)
    tree = random_tree(random, 60, [0, 4], deepest=deepest)
    names = ["n", "a name that is longer than most"]
    model = TreeModel(tree, np.array(["a", "b", "c" * 60]), [[], list("abcd")], names)
    root = parsed(export_svg(model, max_depth=None))
    found = boxes(root)
    assert_no_overlap(found)
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(left >= 0 and right <= width and 0 <= top < height for left, right, top in found)


@pytest.mark.parametrize("seed", range(5))
def test_a_parent_stands_between_its_children(seed):
    random = np.random.default_rng(seed)
    tree = random_tree(random, 80, [0])
    widths = random.uniform(1, 5, tree.node_count).tolist()
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    middle = places(left, right, widths, gap=0.5)
    depth = tree.depth.tolist()
    assert_no_overlap(
        [(x - w / 2, x + w / 2 + 0.499, d) for x, w, d in zip(middle, widths, depth, strict=True)]
    )
    for node in np.flatnonzero(~tree.is_leaf):
        assert middle[node] == pytest.approx((middle[left[node]] + middle[right[node]]) / 2)
    assert min(x - w / 2 for x, w in zip(middle, widths, strict=True)) == pytest.approx(0)


def test_subtrees_stand_as_close_as_they_can():
    #      0        A deep left side must not push a shallow right one away from it: the levels
    #    1   2      that both have are one gap apart.
    #   3 4
    middle = places([1, 3, -1, -1, -1], [2, 4, -1, -1, -1], [2.0] * 5, gap=1.0)
    assert middle[2] - middle[1] == 3
    assert middle[4] - middle[3] == 3


def test_places_of_a_very_deep_tree_are_found():
    tree = chain(100_000)
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    middle = places(left, right, [1.0] * tree.node_count, gap=1.0)
    assert middle[2] - middle[1] == 2
    assert len(middle) == tree.node_count


def test_svg_escapes_names_and_keeps_them_readable(nasty):
    source = export_svg(nasty, title="<&>\x00", show_missing=True, max_depth=None)
    root = parsed(source)
    assert texts(root)[0] == "<&>\\x00"
    assert "new\\nline" in texts(root)
    source.encode("utf-8")


def test_svg_cuts_where_it_is_told_and_says_how_much(theirs):
    model = TreeModel.of_sklearn(theirs)
    root = parsed(export_svg(model, max_depth=2))
    assert len(boxes(root)) == 5
    assert texts(root).count("…") == 2
    assert "2 branches not shown" in export_svg(model, max_depth=2)
    marks = [each for each in texts(root) if re.fullmatch(r"\d leaves, \d+ rows", each)]
    leaves, rows = (sum(int(re.findall(r"\d+", each)[k]) for each in marks) for k in (0, 1))
    assert (leaves, rows) == (8, 100)  # but for the leaf of 50 rows below the root
    assert texts(parsed(export_svg(model, max_depth=0)))[-2:] == ["…", "9 leaves, 150 rows"]


def test_bars_show_the_shares_of_classes(theirs):
    root = parsed(export_svg(TreeModel.of_sklearn(theirs), max_depth=1))
    top = next(root.iter(f"{SVG}g"))
    _, *bar = top.iter(f"{SVG}rect")
    widths = [float(part.get("width")) for part in bar]
    assert widths == pytest.approx([sum(widths) / 3] * 3, abs=0.11)
    assert len({part.get("fill") for part in bar}) == 3


def test_lines_are_as_thick_as_many_rows_go_along_them(theirs):
    root = parsed(export_svg(TreeModel.of_sklearn(theirs), max_depth=1))
    left, right = (float(path.get("stroke-width")) for path in root.iter(f"{SVG}path"))
    assert right / left == pytest.approx(2, abs=0.05)


def test_svg_of_values_has_a_scale():
    X, y = load_diabetes(return_X_y=True)
    model = TheirRegressor(max_leaf_nodes=4).fit(X, y)
    root = parsed(export_svg(TreeModel.of_sklearn(model)))
    leaves = model.tree_.value[model.tree_.children_left < 0].ravel()
    assert texts(root)[:2] == [f"{leaves.min():.4g}", f"{leaves.max():.4g}"]
    assert len(list(root.iter(f"{SVG}circle"))) == model.tree_.node_count


def test_svg_shows_one_of_several_outputs():
    tree = random_tree(np.random.default_rng(0), 5, [0], n_outputs=2, width=3)
    value = tree.value.copy()
    value[:, 1] = [0.25, 0.75, 0.0]  # the second output has two classes
    model = TreeModel(replace(tree, value=value), [np.array(["a", "b", "c"]), np.array(["x", "y"])])
    with pytest.raises(ParameterError, match="set output= to a number from 0 to 1"):
        export_svg(model)
    assert texts(parsed(export_svg(model, output=1)))[:3] == ["x", "y", "yes"]
    assert texts(parsed(export_svg(model, output=0)))[:3] == ["a", "b", "c"]


def test_long_names_are_shortened_before_the_threshold_is():
    leaf = {"value": [[1.0]]}
    root = {"feature": 0, "threshold": 1.5, "left": 1, "right": 2, **leaf}
    model = TreeModel(tree_by_hand([root, leaf, leaf], [0]), names=["a name without end " * 9])
    question = next(each for each in texts(parsed(export_svg(model))) if "≤" in each)
    assert re.fullmatch(r"a name .*… ≤ 1\.5", question)


def test_themes_are_light_dark_or_the_readers(theirs):
    model = TreeModel.of_sklearn(theirs)
    light, dark, auto = (export_svg(model, theme=theme) for theme in ("light", "dark", "auto"))
    assert "prefers-color-scheme" in auto
    assert "prefers-color-scheme" not in light + dark
    ids = {parsed(source).get("id") for source in (light, dark, auto)}
    assert len(ids) == 3
    for source in (light, dark, auto):  # rules hold for this picture alone
        sheet = next(parsed(source).iter(f"{SVG}style")).text
        scope = f"#{parsed(source).get('id')} "
        selectors = re.findall(r"([^{}]+)\{", sheet)
        assert all(each.startswith((scope, "@media")) for each in selectors)


def test_a_legend_of_many_classes_wraps_and_ends():
    tree = random_tree(np.random.default_rng(0), 3, [0], width=40)
    root = parsed(export_svg(TreeModel(tree, np.arange(100, 140))))
    shown = texts(root)
    assert shown[:16] == [str(k) for k in range(100, 116)]
    assert shown[16] == "… 24 more"
    lines = {each.get("y") for each in list(root.iter(f"{SVG}text"))[:17]}
    assert len(lines) > 1
