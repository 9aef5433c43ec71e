"""Many learners that answer together."""

from hedgerow.ensemble.balanced_forest import BalancedRandomForestClassifier
from hedgerow.ensemble.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.ensemble.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.ensemble.tuning import OobTuning, TriedForest, tune_by_oob

__all__ = [
    "BalancedRandomForestClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "OobTuning",
    "OutOfBag",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "TriedForest",
    "tune_by_oob",
]
