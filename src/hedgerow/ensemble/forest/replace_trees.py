"""The trees of a forest as a list, and other trees in their place.

They may be some of the forest's own, or come from forests with the same columns, classes and outputs.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence
from dataclasses import replace
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow.data.rows import some
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.forest.leaf_targets import LeafTargets
from hedgerow.ensemble.forest.tree_estimators import TreeOrigin
from hedgerow.ensemble.importance.impurity import ForestImportances, importances_of
from hedgerow.ensemble.packed_trees import PackedTrees
from hedgerow.ensemble.sampling import RowSampler
from hedgerow.errors import DataError, DataTypeError
from hedgerow.tree.pruning._cut import cut
from hedgerow.tree.tree import Tree

__all__ = ["Members", "replace_trees"]

Indices: TypeAlias = NDArray[np.int64]


class Members(MutableSequence[Any]):
    """The fitted trees of a forest, each unpacked when it is asked for and not kept.

    It behaves as a list. A change of it changes the forest, in which all trees are packed anew: many
    trees are better added by ``extend`` or ``+=`` than one by one.
    """

    def __init__(self, forest: Any) -> None:
        self.forest = forest

    def __len__(self) -> int:
        return len(self.forest.trees_)

    @overload
    def __getitem__(self, number: int) -> Any: ...
    @overload
    def __getitem__(self, number: slice) -> list[Any]: ...
    def __getitem__(self, number: int | slice) -> Any:
        """Return a tree, or a list of trees."""
        # A range knows negative numbers, slices and their limits.
        found, member = range(len(self))[number], self.forest._member
        return member(found) if isinstance(found, int) else list(map(member, found))

    def __setitem__(self, number: Any, value: Any) -> None:
        """Put a tree in the place of another, or trees in the place of a slice."""
        trees = list(self)
        trees[number] = value
        replace_trees(self.forest, trees)

    def __delitem__(self, number: int | slice) -> None:
        """Take a tree, or a slice of them, out of the forest."""
        trees = list(self)
        del trees[number]
        replace_trees(self.forest, trees)

    def insert(self, index: int, value: Any) -> None:
        """Add a tree before the one of that number."""
        self[index:index] = [value]

    def extend(self, values: Iterable[Any]) -> None:
        """Add trees at the end, all at once."""
        self[len(self) :] = list(values)

    def reverse(self) -> None:
        """Turn the order of the trees around."""
        self[:] = self[::-1]

    def clear(self) -> None:
        """Refuse: a forest needs a tree."""
        del self[:]

    def copy(self) -> list[Any]:
        """Return the trees as a list of its own."""
        return list(self)

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]

    def __repr__(self) -> str:
        return f"<{len(self)} trees, each made when it is asked for>"


def replace_trees(forest: Any, trees: list[Any]) -> None:
    """Let a forest consist of these fitted trees.

    What is known of the trees stays known. Samples of rows do if all are of one fit. Out-of-bag figures
    are those of the trees before, and are forgotten.
    """
    _check(forest, trees)
    origins = [_origin_of(tree) for tree in trees]
    fitted = {
        "trees_": _packed(forest, [tree.tree_ for tree in trees], origins),
        "tree_importances_": ForestImportances.of(
            [origin.importances for origin in origins], forest.n_features_in_
        ),
        "sampler_": _sampler(origins),
        "leaf_targets_": _leaf_targets(forest, origins),
        "oob_": None,
    }
    for name, value in fitted.items():
        vars(forest).pop(name, None)
        if value is not None:
            setattr(forest, name, value)


def _check(forest: Any, trees: list[Any]) -> None:
    """Refuse trees that cannot answer together as this forest."""
    kind = type(forest).__name__
    if not trees:
        msg = f"estimators_ cannot be empty: a {kind} needs a tree to predict with; leave one"
        raise DataError(msg)
    for place, tree in enumerate(trees):
        if not isinstance(tree, forest._tree_class()):
            msg = (
                f"estimators_[{place}] is a {type(tree).__module__.partition('.')[0]} "
                f"{type(tree).__name__}, and a {kind} consists of Hedgerow's "
                f"{forest._tree_class().__name__}; give such trees"
            )
            raise DataTypeError(msg)
        check_fitted(tree)
        reason = _difference(forest, tree)
        if reason is not None:
            msg = f"estimators_[{place}] was fitted to {reason}; give trees that were fitted to the same ones"
            raise DataError(msg)


def _difference(forest: Any, tree: Any) -> str | None:
    """Return in what the data of a tree's fit differ from those of the forest's; None if in nothing."""
    if tree.n_features_in_ != forest.n_features_in_:
        return f"{tree.n_features_in_} features and the forest to {forest.n_features_in_}"
    names, known = (getattr(each, "feature_names_in_", None) for each in (tree, forest))
    if names is not None and known is not None and not np.array_equal(names, known):
        return f"the columns {some(names.tolist())} and the forest to {some(known.tolist())}"
    if fingerprint(tree.category_columns_) != fingerprint(forest.category_columns_):
        return "other categories than the forest"
    if tree.n_outputs_ != forest.n_outputs_:
        return f"{tree.n_outputs_} outputs and the forest to {forest.n_outputs_}"
    classes = tree._classes if forest._known_classes() else ()
    for found, labels in zip(classes, forest._known_classes(), strict=True):
        if not np.array_equal(found, labels):
            return f"the classes {some(found.tolist())} and the forest to {some(labels.tolist())}"
    return None


def _origin_of(tree: Any) -> TreeOrigin:
    """Return what is known of a tree besides its nodes; one that was grown alone has no sample."""
    known: TreeOrigin | None = vars(tree).get("_origin")
    return TreeOrigin(importances_of(tree.tree_), is_single=False) if known is None else known


def _packed(forest: Any, trees: list[Tree], origins: list[TreeOrigin]) -> PackedTrees:
    """Return the trees, packed."""
    packed = forest.trees_
    n_classes = forest._n_classes() * (len(forest._known_classes()) > 0)
    core = _core.tree.ForestTrees(
        packed.n_features,
        packed.n_outputs,
        n_classes.astype(np.int32),
        forest.category_columns_.n_categories,
        all(origin.is_single for origin in origins),
    )
    for tree in trees:
        # A packed tree brings the sets of categories of all trees: cutting nothing off leaves its own.
        own = cut(tree, []) if len(tree.category_words) else tree
        core.add_arrays(
            own.feature,
            own.threshold,
            own.children_left,
            own.children_right,
            own.missing_go_to_left,
            own.weighted_n_node_samples,
            own.value,
            own.category_start,
            own.category_words,
        )
    return PackedTrees.of(core)


def _sampler(origins: list[TreeOrigin]) -> RowSampler | None:
    """Return what draws the samples of all trees, if one sampler drew them all."""
    samplers = [origin.sampler for origin in origins]
    known = {id(each): each for each in samplers if each is not None}
    whole = {key: each.for_members(()) for key, each in known.items()}
    if None in samplers or len({fingerprint(each) for each in whole.values()}) > 1:
        return None
    numbers = [origin.sampler.number_of(origin.place) for origin in origins if origin.sampler]
    return next(iter(whole.values())).for_members(numbers)


def _leaf_targets(forest: Any, origins: list[TreeOrigin]) -> LeafTargets | None:
    """Return the targets of all leaves, if they were kept for every tree."""
    found = [
        (origin.leaf_targets.of_tree(origin.place), origin.leaf_targets.values)
        for origin in origins
        if origin.leaf_targets is not None
    ]
    if len(found) < len(origins):
        return None
    distinct = {id(values): values for _, values in found}
    values = np.unique(np.concatenate(list(distinct.values())))
    places = {key: np.searchsorted(values, each) for key, each in distinct.items()}
    trees = [
        replace(targets, ranks=places[id(of_tree)][targets.ranks].astype(np.int32))
        for targets, of_tree in found
    ]
    return LeafTargets.of(trees, values, forest.n_outputs_)
