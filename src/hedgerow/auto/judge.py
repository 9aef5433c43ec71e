"""How good a model is on rows it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.rows import some
from hedgerow.errors import DataError
from hedgerow.resampling import Interval, accuracy_interval

__all__ = ["HeldOutReport", "Recall", "is_known", "judge", "refuse_unknown_labels"]


@dataclass(frozen=True)
class Recall:
    """How many rows of a class were found.

    Attributes
    ----------
    label : object
        The class.
    n_found, n_rows : int
        Rows of the class that were given its label, and all its rows.
    """

    label: Any
    n_found: int
    n_rows: int

    @property
    def share(self) -> float:
        """n_found / n_rows."""
        return self.n_found / self.n_rows


@dataclass(frozen=True)
class HeldOutReport:
    """What held-out rows say about a model.

    Attributes
    ----------
    accuracy : Interval
        The share of rows predicted right, with its interval.
    baseline_label, baseline : object and float
        The commonest label in training, and the accuracy of always giving it.
    recalls : tuple of Recall
        One for each class among the held-out rows.
    """

    accuracy: Interval
    baseline_label: Any
    baseline: float
    recalls: tuple[Recall, ...]


def judge(predicted: NDArray[Any], y: NDArray[Any], commonest: Any, *, seed: int) -> HeldOutReport:
    """Compare predictions with the labels of held-out rows."""
    correct = np.asarray(predicted == y)
    labels, codes = np.unique(y, return_inverse=True)
    found = np.bincount(codes, correct, minlength=len(labels)).astype(int).tolist()
    totals = np.bincount(codes, minlength=len(labels)).tolist()
    return HeldOutReport(
        accuracy=accuracy_interval(correct, seed=seed),
        baseline_label=commonest,
        baseline=float(np.mean(y == commonest)),
        recalls=tuple(map(Recall, labels.tolist(), found, totals)),
    )


def is_known(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Say of each label whether it is one of the classes; the text '1' is not the number 1."""
    known = set(classes.tolist())
    return np.fromiter((label in known for label in y.tolist()), np.bool_, len(y))


def refuse_unknown_labels(
    y: NDArray[Any],
    classes: NDArray[Any],
    here: str,
    there: str,
    remedy: str = "label both alike, or remove those rows",
) -> None:
    """Refuse labels ``here`` that are not among the classes of the training rows ``there``."""
    known = is_known(y, classes)
    if known.all():
        return
    labels = [*np.unique(y[~known]).tolist(), *np.unique(y[known]).tolist()]
    msg = (
        f"{np.count_nonzero(~known):,} of the {len(y):,} labels of {here} never occur in {there}: "
        f"the labels of {here} are {some(labels)}, those of {there} {some(classes.tolist())}; {remedy}"
    )
    raise DataError(msg)
