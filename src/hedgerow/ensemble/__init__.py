"""Many learners that answer together."""

from hedgerow.ensemble.balanced_forest import BalancedRandomForestClassifier
from hedgerow.ensemble.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.ensemble.importance import Importances
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.ensemble.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.ensemble.select import SelectFromForest
from hedgerow.ensemble.tuning import OobTuning, TriedForest, tune_by_oob

__all__ = [
    "BalancedRandomForestClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Importances",
    "OobTuning",
    "OutOfBag",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SelectFromForest",
    "TriedForest",
    "tune_by_oob",
]
