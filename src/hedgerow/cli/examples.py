"""The tables that come with scikit-learn, as if they had been read from a file."""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from hedgerow.data.io import Table

__all__ = ["example_table"]

_TARGETS = {
    "breast_cancer": "diagnosis",
    "digits": "digit",
    "iris": "species",
    "wine": "cultivar",
}


def example_table(name: str) -> Table:
    """Return an example by its name."""
    bunch = getattr(datasets, f"load_{name}")()
    columns = dict(zip(bunch.feature_names, np.asarray(bunch.data, np.float64).T, strict=True))
    note = "An example that comes with scikit-learn."
    return Table(columns, bunch.target_names[bunch.target], _TARGETS[name], (note,))
