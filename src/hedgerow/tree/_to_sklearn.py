"""A learnt tree as scikit-learn's own object.

scikit-learn keeps the nodes of a tree in a structured array whose type differs between versions, so
the type is read off an empty tree of the version that is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import some
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import DataError, UnavailableError
from hedgerow.tree._growth import CRITERIA
from hedgerow.tree._table import prediction_rows
from hedgerow.tree.tree import Tree

__all__ = [
    "SinglePrecision",
    "copy_columns",
    "precision_for",
    "refuse_categories",
    "shared_parameters",
    "sklearn_tree",
    "tree_to_sklearn",
]

_SPLITTERS = ("best", "random")
"""Those that scikit-learn has; what else a tree was grown by, its nodes are the same."""


_LOW_BITS = np.int64(2**20 - 1)
"""Bits of a double that are 0 in the middle of two numbers in single precision that are not far apart."""

_ROUNDING = 4.0
"""By how many units in the last place the middle of two decimals may miss the decimal that it is."""


def tree_to_sklearn(model: Any, cls: Any, X: Any) -> Any:
    """Return a fitted tree as scikit-learn's estimator of that class."""
    precision = precision_for(model, X)
    tree: Tree = model.tree_
    made = cls(**shared_parameters(model, cls))
    copy_columns(model, made)
    made.n_outputs_ = tree.n_outputs
    made.max_features_ = model.max_features_
    if hasattr(model, "classes_"):
        made.classes_ = model.classes_
        made.n_classes_ = model.n_classes_
    made.tree_ = sklearn_tree(tree, tree.value, precision)
    return made


def precision_for(model: Any, X: Any) -> SinglePrecision:
    """Return what places the thresholds of a fitted model; refuse one with categories."""
    check_fitted(model)
    refuse_categories(model, "to_sklearn")
    return SinglePrecision(None if X is None else prediction_rows(model, X))


def sklearn_tree(tree: Tree, value: NDArray[np.float64], precision: SinglePrecision) -> Any:
    """Return scikit-learn's Tree with the nodes of ours and these values."""
    from sklearn.tree._tree import Tree as SklearnTree

    made = SklearnTree(tree.n_features, tree.n_classes.astype(np.intp), tree.n_outputs)
    nodes = np.zeros(tree.node_count, dtype=made.__getstate__()["nodes"].dtype)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    nodes["threshold"] = precision.thresholds(tree)
    for name in ("feature", "impurity", "n_node_samples", "weighted_n_node_samples"):
        nodes[name] = getattr(tree, name)
    nodes["missing_go_to_left"] = tree.missing_go_to_left
    state = {"max_depth": tree.max_depth, "node_count": tree.node_count, "nodes": nodes}
    try:
        made.__setstate__({**state, "values": np.ascontiguousarray(value)})
    except ValueError as error:
        msg = f"scikit-learn does not take this tree ({error}); fit it again"
        raise DataError(msg) from None
    return made


class SinglePrecision:
    """Places thresholds so that numbers that were rounded to single precision go where they went before.

    Of all numbers in single precision only the one that a threshold itself is rounded to is in doubt.
    It goes where those values of the given rows go that are rounded to it. Where there are none, it
    stands for the threshold, and goes left. Two cases are told by the threshold alone. If it is a short
    decimal but for rounding, as it is in the middle between two of them, the number stands for this
    decimal. If it lies between two numbers in single precision, nothing was rounded.
    """

    def __init__(self, rows: NDArray[Any] | None) -> None:
        self._rows = rows
        self._values: dict[int, NDArray[np.float64]] = {}

    def thresholds(self, tree: Tree) -> NDArray[np.float64]:
        """Return the thresholds of a tree."""
        placed = tree.threshold.copy()
        with np.errstate(over="ignore"):
            single = placed.astype(np.float32)
        nodes = np.flatnonzero(~tree.is_leaf & (single != placed))
        near, exact = single[nodes].astype(np.float64), placed[nodes]
        is_left = _looks_left(single[nodes], exact)
        for feature in np.unique(tree.feature[nodes]) if self._rows is not None else ():
            mine = np.flatnonzero(tree.feature[nodes] == feature)
            values = self._values_of(int(feature))
            rounded = values.astype(np.float32)
            first = np.searchsorted(rounded, single[nodes[mine]], "left")
            end = np.searchsorted(rounded, single[nodes[mine]], "right")
            n_left = np.clip(np.searchsorted(values, exact[mine], "right"), first, end) - first
            is_left[mine] = np.where(end > first, 2 * n_left >= end - first, is_left[mine])
        below = np.nextafter(near, -np.inf)
        placed[nodes] = np.where(is_left, np.maximum(exact, near), np.minimum(exact, below))
        return placed

    def _values_of(self, feature: int) -> NDArray[np.float64]:
        """Return the distinct numbers of a column, sorted."""
        if feature not in self._values:
            assert self._rows is not None
            column = self._rows[:, feature].astype(np.float64)
            self._values[feature] = np.unique(column[~np.isnan(column)])
        return self._values[feature]


def _looks_left(single: NDArray[np.float32], exact: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether the number that a threshold is rounded to is one to go left, as far as it tells."""
    decimal = np.array([float(str(number)) for number in single], dtype=np.float64)
    is_decimal = np.abs(decimal - exact) <= _ROUNDING * np.spacing(np.abs(exact))
    is_between_singles = exact.view(np.int64) & _LOW_BITS == 0
    looks_left = np.where(is_decimal, decimal <= exact, True)
    return np.where(is_between_singles, single <= exact, looks_left)


def shared_parameters(model: Any, cls: Any) -> dict[str, Any]:
    """Return the parameters of a model that a class of scikit-learn has too, as that calls them."""
    shared = {name: getattr(model, name) for name in cls().get_params() if hasattr(model, name)}
    criterion = CRITERIA.get(model.criterion, model.criterion)
    shared["criterion"] = model.criterion if criterion == "entropy" else criterion
    if "splitter" in shared and shared["splitter"] not in _SPLITTERS:
        shared["splitter"] = "best"
    return shared


def copy_columns(model: Any, made: Any) -> None:
    """Let an estimator know the columns that the model was fitted to."""
    made.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        made.feature_names_in_ = model.feature_names_in_


def refuse_categories(model: Any, function: str) -> None:
    """Refuse a model that was fitted to columns of categories."""
    columns = model.category_columns_.columns.tolist()
    if not columns:
        return
    names = getattr(model, "feature_names_in_", None)
    named = some([column if names is None else str(names[column]) for column in columns])
    msg = (
        f"{function} takes trees without categories, and this {type(model).__name__} was fitted to the "
        f"columns {named}, which hold categories; encode them as numbers and fit again"
    )
    raise UnavailableError(msg)
