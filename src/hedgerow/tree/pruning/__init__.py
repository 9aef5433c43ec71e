"""Pruning of fitted trees: by significance, by errors on other rows, by cost and complexity."""

from hedgerow.tree.pruning._choose_alpha import ValidatedPath, cross_validated_path
from hedgerow.tree.pruning._cut import cut
from hedgerow.tree.pruning._prune import Pruning, prune
from hedgerow.tree.pruning.cost_complexity import (
    PruningPath,
    cost_complexity_path,
    prune_cost_complexity,
)
from hedgerow.tree.pruning.equal_leaves import merge_equal_leaves
from hedgerow.tree.pruning.significance import split_p_values

__all__ = [
    "Pruning",
    "PruningPath",
    "ValidatedPath",
    "cost_complexity_path",
    "cross_validated_path",
    "cut",
    "merge_equal_leaves",
    "prune",
    "prune_cost_complexity",
    "split_p_values",
]
