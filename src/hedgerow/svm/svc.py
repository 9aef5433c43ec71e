"""The support vector classifier."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._base.parameters import one_of, positive_number, true_or_false
from hedgerow._base.state import stateful
from hedgerow.data.training_data import TrainingData
from hedgerow.kernels.gram import Gram
from hedgerow.problems.c_svc import CSvcProblem, Loss
from hedgerow.problems.kernel import KernelProblem
from hedgerow.problems.kernel_crammer_singer import KernelCrammerSingerProblem
from hedgerow.reduction import check_all_at_once
from hedgerow.svm._classifier import CLASSIFIER_RULES, FITTED_CLASSIFIER_RULES, KernelClassifier
from hedgerow.svm._machine import Part

__all__ = ["SVC"]

Vector = NDArray[np.float64]

_RULES = {
    **CLASSIFIER_RULES,
    "C": positive_number(or_infinite=True),
    "loss": one_of("hinge", "squared_hinge"),
    "multi_class": one_of("ovo", "ovr", "crammer_singer"),
    "fit_intercept": true_or_false,
}


@stateful(_RULES, **FITTED_CLASSIFIER_RULES)
class SVC(KernelClassifier):
    r"""Support vector classifier with a kernel, whose fit ends with a certificate.

    For each binary problem it minimises

    .. math:: \tfrac12 |w|^2 + C \sum_i s_i \max(0, 1 - y_i (\langle w, \phi(x_i) \rangle + b))

    where :math:`\langle \phi(x), \phi(z) \rangle` is the kernel and s_i the weight of row i. More
    than two classes are handled one-vs-one, one-vs-rest, or jointly by the method of Crammer and
    Singer, which minimises

    .. math:: \tfrac12 \sum_k |w_k|^2 + C \sum_i s_i \max(0, 1 + \max_{k \ne y_i} f_k(x_i) - f_{y_i}(x_i))

    where :math:`f_k(x) = \langle w_k, \phi(x) \rangle + b_k` is the score of class k.

    Parameters
    ----------
    C : float, default=1.0
        The factor of the losses; a larger C means less regularisation. Infinity means a hard
        margin; a NotSeparableError with a proof is raised if no hyperplane separates the classes.
    kernel : str, Kernel, callable or object with ``rows(X, indices)``, default="rbf"
        A name of ``hedgerow.kernels.KERNELS``, an object such as ``RBF(sigma=2.0)`` or ``0.5 *
        RBF(gamma=1.0) + Linear()``, a function of two blocks of rows, or "precomputed". Rows that
        are not vectors, such as strings, need a function, a :class:`FunctionKernel` or an
        :class:`hedgerow.kernels.ObjectKernel`.
    degree : int, default=3
        The degree of ``kernel="poly"``.
    gamma : {"scale", "auto"} or float, default="scale"
        The parameter of kernels that have one: "scale" is 1 / (n_features * variance of X),
        weighted by ``sample_weight``; "auto" is 1 / n_features.
    coef0 : float, default=0.0
        The constant of ``kernel="poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether points are skipped until they are needed; it affects only the time of a fit.
    probability : bool, default="deprecated"
        As in scikit-learn: True is the same as ``calibrate="sigmoid"``.
    tol : float, default=1e-3
        The largest violation of the optimality conditions to reach and certify.
    cache_size : float, default=2000
        The cache for kernel values in megabytes; other values are recomputed when needed.
    class_weight : dict, "balanced" or None, default=None
        Factors of the sample weights by class; "balanced" gives all classes the same total weight.
        Classes missing from a dictionary have weight 1, and it may contain classes that y does not
        have.
    verbose : bool or int, default=0
        If positive, the certificate is logged to the ``hedgerow`` logger.
    max_iter : int, default=-1
        The maximum number of steps of the solver, each of which updates a pair of coefficients, or
        with ``multi_class="crammer_singer"`` all those of a row; -1 means no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether one-vs-one classifiers return one score per class or one per pair.
    break_ties : bool, default=False
        Accepted for compatibility with scikit-learn: ties between votes are always broken by
        scores, so ``predict`` is the class of the largest ``decision_function``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds of ``calibrate``; None is the same as 0.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The loss of the functional margin.
    multi_class : {"ovo", "ovr", "crammer_singer"}, default="ovo"
        One-vs-one, with a hyperplane for each pair of classes; one-vs-rest; or all classes
        jointly, which needs the hinge and a finite C (with two classes it is the hinge with 2 C).
    fit_intercept : bool, default=True
        Whether to fit an intercept b.
    scale : {"standard", "minmax", None}, default=None
        Scale the features in ``fit`` and in ``predict``: to mean 0 and variance 1, or to the range
        from 0 to 1. Sparse rows are scaled but not shifted.
    calibrate : {"sigmoid", "isotonic", None}, default=None
        Whether to provide probabilities, and the map from scores to probabilities, learnt from the
        scores of 5 folds; ``predict`` then follows them.
    warm_start : bool, default=False
        Whether a fit starts from the coefficients of the previous one, row by row.
    n_jobs : int or None, default=None
        The number of threads; None means all cores. The result does not depend on it.
    max_time : float or None, default=None
        Time limit of a fit in seconds, including the certificate; the best model so far is kept.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    support_ : ndarray of int64 of shape (n_support,)
        The support vectors: indices of training rows, sorted by class.
    support_vectors_ : ndarray or CSR of shape (n_support, n_features), or list of objects
        Those rows; none with ``kernel="precomputed"``.
    n_support_ : ndarray of int64 of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_support), or (n_classes, n_support) one against the rest
        The coefficients y_i alpha_i, laid out as in scikit-learn; with one-vs-rest and
        Crammer-Singer one row per class.
    intercept_ : ndarray of shape (n_planes,)
        The intercepts b.
    coef_ : ndarray of shape (n_planes, n_features)
        With the linear kernel: the normal vectors.
    kernel_ : Kernel
        The kernel with numeric parameters.
    scaling_ : Scaling
        With ``scale``: the scaling of the rows.
    class_weight_ : ndarray of shape (n_classes,)
        The factor of each class.
    certificate_ : Certificate
        The proof of optimality; the worst one of several binary problems.
    certificates_ : tuple of Certificate
        One for each binary problem; a single one for Crammer-Singer.
    probability_maps_ : tuple of ScoreMap
        With ``calibrate``: the maps from scores to probabilities.
    n_iter_ : ndarray of int64 of shape (n_problems,)
        Steps of the solver for each problem.
    status_ : str
        "optimal", or why the solver stopped early: "max_iter", "stalled", "time_limit",
        "interrupted" by Ctrl-C, or "stopped" by a callback.
    fit_status_ : int
        0 if ``status_`` is "optimal", otherwise 1.
    shape_fit_ : ndarray of int64
        The shape of the training data.
    n_features_in_, feature_names_in_
        The columns seen in fit.

    Examples
    --------
    >>> from hedgerow import SVC
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> model = SVC(kernel="rbf", gamma=1.0, C=10.0).fit(X, y)
    >>> model.predict(X), model.n_support_
    (array([0, 0, 1, 1]), array([2, 2]))
    >>> model.certificate_.is_certified
    True
    """

    _linear_machine = "LinearSVC"
    _rules = _RULES

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 2000,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        loss: Loss = "hinge",
        multi_class: str = "ovo",
        fit_intercept: bool = True,
        scale: str | None = None,
        calibrate: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.loss = loss
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.calibrate = calibrate
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    def _binary(self, y: Vector, weight: Vector, sides: str) -> Callable[[Gram], KernelProblem]:
        """Return what makes the problem of two classes; a hard margin has no weights, only rows."""
        C = 2.0 * self.C if self.multi_class == "crammer_singer" else self.C
        return partial(
            CSvcProblem,
            y=y,
            weight=np.full(len(y), np.inf) if math.isinf(C) else C * weight,
            loss=self.loss,
            has_intercept=bool(self.fit_intercept),
            sides=sides,
        )

    def _parts(self, data: TrainingData) -> list[Part]:
        """Return the problem of each plane, or that of all classes at once."""
        if self.multi_class == "crammer_singer" and len(data.classes) > 2:
            return [self._all_at_once(data)]
        return super()._parts(data)

    def _all_at_once(self, data: TrainingData) -> Part:
        """Return the problem of Crammer and Singer."""
        points, n_classes = np.flatnonzero(data.sample_weight > 0), len(data.classes)
        problem = partial(
            KernelCrammerSingerProblem,
            y=data.y[points],
            weight=self.C * data.sample_weight[points],
            n_classes=n_classes,
            has_intercept=bool(self.fit_intercept),
        )
        starts = self._starts(data)
        if starts is None or len(starts) != n_classes:
            return Part(points, problem)
        return Part(points, problem, np.ascontiguousarray(starts[:, points].T))

    def _check(self) -> None:
        super()._check()
        if self.multi_class == "crammer_singer":
            check_all_at_once(self, "the hinge", loss=("hinge",))
