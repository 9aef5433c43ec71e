"""How much the answers of a forest would change with other rows to learn from.

The infinitesimal jackknife of a bagged answer (S. Wager, T. Hastie, B. Efron, "Confidence intervals
for random forests", Journal of Machine Learning Research 15, 2014): with N_bi how often unit i was
drawn for tree b, and t_b(x) what that tree answers,

    V(x) = sum_i C_i(x)^2,   C_i(x) = 1/B sum_b N_bi (t_b(x) - t(x)),   t(x) = 1/B sum_b t_b(x).

It holds for any number of draws with replacement, as d t / d P_i = Cov(N_i / P_i, t) for the chances
P_i of being drawn; and in each of several pools by itself, whose sizes are then taken as given.

Few trees make V too large. Were answers and samples independent, C_i would be 0, but given the
answers its square would be Var(N_i) / B^2 sum_b (t_b - t)^2 on average, as the deviations sum to 0
and trees are drawn independently. N_i is binomial, of m draws with the chance 1/n each, so that
over the n units of a pool the variances sum to m (1 - 1/n); that many times the mean of the square
is taken off again. The paper has n for m = n.

V is a quadratic form in the deviations, whose matrix sum_i N_bi N_ci holds whole numbers: it is made
once, and each answer costs B^2, whatever the number of rows of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hedgerow._engine import check_n_threads
from hedgerow.data.table import view_table
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.fit import ForestFit
from hedgerow.ensemble.sampling import NEVER, RowSampler, known_sampler
from hedgerow.errors import UnavailableError
from hedgerow.tree._table import prediction_blocks

__all__ = ["JackknifeVariance", "tree_answers"]

Vector: TypeAlias = NDArray[np.float64]

_COUNTS_AT_ONCE = 2**23
"""Units times trees whose counts are held at a time: 64 MB."""

_ANSWERS_AT_ONCE = 2**21
"""Answers of single trees that are held at a time: 16 MB, and as much again for products."""

_MANY_TREES = 2**11
"""Trees beyond which the matrix of the form is not made: it has 32 MB."""


class JackknifeVariance(ForestFit):
    """A forest that knows how sure its answers are."""

    def predict_variance(self, X: Any, *, corrected: bool = True) -> Vector | list[Vector]:
        """Return the variance of the forest's answers, by the infinitesimal jackknife.

        How much the answer at a row would vary if the forest were fitted to other rows of the same
        kind: what its expectation would do, not what single targets do around it, for which there is
        ``predict_interval``.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        corrected : bool, default=True
            Whether what is only due to the number of trees is taken off. What would then be below 0
            is returned as 0: there are too few trees to tell. A good number is as many as rows of
            the fit.

        Returns
        -------
        variances : ndarray of the shape of the answers
            For numbers, of the shape of ``predict``. For classes, of the shape of
            ``predict_proba``: the variance of each share; a list of one an output if there are
            several.

        Examples
        --------
        >>> from sklearn.datasets import make_friedman1
        >>> from hedgerow import RandomForestRegressor
        >>> X, y = make_friedman1(200, random_state=0)
        >>> forest = RandomForestRegressor(500, random_state=0).fit(X, y)
        >>> variances = forest.predict_variance(X[:3])
        >>> variances.shape, bool((variances > 0).all())
        ((3,), True)
        """
        check_fitted(self)
        draws = _Draws(known_sampler(self, "predict_variance"), len(self.trees_))
        classes = self._known_classes()
        source = view_table(X)
        blocks = prediction_blocks(self, source)
        n_answers = source.shape[0] * self.trees_.n_outputs * self.trees_.width
        form = draws.form() if draws.is_worth_a_form(n_answers) else None
        found = [self._variances(rows, draws, form, corrected=corrected) for rows in blocks]
        variances = np.concatenate(found)
        if not classes:
            return variances[:, 0, 0] if variances.shape[1] == 1 else variances[:, :, 0]
        each = [variances[:, k, : len(labels)] for k, labels in enumerate(classes)]
        return each[0] if len(each) == 1 else each

    def _variances(
        self, rows: NDArray[Any], draws: _Draws, form: Vector | None, *, corrected: bool
    ) -> Vector:
        """Return the variances of rows, of shape (n_rows, n_outputs, width)."""
        trees, n_threads = self.trees_, check_n_threads(self.n_jobs)
        variances = np.empty((len(rows), trees.n_outputs, trees.width))
        height = max(_ANSWERS_AT_ONCE // (len(trees) * trees.n_outputs * trees.width), 1)
        for start in range(0, len(rows), height):
            part = slice(start, start + height)
            answers = tree_answers(self, rows[part], n_threads).reshape(len(trees), -1)
            found = draws.variances(answers - answers.mean(axis=0), form, corrected=corrected)
            variances[part] = found.reshape(variances[part].shape)
        return variances


def tree_answers(forest: ForestFit, rows: NDArray[Any], n_threads: int) -> Vector:
    """Return what each tree answers, by itself, of shape (n_trees, n_rows, n_outputs, width)."""
    trees = forest.trees_
    answers = np.stack(list(trees.values_by_tree(rows, n_threads)))
    if not forest._votes:
        return answers
    is_chosen: NDArray[np.bool_] = np.arange(trees.width) == answers.argmax(axis=3)[..., None]
    return is_chosen.astype(np.float64)


class _Draws:
    """How often each unit was drawn for each tree, drawn again block by block."""

    def __init__(self, sampler: RowSampler, n_trees: int) -> None:
        _refuse_other_draws(sampler)
        self._sampler = sampler
        self._n_trees = n_trees
        # Rows of one unit have the same count: the first stands for all.
        units = sampler.unit_of_row
        self._rows = np.unique(units, return_index=True)[1] if len(units) else slice(None)

    def is_worth_a_form(self, n_answers: int) -> bool:
        """Say whether a matrix of trees by trees takes less work than the covariances themselves."""
        return n_answers > self._n_trees and self._n_trees <= _MANY_TREES

    def form(self) -> Vector:
        """Return the matrix sum_i N_bi N_ci: sums of whole numbers, the same whatever adds them up."""
        form = np.zeros((self._n_trees, self._n_trees))
        for counts in self._blocks():
            form += counts @ counts.T
        return form

    def variances(self, deviations: Vector, form: Vector | None, *, corrected: bool) -> Vector:
        """Return the variance of each column of deviations, a row a tree."""
        with threadpool_limits(1):  # sums of BLAS depend on its threads
            if form is not None:
                sums = np.einsum("bj,bj->j", deviations, form @ deviations)
            else:
                sums = np.zeros(deviations.shape[1])
                for counts in self._blocks():
                    covariances = counts.T @ deviations
                    sums += np.einsum("ij,ij->j", covariances, covariances)
        if corrected:
            sums -= self._count_variance * np.einsum("bj,bj->j", deviations, deviations)
        variances: Vector = np.maximum(sums, 0.0) / self._n_trees**2
        return variances

    @property
    def _count_variance(self) -> float:
        """The sum over all units of the variances of their counts."""
        sampler = self._sampler
        pools = sampler.pool_of_unit
        n_pools = len(sampler.n_draws)
        drawn_from = (
            pools[pools != NEVER] if len(pools) else np.zeros(sampler.n_units, dtype=np.int64)
        )
        sizes = np.bincount(drawn_from, minlength=n_pools)
        return float(np.sum(sampler.n_draws * (1.0 - 1.0 / sizes)))

    def _blocks(self) -> Iterator[Vector]:
        """Yield the counts, a row a tree and a column a unit, some units at a time."""
        n_units = self._sampler.n_units
        width = max(_COUNTS_AT_ONCE // self._n_trees, 1)
        for start in range(0, n_units, width):
            counts = np.empty((self._n_trees, min(width, n_units - start)))
            for tree in range(self._n_trees):
                drawn = self._sampler.counts(tree)
                assert drawn is not None
                some = drawn[self._rows][start : start + width]
                if len(some) != counts.shape[1]:
                    msg = "the samples of the trees do not tell of every row; fit the forest again"
                    raise UnavailableError(msg)
                counts[tree] = some
            yield counts


def _refuse_other_draws(sampler: RowSampler) -> None:
    """Refuse samples of which the formula does not hold."""
    if not sampler.leaves_rows_out:
        msg = "predict_variance needs trees of different samples, and each has seen all rows; fit with bootstrap=True"
        raise UnavailableError(msg)
    if sampler.n_redrawn or not sampler.with_replacement.all():
        msg = (
            "predict_variance needs rows that are drawn once and with replacement; fit with "
            "replacement=True, bootstrap=False and a sampling_strategy such as 'all' that draws of every class"
        )
        raise UnavailableError(msg)
