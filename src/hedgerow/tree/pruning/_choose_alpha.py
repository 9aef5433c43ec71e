"""Which alpha to prune by, chosen by cross-validation along the path of the tree.

Between two neighbouring alphas of the path all prune the tree in the same way, and their geometric mean stands
for them. Each fold grows a tree of its own from the rows it keeps; all its prunings are judged at once on the rows
it has left out: every node's error on them is known after one pass, and a sum over leaves for each alpha is a
running sum over nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from hedgerow._base.parameters import check_seed, is_whole
from hedgerow._engine import check_n_threads
from hedgerow.data.training_data import check_weights
from hedgerow.errors import DataError, ParameterError
from hedgerow.resampling.samples import take_rows
from hedgerow.resampling.seeded import seeded_clone
from hedgerow.search.folds import Fold, cv_rule, dealt_folds, fold_generator, given_folds
from hedgerow.search.running import run_trials
from hedgerow.search.trials import Parameters, Trials
from hedgerow.tree.pruning._passing_rows import leaves_and_targets, node_errors
from hedgerow.tree.pruning.cost_complexity import (
    PruningPath,
    cost_complexity_path,
    leaf_sums,
    link_strengths,
)

__all__ = ["ValidatedPath", "cross_validated_path"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ValidatedPath:
    """The pruned trees of a path with their errors on rows that were left out.

    Attributes
    ----------
    path : PruningPath
        The path of the tree of all rows.
    alphas : ndarray of shape (n_trees,)
        What stands for each tree of it in the folds: the geometric mean of its alpha and the next one;
        for the last tree, the root alone, infinity.
    errors : ndarray of shape (n_trees, n_folds)
        The share of rows misclassified, or the mean squared error (absolute error, if the trees were
        grown by it), in each fold.
    """

    path: PruningPath
    alphas: Vector
    errors: Vector

    @property
    def _trials(self) -> Trials:
        return Trials.of_scores([{"alpha": alpha} for alpha in self.alphas.tolist()], -self.errors)

    @property
    def mean_errors(self) -> Vector:
        """The mean over the folds."""
        return -self._trials.means

    @property
    def standard_errors(self) -> Vector:
        """The standard error of that mean; 0 if there is one fold."""
        return self._trials.standard_errors

    def alpha(self, choice: str = "best") -> float:
        """Return the alpha to prune with, always finite.

        Parameters
        ----------
        choice : {"best", "one_standard_error"}, default="best"
            The alpha of least error, the largest of equal ones; or the largest alpha whose error is within one
            standard error of it.

        Returns
        -------
        float
            The alpha.
        """
        simplest_first = range(len(self.alphas))[::-1]
        chosen = self._trials.choose(choice, simplest_first=simplest_first)
        alpha = self.alphas[chosen]
        return float(alpha if np.isfinite(alpha) else self.path.alphas[chosen])


def cross_validated_path(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    cv: Any = 5,
    measure: str = "impurity",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ValidatedPath:
    """Evaluate every tree of the cost-complexity path of a fitted model by cross-validation.

    Parameters
    ----------
    model : estimator
        A fitted tree, which is not changed.
    X, y : array or data frame
        The rows it was fitted to.
    sample_weight : array of shape (n_samples,), default=None
        Sample weights, used in fits and in errors.
    cv : int, splitter, or list of pairs of row numbers, default=5
        The folds; a number means stratified folds, seeded by ``random_state``.
    measure : {"impurity", "misclassification"}, default="impurity"
        The risk of a leaf.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, and of fits without a seed.
    n_jobs : int or None, default=None
        The number of folds fitted in parallel.

    Returns
    -------
    ValidatedPath
        The path with the errors in each fold.
    """
    expected = cv_rule(cv)
    if expected is not None or cv is None:
        raise ParameterError(f"cv={cv!r} are no folds; give {expected or 'a number of them'}")
    leaves, targets = leaves_and_targets(model, X, y)
    weight, seed = check_weights(sample_weight, len(leaves)), check_seed(random_state)
    path = cost_complexity_path(model.tree_, measure)
    alphas = np.r_[np.sqrt(path.alphas[:-1] * path.alphas[1:]), np.inf]
    rows = np.asarray(X) if isinstance(X, list | tuple) else X
    judge = _PrunedOnFold(
        learner=seeded_clone(model, seed),
        X=rows,
        y=np.asarray(y),
        weight=weight,
        is_weighted=sample_weight is not None,
        measure=measure,
    )
    classes = targets if is_classifier(model) else np.zeros((len(targets), 1))
    codes = np.unique(classes, axis=0, return_inverse=True)[1].ravel()
    folds = _dealt(cv, codes, weight, seed) if is_whole(cv) else given_folds(cv, rows, codes)
    candidates = [{"alpha": alpha} for alpha in alphas.tolist()]
    n_workers = check_n_threads(n_jobs)
    trials = run_trials(judge, candidates, folds, n_workers=n_workers, at_once=True)
    return ValidatedPath(path, alphas, -np.stack([trial.scores for trial in trials.trials]))


def _dealt(n_folds: int, codes: NDArray[np.int64], weight: Vector, seed: int) -> list[Fold]:
    """Return so many folds; a tree may lack a class, so that no class is too small."""
    n_folds = min(int(n_folds), int(np.count_nonzero(weight > 0)))
    if n_folds < 2:
        msg = "cross-validation needs two rows with a weight, one to fit and one to leave out; give more rows"
        raise DataError(msg)
    return dealt_folds(codes, n_folds, fold_generator(seed), weight)


@dataclass(frozen=True, eq=False)
class _PrunedOnFold:
    """Grows a tree from some rows, and judges all its prunings by others."""

    learner: Any
    X: Any
    y: NDArray[Any]
    weight: Vector
    is_weighted: bool
    measure: str

    def __call__(self, fold: Fold, candidates: Sequence[Parameters]) -> Vector:
        """Return the mean error on the rows left out, negated, for every alpha."""
        kept, left_out = fold
        weight = self.weight[left_out]
        if not weight.sum() > 0:
            msg = "a split leaves out no row with a weight, so that nothing can be judged; choose other folds"
            raise DataError(msg)
        given = {"sample_weight": self.weight[kept]} if self.is_weighted else {}
        model = clone(self.learner).fit(take_rows(self.X, kept), self.y[kept], **given)
        leaves, targets = leaves_and_targets(model, take_rows(self.X, left_out), self.y[left_out])
        errors = node_errors(model, model.tree_, leaves, targets, weight)
        strengths = link_strengths(model.tree_, self.measure)
        alphas = np.array([parameters["alpha"] for parameters in candidates])
        return -leaf_sums(model.tree_, strengths, alphas, errors / weight.sum())
