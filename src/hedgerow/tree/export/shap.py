"""Trees in the form that the shap package accepts for unknown models."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.data.training_data import check_fitted
from hedgerow.errors import ParameterError
from hedgerow.tree._to_sklearn import refuse_categories
from hedgerow.tree.tree import Tree

__all__ = ["shap_trees"]


def shap_trees(model: Any) -> dict[str, Any]:
    """Return a tree or a forest as the dictionary that ``shap.TreeExplainer`` takes.

    ``shap.TreeExplainer(shap_trees(model)).shap_values(X)`` explains ``predict`` of a regressor and
    ``predict_proba`` of a classifier: the values of a row and the explainer's ``expected_value``
    sum to the prediction of the model. Thresholds are compared in double precision, and missing values
    take the same paths as in the model. The extra ``hedgerow[explain]`` installs shap.

    Parameters
    ----------
    model : tree or forest
        A fitted tree or forest without categorical columns.

    Returns
    -------
    dict
        ``trees``, one dictionary per tree, and information about all of them. The values of the trees of
        a forest are divided by their number, so they sum to its prediction. With several outputs the
        values of all classes of the first output come first.

    Examples
    --------
    >>> from hedgerow.tree import DecisionTreeRegressor, shap_trees
    >>> model = DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 6.0])
    >>> shap_trees(model)["trees"][0]["values"].ravel()
    array([3., 0., 6.])
    """
    check_fitted(model)
    trees = [
        each.tree_ for each in getattr(model, "estimators_", [model]) if hasattr(each, "tree_")
    ]
    if not trees or not isinstance(trees[0], Tree):
        msg = f"shap_trees takes a fitted tree or forest of Hedgerow, not a {type(model).__name__}"
        raise ParameterError(msg)
    refuse_categories(model, "shap_trees")
    is_hard = getattr(model, "voting", "soft") == "hard"
    return {
        "trees": [_tree(tree, 1.0 / len(trees), is_hard) for tree in trees],
        "tree_output": "probability" if hasattr(model, "classes_") else "raw_value",
        "objective": "binary_crossentropy" if hasattr(model, "classes_") else "squared_error",
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }


def _tree(tree: Tree, scale: float, is_hard: bool) -> dict[str, Any]:
    """Return one tree."""
    left, right = tree.children_left, tree.children_right
    value = tree.votes if is_hard else tree.value
    return {
        "children_left": left.copy(),
        "children_right": right.copy(),
        "children_default": np.where(tree.missing_go_to_left, left, right),
        "features": tree.feature.copy(),
        "thresholds": tree.threshold.copy(),
        "values": value.reshape(tree.node_count, -1) * scale,
        "node_sample_weight": tree.weighted_n_node_samples.copy(),  # shap writes into it
    }
