"""What trees for classes share: labels and shares of classes from leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hedgerow._base.parameters import Rule, class_weights, one_of
from hedgerow._base.state.rules import AttributeRule, Shaped, Sizes, expectation, labels, several
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.monitor import monitored_fit
from hedgerow.tree._estimator import FITTED_RULES, DecisionTree
from hedgerow.tree._growth import GROWTH_RULES
from hedgerow.tree._training import class_targets

__all__ = ["CLASS_RULES", "FITTED_CLASS_RULES", "ClassTree", "has_unknown_class"]

Vector = NDArray[np.float64]


def _class_weights(value: Any) -> str | None:
    """Allow what ``class_weight`` may be."""
    fine = class_weights(value) is None
    fine = fine or (isinstance(value, list) and all(isinstance(each, Mapping) for each in value))
    return None if fine else "'balanced', a dictionary, a list of one an output, or None"


CLASS_RULES: Mapping[str, Rule] = {
    "criterion": one_of("gini", "entropy", "log_loss", "misclassification"),
    **GROWTH_RULES,
    "class_weight": _class_weights,
}
"""Rules of the parameters that trees for classes have."""


def _classes() -> Shaped:
    """Allow the labels of one output, or a list of those of several."""
    of_one, of_several = labels("width"), several(list, "outputs", labels("classes[]"))

    def expected(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            fine = sizes.agree("outputs", 1)
            return expectation(of_one, value, sizes) if fine else "a list of labels, one an output"
        found = expectation(of_several, value, sizes)
        if found is None and not sizes.agree("width", max(map(len, value), default=0)):
            return f"labels of which the most are {sizes.get('width')}"
        return found

    return Shaped(expected)


def has_unknown_class(values: NDArray[Any], classes: Sequence[NDArray[Any]]) -> bool:
    """Say whether values, of shape (n, n_outputs, width), are for a class that its output lacks."""
    return any(values[:, k, len(labels) :].any() for k, labels in enumerate(classes))


FITTED_CLASS_RULES: Mapping[str, AttributeRule] = {**FITTED_RULES, "classes_": _classes()}
"""Rules of the fitted attributes that trees for classes have."""


class ClassTree(ClassifierMixin, DecisionTree):
    """A tree whose leaves hold shares of classes."""

    _for_values: ClassVar[str] = "DecisionTreeRegressor"
    """What to use where y holds values."""

    class_weight: Any

    classes_: NDArray[Any] | list[NDArray[Any]]

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows; values may be missing, and columns of a data frame or of objects may
            be categorical.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The classes.
        sample_weight : array of shape (n_samples,) or None
            Sample weights: a weight of 2 is the same as giving the row twice, except where rows
            are counted; a row of weight 0 is ignored.

        Returns
        -------
        self
            Fitted.
        """
        self._check()
        source = view_table(X)
        targets = class_targets(self, y, sample_weight, source.shape[0], instead=self._for_values)
        self._keep(*self._grow(source, targets))
        self.classes_ = targets.classes[0] if len(targets.classes) == 1 else list(targets.classes)
        n_classes = np.array([len(labels) for labels in targets.classes], dtype=np.int64)
        self.tree_ = replace(self.tree_, n_classes=n_classes)
        return self

    @property
    def n_classes_(self) -> int | NDArray[np.int64]:
        """How many classes there are; for several outputs, of each."""
        counts = [len(classes) for classes in self._classes]
        return counts[0] if len(counts) == 1 else np.array(counts, dtype=np.int64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row: the most frequent one of its leaf, the first of equals.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The classes.
        """
        leaves = self.apply(X)
        shares = self.tree_.value
        if len(leaves) > len(shares):
            best = shares.argmax(axis=2)[leaves]
        else:
            best = shares[leaves].argmax(axis=2)
        columns = [classes[best[:, k]] for k, classes in enumerate(self._classes)]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def predict_proba(self, X: Any) -> Vector | list[Vector]:
        """Return the shares of the classes among the rows of fit in the same leaf.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        shares : ndarray of shape (n_samples, n_classes), or a list of one an output
            They sum to 1.
        """
        leaves = self.apply(X)
        shares = self.tree_.value[leaves]
        found = [shares[:, k, : len(classes)] for k, classes in enumerate(self._classes)]
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

    def _state_problem(self) -> str | None:
        """Say if a leaf speaks for a class that its output does not have."""
        if has_unknown_class(self.tree_.value, self._classes):
            return "a leaf has rows of a class that its output lacks"
        return super()._state_problem()

    @property
    def _classes(self) -> list[NDArray[Any]]:
        """The labels of each output."""
        check_fitted(self)
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def __sklearn_tags__(self) -> Any:
        """Say what input and targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
