"""Many learners that answer together."""

from hedgerow.ensemble.forest.balanced_forest import BalancedRandomForestClassifier
from hedgerow.ensemble.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from hedgerow.ensemble.forest.random_forest import RandomForestClassifier, RandomForestRegressor
from hedgerow.ensemble.forest.tuning import OobTuning, TriedForest, tune_by_oob
from hedgerow.ensemble.importance.record import Importances
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.ensemble.select import SelectFromForest

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
