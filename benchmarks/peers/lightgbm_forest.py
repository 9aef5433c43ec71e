"""LightGBM in forest mode: 255 bins, bags without replacement, a tree a class and round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forest_base import Forest, Grown

__all__ = ["LightgbmForest"]

_MOST_LEAVES = 131_072
"""The largest ``num_leaves`` it allows."""


class LightgbmForest(Forest):
    """``lightgbm.train`` with ``boosting=rf``; categories are taken from the table's types."""

    name = "lightgbm, rf"
    packages = ("lightgbm",)

    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:
        """Train."""
        import lightgbm

        settings: dict[str, Any] = {
            "boosting": "rf",
            "bagging_freq": 1,
            "bagging_fraction": 0.632,  # the share of the rows that a bootstrap draws
            # It makes room for all of them before it begins.
            "num_leaves": max(2, min(len(data.y) // task.min_leaf, _MOST_LEAVES)),
            "min_data_in_leaf": task.min_leaf,
            "min_sum_hessian_in_leaf": 0.0,
            "num_threads": n_threads,
            "seed": seed,
            "verbosity": -1,
            **_objective(task, data),
        }
        n_features = data.X.shape[1]
        settings["feature_fraction_bynode"] = task.n_candidates(n_features) / n_features
        rows = lightgbm.Dataset(data.X, data.y)
        return Grown(lightgbm.train(settings, rows, task.n_trees), data.X_test)

    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels of the largest probabilities, or the numbers."""
        predicted = np.asarray(fitted.model.predict(X))
        if fitted.model.params["objective"] == "regression":
            return predicted
        return np.argmax(predicted, axis=1) if predicted.ndim == 2 else (predicted > 0.5)

    def ran(self, fitted: Grown) -> str:
        """Return how many trees there are."""
        return f"{fitted.model.num_trees()} trees"


def _objective(task: ForestTask, data: Dataset) -> dict[str, Any]:
    """Return the settings that say what is predicted."""
    if task.kind == "numbers":
        return {"objective": "regression"}
    n_classes = data.n_classes
    if n_classes == 2:
        return {"objective": "binary"}
    return {"objective": "multiclass", "num_class": n_classes}
