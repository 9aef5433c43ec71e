"""Losses of the residual r = target - functional margin, and their conjugates.

A classifier's rows have the functional margin m = y * score and one target for all (1, or 0 for the
logistic loss); a regressor's rows have y = +1 and their own targets. The loss of a row with
weight c is c * value(r). Its convex conjugate gives the row's part of the dual on
lower <= alpha <= upper, so that for every r and every such alpha

    c * value(r) + conjugate(alpha)  >=  alpha * r          (Fenchel and Young)

with equality where alpha is a slope of c * value at r. Every gap is a sum of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hedgerow._base.parameters import Rule
from hedgerow.errors import ParameterError
from hedgerow.losses.base import Loss
from hedgerow.losses.clipped import (
    ClippedLoss,
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    LargestHinge,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from hedgerow.losses.logistic import Logistic

__all__ = [
    "ALL_CLASSES",
    "BUILT_IN",
    "HARD",
    "LOSSES",
    "REGRESSION_LOSSES",
    "ClippedLoss",
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "LargestHinge",
    "Logistic",
    "Loss",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
    "groups_points",
    "loss_by_name",
    "own_loss",
    "regression_loss",
]

HARD: Loss = HardMargin()
"""The loss of a hard margin; users ask for it by an infinite C."""

ALL_CLASSES: Loss = LargestHinge()
"""The loss of all classes at once; users ask for it by ``multi_class="crammer_singer"``."""

LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Hinge(), SquaredHinge(), Logistic())}
"""The losses of classifiers."""

REGRESSION_LOSSES: dict[str, Callable[[float], Loss]] = {
    loss.name: loss for loss in (EpsilonInsensitive, SquaredEpsilonInsensitive)
}
"""The losses of regressors, each made for an epsilon."""


BUILT_IN: tuple[Loss, ...] = (
    *LOSSES.values(),
    EpsilonInsensitive(),
    SquaredEpsilonInsensitive(),
    HARD,
    ALL_CLASSES,
)
"""One of each loss."""


def loss_by_name(name: str | Loss) -> Loss:
    """Return a classifier's loss of that name; one that is given as an object is returned as it is."""
    if isinstance(name, Loss):
        return name
    _refuse_unknown(name, LOSSES)
    return LOSSES[name]


def regression_loss(name: str | Loss, epsilon: float) -> Loss:
    """Return a regressor's loss of that name; one that is given as an object is returned as it is."""
    if isinstance(name, Loss):
        return name
    _refuse_unknown(name, REGRESSION_LOSSES)
    return REGRESSION_LOSSES[name](epsilon)


def own_loss(*, is_two_sided: bool) -> Rule:
    """Allow a loss of the user's own, for classes or for regression."""

    def rule(value: Any) -> str | None:
        if isinstance(value, Loss) and value.is_two_sided == is_two_sided:
            return None
        return f"a hedgerow.losses.Loss with is_two_sided={is_two_sided}"

    return rule


def groups_points(loss: str | Loss) -> bool:
    """Say whether an alpha of a loss can be at its bound, by which points are told apart."""
    known = {each.name: each for each in BUILT_IN}
    return (loss if isinstance(loss, Loss) else known[loss]).reaches_bounds


def _refuse_unknown(name: str, known: Iterable[str]) -> None:
    if name not in known:
        msg = f"loss={name!r} is not known; choose one of {', '.join(map(repr, known))}"
        raise ParameterError(msg)
