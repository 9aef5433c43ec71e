"""What a forest knows of rows through trees that have not seen them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from hedgerow._base.parameters import any_number, check_seed, text, true_or_false, whole_number
from hedgerow._base.state import record
from hedgerow._base.state.rules import labels, numbers, several, truths, whole_numbers
from hedgerow._engine import check_n_threads
from hedgerow.data.targets import class_labels
from hedgerow.ensemble.combining import ClassCombiner, Combiner, MeanCombiner
from hedgerow.ensemble.state_rules import array_of
from hedgerow.errors import DataError
from hedgerow.monitor import monitored, raising_at_once
from hedgerow.resampling import Interval, accuracy_interval
from hedgerow.resampling.bootstrapping import check, check_level, refuse_undefined
from hedgerow.resampling.interval_methods import tails
from hedgerow.resampling.plan import Counts, make_plan
from hedgerow.resampling.runs import Run
from hedgerow.resampling.samples import drawn_rows
from hedgerow.resampling.statistics import Mean, WeightedStatistic
from hedgerow.search.known_predictions import KnownClassifier, KnownRegressor, scorer_named
from hedgerow.tree._class_tree import has_unknown_class

__all__ = ["Metric", "OutOfBag"]

Metric: TypeAlias = str | Callable[[Any, Any], float]
"""The name of one of scikit-learn's scorers, or a function of true and predicted targets."""

Vector: TypeAlias = NDArray[np.float64]


@record(
    sums=numbers("rows", "outputs", "width"),
    n_trees_of_row=array_of(np.int32, shape=("rows",)),
    tree_losses=numbers("rows", low=0.0),
    curve=array_of(np.float64, shape=("trees",)),
    y=array_of(np.int32, np.float64, shape=("rows", "outputs")),
    classes=several(tuple, "class_outputs", labels("classes[]")),
    is_judged=truths("rows"),
    groups=whole_numbers("grouped_rows"),
    by_votes=true_or_false,
    score=any_number,
    metric=text,
)
@dataclass(frozen=True, eq=False, repr=False)
class OutOfBag:
    """What the trees whose samples lack a row say of it, and how good that is.

    Attributes
    ----------
    vote_error : float
        The error of the forest's answer, made for each row by the trees whose sample lacks it: the
        share of misclassified rows or, for numbers, the mean squared error.
    tree_error : float
        For each row the average error of those trees one by one, averaged over rows. What the trees
        would do without each other: never less than ``vote_error`` for numbers, and rarely for
        classes.
    score : float
        By the metric that ``oob_score`` names; accuracy or R^2 by default. Larger is better.
    metric : str
        Its name.
    curve : ndarray of shape (n_trees,)
        ``vote_error`` after each tree, of the rows that had been left out by then.
    n_trees_of_row : ndarray of shape (n_rows,)
        How many trees each row was left out of.
    prediction : ndarray of shape (n_rows, n_outputs, n_classes or 1)
        Shares of the classes, or the number predicted; NaN for rows that were never left out.
    is_judged : ndarray of bool of shape (n_rows,)
        The rows that have weight; errors and scores are of these.
    sums, tree_losses, y, classes, groups, by_votes
        What the above is made of.
    """

    sums: Vector
    n_trees_of_row: NDArray[np.int32]
    tree_losses: Vector
    curve: Vector
    y: NDArray[Any]
    classes: tuple[NDArray[Any], ...]
    is_judged: NDArray[np.bool_]
    groups: NDArray[np.int64]
    by_votes: bool = False
    score: float = float("nan")
    metric: str = ""

    def _state_problem(self) -> str | None:
        """Say why the sums are none of such targets."""
        n_outputs, width = self.sums.shape[1:]
        n_classes = [len(each) for each in self.classes]
        if len(n_classes) not in (0, n_outputs) or width != max(n_classes, default=1):
            return f"its sums have the shape {self.sums.shape} and its outputs {n_classes} classes"
        if (self.y.dtype == np.int32) != bool(n_classes) or not np.isfinite(self.y).all():
            return "y is neither the numbers of classes nor finite"
        if n_classes and not np.all((self.y >= 0) & (self.y < n_classes)):
            return "y has a class that is not there"
        if n_classes and has_unknown_class(self.sums, self.classes):
            return "its sums have a class that is not there"
        if not np.all((self.n_trees_of_row >= 0) & (self.n_trees_of_row <= self.n_trees)):
            return "a row was left out of more trees than there are"
        if len(self.groups) not in (0, len(self.y)):
            return "there is not one group for each row"
        return None

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.curve)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The rows that are judged: those with weight that were left out at least once."""
        return np.flatnonzero(self.is_judged & (self.n_trees_of_row > 0))

    @property
    def n_never_out(self) -> int:
        """How many rows with weight were in every sample."""
        return int(np.count_nonzero(self.is_judged)) - len(self.rows)

    @property
    def prediction(self) -> Vector:
        """Means over the trees whose samples lack a row; NaN where there are none."""
        n = self.n_trees_of_row.astype(np.float64)
        n[n == 0] = np.nan
        means: Vector = self.sums / n[:, None, None]
        return means

    @property
    def vote_error(self) -> float:
        """The error of the answer that those trees give together."""
        return _mean(self._vote_losses)

    @property
    def tree_error(self) -> float:
        """The average error of those trees one by one, averaged over rows."""
        return _mean(self._mean_tree_losses)

    @monitored("measure")
    @raising_at_once()
    def measure(
        self,
        metric: Metric | None = None,
        *,
        confidence_level: float = 0.95,
        n_resamples: int = 2000,
        random_state: Any = 0,
    ) -> Interval:
        """Return a metric of the out-of-bag answers, with its interval.

        Parameters
        ----------
        metric : str, callable or None
            "vote_error", "tree_error", the name of one of scikit-learn's scorers, or a function of
            true and predicted targets. None is accuracy or R^2.
        confidence_level : float, default=0.95
            Between 0 and 1.
        n_resamples : int, default=2000
            How many resamples of the rows are drawn. Rows of one group are drawn together; the sizes
            of classes are kept where a metric is not a mean over rows.
        random_state : int, RandomState, Generator or None, default=0
            Seed of the draws.

        Returns
        -------
        Interval
            Its percentile bootstrap interval. It covers that other rows would have been drawn, not
            that another forest would have been grown.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from hedgerow import RandomForestClassifier
        >>> forest = RandomForestClassifier(oob_score=True, random_state=0).fit(*load_iris(return_X_y=True))
        >>> auc = forest.oob_.measure("roc_auc_ovr")
        >>> bool(0.9 < auc.low <= auc.estimate <= auc.high <= 1)
        True
        """
        if not len(self.rows):
            msg = "no row was left out of any tree's sample; grow more trees, or set bootstrap=True"
            raise DataError(msg)
        losses = {"vote_error": self._vote_losses, "tree_error": self._mean_tree_losses}
        check("n_resamples", n_resamples, whole_number(2))
        draws = (check_level(confidence_level), n_resamples, check_seed(random_state))
        if isinstance(metric, str) and metric in losses:
            return self._of_means(losses[metric], *draws)
        if metric in (None, "accuracy") and self.classes:
            return self._of_means(1.0 - self._vote_losses, *draws)
        return self._of_rows(self._scorer(metric), *draws)

    def score_by(self, metric: Metric | None = None) -> float:
        """Return a metric of the out-of-bag answers, as :meth:`measure` but without the interval.

        Parameters
        ----------
        metric : str, callable or None
            The name of one of scikit-learn's scorers, or a function of true and predicted targets.
            None is accuracy or R^2.

        Returns
        -------
        float
            NaN if no row was left out.
        """
        if not len(self.rows):
            return float("nan")
        is_usual = metric is None and bool(self.classes)
        return 1.0 - self.vote_error if is_usual else self._scorer(metric)(self.rows)

    def _scorer(self, metric: Metric | None = None) -> Callable[[NDArray[np.int64]], float]:
        """Return the metric as a function of the numbers of the rows it is computed on."""
        answers, y = self._answers(), self._true()
        if isinstance(metric, str):
            scorer = scorer_named(metric, answers, self.rows, y)
            return lambda rows: float(scorer(answers, rows, y[rows]))
        function = metric or r2_score
        return lambda rows: float(function(y[rows], answers.predict(rows)))

    def _answers(self) -> KnownClassifier | KnownRegressor:
        """Return what is predicted for each row; nothing that is used for those never left out."""
        if not self.classes:
            return KnownRegressor.of_columns(self.prediction[:, :, 0])
        codes = self._judge.answers(self.sums)
        return KnownClassifier.of_codes(codes, self.prediction, self.classes)

    def _true(self) -> NDArray[Any]:
        """Return the targets as they were given to fit."""
        if self.classes:
            return class_labels(self.y, self.classes)
        return self.y[:, 0] if self.y.shape[1] == 1 else self.y

    @cached_property
    def _judge(self) -> Combiner:
        if not self.classes:
            return MeanCombiner(self.y)
        n_classes = np.array([len(each) for each in self.classes], dtype=np.int32)
        return ClassCombiner(self.y, n_classes)

    @cached_property
    def _vote_losses(self) -> Vector:
        rows = self.rows
        answers = self._judge.answers(self.sums[rows], self.n_trees_of_row[rows])
        return self._judge.losses(answers, rows)

    @cached_property
    def _mean_tree_losses(self) -> Vector:
        losses: Vector = self.tree_losses[self.rows] / self.n_trees_of_row[self.rows]
        return losses

    def _of_means(self, values: Vector, level: float, n_resamples: int, seed: int) -> Interval:
        """Return the interval of a mean over the judged rows."""
        is_share = bool(np.all((values == 0) | (values == 1)))
        if is_share and not len(self.groups):
            return accuracy_interval(
                values == 1, confidence_level=level, n_resamples=n_resamples, seed=seed
            )
        run = self._run(None, n_resamples, seed)
        return _percentile(Mean(values[:, None]), run, level)

    def _of_rows(
        self, score: Callable[[NDArray[np.int64]], float], level: float, n_resamples: int, seed: int
    ) -> Interval:
        """Return the interval of any score of rows."""
        is_one_label = len(self.classes) == 1 and not len(self.groups)
        run = self._run(self.y[self.rows, 0] if is_one_label else None, n_resamples, seed)

        def statistic(counts: Counts) -> Vector:
            return np.array([[score(self.rows[drawn_rows(row)])] for row in counts])

        return _percentile(statistic, run, level)

    def _run(self, strata: Any, n_resamples: int, seed: int) -> Run:
        """Return resamples of the judged rows."""
        groups = self.groups[self.rows] if len(self.groups) else None
        plan = make_plan(len(self.rows), strata, groups)
        return Run(plan, seed, n_resamples, check_n_threads(None))

    def __repr__(self) -> str:
        what = "misclassified" if self.classes else "mean squared error"
        lines = [
            f"OutOfBag: {len(self.rows)} rows judged by the trees, of {self.n_trees}, whose samples lack them",
            f"  vote_error {self.vote_error:.6g} ({what}, all those trees together)",
            f"  tree_error {self.tree_error:.6g} ({what}, one tree at a time)",
        ]
        if self.metric:
            lines.append(f"  score      {self.score:.6g} ({self.metric})")
        if self.n_never_out:
            lines.append(f"  {self.n_never_out} rows are in every sample and not judged")
        return "\n".join(lines)


def _percentile(statistic: WeightedStatistic, run: Run, level: float) -> Interval:
    """Return the percentile interval of a statistic of one number."""
    estimate, distribution = run.estimate(statistic), run.distribution(statistic)
    refuse_undefined(distribution, estimate)
    low, high = np.quantile(distribution[:, 0], tails(level, "two-sided"))
    return Interval(
        float(estimate[0]), float(low), float(high), level, run.plan.n_rows, "bootstrap"
    )


def _mean(losses: Vector) -> float:
    return float(losses.mean()) if len(losses) else float("nan")
