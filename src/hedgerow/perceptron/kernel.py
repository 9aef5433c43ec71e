"""The kernel perceptron: Rosenblatt's rule in the feature space of a kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.metrics.pairwise import pairwise_kernels

from hedgerow import _core
from hedgerow._base.parameters import Rule, check_parameters, one_of, real_number, whole_number
from hedgerow._base.state import stateful
from hedgerow._base.state.rules import (
    labels,
    numbers,
    optional,
    rows_or_objects,
    size,
    whole_numbers,
)
from hedgerow.data.items import are_items, as_kept, as_rows
from hedgerow.data.rows import Rows
from hedgerow.data.training_data import (
    TrainingData,
    check_classification_data,
    check_fitted,
    check_prediction_rows,
)
from hedgerow.errors import DataError
from hedgerow.kernels import as_kernel, finite_number, gamma_of, gamma_rule
from hedgerow.kernels.objects import objects_problem, rule_of_kept
from hedgerow.monitor import Monitor, current, monitored_fit
from hedgerow.perceptron._base import REPORT, RULES, PerceptronBase, problems_of
from hedgerow.perceptron._rosenblatt import BinaryProblem, Visits

__all__ = ["KernelPerceptron"]

Vector = NDArray[np.float64]
Kernel: TypeAlias = Callable[[Rows, Rows], Vector]
"""Takes two blocks of rows; returns the kernel of each row of the first with each of the second."""

_NAMES = (
    "additive_chi2",
    "chi2",
    "cosine",
    "laplacian",
    "linear",
    "poly",
    "polynomial",
    "rbf",
    "sigmoid",
)
_VISITS = 256
"""Rows visited before the scores of all rows are brought up to date."""
_BLOCK = 2**22
"""Kernel values held at a time: 32 MB."""
_WORK = 2**27
"""Multiplications between two checks of the monitor: a tenth of a second."""

_NUMBERS_OF_AN_OBJECT = 2.0**11
"""Numbers that could be multiplied while Python computes the kernel of two objects."""


def _kernel_rule(value: Any) -> str | None:
    """Allow scikit-learn's names of kernels on vectors, and callables."""
    expected = None if callable(value) else one_of(*_NAMES)(value)
    return None if expected is None else f"a callable (X, Y) or {expected}"


_RULES: dict[str, Rule] = RULES | {
    "kernel": _kernel_rule,
    "gamma": gamma_rule,
    "degree": whole_number(1),
    "coef0": finite_number,
}


@dataclass
class _KernelLearner:
    """A hyperplane sum_i a_i k(x_i, .) + intercept, stored as the number of mistakes on each row.

    The scores of all rows are kept. Rows are visited in blocks: within a block a mistake changes
    the scores of the rows after it, for which the block's own kernel matrix is enough; all other
    scores learn of the block's mistakes at its end. A pass with m mistakes so computes about
    (n_samples + block) * m kernel values, and one without mistakes none. A block that is told to
    stop has not been visited: hyperplane and scores always belong together.
    """

    changing: ClassVar[tuple[str, ...]] = ("counts", "intercept", "_scores")

    X: Rows
    problem: BinaryProblem
    kernel: Kernel
    steps: Vector
    constant: float
    counts: NDArray[np.int64] = field(init=False)
    intercept: float = field(default=0.0, init=False)
    seconds_afterwards: float = field(default=0.0, init=False)
    _scores: Vector = field(init=False)

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.steps), dtype=np.int64)
        self._scores = np.zeros(len(self.steps))

    def visit(self, order: NDArray[np.int64]) -> Visits:
        """Visit the rows in this order and learn from mistakes, until the monitor requests a stop."""
        n_made, mistakes = 0, [np.empty(0, dtype=np.int64)]
        monitor = current()
        with suppress(_core.system.Stopped):
            while n_made < len(order):
                monitor.check()
                block = order[n_made : n_made + _VISITS]
                mistakes.append(n_made + self._visit_block(block, monitor))
                n_made += len(block)
        return Visits(n_made, np.concatenate(mistakes))

    def scores(self) -> Vector:
        """Return the scores of all rows by the current hyperplane."""
        return self._scores

    def outcome(self) -> tuple[Vector, float]:
        """Return the numbers a_i and the intercept."""
        return self.steps * self.counts, self.intercept

    def _visit_block(self, rows: NDArray[np.int64], monitor: Monitor) -> NDArray[np.int64]:
        """Visit some rows; return the positions of the mistakes among them."""
        y, scores, steps = self.problem.y[rows], self._scores[rows], self.steps[rows]
        if (y * scores > 0).all():
            return np.empty(0, dtype=np.int64)
        gram = self.kernel(self.X[rows], self.X[rows]) + self.constant
        mistakes = []
        for i in range(len(rows)):
            if y[i] * scores[i] <= 0:
                scores += steps[i] * gram[i]
                mistakes.append(i)
        positions = np.array(mistakes, dtype=np.int64)
        self._learn(rows[positions], monitor)
        return positions

    def _learn(self, rows: NDArray[np.int64], monitor: Monitor) -> None:
        """Bring the hyperplane and all scores up to date with mistakes on these rows, or none of it."""
        steps, scores = self.steps[rows], self._scores.copy()
        for block in _row_blocks(len(scores), len(rows), _numbers_a_row(self.X)):
            monitor.check()
            gram = self.kernel(self.X[block], self.X[rows]) + self.constant
            scores[block] += gram @ steps
        self._scores = scores
        self.counts[rows] += 1
        self.intercept += self.constant * float(steps.sum())


@stateful(
    _RULES,
    classes_=labels("classes", one_vs_rest="planes"),
    support_=whole_numbers("support"),
    n_features_in_=optional(size("features")),  # objects have none
    support_vectors_=rows_or_objects("support", "features"),
    dual_coef_=numbers("planes", "support"),
    intercept_=numbers("planes"),
    gamma_=optional(real_number(0.0)),
    **REPORT,
)
class KernelPerceptron(PerceptronBase):
    """Rosenblatt's perceptron in the feature space of a kernel.

    The hyperplane is implicit: the score of x is sum_i a_i k(x_i, x) + intercept, where
    a_i = eta0 * weight_i * y_i * (number of mistakes made on x_i). With ``kernel="linear"`` it
    makes the same mistakes as :class:`Perceptron`, and ``dual_coef_ @ support_vectors_`` is its
    ``coef_``, up to rounding. The kernel is evaluated in blocks of rows, never as a whole matrix.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        One of scikit-learn's kernels ("linear", "poly", "polynomial", "rbf", "sigmoid",
        "laplacian", "cosine", "chi2", "additive_chi2"), a function that takes two arrays of rows
        and returns their kernel matrix, or a kernel of ``hedgerow.kernels``, also of objects.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Factor of the inner product or distance: "scale" is 1 / (n_features * variance of X),
        "auto" is 1 / n_features.
    coef0 : float, default=0.0
        Constant of the polynomial and the sigmoid kernel.
    fit_intercept : bool, default=True
        Whether to fit an intercept, as if 1 were added to the kernel.
    max_iter : int, default=1000
        The maximum number of passes.
    tol : float or None, default=1e-3
        Stop when the mean error has not fallen by ``tol`` below its lowest value for
        ``n_iter_no_change`` passes in a row; None disables this criterion.
    shuffle : bool, default=True
        Whether to visit the rows of each pass in a new random order instead of the given one.
    verbose : bool or int, default=0
        If above 0, each pass is reported to the logger ``hedgerow.perceptron`` at level INFO.
    eta0 : float, default=1.0
        The step length; it only scales the scores.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random orders.
    n_iter_no_change : int, default=5
        The number of passes without progress after which training stops.
    class_weight : dict, "balanced" or None, default=None
        Factors of the steps by class; they multiply ``sample_weight``.
    max_time : float or None, default=None
        Time limit of a fit in seconds; the model reached by then is kept.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    support_ : ndarray of int64
        The training rows with at least one mistake.
    support_vectors_ : ndarray or CSR of shape (n_support, n_features), or list of objects
        Those rows.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        The numbers a_i.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The offsets.
    gamma_ : float
        The numeric value of ``gamma``; not set if rows are objects.
    status_, n_iter_, t_, n_mistakes_, error_, error_history_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Notes
    -----
    Kernel values are computed by NumPy's BLAS, whose last bits may depend on the number of threads.

    Examples
    --------
    >>> from hedgerow.linear import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, y)
    >>> model.status_, model.predict(X)
    ('separated', array([0, 0, 1, 1]))
    """

    gamma_: float

    _if_classes_overlap = "choose another kernel or a larger gamma"

    def __init__(
        self,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        random_state: Any = 0,
        n_iter_no_change: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        max_time: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.random_state = random_state
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.max_time = max_time

    @monitored_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelPerceptron:
        """Fit a hyperplane in the feature space, or one per class if there are more than two classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of objects
            The training rows.
        y : array-like of shape (n_samples,)
            The labels.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of the steps; rows of weight zero are ignored.

        Returns
        -------
        KernelPerceptron
            The estimator itself.
        """
        check_parameters(self, _RULES)
        item = None if isinstance(self.kernel, str) else as_kernel(self.kernel).item_rule(X)
        data = check_classification_data(self, X, y, sample_weight, self.class_weight, item=item)
        if hasattr(self, "gamma_"):
            del self.gamma_
        if item is None:
            there = data.sample_weight > 0
            self.gamma_ = gamma_of(self.gamma, data.X if there.all() else data.X[there])
        learners = [self._learner(data.X, problem) for problem in problems_of(data)]
        runs = self._train(
            learners, self._schedule(), partial(_kernel_attributes, data=data), shared=data.X
        )
        self._warn_unless_separated(runs)
        return self

    def _learner(self, X: Rows, problem: BinaryProblem) -> _KernelLearner:
        """Return a learner whose hyperplane is zero."""
        constant = 1.0 if self.fit_intercept else 0.0
        return _KernelLearner(X, problem, self._kernel_values, problem.steps(self.eta0), constant)

    def _scores(self, X: Any) -> Vector:
        """Return the scores, one column per hyperplane."""
        check_fitted(self)
        vectors, kernel = as_rows(self.support_vectors_), self.kernel
        is_named = isinstance(kernel, str)
        item = None if is_named else rule_of_kept(as_kernel(kernel), self.support_vectors_)
        rows, _ = check_prediction_rows(self, X, item=item)
        scores = np.tile(self.intercept_, (rows.shape[0], 1))
        n_support = len(self.support_)
        if n_support == 0:  # stopped before the first visit; kernels refuse to see no rows
            return scores
        for block in _row_blocks(rows.shape[0], n_support, _numbers_a_row(rows)):
            scores[block] += self._kernel_values(rows[block], vectors) @ self.dual_coef_.T
        return scores

    def _state_problem(self) -> str | None:
        """Say why new rows could not be compared with the support vectors."""
        if not isinstance(self.support_vectors_, list):
            both = hasattr(self, "n_features_in_") and hasattr(self, "gamma_")
            return None if both else "n_features_in_ or gamma_ is missing"
        if isinstance(self.kernel, str):
            return f"support_vectors_ are objects, which kernel={self.kernel!r} does not take"
        return objects_problem(as_kernel(self.kernel), self.support_vectors_)

    def _kernel_values(self, A: Rows, B: Rows) -> Vector:
        """Return the kernel of each row of A with each row of B."""
        try:
            if not isinstance(self.kernel, str):
                return as_kernel(self.kernel).block(A, B)
            parameters = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
            with config_context(assume_finite=True):  # the rows have been checked
                values: Vector = pairwise_kernels(
                    A, B, metric=self.kernel, filter_params=True, **parameters
                )
            return values.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            msg = f"kernel={self.kernel!r} fails on X: {error}; choose another kernel or change X"
            raise DataError(msg) from error


def _kernel_attributes(
    outcomes: Sequence[tuple[Vector, float]], data: TrainingData
) -> dict[str, Any]:
    """Return the attributes that make the scores."""
    alphas = np.array([alpha for alpha, _ in outcomes])
    support = np.flatnonzero(alphas.any(axis=0))
    return {
        "classes_": data.classes,
        "support_": support,
        "support_vectors_": as_kept(data.X[support]),
        "dual_coef_": alphas[:, support],
        "intercept_": np.array([intercept for _, intercept in outcomes]),
    }


def _numbers_a_row(X: Rows) -> float:
    """Return how many numbers a row stores: all, or the non-zero ones."""
    if are_items(X):
        return _NUMBERS_OF_AN_OBJECT
    return float(X.shape[1] if isinstance(X, np.ndarray) else X.nnz / X.shape[0])


def _row_blocks(n_rows: int, n_columns: int, n_numbers: float) -> Iterator[slice]:
    """Yield slices of the rows whose kernel values with the columns need little memory and time."""
    size = max(1, int(min(_BLOCK, _WORK / max(n_numbers, 1.0)) / max(n_columns, 1)))
    for first in range(0, n_rows, size):
        yield slice(first, first + size)
