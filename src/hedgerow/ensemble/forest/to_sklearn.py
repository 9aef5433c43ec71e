"""A forest as scikit-learn's own object."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from hedgerow.tree._to_sklearn import (
    SinglePrecision,
    copy_columns,
    precision_for,
    shared_parameters,
    sklearn_tree,
)

__all__ = ["forest_to_sklearn"]


def forest_to_sklearn(forest: Any, cls: Any, X: Any) -> Any:
    """Return a fitted forest as scikit-learn's estimator of that class."""
    precision = precision_for(forest, X)
    made = cls(**shared_parameters(forest, cls))
    made.n_estimators = len(forest.trees_)
    copy_columns(forest, made)
    made.n_outputs_ = forest.n_outputs_
    classes = forest._known_classes()
    if classes:
        made.classes_ = forest.classes_
        counts = [len(labels) for labels in classes]
        made.n_classes_ = counts[0] if len(counts) == 1 else counts
    made.estimator_ = clone(made.estimator)
    made.estimators_ = [
        _member(forest, tree, made.estimator_, precision) for tree in forest.estimators_
    ]
    for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
        if "oob_" in vars(forest) and hasattr(forest, name):
            setattr(made, name, getattr(forest, name))
    return made


def _member(forest: Any, tree: Any, template: Any, precision: SinglePrecision) -> Any:
    """Return a tree of the forest; as in scikit-learn, its classes are numbers."""
    member = clone(template)
    shared = shared_parameters(tree, type(template))
    member.set_params(**{**shared, "splitter": template.splitter})
    member.n_features_in_ = forest.n_features_in_
    member.n_outputs_ = forest.n_outputs_
    member.max_features_ = forest.max_features_
    classes = forest._known_classes()
    if classes:
        numbers = [np.arange(len(labels), dtype=np.float64) for labels in classes]
        member.classes_ = numbers[0] if len(numbers) == 1 else numbers
        member.n_classes_ = forest.n_classes_
    value = tree.tree_.votes if forest._votes else tree.tree_.value
    member.tree_ = sklearn_tree(tree.tree_, value, precision)
    return member
