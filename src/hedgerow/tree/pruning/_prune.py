"""Pruning of a fitted model by the name of a method."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

from hedgerow._base.parameters import any_of, none, one_of, real_number, true_or_false, whole_number
from hedgerow._base.state import record
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import ParameterError
from hedgerow.tree.pruning._choose_alpha import cross_validated_path
from hedgerow.tree.pruning.cost_complexity import prune_cost_complexity
from hedgerow.tree.pruning.equal_leaves import merge_equal_leaves
from hedgerow.tree.pruning.reduced_error import by_reduced_error
from hedgerow.tree.pruning.significance import by_significance
from hedgerow.tree.tree import Tree

__all__ = ["Pruning", "prune"]

Model = TypeVar("Model")

DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class _Method:
    """What prunes, and the names of its options; it returns a tree and the alpha it took."""

    run: Callable[..., tuple[Tree, float | None]]
    options: tuple[str, ...]


def _significance(model: Any, *, alpha: float = 0.05, **options: Any) -> tuple[Tree, float]:
    """Prune by significance; alpha is the level."""
    return by_significance(model, alpha=alpha, **options), float(alpha)


def _reduced_error(model: Any, **options: Any) -> tuple[Tree, None]:
    """Prune by the errors on given rows."""
    return by_reduced_error(model, **options), None


def _cost_complexity(
    model: Any,
    *,
    alpha: float | None = None,
    measure: str = "impurity",
    choice: str = "best",
    **folds: Any,
) -> tuple[Tree, float]:
    """Prune by cost and complexity; alpha is given, or chosen by cross-validation."""
    has_rows = folds.get("X") is not None and folds.get("y") is not None
    if (alpha is None) != has_rows:
        msg = (
            "method='cost_complexity' needs either alpha=, or else X= and y=, the rows that were fitted, "
            "to choose it by cross-validation"
        )
        raise ParameterError(msg)
    if alpha is None:
        folds["cv"] = DEFAULT_FOLDS if folds.get("cv") is None else folds["cv"]
        alpha = cross_validated_path(model, measure=measure, **folds).alpha(choice)
    return prune_cost_complexity(model.tree_, alpha, measure), float(alpha)


def _equal_leaves(model: Any) -> tuple[Tree, None]:
    """Take out splits that change no prediction."""
    return merge_equal_leaves(model.tree_), None


_FOLDS = ("X", "y", "sample_weight", "cv", "choice", "random_state", "n_jobs")

_METHODS = {
    "significance": _Method(
        _significance,
        ("alpha", "test", "correction", "X", "y", "n_permutations", "random_state"),
    ),
    "reduced_error": _Method(_reduced_error, ("X", "y", "sample_weight")),
    "cost_complexity": _Method(_cost_complexity, ("alpha", "measure", *_FOLDS)),
    "equal_leaves": _Method(_equal_leaves, ()),
}


@record(
    method=one_of(*_METHODS),
    n_leaves_before=whole_number(1),
    n_leaves_after=whole_number(1),
    alpha=any_of(none, real_number(0, or_infinite=True)),
)
@dataclass(frozen=True)
class Pruning:
    """What was done to a tree.

    Attributes
    ----------
    method : str
        How it was pruned.
    n_leaves_before, n_leaves_after : int
        How many leaves it had and has.
    alpha : float or None
        The level of significance, or the cost of a leaf; None for methods without one.
    """

    method: str
    n_leaves_before: int
    n_leaves_after: int
    alpha: float | None = None

    def __str__(self) -> str:
        by = "" if self.alpha is None else f" with alpha = {self.alpha:.4g}"
        return (
            f"{self.n_leaves_after} of {self.n_leaves_before} leaves are left after pruning "
            f"by {self.method}{by}."
        )


def prune(
    model: Model, method: str = "significance", *, merge_equal: bool = False, **options: Any
) -> Model:
    """Return a fitted tree with fewer leaves; the model itself stays as it is.

    Parameters
    ----------
    model : estimator
        A fitted tree, of classes or of numbers.
    method : {"significance", "reduced_error", "cost_complexity", "equal_leaves"}
        How it is pruned:

        - "significance" (the default) drops splits whose improvement may well be chance, bottom-up.
          Options: ``alpha=0.05``, the level; ``test="chi2"`` or ``"permutation"`` for classes, ``"f"``
          for regression; ``correction="sidak"`` for the search over thresholds, or ``"none"``; ``X``
          and ``y``, rows to test with in place of those that the tree was grown from;
          ``n_permutations=9999`` and ``random_state=0`` for permutations.
        - "reduced_error" makes a leaf of each subtree that does not lower the error on rows the tree has
          not seen: ``X``, ``y``, ``sample_weight``. The error is the share misclassified, or for
          regression the squared error (absolute, if the tree was grown by it).
        - "cost_complexity" minimises the risk plus ``alpha`` a leaf. Without ``alpha`` it is chosen by
          cross-validation on ``X``, ``y``, ``sample_weight``, the rows that were fitted, in ``cv=5``
          folds, by ``choice="best"`` or ``"one_standard_error"``, with ``random_state`` and
          ``n_jobs``. ``measure="impurity"`` is scikit-learn's risk, ``"misclassification"`` the book's.
        - "equal_leaves" takes out splits that change no prediction.
    merge_equal : bool, default=False
        Whether splits that change no prediction are taken out afterwards.
    **options
        Those of the method.

    Returns
    -------
    model
        A new one of the same class; its ``pruning_`` says what was done.
    """
    check_fitted(model)
    expected = one_of(*_METHODS)(method)
    if expected is not None:
        raise ParameterError(f"method={method!r} is no way to prune; give {expected}")
    expected = true_or_false(merge_equal)
    if expected is not None:
        raise ParameterError(f"merge_equal={merge_equal!r} is not allowed; give {expected}")
    _refuse_strange_options(method, options)
    tree, alpha = _METHODS[method].run(model, **options)
    tree = merge_equal_leaves(tree) if merge_equal else tree
    pruned: Any = copy(model)
    pruned.tree_ = tree
    before: Tree = model.tree_  # type: ignore[attr-defined]
    pruned.pruning_ = Pruning(method, before.n_leaves, tree.n_leaves, alpha)
    return pruned  # type: ignore[no-any-return]


def _refuse_strange_options(method: str, options: dict[str, Any]) -> None:
    known = _METHODS[method].options
    strange = [name for name in options if name not in known]
    if strange:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise ParameterError(f"method={method!r} has no option {strange[0]}; {takes}")
