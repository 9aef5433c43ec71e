"""A tree drawn with Matplotlib, in the layout of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hedgerow._base.parameters import any_of, none, real_number
from hedgerow.tree.export._look import PLAIN, Look, Options, look_of
from hedgerow.tree.export._subject import check_options, subject_of
from hedgerow.tree.export._tidy import places

__all__ = ["plot_tree"]


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = False,
    precision: int = 3,
    ax: Any = None,
    fontsize: float | None = None,
    show_missing: bool = False,
) -> list[Any]:
    """Draw a tree with Matplotlib.

    The boxes are those of ``sklearn.tree.plot_tree``; splits on categories are drawn too.
    :func:`export_svg` needs no other package.

    Parameters
    ----------
    decision_tree : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree, which may be one of a forest's ``estimators_``.
    max_depth : int, default=None
        The maximum depth; nodes below are replaced by "(...)". None shows all.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or x[0], x[1] and so on.
    class_names : list or True, default=None
        The names of the classes. If given, nodes name their most frequent class; True uses y[0],
        y[1] and so on. Not for trees with several outputs.
    label : {"all", "root", "none"}, default="all"
        Which nodes have labels for their figures.
    filled : bool, default=False
        Whether nodes are coloured by class, by prediction, or by impurity if there are several
        outputs.
    impurity, node_ids : bool, default=True, default=False
        Whether to show the impurity and the number of each node.
    proportion : bool, default=False
        Whether to show rows and classes as proportions.
    rounded : bool, default=False
        Whether boxes have rounded corners.
    precision : int, default=3
        The number of decimal places.
    ax : matplotlib axes, default=None
        The axes to draw on, which are cleared. None uses the current axes.
    fontsize : float, default=None
        The font size; by default as large as possible without overlapping boxes.
    show_missing : bool, default=False
        Whether to add "or missing" to conditions whose left side takes missing values.

    Returns
    -------
    annotations : list of matplotlib.text.Annotation
        The boxes, and the labels of the two edges below the root.
    """
    import matplotlib.pyplot as plt

    subject = subject_of(decision_tree, "plot_tree", feature_names)
    options = Options(
        max_depth=max_depth,
        label=label,
        filled=filled,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        rounded=rounded,
        precision=precision,
        show_missing=show_missing,
    )
    size_rule = any_of(none, real_number(0, open_low=True))
    check_options("plot_tree", {"fontsize": (fontsize, size_rule)})
    look = look_of("plot_tree", subject, options, class_names, PLAIN)
    axes = plt.gca() if ax is None else ax
    drawing = _Drawing(look, axes, _boxes(look), fontsize)
    drawn = drawing.draw()
    if fontsize is None:
        drawing.fit_text(drawn)
    return drawn


@dataclass(frozen=True)
class _Box:
    """A node of the drawing: where its middle is, in boxes from the left and levels from the top."""

    node: int
    x: float
    depth: int
    parent: int  # its place among the boxes; -1 for the root


def _boxes(look: Look) -> list[_Box]:
    """Return the nodes that are drawn, a parent before its left side before its right side."""
    tree = look.subject.tree
    walk = list(look.subject.walk(look.levels))
    place = {node: i for i, (node, _) in enumerate(walk)}
    left = [place.get(int(tree.children_left[node]), -1) for node, _ in walk]
    right = [place.get(int(tree.children_right[node]), -1) for node, _ in walk]
    middles = places(left, right, [1.0] * len(walk), 0.0)
    return [
        _Box(node, x, depth, place.get(int(tree.parent[node]), -1))
        for (node, depth), x in zip(walk, middles, strict=True)
    ]


@dataclass(frozen=True)
class _Drawing:
    """What is drawn, and where to."""

    look: Look
    axes: Any
    boxes: list[_Box]
    fontsize: float | None

    @cached_property
    def extent(self) -> tuple[float, float]:
        """How many boxes the drawing is wide, and how many levels high."""
        return max(box.x for box in self.boxes) + 0.5, max(box.depth for box in self.boxes) + 1.0

    def draw(self) -> list[Any]:
        """Draw all boxes, and say which edge below the root is which."""
        self.axes.clear()
        self.axes.set_axis_off()
        drawn = []
        for box in self.boxes:
            drawn.append(self._draw_box(box))
            if box.depth == 1 and not self.look.is_cut(1):
                drawn.append(self._draw_answer(box))
        return drawn

    def fit_text(self, drawn: list[Any]) -> None:
        """Make the text as large as the boxes allow without touching."""
        renderer = self.axes.figure.canvas.get_renderer()
        window = self.axes.get_window_extent()
        for each in drawn:
            each.update_bbox_position_size(renderer)
        patches = [each.get_bbox_patch() for each in drawn]
        extents = [patch.get_window_extent() for patch in patches if patch is not None]
        wide, high = self.extent
        by_width = window.width / wide / max(extent.width for extent in extents)
        by_height = window.height / high / max(extent.height for extent in extents)
        size = drawn[0].get_fontsize() * min(by_width, by_height)
        for each in drawn:
            each.set_fontsize(size)

    def _middle(self, box: _Box) -> tuple[float, float]:
        """Return where a box is, as shares of the axes."""
        wide, high = self.extent
        return box.x / wide, (high - box.depth - 0.5) / high

    def _draw_box(self, box: _Box) -> Any:
        """Draw a box with the edge that leads to it."""
        is_cut = self.look.is_cut(box.depth)
        color = "grey" if is_cut else self.axes.get_facecolor()
        if self.look.paint is not None and not is_cut:
            color = self.look.paint(box.node)
        style = {"boxstyle": "round"} if self.look.options.rounded else {}
        middle = self._middle(box)
        return self._annotate(
            "\n  (...)  \n" if is_cut else self.look.text(box.node),
            middle if box.parent < 0 else self._middle(self.boxes[box.parent]),
            box.depth,
            xytext=middle,
            ha="center",
            va="center",
            bbox={"fc": color, **style},
            arrowprops={"arrowstyle": "<-", "edgecolor": _text_color()},
        )

    def _draw_answer(self, box: _Box) -> Any:
        """Say whether the edge to a box below the root is for those of whom its question is true."""
        (x, y), (up_x, up_y) = self._middle(box), self._middle(self.boxes[box.parent])
        is_left = box.node == self.look.subject.tree.children_left[0]
        answer, side = ("True  ", "right") if is_left else ("  False", "left")
        return self._annotate(answer, ((x + up_x) / 2, (y + up_y) / 2), box.depth, ha=side)

    def _annotate(self, words: str, at: tuple[float, float], depth: int, **options: Any) -> Any:
        size = {} if self.fontsize is None else {"fontsize": self.fontsize}
        return self.axes.annotate(
            words,
            at,
            xycoords="axes fraction",
            zorder=100 - 10 * depth,
            parse_math=False,
            **size,
            **options,
        )


def _text_color() -> Any:
    """Return the colour of text in the current style."""
    import matplotlib as mpl

    return mpl.rcParams["text.color"]
