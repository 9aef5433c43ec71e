"""A tree as rules: the conditions under which a row reaches a leaf, one per feature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.tree.export._questions import OR_MISSING, interval_words, set_words
from hedgerow.tree.export._subject import FLAG, Subject, check_options, subject_of
from hedgerow.tree.export._writing import number, plain

__all__ = ["InSet", "Interval", "Rule", "export_rules"]


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ == "NAType"
        or (isinstance(value, float | np.floating) and bool(np.isnan(value)))
    )


@dataclass(frozen=True)
class Interval:
    """A condition on a number: above ``low`` and at most ``high``.

    Attributes
    ----------
    feature : int
        The position of the feature in a row.
    name : str
        The name of the feature.
    low, high : float
        The end points; infinite if there is none.
    missing : bool
        Whether a missing value satisfies the condition too.
    """

    feature: int
    name: str
    low: float
    high: float
    missing: bool

    def holds(self, value: Any) -> bool:
        """Return whether a value of the feature satisfies the condition.

        Parameters
        ----------
        value : object
            The value; None and NaN are missing.

        Returns
        -------
        bool
            True if the condition holds.
        """
        if _is_missing(value):
            return self.missing
        is_above = self.low == -math.inf or float(value) > self.low
        return is_above and float(value) <= self.high

    def words(self, show_missing: bool = False) -> str:
        """Return the condition in words.

        Parameters
        ----------
        show_missing : bool, default=False
            Whether to say if missing values satisfy the condition.

        Returns
        -------
        str
            The condition.
        """
        return interval_words(
            plain(self.name), self.low, self.high, self.missing, show_missing=show_missing
        )

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True)
class InSet:
    """A condition on a category: one of a set.

    Attributes
    ----------
    feature : int
        The position of the feature in a row.
    name : str
        The name of the feature.
    categories : tuple
        The categories that satisfy the condition.
    others : tuple
        All other categories seen in fit.
    missing : bool
        Whether a missing value, or a category not seen in fit, satisfies the condition too.
    """

    feature: int
    name: str
    categories: tuple[Any, ...]
    others: tuple[Any, ...]
    missing: bool

    def holds(self, value: Any) -> bool:
        """Return whether a value of the feature satisfies the condition.

        Parameters
        ----------
        value : object
            The value; None and NaN are missing.

        Returns
        -------
        bool
            True if the condition holds.
        """
        if _is_missing(value) or value not in self.categories + self.others:
            return self.missing
        return value in self.categories

    def words(self, show_missing: bool = False) -> str:
        """Return the condition in words.

        Parameters
        ----------
        show_missing : bool, default=False
            Whether to say if missing values satisfy the condition.

        Returns
        -------
        str
            The condition.
        """
        return set_words(
            plain(self.name), self.categories, self.others, self.missing, show_missing=show_missing
        )

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True)
class Rule:
    """The conditions under which a row reaches a leaf, and the prediction there.

    Attributes
    ----------
    conditions : tuple of Interval and InSet
        One per feature, in the order in which the tree first tests it.
    prediction : label or float, or a tuple of them
        The prediction for such rows; a tuple for several outputs.
    n_rows : int
        The number of training rows that reach the leaf.
    share : float
        These as a proportion of all rows.
    class_shares : tuple of float, or a tuple of them
        The weighted class proportions in the leaf; empty for regression.
    leaf : int
        The number of the leaf in ``tree_``.
    """

    conditions: tuple[Interval | InSet, ...]
    prediction: Any
    n_rows: int
    share: float
    class_shares: tuple[Any, ...]
    leaf: int

    def holds(self, row: Sequence[Any] | Mapping[str, Any]) -> bool:
        """Return whether a row satisfies all conditions.

        Parameters
        ----------
        row : sequence or mapping
            The values in the order of the features, or by name.

        Returns
        -------
        bool
            True if all conditions hold.
        """
        if isinstance(row, Mapping):
            return all(each.holds(row[each.name]) for each in self.conditions)
        return all(each.holds(row[each.feature]) for each in self.conditions)

    def words(self, show_missing: bool = False) -> str:
        """Return the rule as a sentence.

        Parameters
        ----------
        show_missing : bool, default=False
            Whether to say if missing values satisfy the conditions.

        Returns
        -------
        str
            The rule.
        """
        each = [condition.words(show_missing) for condition in self.conditions]
        if len(each) > 1:
            each = [f"({words})" if words.endswith(OR_MISSING) else words for words in each]
        conditions = " and ".join(each)
        start = f"if {conditions} then" if conditions else "always"
        rows = f"{self.n_rows} row{'' if self.n_rows == 1 else 's'}"
        if self.class_shares and not isinstance(self.class_shares[0], tuple):
            rows = f"{_percent(max(self.class_shares))} of {rows}"
        return f"{start} {_told(self.prediction)}: {rows} ({_percent(self.share)} of all)"

    def __str__(self) -> str:
        return self.words()


def export_rules(
    model: Any, *, feature_names: Any = None, sort_by_coverage: bool = False
) -> list[Rule]:
    """Return the leaves of a tree as rules; every row satisfies exactly one.

    The conditions on the path to a leaf are merged into one interval per number and one set per
    category.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        A fitted tree.
    feature_names : list of str, default=None
        The names of the features; by default the column names of fit, or feature_0, feature_1 and
        so on.
    sort_by_coverage : bool, default=False
        Whether to sort the rules by the number of rows, largest first; by default they are in the
        order of the leaves.

    Returns
    -------
    list of Rule
        One rule per leaf.
    """
    subject = subject_of(model, "export_rules", feature_names)
    check_options("export_rules", {"sort_by_coverage": (sort_by_coverage, FLAG)})
    rules = _rules(subject)
    return sorted(rules, key=lambda rule: -rule.n_rows) if sort_by_coverage else rules


@dataclass(frozen=True)
class _Range:
    """The values of a feature on a path: an interval, or a set of categories as bits."""

    low: float = -math.inf
    high: float = math.inf
    members: int = 0
    missing: bool = True


def _rules(subject: Subject) -> list[Rule]:
    """Return the rules in the order of the leaves, from left to right."""
    tree = subject.tree
    rules = []
    stack: list[tuple[int, dict[int, _Range]]] = [(0, {})]
    while stack:
        node, ranges = stack.pop()
        if tree.is_leaf[node]:
            rules.append(_rule(subject, node, ranges))
            continue
        feature = int(tree.feature[node])
        everything = _Range(members=(1 << len(subject.categories[feature])) - 1)
        left, right = _parts(subject, node, ranges.get(feature, everything))
        stack.append((int(tree.children_right[node]), {**ranges, feature: right}))
        stack.append((int(tree.children_left[node]), {**ranges, feature: left}))
    return rules


def _parts(subject: Subject, node: int, whole: _Range) -> tuple[_Range, _Range]:
    """Return what goes to the left and to the right of what comes to a split."""
    tree = subject.tree
    to_left = bool(tree.missing_go_to_left[node])
    missing = (whole.missing and to_left, whole.missing and not to_left)
    if tree.splits_by_categories(node):
        mask = subject.left_mask(node)
        return (
            _Range(members=whole.members & mask, missing=missing[0]),
            _Range(members=whole.members & ~mask, missing=missing[1]),
        )
    threshold = float(tree.threshold[node])
    return (
        _Range(whole.low, min(whole.high, threshold), missing=missing[0]),
        _Range(max(whole.low, threshold), whole.high, missing=missing[1]),
    )


def _rule(subject: Subject, leaf: int, ranges: dict[int, _Range]) -> Rule:
    """Return the rule of a leaf."""
    conditions = tuple(_condition(subject, feature, part) for feature, part in ranges.items())
    predictions = subject.predictions(leaf)
    shares = tuple(map(tuple, subject.shares(leaf)))
    rows = subject.tree.n_node_samples
    return Rule(
        conditions=conditions,
        prediction=predictions[0] if len(predictions) == 1 else tuple(predictions),
        n_rows=int(rows[leaf]),
        share=float(rows[leaf] / rows[0]),
        class_shares=shares[0] if len(shares) == 1 else shares,
        leaf=leaf,
    )


def _condition(subject: Subject, feature: int, part: _Range) -> Interval | InSet:
    """Return what must hold for one feature."""
    name = subject.name(feature)
    categories = subject.categories[feature]
    if not categories:
        return Interval(feature, name, part.low, part.high, part.missing)
    inside = tuple(value for k, value in enumerate(categories) if part.members >> k & 1)
    outside = tuple(value for k, value in enumerate(categories) if not part.members >> k & 1)
    return InSet(feature, name, inside, outside, part.missing)


def _percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{number(100 * share, 3)} %"


def _told(prediction: Any) -> str:
    """Return a prediction as text."""
    if isinstance(prediction, tuple):
        return f"({', '.join(map(_told, prediction))})"
    return number(prediction) if isinstance(prediction, float) else plain(prediction)
