"""From parameters and a table to a grown tree."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil, log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import (
    Rule,
    any_of,
    is_number,
    is_whole,
    none,
    one_of,
    real_number,
    whole_number,
)
from hedgerow.errors import DataError, ParameterError
from hedgerow.monitor import current
from hedgerow.tree._choice import categorical_rule
from hedgerow.tree._table import FeatureTable
from hedgerow.tree._training import ClassTargets, Targets
from hedgerow.tree.tree import Tree

__all__ = [
    "CRITERIA",
    "GROWTH_RULES",
    "Growth",
    "grow",
    "n_features_tried",
    "settings_of",
    "tree_of",
]

CRITERIA = {"log_loss": "entropy", "variance": "squared_error", "friedman_mse": "squared_error"}
"""Other names of criteria."""

SPLITTERS = ("best", "random", "mean", "median")


def _share(low_open: bool, high_open: bool) -> Rule:
    """Allow floats that are a share of something."""

    def rule(value: Any) -> str | None:
        is_share = is_number(value) and not is_whole(value) and 0.0 <= value <= 1.0
        fine = is_share and not (low_open and value == 0.0) and not (high_open and value == 1.0)
        low = "above" if low_open else "from"
        return None if fine else f"a float {low} 0 and {'below' if high_open else 'up to'} 1"

    return rule


def _constraints(value: Any) -> str | None:
    """Allow None, or one of -1, 0 and 1 a column."""
    if value is None:
        return None
    fine = not isinstance(value, str) and hasattr(value, "__len__")
    fine = fine and np.ndim(value) == 1 and bool(np.isin(np.asarray(value), (-1, 0, 1)).all())
    return None if fine else "None, or a list of -1, 0 or 1, one a column"


GROWTH_RULES: dict[str, Rule] = {
    "splitter": one_of(*SPLITTERS),
    "max_depth": any_of(none, whole_number(1)),
    "min_samples_split": any_of(whole_number(2), _share(low_open=True, high_open=False)),
    "min_samples_leaf": any_of(whole_number(1), _share(low_open=True, high_open=True)),
    "min_weight_fraction_leaf": real_number(0, 0.5),
    "max_features": any_of(
        none, one_of("sqrt", "log2"), whole_number(1), _share(low_open=True, high_open=False)
    ),
    "max_leaf_nodes": any_of(none, whole_number(2)),
    "min_impurity_decrease": real_number(0),
    "ccp_alpha": real_number(0),
    "monotonic_cst": _constraints,
    "categorical_features": categorical_rule,
}
"""Rules of the parameters that say how a tree grows."""


@dataclass(frozen=True, eq=False)
class Growth:
    """A tree, and whether it grew to its end: "grown", or why it did not."""

    tree: Tree
    status: str


def n_features_tried(max_features: Any, n_features: int) -> int:
    """Return how many features ``max_features`` means."""
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        found = sqrt(n_features) if max_features == "sqrt" else log2(n_features)
        return max(1, int(found))
    if is_whole(max_features):
        return min(int(max_features), n_features)
    return max(1, int(max_features * n_features))


def settings_of(
    estimator: Any, table: FeatureTable, targets: Targets, *, in_any_order: bool = False
) -> _core.tree.TreeSettings:
    """Return the core's settings for an estimator's parameters on a table.

    Shares of rows are of those with a positive weight: a row of weight 0 is as if absent. In any order:
    of features that are equally good, any may be taken, and not the first.
    """
    n_rows = targets.n_present
    least = _n_rows_meant(estimator.min_samples_leaf, n_rows)
    constraints = _monotonic(estimator.monotonic_cst, table, targets)
    to_split = max(_n_rows_meant(estimator.min_samples_split, n_rows), 2, 2 * least)
    return _core.tree.TreeSettings(
        splitter=estimator.splitter,
        max_features=n_features_tried(estimator.max_features, table.n_features),
        max_depth=-1 if estimator.max_depth is None else int(estimator.max_depth),
        min_samples_split=to_split,
        min_samples_leaf=least,
        min_weight_leaf=float(estimator.min_weight_fraction_leaf) * targets.total_weight,
        max_leaf_nodes=-1 if estimator.max_leaf_nodes is None else int(estimator.max_leaf_nodes),
        min_impurity_decrease=float(estimator.min_impurity_decrease),
        in_any_order=in_any_order,
        monotonic=constraints if table.is_whole else None,
    )


def grow(
    task: _core.tree.TreeTask, settings: _core.tree.TreeSettings, table: FeatureTable, seed: int
) -> Growth:
    """Grow one tree on all rows, until its end or until the running task must stop."""
    monitor = current()
    with monitor.guard():
        grown = task.grow(settings, None, seed, 0)
    tree = _alone(tree_of(grown, table.columns.n_categories))
    is_grown = table.is_whole and not grown.was_stopped
    status = "grown" if is_grown else monitor.reason or "stopped"
    monitor.report(1, 1, {"n_leaves": float(tree.n_leaves)})
    return Growth(tree, status)


def tree_of(grown: _core.tree.GrownTree, n_categories: NDArray[np.int64]) -> Tree:
    """Return what the core has grown as a Tree."""
    return Tree(
        feature=grown.feature,
        threshold=grown.threshold,
        children_left=grown.children_left,
        children_right=grown.children_right,
        missing_go_to_left=grown.missing_go_to_left,
        impurity=grown.impurity,
        n_node_samples=grown.n_node_samples,
        weighted_n_node_samples=grown.weighted_n_node_samples,
        value=grown.value,
        n_candidates=grown.n_candidates,
        category_start=grown.category_start,
        category_words=grown.category_words,
        n_categories=n_categories,
    )


def _alone(tree: Tree) -> Tree:
    """Return the tree in memory of its own: the core's arrays keep each row's leaf alive."""
    return Tree(**{field.name: getattr(tree, field.name).copy() for field in fields(tree)})


def _n_rows_meant(value: Any, n_rows: int) -> int:
    """Return a number of rows that is given as such or as a share of all."""
    return int(value) if is_whole(value) else ceil(value * n_rows)


def _monotonic(given: Any, table: FeatureTable, targets: Targets) -> NDArray[np.int8] | None:
    """Return the constraints of the columns, refusing what cannot be constrained."""
    if given is None:
        return None
    constraints = np.asarray(given, dtype=np.int8)
    if len(constraints) != table.n_features:
        msg = (
            f"monotonic_cst has shape {len(constraints)} but the input data X has {table.n_features} features; "
            "give one of -1, 0 and 1 a column"
        )
        raise ParameterError(msg)
    _refuse_targets(targets)
    on_categories = np.flatnonzero(constraints[table.columns.columns])
    if len(on_categories):
        column = int(table.columns.columns[on_categories[0]])
        msg = f"monotonic_cst constrains column {column}, whose categories have no order; give 0 there"
        raise ParameterError(msg)
    return constraints


def _refuse_targets(targets: Targets) -> None:
    """Refuse targets for which "monotone" means nothing."""
    n_outputs = targets.n_outputs
    if n_outputs > 1:
        msg = f"Monotonicity constraints are not supported with multiple outputs, and y has {n_outputs}; leave monotonic_cst out"
        raise DataError(msg)
    if isinstance(targets, ClassTargets) and len(targets.classes[0]) > 2:
        msg = (
            "Monotonicity constraints are not supported with multiclass classification, and y has "
            f"{len(targets.classes[0])} classes; leave monotonic_cst out"
        )
        raise DataError(msg)
