"""The computation of feature importances of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hedgerow import _core
from hedgerow._base.parameters import (
    Rule,
    any_of,
    check_seed,
    none,
    one_of,
    real_number,
    whole_number,
)
from hedgerow._engine import check_n_threads
from hedgerow.data.rows import Rows, some
from hedgerow.data.training_data import check_fitted
from hedgerow.ensemble.importance.by_tree import MeasureByTree, measure_trees
from hedgerow.ensemble.importance.correlation import (
    MOST_FEATURES,
    CorrelatedFeatures,
    correlated_features,
)
from hedgerow.ensemble.importance.debiased_impurity import DebiasedImpurity
from hedgerow.ensemble.importance.feature_groups import (
    FeatureGroups,
    feature_names,
    group_matrix,
    read_feature_groups,
)
from hedgerow.ensemble.importance.permutation import PermutationImportance
from hedgerow.ensemble.importance.record import KINDS, OUT_OF_BAG, Importances
from hedgerow.ensemble.importance.training_rows import TrainingRows, read_training_rows
from hedgerow.ensemble.out_of_bag import Metric
from hedgerow.errors import DataError, ParameterError, StoppedError
from hedgerow.monitor import current, monitored

__all__ = ["ImportanceRequest", "importances_of_forest"]

Members: TypeAlias = Sequence[tuple[int, ...]]


def _metric(value: Any) -> str | None:
    """Check the value of ``metric``."""
    fine = value is None or isinstance(value, str) or callable(value)
    return None if fine else "None, the name of a scorer, or a function of y and predictions"


_RULES: dict[str, Rule] = {
    "kind": one_of(*KINDS),
    "n_repeats": whole_number(1),
    "metric": _metric,
    "correlation": any_of(none, real_number(0, 1, open_low=True)),
}


@monitored("importances")
def importances_of_forest(
    forest: Any, kind: str, X: Any, y: Any, sample_weight: Any, *, groups: Any, **options: Any
) -> Importances:
    """Return the result of ``Forest.importances``."""
    check_fitted(forest)
    question = ImportanceRequest.read(forest, kind, X, y, sample_weight, **options)
    blocks = read_feature_groups(groups, question.names)
    by_tree = question.by_tree(blocks.members, are_features=blocks.are_features)
    if not by_tree.table.shape[0]:
        msg = (
            f"the importances had to stop ({current().reason}) before the first tree was measured; "
            "give them more time, or take kind='impurity', which takes none"
        )
        raise StoppedError(msg)
    return question.record(by_tree, blocks)


@dataclass(frozen=True, eq=False)
class ImportanceRequest:
    """A checked request for importances, with the rows of the forest."""

    forest: Any
    kind: str
    rows: Rows | None
    seen: TrainingRows | None
    n_repeats: int = 1
    metric: Metric | None = None
    seed: int = 0
    correlation: float | None = 0.9

    @staticmethod
    def read(
        forest: Any, kind: str, X: Any, y: Any, sample_weight: Any, **options: Any
    ) -> ImportanceRequest:
        """Return the request; refuse invalid arguments."""
        for name, value in {"kind": kind, **options}.items():
            expected = _RULES[name](value) if name in _RULES else None
            if expected is not None:
                msg = f"{name}={value!r} is not allowed in importances: it must be {expected}"
                raise ParameterError(msg)
        for name, usual in (("metric", None), ("n_repeats", 1)):
            if kind != "permutation" and options.get(name, usual) != usual:
                msg = f"{name} is for kind='permutation', and kind is {kind!r}; leave it out"
                raise ParameterError(msg)
        if "random_state" in options:
            seeded = kind == "permutation"
            random_state = options.pop("random_state")
            options["seed"] = check_seed(random_state) if seeded else 0
        if kind in OUT_OF_BAG:
            seen = TrainingRows.of(forest, kind, X, y, sample_weight)
            return ImportanceRequest(forest, kind, seen.rows, seen, **options)
        rows = None if X is None else read_training_rows(forest, X)
        return ImportanceRequest(forest, kind, rows, None, **options)

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return feature_names(self.forest)

    @cached_property
    def correlated(self) -> list[CorrelatedFeatures]:
        """The groups of features that share their importance; none if there is no asking, or no time."""
        if self.rows is None or self.correlation is None or self._is_too_wide:
            return []
        n_categories = self.forest.category_columns_.n_categories
        try:
            return correlated_features(self.rows, n_categories, float(self.correlation))
        except _core.system.Stopped:
            return []

    def by_tree(self, members: Members, *, are_features: bool) -> MeasureByTree:
        """Return the measure of blocks of features, which may overlap, tree by tree.

        Fewer trees than there are, if the task had to stop.
        """
        n_features = self.forest.n_features_in_
        n_trees, n_threads = len(self.forest.trees_), check_n_threads(self.forest.n_jobs)
        table = group_matrix(members, n_features)
        if self.kind == "permutation":
            assert self.seen is not None
            task = PermutationImportance(self.seen, table, self.n_repeats, self.metric, self.seed)
            trees = measure_trees(task, n_trees, n_threads)
            return _judged(MeasureByTree.of(trees, len(members)), self.seen.targets.n_rows)
        if self.kind == "impurity_debiased":
            assert self.seen is not None
            trees = measure_trees(DebiasedImpurity(self.seen), n_trees, n_threads)
            found = _judged(MeasureByTree.of(trees, n_features), self.seen.targets.n_rows)
        else:
            found = self._read_off()
        return found if are_features else found.added_up(table)

    def record(self, by_tree: MeasureByTree, blocks: FeatureGroups) -> Importances:
        """Return the record of the measure, with its note."""
        names = self.names
        shared = [group for group in self.correlated if not blocks.hold(group.features)]
        notes = [self._unfinished(by_tree), self._shared(shared), self._unknown()]
        return Importances(
            kind=self.kind,
            names=np.array(blocks.names, dtype=object),
            values=by_tree.mean,
            spread=by_tree.spread,
            n_trees=by_tree.n_counted,
            by_tree=by_tree.scaled,
            correlated=tuple(tuple(names[j] for j in group.features) for group in shared),
            note=" ".join(note for note in notes if note) or None,
        )

    def _read_off(self) -> MeasureByTree:
        """Return a measure that was kept of each tree when it was grown."""
        kept = self.forest.tree_importances_
        table = kept.by_tree(self.kind)
        found = MeasureByTree(table, np.diff(table.indptr) > 0)
        total = float(found.mean.sum())
        is_share = self.kind != "occurrences" and total > 0
        return MeasureByTree(table, found.is_counted, total) if is_share else found

    @property
    def _is_too_wide(self) -> bool:
        return bool(self.forest.n_features_in_ > MOST_FEATURES)

    # -------------------------------------------------------------------------------------- notes

    def _unfinished(self, by_tree: MeasureByTree) -> str | None:
        n_measured, n_trees = by_tree.table.shape[0], len(self.forest.trees_)
        if n_measured == n_trees:
            return None
        return f"Only the first {n_measured} of {n_trees} trees were measured, as the task had to stop."

    def _shared(self, shared: list[CorrelatedFeatures]) -> str | None:
        """Return the note on features that share their importance."""
        if not shared:
            return None
        first = shared[0]
        named = [self.names[j] for j in first.features]
        listed = some(named) if len(named) > 2 else f"{named[0]!r} and {named[1]!r}"
        more = len(shared) - 1
        others = f" (as do {more} more group{'s'[: more > 1]}, see correlated)" if more else ""
        remedy = "permute" if self.kind == "permutation" else "measure"
        groups = repr([named]) if len(shared) == 1 and len(named) <= 5 else "found.correlated"
        return (
            f"{listed} are correlated (|rho| {first.least:.2f}) and share their importance{others}; "
            f"{remedy} them as one by groups={groups}, or keep one of each by "
            "SelectFromForest(one_of_each=True)."
        )

    def _unknown(self) -> str | None:
        if self.rows is None or self.correlation is None or not self._is_too_wide:
            return None
        return (
            f"Whether features are correlated was not looked at, as there are {self.forest.n_features_in_} "
            f"and {MOST_FEATURES} is the most."
        )


def _judged(by_tree: MeasureByTree, n_rows: int) -> MeasureByTree:
    """Return the measure, unless no tree has an out-of-bag row."""
    if by_tree.table.shape[0] and not by_tree.n_counted:
        msg = (
            f"no row was left out of any tree's sample (n_samples={n_rows}); grow more trees, or fit to "
            "more rows"
        )
        raise DataError(msg)
    return by_tree
