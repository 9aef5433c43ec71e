"""Yggdrasil decision forests (``ydf``): exact splits, subsets of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset, is_table
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forest_base import Forest, Grown, category_columns

__all__ = ["YdfForest"]

_LABEL = "label"


class YdfForest(Forest):
    """``ydf.RandomForestLearner`` grown as deep as the others, without the out-of-bag error nobody asked for.

    As it comes it rounds the square root of the features up, and looks at a third of them for numbers. It knows
    no other criterion for classes than entropy.
    """

    name = "ydf"
    packages = ("ydf",)

    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:
        """Train."""
        import ydf

        kinds = {"classes": ydf.Task.CLASSIFICATION, "numbers": ydf.Task.REGRESSION}
        learner = ydf.RandomForestLearner(
            _LABEL,
            kinds[task.kind],
            num_trees=task.n_trees,
            max_depth=-1,
            min_examples=task.min_leaf,
            num_candidate_attributes=task.n_candidates(data.X.shape[1]),
            compute_oob_performances=False,
            random_seed=seed,
            num_threads=n_threads,
        )
        model = learner.train({**_columns(data.X), _LABEL: data.y}, verbose=0)
        return Grown(model, data.X_test)

    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels of the largest shares, or the numbers."""
        predicted = np.asarray(fitted.model.predict(_columns(X)))
        if fitted.model.task().value == "REGRESSION":
            return predicted
        labels = np.array([int(name) for name in fitted.model.label_classes()])
        if predicted.ndim == 1:  # of two classes, the shares of the second
            return labels[(predicted > 0.5).astype(np.intp)]
        return labels[np.argmax(predicted, axis=1)]

    def ran(self, fitted: Grown) -> str:
        """Return how many trees there are."""
        return f"{fitted.model.num_trees()} trees"


def _columns(X: Any) -> dict[str, NDArray[Any]]:
    """Return rows as it takes them: a matrix is one entry, a category is a word, a missing one is none."""
    if not is_table(X):
        return {"features": X}
    categories = set(category_columns(X))
    return {
        name: column.to_numpy(dtype=object, na_value="")
        if name in categories
        else column.to_numpy()
        for name, column in X.items()
    }
