"""A learnt tree as scikit-learn's own object.

scikit-learn keeps the nodes of a tree in a structured array whose type differs between versions, so
the type is read off an empty tree of the version that is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._rows import some
from hedgerow._validation import check_fitted
from hedgerow.errors import UnavailableError
from hedgerow.tree._growth import CRITERIA
from hedgerow.tree.tree import Tree

__all__ = [
    "copy_columns",
    "refuse_categories",
    "shared_parameters",
    "sklearn_tree",
    "tree_to_sklearn",
]

_SPLITTERS = ("best", "random")
"""Those that scikit-learn has; what else a tree was grown by, its nodes are the same."""


def tree_to_sklearn(model: Any, cls: Any) -> Any:
    """Return a fitted tree as scikit-learn's estimator of that class."""
    check_fitted(model)
    refuse_categories(model, "to_sklearn")
    tree: Tree = model.tree_
    made = cls(**shared_parameters(model, cls))
    copy_columns(model, made)
    made.n_outputs_ = tree.n_outputs
    made.max_features_ = model.max_features_
    if hasattr(model, "classes_"):
        made.classes_ = model.classes_
        made.n_classes_ = model.n_classes_
    made.tree_ = sklearn_tree(tree, tree.value)
    return made


def sklearn_tree(tree: Tree, value: NDArray[np.float64]) -> Any:
    """Return scikit-learn's Tree with the nodes of ours and these values."""
    from sklearn.tree._tree import Tree as SklearnTree

    made = SklearnTree(tree.n_features, tree.n_classes.astype(np.intp), tree.n_outputs)
    nodes = np.zeros(tree.node_count, dtype=made.__getstate__()["nodes"].dtype)
    nodes["left_child"] = tree.children_left
    nodes["right_child"] = tree.children_right
    for name in ("feature", "threshold", "impurity", "n_node_samples"):
        nodes[name] = getattr(tree, name)
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = tree.missing_go_to_left
    state = {"max_depth": tree.max_depth, "node_count": tree.node_count, "nodes": nodes}
    made.__setstate__({**state, "values": np.ascontiguousarray(value)})
    return made


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
        f"{function} is for trees of numbers, and the columns {named} are categories, for which the other "
        "side has no splits; encode them as numbers and fit again with categorical_features=None"
    )
    raise UnavailableError(msg)
