"""Groups of features that are evaluated as one, as a user gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._base.parameters import is_whole
from hedgerow.data.rows import some
from hedgerow.errors import ParameterError

__all__ = ["FeatureGroups", "feature_names", "group_matrix", "read_feature_groups"]

Indices: TypeAlias = NDArray[np.int64]

_EXPECTED = "a dictionary of names and lists of features, or a list of lists of features"


@dataclass(frozen=True, eq=False)
class FeatureGroups:
    """Features, each in one block; most blocks are of one feature.

    Attributes
    ----------
    names : list of str
        One a block.
    members : list of tuple of int
        The features of each block.
    n_features : int
        How many features there are.
    """

    names: list[str]
    members: list[tuple[int, ...]]
    n_features: int

    @property
    def are_features(self) -> bool:
        """Whether the blocks are the features, in their order."""
        return self.members == [(j,) for j in range(self.n_features)]

    def hold(self, features: tuple[int, ...]) -> bool:
        """Return whether one block has all of some features."""
        return any(set(features) <= set(block) for block in self.members if len(block) > 1)


def feature_names(forest: Any) -> list[str]:
    """Return the names of a forest's features; ``x0``, ``x1`` ... if they have none."""
    names = getattr(forest, "feature_names_in_", None)
    return [f"x{j}" for j in range(forest.n_features_in_)] if names is None else list(names)


def group_matrix(members: Sequence[tuple[int, ...]], n_features: int) -> sp.csr_array:
    """Return the table of shape (n_features, n_blocks) that has a 1 for every member."""
    features = np.array([j for block in members for j in block], dtype=np.int64)
    blocks = np.repeat(np.arange(len(members)), [len(block) for block in members])
    ones = np.ones(len(features))
    return sp.coo_array((ones, (features, blocks)), shape=(n_features, len(members))).tocsr()


def read_feature_groups(groups: Any, names: list[str]) -> FeatureGroups:
    """Return the groups that are meant, in their order, and then every other feature by itself."""
    given = _given(groups)
    places = {name: j for j, name in enumerate(names)}
    found = [tuple(_place(item, places) for item in items) for _, items in given]
    _refuse_overlap(found, names)
    grouped = {j for block in found for j in block}
    alone = [j for j in range(len(names)) if j not in grouped]
    labels = [
        " + ".join(names[j] for j in block) if label is None else label
        for (label, _), block in zip(given, found, strict=True)
    ]
    labels += [names[j] for j in alone]
    twice = [label for label in labels[: len(found)] if labels.count(label) > 1]
    if twice:
        msg = f"groups has the name {twice[0]!r}, which is also that of another group or feature; rename it"
        raise ParameterError(msg)
    return FeatureGroups(labels, [*found, *((j,) for j in alone)], len(names))


def _given(groups: Any) -> list[tuple[str | None, list[Any]]]:
    """Return the name of each group, if it has one, and what was said to be in it."""
    if groups is None:
        return []
    pairs: list[tuple[Any, Any]]
    if isinstance(groups, Mapping):
        pairs = [(str(name), items) for name, items in groups.items()]
    elif isinstance(groups, str) or not isinstance(groups, Sequence):
        pairs = [(None, None)]
    else:
        pairs = [(None, items) for items in groups]
    for _, items in pairs:
        if isinstance(items, str) or not hasattr(items, "__len__") or not len(items):
            msg = f"groups={groups!r} is not understood; give {_EXPECTED}, none of them empty"
            raise ParameterError(msg)
    return [(name, list(items)) for name, items in pairs]


def _place(item: Any, places: dict[str, int]) -> int:
    """Return the number of a feature that was named or numbered."""
    if isinstance(item, str) and item in places:
        return places[item]
    if is_whole(item) and 0 <= item < len(places):
        return int(item)
    msg = f"groups holds {item!r}, which is no feature; there are {some(list(places))}, or 0 to {len(places) - 1}"
    raise ParameterError(msg)


def _refuse_overlap(found: list[tuple[int, ...]], names: list[str]) -> None:
    """Refuse a feature that is named twice."""
    times = np.bincount(np.array([j for block in found for j in block], dtype=np.int64))
    if (times > 1).any():
        name = names[int(np.argmax(times > 1))]
        msg = f"groups holds the feature {name!r} twice; leave it in one group, once"
        raise ParameterError(msg)
