"""Every linear machine, from every container, is the optimum that a general conic solver finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from hedgerow import LinearSVC
from tests.machines import INTERCEPTS, KINDS, fitted, plane_of
from tests.reference import conic
from tests.reference.small_tables import SCALING, TABLES, long_indices

TOL = 1e-6
BELOW = 1e-9
"""The judge's accuracy."""
NU = 0.4
NAMES = [f"column {j}" for j in range(30)]
CONTAINERS = {
    "C order": lambda X: X,
    "Fortran order": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lists": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "float32 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float32)),
    "csr_matrix": sp.csr_matrix,
    "csr_array of float32 with 64-bit indices": lambda X: long_indices(
        sp.csr_array(X.astype(np.float32))
    ),
    "csc_array": sp.csc_array,
    "coo_matrix": sp.coo_matrix,
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES[: X.shape[1]]),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES[: X.shape[1]]),
}


@cache
def judged(estimator, loss, penalty, intercept, table):
    """A machine on a table, and its optimum."""
    machine = TABLES[table].machine(loss, intercept, penalty)
    if estimator == "LinearOneClassSVM":
        machine = TABLES[table].one_class(NU, intercept, shift=1.0)
    return machine, conic.solve(machine)


def check(machine, best, plane, what):
    value, scale = machine.objective(*plane), machine.scale(best.objective)
    assert best.bound - BELOW * scale <= value <= best.objective + TOL * scale, what


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_every_machine_is_the_optimum_from_every_container(kind, intercept):
    for table, container in product(("tall", "wide", "sparse, one row empty"), CONTAINERS):
        machine, best = judged(*kind, intercept, table)
        model = fitted(kind[0], machine, CONTAINERS[container](machine.X), tol=TOL)
        assert model.certificate_.is_certified, (container, table)
        check(machine, best, plane_of(model), (container, table))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_every_machine_is_the_optimum_of_every_table(kind, table):
    for intercept in INTERCEPTS:
        machine, best = judged(*kind, intercept, table)
        check(machine, best, plane_of(fitted(kind[0], machine, tol=TOL)), intercept)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    ("loss", "penalty"), [kind[1:] for kind in KINDS if kind[0] == "LinearSVC"]
)
def test_each_plane_of_several_classes_is_the_optimum_against_the_rest(loss, penalty, intercept):
    table = TABLES["weighted, some rows not at all"]
    labels = np.digitize(table.numbers, np.quantile(table.numbers, [0.3, 0.7]))
    how = {"loss": loss, "penalty": penalty, "tol": TOL, "intercept_scaling": SCALING}
    how |= {"fit_intercept": False} if intercept == "none" else {"intercept": intercept}
    model = LinearSVC(**how).fit(table.X, labels, sample_weight=table.weight)
    for k in range(3):
        against = table.machine(loss, intercept, penalty)
        machine = replace(against, y=np.where(labels == k, 1.0, -1.0))
        plane = model.coef_[k], float(model.intercept_[k])
        check(machine, conic.solve(machine), plane, f"class {k}")
