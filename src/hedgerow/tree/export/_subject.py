"""What all exports read of a fitted model, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import Rule, any_of, none, true_or_false, whole_number
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import ParameterError
from hedgerow.tree.tree import WORD, Tree

__all__ = ["DEPTH", "FLAG", "Subject", "check_options", "class_names_of", "subject_of"]

DEPTH = any_of(whole_number(0), none)
"""What ``max_depth`` may be."""
FLAG = true_or_false


@dataclass(frozen=True)
class Subject:
    """A learnt tree with the names and values that its numbers stand for.

    Attributes
    ----------
    tree : Tree
    names : tuple of str or None
        Of the features; None if they have none.
    categories : tuple of tuples
        Of each feature, as Python's values; empty for numbers.
    classes : tuple of tuples or None
        Of each output, as Python's values; None for regression.
    criterion : str
    """

    tree: Tree
    names: tuple[str, ...] | None
    categories: tuple[tuple[Any, ...], ...]
    classes: tuple[tuple[Any, ...], ...] | None
    criterion: str

    def name(self, feature: int, pattern: str = "feature_{}") -> str:
        """Return the name of a feature, or its number in the pattern."""
        return pattern.format(feature) if self.names is None else self.names[feature]

    def sides(self, node: int) -> tuple[list[Any], list[Any]]:
        """Return the categories that go to the left and to the right."""
        mask = self.left_mask(node)
        sides: tuple[list[Any], list[Any]] = ([], [])
        for place, category in enumerate(self.categories[int(self.tree.feature[node])]):
            sides[not mask >> place & 1].append(category)
        return sides

    def left_mask(self, node: int) -> int:
        """Return the set of categories that go to the left as the bits of an integer."""
        start = int(self.tree.category_start[node])
        n = int(self.tree.n_categories[self.tree.feature[node]])
        words = self.tree.category_words[start : start - (-n // WORD)]
        return int.from_bytes(words.astype("<u8").tobytes(), "little") & ((1 << n) - 1)

    @cached_property
    def winners(self) -> NDArray[np.int64]:
        """The number of the most frequent class, by node and output; the first of equals."""
        winners: NDArray[np.int64] = np.argmax(self.tree.value, axis=2)
        return winners

    def predictions(self, node: int) -> list[Any]:
        """Return what the node predicts, for each output: a label or a number."""
        if self.classes is None:
            return list(self.tree.value[node, :, 0].tolist())
        numbers = self.winners[node].tolist()
        return [labels[k] for labels, k in zip(self.classes, numbers, strict=True)]

    def shares(self, node: int) -> list[list[float]]:
        """Return the shares of the classes of each output; nothing for regression."""
        if self.classes is None:
            return []
        rows = self.tree.value[node].tolist()
        return [row[: len(labels)] for row, labels in zip(rows, self.classes, strict=True)]

    @cached_property
    def height(self) -> NDArray[np.int64]:
        """How many levels are below every node."""
        height = np.zeros(self.tree.node_count, dtype=np.int64)
        left, right = self.tree.children_left, self.tree.children_right
        for node in self.tree.bottom_up():
            height[node] = max(height[left[node]], height[right[node]]) + 1
        return height

    @cached_property
    def n_leaves_below(self) -> NDArray[np.int64]:
        """How many leaves every node ends in; 1 for a leaf."""
        count = np.ones(self.tree.node_count, dtype=np.int64)
        left, right = self.tree.children_left, self.tree.children_right
        for node in self.tree.bottom_up():
            count[node] = count[left[node]] + count[right[node]]
        return count

    def walk(self, max_depth: int | None) -> Iterator[tuple[int, int]]:
        """Yield nodes and their depths, a parent before its left side before its right side."""
        left, right = self.tree.children_left.tolist(), self.tree.children_right.tolist()
        is_leaf = self.tree.is_leaf.tolist()
        stack = [(0, 0)]
        while stack:
            node, depth = stack.pop()
            yield node, depth
            if not is_leaf[node] and (max_depth is None or depth < max_depth):
                stack += [(right[node], depth + 1), (left[node], depth + 1)]


def subject_of(model: Any, function: str, feature_names: Any = None) -> Subject:
    """Return what the export of that name needs of the model, or say why it cannot be exported."""
    check_fitted(model)
    tree = getattr(model, "tree_", None)
    if not isinstance(tree, Tree):
        kind = type(model).__name__
        remedy = "give one of its estimators_" if hasattr(model, "estimators_") else "give one"
        raise ParameterError(f"{function} takes a fitted tree of Hedgerow, not a {kind}; {remedy}")
    classes = getattr(model, "classes_", None)
    if classes is not None:
        per_output = classes if isinstance(classes, list | tuple) else [classes]
        classes = tuple(_values(np.asarray(labels)) for labels in per_output)
    categories = getattr(model, "categories_", ((),) * tree.n_features)
    return Subject(
        tree=tree,
        names=_feature_names(model, tree.n_features, feature_names),
        categories=tuple(_values(np.asarray(values)) for values in categories),
        classes=classes,
        criterion=str(getattr(model, "criterion", "impurity")),
    )


def _values(array: NDArray[Any]) -> tuple[Any, ...]:
    """Return the elements as Python's own values, where there are such."""
    if array.dtype.kind in "mM":  # Python has no nanoseconds
        return tuple(array)
    return tuple(
        value.item() if isinstance(value, np.generic) else value for value in array.tolist()
    )


def _feature_names(model: Any, n: int, given: Any) -> tuple[str, ...] | None:
    """Return the names that were given, or those of the columns of fit."""
    names = getattr(model, "feature_names_in_", None) if given is None else given
    if names is None:
        return None
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"feature_names={names!r} must be a list of strings, one per feature")
    if len(names) != n:
        msg = f"feature_names has {len(names)} names, but the tree was fitted on {n} features; give one per feature"
        raise ParameterError(msg)
    return tuple(str(name) for name in names)


def class_names_of(subject: Subject, given: Any) -> tuple[Any, ...]:
    """Return what the classes of the only output are to be called."""
    assert subject.classes is not None
    if given is None:
        return subject.classes[0]
    if len(subject.classes) > 1:
        msg = f"class_names cannot be given to a tree of {len(subject.classes)} outputs, each with its own classes; omit it"
        raise ParameterError(msg)
    n = len(subject.classes[0])
    if isinstance(given, str) or len(given) != n:
        msg = f"class_names={given!r} must be a list of {n} names, one for each of the model's classes_"
        raise ParameterError(msg)
    return tuple(given)


def check_options(function: str, options: Mapping[str, tuple[Any, Rule]]) -> None:
    """Check every option by its rule."""
    for name, (value, rule) in options.items():
        expected = rule(value)
        if expected is not None:
            msg = f"{name}={value!r} is not allowed in {function}: it must be {expected}"
            raise ParameterError(msg)
