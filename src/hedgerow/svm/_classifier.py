"""What kernel machines for classes share: classes as binary problems, scores, labels, probabilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from hedgerow._base.parameters import Rule, any_of, class_weights, one_of, true_or_false
from hedgerow._base.state.rules import (
    AttributeRule,
    instance_of,
    labels,
    numbers,
    optional,
    several,
    whole_numbers,
)
from hedgerow.calibrators.fold_scores import CalibratedScores
from hedgerow.calibrators.maps import METHODS, ScoreMap
from hedgerow.data.training_data import TrainingData, check_classification_data
from hedgerow.kernels.gram import Gram
from hedgerow.monitor import monitored_fit
from hedgerow.problems.certificates import Certificate
from hedgerow.problems.kernel import KernelProblem
from hedgerow.reduction import BinaryTask, Reduction, labels_from_scores, reduction_by_name
from hedgerow.svm._coefficients import Found, of_pairs, of_planes
from hedgerow.svm._compressible import without_proof
from hedgerow.svm._machine import COMMON_RULES, FITTED_RULES, KernelMachine, Part, Result
from hedgerow.svm.compress import Compressed

__all__ = ["CLASSIFIER_RULES", "FITTED_CLASSIFIER_RULES", "KernelClassifier"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

CLASSIFIER_RULES: Mapping[str, Rule] = {
    **COMMON_RULES,
    "probability": any_of(one_of("deprecated"), true_or_false),
    "decision_function_shape": one_of("ovr", "ovo"),
    "break_ties": true_or_false,
    "class_weight": class_weights,
    "calibrate": one_of(None, *METHODS),
}
"""Rules of the parameters that machines for classes have."""

FITTED_CLASSIFIER_RULES: Mapping[str, AttributeRule] = {
    "classes_": labels("classes"),
    **FITTED_RULES,
    "n_support_": whole_numbers("classes"),
    "class_weight_": numbers("classes", low=0.0),
    "n_iter_": whole_numbers("problems"),
    "certificates_": several(tuple, "problems", instance_of(Certificate)),
    "probability_maps_": optional(several(tuple, "maps", instance_of(ScoreMap))),
}
"""Rules of the fitted attributes that machines for classes have."""


class KernelClassifier(ClassifierMixin, CalibratedScores, KernelMachine):
    """A kernel machine for classes, of which each plane is a binary problem."""

    _in_folds: ClassVar[Mapping[str, Any]] = {
        **CalibratedScores._in_folds,
        "probability": "deprecated",
        "decision_function_shape": "ovr",
        "warm_start": False,
    }

    class_weight: Mapping[Any, float] | str | None
    probability: bool | str
    decision_function_shape: str
    break_ties: bool
    multi_class: str

    classes_: NDArray[Any]
    class_weight_: Vector
    certificates_: tuple[Certificate, ...]
    n_iter_: Indices

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features), or list of objects
            The rows; with ``kernel="precomputed"`` the kernel of each with each.
        y : array of shape (n_samples,)
            The classes.
        sample_weight : array of shape (n_samples,) or None
            Sample weights; a weight of 2 is the same as giving the row twice.

        Returns
        -------
        self
            A NotCertifiedWarning is issued if the violation remains above ``tol``.
        """
        self._check()
        item = self._item_rule(X)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight, item=item)
        folds = self._folds(data)
        space, parts = self._space(data.X, data.given_weight), self._parts(data)
        with self._time_beside(folds):
            results = self._solve(space, parts)
        self._keep(data, parts, results)
        self.class_weight_ = data.class_factor
        self._learn_probabilities(folds)
        return self

    def decision_function(self, X: Any) -> Vector:
        """Return the scores of each row.

        With two classes there is one score per row, above 0 for the second class. Otherwise there
        is one score per class; with ``multi_class="ovo"`` it is the number of votes plus a term
        below 1/3 that increases with the sum of the scores. With ``decision_function_shape="ovo"``
        there is one score per pair of classes, (0, 1), (0, 2), ..., (1, 2), ..., above 0 for the
        first.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            The scores.
        """
        scores = self._scores(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        if self.multi_class == "ovo" and self.decision_function_shape == "ovr":
            return self._class_scores(scores)
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row: the class of the largest score, or probability if calibrated.

        Parameters
        ----------
        X : array, sparse matrix, data frame, kernel matrix or list of objects
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels.
        """
        if hasattr(self, "probability_maps_"):
            return self._most_probable(X)
        return labels_from_scores(self._class_scores(self._scores(X)), self.classes_)

    def _one_score_a_class(self, X: Any) -> Vector:
        """Return the scores that probabilities are made of."""
        scores = self._class_scores(self._scores(X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @abstractmethod
    def _binary(self, y: Vector, weight: Vector, sides: str) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem of two classes, +1 and -1."""

    def _planes(self, part: Part, result: Result) -> list[Found]:
        """Return the planes that a solution is: one, or one a class."""
        solution, _ = result
        betas = np.atleast_2d(solution.beta.T)
        intercepts = np.atleast_1d(solution.figures["intercept"])
        return [
            Found(part.points, beta, float(b)) for beta, b in zip(betas, intercepts, strict=True)
        ]

    def _class_scores(self, scores: Vector) -> Vector:
        """Return one score for each class, or one for two, from those of the planes."""
        scores = -scores if self._is_of_pairs else scores  # LIBSVM's are for the first of a pair
        return self._reduction.class_scores(scores, len(self.classes_))

    @property
    def _calibration(self) -> str | None:
        """The map of scores to probabilities; scikit-learn's ``probability=True`` means a sigmoid."""
        return "sigmoid" if self.calibrate is None and self.probability is True else self.calibrate

    def _parts(self, data: TrainingData) -> list[Part]:
        """Return the problem of each plane."""
        parts = [self._part(task) for task in self._reduction.tasks(data)]
        starts = self._starts(data)
        if starts is None:
            return parts
        return [
            replace(part, start=start[part.points])
            for part, start in zip(parts, starts, strict=True)
        ]

    def _part(self, task: BinaryTask) -> Part:
        """Return the problem of a task; classes that both have rows share values with other pairs."""
        problem = self._binary(task.y_of_rows, task.weight_of_rows, task.sides)
        classes = task.classes if task.classes and all(map(len, task.classes)) else None
        return Part(task.rows, problem, classes=classes)

    def _starts(self, data: TrainingData) -> Vector | None:
        """Return where each problem begins: at the coefficients of the fit before, if it is to.

        Rows are the same by position; there may be more of them now.
        """
        if not (self.warm_start and hasattr(self, "dual_coef_")):
            return None
        if not np.array_equal(self.classes_, data.classes) or not self._has_support(len(data.y)):
            return None
        coef = self._coefficients()
        planes = coef.planes()
        starts = np.zeros((len(planes), len(data.y)))
        starts[:, self.support_] = -planes if coef.is_of_pairs else planes
        return starts

    def _keep(self, data: TrainingData, parts: list[Part], results: list[Result]) -> None:
        """Set the fitted attributes."""
        pairs = zip(parts, results, strict=True)
        found = [plane for pair in pairs for plane in self._planes(*pair)]
        n_classes = len(data.classes)
        laid_out = of_pairs if self.multi_class == "ovo" else of_planes
        support, coef = laid_out(found, data.y, n_classes)
        self._keep_support(data, support, coef)
        sign = -1.0 if coef.is_of_pairs else 1.0
        self.intercept_ = np.array([sign * one.intercept for one in found])
        self.classes_ = data.classes
        self.certificates_ = tuple(certificate for _, certificate in results)
        self.n_iter_ = np.array([solution.n_iter for solution, _ in results], dtype=np.int64)
        self._keep_report(results)

    def _keep_compressed(self, found: Compressed) -> None:
        """Set what becomes of the fitted attributes."""
        super()._keep_compressed(found)
        self.certificates_ = tuple(without_proof(one) for one in self.certificates_)

    @property
    def _is_of_pairs(self) -> bool:
        return self.multi_class == "ovo" and len(self.classes_) > 2

    @property
    def _n_planes(self) -> int:
        return self._reduction.n_tasks(len(self.classes_))

    @property
    def _reduction(self) -> Reduction:
        return reduction_by_name(self.multi_class)

    def _state_problem(self) -> str | None:
        """Say why the planes could not tell classes from each other."""
        if len(self.classes_) < 2:
            return "there is only one class"
        return CalibratedScores._state_problem(self) or KernelMachine._state_problem(self)
