"""What forests for classes share: labels and shares of classes from trees."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hedgerow._base.parameters import Rule, any_of, one_of
from hedgerow._base.state.rules import AttributeRule
from hedgerow.data.targets import class_labels
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.base import Forest
from hedgerow.ensemble.forest.fit import FITTED_RULES, FOREST_RULES
from hedgerow.ensemble.forest.tree_estimators import ForestTreeClassifier
from hedgerow.monitor import monitored_fit
from hedgerow.tree import DecisionTreeClassifier
from hedgerow.tree._class_tree import CLASS_RULES, FITTED_CLASS_RULES, has_unknown_class
from hedgerow.tree._training import ClassTargets, class_targets

__all__ = ["FITTED_FOREST_CLASSIFIER_RULES", "FOREST_CLASSIFIER_RULES", "ForestClassifierBase"]

Vector: TypeAlias = NDArray[np.float64]

PER_SAMPLE = "balanced_subsample"

_LEAVES_AT_ONCE = 2**22
"""Rows times trees of which the leaves are held at a time: 16 MB."""

FOREST_CLASSIFIER_RULES: Mapping[str, Rule] = {
    **FOREST_RULES,
    "criterion": CLASS_RULES["criterion"],
    "class_weight": any_of(CLASS_RULES["class_weight"], one_of(PER_SAMPLE)),
    "voting": one_of("soft", "hard"),
}
"""Rules of the parameters that forests for classes have."""

FITTED_FOREST_CLASSIFIER_RULES: Mapping[str, AttributeRule] = {
    **FITTED_RULES,
    "classes_": FITTED_CLASS_RULES["classes_"],
}
"""Rules of the fitted attributes that forests for classes have."""


class ForestClassifierBase(ClassifierMixin, Forest):
    """A forest whose trees hold shares of classes."""

    class_weight: Any
    voting: str

    classes_: NDArray[Any] | list[NDArray[Any]]

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, oob_group: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows; values may be missing, and columns of a data frame or of objects may
            be categorical.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The classes.
        sample_weight : array of shape (n_samples,) or None
            Weights of the rows in every tree that has them in its sample; a row of weight 0 is as if
            absent.
        oob_group : "equal rows", array of shape (n_samples,) or None
            Rows of one label are in the sample of a tree, or out of it, together, so that what a
            tree knows of one of them does not flatter its answer on another. "equal rows": those
            are, whose features are all equal. ``max_samples`` counts groups then.

        Returns
        -------
        self
            Fitted.
        """
        self._fit(X, y, sample_weight, oob_group)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: the one of the largest share, the first of equals.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes.
        """
        shares = self._sums(X) / len(self.trees_)
        return class_labels(shares.argmax(axis=2), self._known_classes())

    def predict_proba(self, X: Any) -> Vector | list[Vector]:
        """Return the shares of the classes: those in the leaves, averaged over trees, or of votes.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes), or a list of one an output
            They sum to 1.
        """
        shares = self._sums(X) / len(self.trees_)
        classes = self._known_classes()
        found = [shares[:, k, : len(labels)] for k, labels in enumerate(classes)]
        return found[0] if len(found) == 1 else found

    def predict_log_proba(self, X: Any) -> Vector | list[Vector]:
        """Return the logarithms of the shares; minus infinity where there is none.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes), or a list of one an output
            None is above 0.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in shares] if isinstance(shares, list) else np.log(shares)

    @property
    def n_classes_(self) -> int | NDArray[np.int64]:
        """How many classes there are; for several outputs, of each."""
        counts = [len(labels) for labels in self._known_classes()]
        return counts[0] if len(counts) == 1 else np.array(counts, dtype=np.int64)

    @property
    def oob_decision_function_(self) -> Vector:
        """Shares of the classes by trees that have not seen the row; NaN if all have.

        Of shape (n_samples, n_classes), or (n_samples, n_classes, n_outputs) for several outputs.
        """
        shares = self._out_of_bag("oob_decision_function_").prediction
        return shares[:, 0, :] if shares.shape[1] == 1 else shares.transpose(0, 2, 1)

    @property
    def _votes(self) -> bool:
        return self.voting == "hard"

    def _targets(self, y: Any, sample_weight: Any, n_rows: int) -> ClassTargets:
        reader = self
        if isinstance(self.class_weight, str) and self.class_weight == PER_SAMPLE:
            reader = copy.copy(self)
            reader.class_weight = None  # each tree weighs the classes of its own sample
        instead = type(self).__name__.replace("Classifier", "Regressor")
        return class_targets(reader, y, sample_weight, n_rows, instead=instead)

    def _keep_classes(self, classes: tuple[NDArray[Any], ...]) -> None:
        self.classes_ = classes[0] if len(classes) == 1 else list(classes)

    def _known_classes(self) -> tuple[NDArray[Any], ...]:
        check_fitted(self)
        return tuple(self.classes_) if isinstance(self.classes_, list) else (self.classes_,)

    def _state_problem(self) -> str | None:
        """Say if a leaf speaks for a class that its output does not have."""
        is_used = self.trees_.is_used
        if is_used is not None and has_unknown_class(is_used, self._known_classes()):
            return "a leaf has rows of a class that its output lacks"
        return super()._state_problem()

    def _member_class(self) -> type:
        return ForestTreeClassifier

    def _tree_class(self) -> type:
        return DecisionTreeClassifier

    def _block_sums(self, rows: NDArray[Any]) -> Vector:
        if not self._votes:
            return super()._block_sums(rows)
        trees = self.trees_
        sums = np.zeros((len(rows), trees.n_outputs, trees.width))
        height = max(_LEAVES_AT_ONCE // len(trees), 1)
        for start in range(0, len(rows), height):
            part = slice(start, start + height)
            self._add_votes(rows[part], sums[part])
        return sums

    def _add_votes(self, rows: NDArray[Any], sums: Vector) -> None:
        """Add for every row, tree and output one vote."""
        leaves = self.trees_.core.leaves(rows, self._n_threads(len(rows)))
        every = np.arange(len(rows))
        for of_tree, votes in zip(leaves.T, self.trees_.votes, strict=True):
            for output, classes in enumerate(votes[of_tree].T):
                sums[every, output, classes] += 1.0

    def __sklearn_tags__(self) -> Any:
        """Say what input and targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
