"""Forests and trees with scikit-learn's classes: its own, scikit-learn-intelex's and ours."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Dataset, is_table
from benchmarks.forest_scores import ForestTask
from benchmarks.peers.forest_base import Forest, Grown, OneHot
from benchmarks.peers.intelex_log import accelerated
from benchmarks.worker import FellBackError

__all__ = [
    "HedgerowForest",
    "HedgerowTree",
    "IntelexForest",
    "ScikitLearnForest",
    "ScikitLearnTree",
    "hedgerow_has",
]


class _LikeScikitLearn(Forest):
    """A classifier and a regressor whose parameters are those of scikit-learn, all else by default."""

    is_one_tree = False
    takes_tables = False
    takes_missing = True
    knows_entropy = True

    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:
        """Encode the table if that is needed, and fit."""
        X, encoder = data.X, None
        if is_table(X) and not self.takes_tables:
            encoder = OneHot(fills=not self.takes_missing)
            X = encoder.fit_transform(X)
        model = self.model(task, seed, n_threads)
        with self._watched():
            model.fit(X, data.y)
        return Grown(model, data.X_test, encoder, n_threads)

    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows."""
        if fitted.encoder is not None:
            X = fitted.encoder.transform(X)
        with self._watched():
            return np.asarray(fitted.model.predict(X))

    def model(self, task: ForestTask, seed: int, n_threads: int, **more: Any) -> Any:
        """Return the unfitted estimator of a task."""
        settings = {"min_samples_leaf": task.min_leaf, "random_state": seed, **more}
        if task.by_entropy and self.knows_entropy:
            settings["criterion"] = "entropy"
        if not self.is_one_tree:
            settings |= {"n_estimators": task.n_trees, "n_jobs": n_threads}
        family = "DecisionTree" if self.is_one_tree else "RandomForest"
        suffix = "Classifier" if task.kind == "classes" else "Regressor"
        return getattr(self._module(), family + suffix)(**settings)

    def n_nodes(self, fitted: Grown) -> int:
        """Return how many nodes all its trees have."""
        trees = [fitted.model] if self.is_one_tree else fitted.model.estimators_
        return sum(int(tree.tree_.node_count) for tree in trees)

    def ran(self, fitted: Grown) -> str:
        """Return the class and how many trees it has grown."""
        n_trees = 1 if self.is_one_tree else len(fitted.model.estimators_)
        return f"{type(fitted.model).__name__}, {n_trees} trees"

    @abstractmethod
    def _module(self) -> Any:
        """Return the module the classes are in."""

    def _watched(self) -> AbstractContextManager[None]:
        """Return what notices that another library does the work."""
        return nullcontext()


class ScikitLearnForest(_LikeScikitLearn):
    """``sklearn.ensemble.RandomForestClassifier`` and ``Regressor``; a table becomes one-hot columns."""

    name = "scikit-learn"
    packages = ("scikit-learn",)

    def predict(self, fitted: Grown, X: Any) -> NDArray[Any]:
        """Return the labels or numbers of new rows; for a single one, its pool only costs time."""
        if not self.is_one_tree:
            fitted.model.n_jobs = 1 if len(X) == 1 else fitted.n_threads
        return super().predict(fitted, X)

    def ran(self, fitted: Grown) -> str:
        """Return what was grown; a class that was patched by another library is refused."""
        module = type(fitted.model).__module__
        if not module.startswith("sklearn."):
            msg = f"{type(fitted.model).__name__} is {module}'s; run it without the patch"
            raise FellBackError(msg)
        return super().ran(fitted)

    def _module(self) -> Any:
        import sklearn.ensemble

        return sklearn.ensemble


class ScikitLearnTree(ScikitLearnForest):
    """``sklearn.tree.DecisionTreeClassifier`` and ``Regressor``."""

    is_one_tree = True

    def threads(self, allowed: int) -> int:  # noqa: ARG002 - the protocol's form
        """One: a tree of its has no threads."""
        return 1

    def _module(self) -> Any:
        import sklearn.tree

        return sklearn.tree


class IntelexForest(_LikeScikitLearn):
    """``sklearnex.ensemble``; refused where scikit-learn does the work.

    Parameters
    ----------
    is_exact : bool
        Whether every value of a column is a bin of its own, as elsewhere, and not the 256 of its default.
    """

    packages = ("scikit-learn-intelex",)
    takes_missing = False
    knows_entropy = False  # scikit-learn would do the work

    def __init__(self, *, is_exact: bool) -> None:
        self._is_exact = is_exact
        self.name = f"scikit-learn-intelex, {'n' if is_exact else '256'} bins"

    def grow(self, task: ForestTask, data: Dataset, seed: int, n_threads: int) -> Grown:
        """Fit with as many bins as there are rows, if exact."""
        self._max_bins = max(2, len(data.y)) if self._is_exact else 256
        return super().grow(task, data, seed, n_threads)

    def model(self, task: ForestTask, seed: int, n_threads: int, **more: Any) -> Any:
        """Return the unfitted estimator of a task."""
        return super().model(task, seed, n_threads, max_bins=self._max_bins, **more)

    def ran(self, fitted: Grown) -> str:
        """Return the class; to count its trees would be to build them."""
        return f"{type(fitted.model).__name__}, max_bins={fitted.model.max_bins}"

    def _module(self) -> Any:
        import sklearnex.ensemble

        return sklearnex.ensemble

    def _watched(self) -> AbstractContextManager[None]:
        return accelerated()


class HedgerowForest(_LikeScikitLearn):
    """``hedgerow.RandomForestClassifier`` and ``Regressor``, which take tables as they are."""

    name = "hedgerow"
    packages = ("hedgerow",)
    is_ours = True
    takes_tables = True

    def ladder(self, task: ForestTask) -> Sequence[float]:
        """Return the one rung, unless this version has no such class."""
        family = "DecisionTree" if self.is_one_tree else "RandomForest"
        return super().ladder(task) if hedgerow_has(family) else ()

    def _module(self) -> Any:
        import hedgerow

        return hedgerow


class HedgerowTree(HedgerowForest):
    """``hedgerow.DecisionTreeClassifier`` and ``Regressor``."""

    is_one_tree = True


def hedgerow_has(family: str) -> bool:
    """Say whether this version of Hedgerow has the classifier and the regressor of a family."""
    import hedgerow

    return {f"{family}Classifier", f"{family}Regressor"} <= set(hedgerow.__all__)
