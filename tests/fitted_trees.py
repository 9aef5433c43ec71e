"""Tables that trees are fitted to, and how two fitted trees are compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes, load_iris

from hedgerow import DecisionTreeClassifier, DecisionTreeRegressor, Tree

IRIS, SPECIES = load_iris(return_X_y=True)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
TREES = [DecisionTreeClassifier, DecisionTreeRegressor]


def table(n=200, seed=0):
    """Return a frame with a category that decides, missing values, and its classes."""
    random = np.random.default_rng(seed)
    kinds = np.array(["ash", "elm", "fir", "oak"])[random.integers(4, size=n)]
    size = np.where(random.random(n) < 0.2, np.nan, random.normal(size=n))
    y = np.where(np.isin(kinds, ["ash", "oak"]), "broad", "thin")
    return pd.DataFrame({"size": size, "kind": kinds}), y


def arrays_of(tree):
    """Return all that a tree holds, for comparison."""
    return {name: getattr(tree, name) for name in Tree.__dataclass_fields__}


def assert_same(a, b):
    for (name, one), other in zip(arrays_of(a).items(), arrays_of(b).values(), strict=True):
        assert_array_equal(one, other, err_msg=name)
