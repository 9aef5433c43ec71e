"""Forests for rare classes: every tree sees as many rows of each class.

C. Chen, A. Liaw, L. Breiman, "Using random forest to learn imbalanced data", report 666, Berkeley, 2004.
"""

from __future__ import annotations

import copy
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from hedgerow._base.parameters import is_whole, true_or_false
from hedgerow._base.state import stateful
from hedgerow.ensemble.class_balance import n_units, read_draws, strategy_rule
from hedgerow.ensemble.forest.classification import (
    FITTED_FOREST_CLASSIFIER_RULES,
    FOREST_CLASSIFIER_RULES,
    ForestClassifierBase,
)
from hedgerow.ensemble.sampling import RowSampler, class_sampler, n_of
from hedgerow.errors import DataError, warn_user
from hedgerow.tree._training import ClassTargets

__all__ = ["BalancedRandomForestClassifier"]


_RULES = {
    **FOREST_CLASSIFIER_RULES,
    "sampling_strategy": strategy_rule,
    "replacement": true_or_false,
}


@stateful(_RULES, **FITTED_FOREST_CLASSIFIER_RULES)
class BalancedRandomForestClassifier(ForestClassifierBase):
    """A random forest for classes of very different sizes.

    The sample of each tree is a bootstrap of the smallest class and as many rows of every other one.
    Rows that were not drawn are out of the bag, whatever their class, so that out-of-bag errors are
    honest; shares are those of a world in which all classes are equally frequent.

    Parameters
    ----------
    bootstrap : bool, default=False
        Whether a bootstrap is drawn of the rows that ``sampling_strategy`` has picked, as in
        imbalanced-learn; the sample is a bootstrap of the smallest class without it.
    sampling_strategy : str, float, dict or callable, default="all"
        From which classes as many rows are drawn as the smallest one has: "all"; "not minority" or
        "auto", which take the smallest class as it is; "majority" or "not majority", which take the
        other classes as they are. Or how many rows of which class: a dictionary, or a function of y that
        returns one. Or, of two classes, the size of the smaller one over that of the larger one.
    replacement : bool, default=True
        Whether rows are drawn with replacement. If not, a class of which all rows would be drawn, as the
        smallest one with "all", is drawn with replacement all the same: else none would be left out.
    max_samples : int, float or None, default=None
        How many rows the bootstrap draws; for ``bootstrap=True`` only.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        As in :class:`DecisionTreeClassifier`; a float is a share of the rows of a tree.
    n_estimators, criterion, max_depth, min_weight_fraction_leaf, max_features, max_leaf_nodes, \
min_impurity_decrease, oob_score, n_jobs, random_state, verbose, warm_start, class_weight, \
ccp_alpha, monotonic_cst, splitter, categorical_features, voting, stop_when_flat, max_time
        As in :class:`RandomForestClassifier`.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, categories_, estimators_, \
estimators_samples_, feature_importances_, oob_, oob_score_, oob_decision_function_, max_features_, \
status_
        As in :class:`RandomForestClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from hedgerow import BalancedRandomForestClassifier
    >>> X, y = make_classification(1000, weights=[0.98], random_state=0)
    >>> forest = BalancedRandomForestClassifier(random_state=0).fit(X, y)
    >>> np.bincount(y), np.bincount(y[forest.estimators_samples_[0]])
    (array([976,  24]), array([24, 24]))
    """

    _rules = _RULES
    _sklearn_name = "RandomForestClassifier"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        sampling_strategy: Any = "all",
        replacement: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "best",
        categorical_features: Any = "from_dtype",
        voting: str = "soft",
        stop_when_flat: Any = None,
        max_time: float | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.sampling_strategy = sampling_strategy
        self.replacement = replacement
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.voting = voting
        self.stop_when_flat = stop_when_flat
        self.max_time = max_time

    def _targets(self, y: Any, sample_weight: Any, n_rows: int) -> ClassTargets:
        """Return what is to be learnt, one class a row."""
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            msg = "A column-vector y was passed when a 1d array was expected; give y.ravel()"
            warn_user(msg, DataConversionWarning)
        return super()._targets(y, sample_weight, n_rows)

    def _sampler(
        self, targets: ClassTargets, groups: NDArray[np.int64] | None, seed: int
    ) -> RowSampler:
        """Return what draws as many rows of each class."""
        if targets.n_outputs > 1:
            msg = (
                f"BalancedRandomForestClassifier draws rows by their class, and y has {targets.n_outputs} "
                "outputs; fit a forest for each, or take RandomForestClassifier with class_weight='balanced'"
            )
            raise DataError(msg)
        codes = targets.codes[:, 0].astype(np.int64)
        weights = np.ones(len(codes)) if targets.weights is None else targets.weights
        sizes = n_units(codes, weights > 0, groups, len(targets.classes[0]))
        draws = read_draws(self, targets.classes[0], sizes, codes)
        n_drawn = sum(n for n, _ in draws)
        n_redrawn = n_of(self.max_samples, n_drawn) if self.bootstrap else 0
        return class_sampler(
            seed, codes, weights, groups, draws=draws, n_redrawn=min(n_redrawn, n_drawn)
        )

    def _in_rows(self, sampler: RowSampler) -> Any:
        """Return the parameters of a tree, shares of rows as numbers: they are of its few rows."""
        n_rows = sampler.n_redrawn or int(sampler.n_draws.sum())
        of_tree = copy.copy(self)
        for name in ("min_samples_leaf", "min_samples_split"):
            value = getattr(self, name)
            if not is_whole(value):
                setattr(of_tree, name, ceil(value * n_rows))
        return of_tree

    def __sklearn_tags__(self) -> Any:
        """Say what targets are welcome."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        tags.classifier_tags.multi_label = False
        return tags
