"""Extremely randomised trees: every split is at a random value, the best of a few features.

P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.
"""

from __future__ import annotations

from typing import Any

from hedgerow._base.state import stateful
from hedgerow.ensemble.forest.classification import (
    FITTED_FOREST_CLASSIFIER_RULES,
    FOREST_CLASSIFIER_RULES,
    ForestClassifierBase,
)
from hedgerow.ensemble.forest.regression import (
    FITTED_FOREST_REGRESSOR_RULES,
    FOREST_REGRESSOR_RULES,
    ForestRegressorBase,
)

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor"]


@stateful(FOREST_CLASSIFIER_RULES, **FITTED_FOREST_CLASSIFIER_RULES)
class ExtraTreesClassifier(ForestClassifierBase):
    """Many trees for classes whose splits are at random values.

    Of a few features, each split at one value drawn between its least and its largest in the node, the
    best is taken. By default every tree has all rows.

    Parameters
    ----------
    bootstrap : bool, default=False
        Whether each tree has a bootstrap of the rows.
    splitter : {"best", "random", "mean", "median"}, default="random"
        How a feature is split.
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, max_features, max_leaf_nodes, min_impurity_decrease, oob_score, n_jobs, \
random_state, verbose, warm_start, class_weight, ccp_alpha, max_samples, monotonic_cst, \
categorical_features, voting, stop_when_flat, max_time
        As in :class:`RandomForestClassifier`.

    Attributes
    ----------
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, categories_, estimators_, \
estimators_samples_, feature_importances_, oob_, oob_score_, oob_decision_function_, max_features_, \
status_
        As in :class:`RandomForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ExtraTreesClassifier
    >>> ExtraTreesClassifier(random_state=0).fit(*load_iris(return_X_y=True)).predict([[5.0, 3.5, 1.4, 0.2]])
    array([0])
    """

    _rules = FOREST_CLASSIFIER_RULES
    _sklearn_name = "ExtraTreesClassifier"

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
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "random",
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


@stateful(FOREST_REGRESSOR_RULES, **FITTED_FOREST_REGRESSOR_RULES)
class ExtraTreesRegressor(ForestRegressorBase):
    """Many trees for numbers whose splits are at random values.

    Parameters
    ----------
    bootstrap : bool, default=False
        Whether each tree has a bootstrap of the rows.
    splitter : {"best", "random", "mean", "median"}, default="random"
        How a feature is split.
    n_estimators, criterion, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, max_features, max_leaf_nodes, min_impurity_decrease, oob_score, n_jobs, \
random_state, verbose, warm_start, ccp_alpha, max_samples, monotonic_cst, categorical_features, \
stop_when_flat, keep_targets, max_time
        As in :class:`RandomForestRegressor`.

    Attributes
    ----------
    n_outputs_, n_features_in_, feature_names_in_, categories_, estimators_, estimators_samples_, \
feature_importances_, oob_, oob_score_, oob_prediction_, leaf_targets_, max_features_, status_
        As in :class:`RandomForestRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from hedgerow import ExtraTreesRegressor
    >>> X, y = make_friedman1(200, random_state=0)
    >>> bool(ExtraTreesRegressor(random_state=0).fit(X, y).score(X, y) > 0.99)
    True
    """

    _rules = FOREST_REGRESSOR_RULES
    _sklearn_name = "ExtraTreesRegressor"

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = False,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        splitter: str = "random",
        categorical_features: Any = "from_dtype",
        stop_when_flat: Any = None,
        keep_targets: bool | str = "auto",
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.splitter = splitter
        self.categorical_features = categorical_features
        self.stop_when_flat = stop_when_flat
        self.keep_targets = keep_targets
        self.max_time = max_time
