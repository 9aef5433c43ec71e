"""fastforest: forests whose splits are chosen on samples of a node's rows, in Rust."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forest_base import Forest, Grown

__all__ = ["FastforestForest"]


class FastforestForest(Forest):
    """``fastforest.FastForestClassifier`` and ``FastForest``, with trees, leaves and features as the others have.

    As it comes it grows 32 to 64 trees, tries 60 % of the features for classes, and does not split nodes of fewer
    than 8 rows.
    """

    name = "fastforest"
    packages = ("fastforest",)

    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:  # noqa: ARG002
        """Fit on the cores of the process: it has no setting for threads."""
        import fastforest

        family = {
            "classes": fastforest.FastForestClassifier,
            "numbers": fastforest.FastForest,
        }
        settings: dict[str, Any] = {
            "n_trees": task.n_trees,
            "min_node_size": 2 * task.min_leaf,  # a node with fewer rows is a leaf
            "seed": seed,
            "allow_new_missing": True,
        }
        settings["max_features"] = "sqrt" if task.kind == "classes" else 1.0
        model = family[task.kind](**settings).fit(data.X, data.y)
        return Grown(model, data.X_test)

    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows."""
        return np.asarray(fitted.model.predict(X))

    def ran(self, fitted: Grown) -> str:
        """Return how many trees there are."""
        return f"{fitted.model.n_trees_} trees"
