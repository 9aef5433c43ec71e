"""Small random samples for trees, of every awkward kind, and the core's trees grown on them.

Targets and weights are multiples of 1/8, so that sums are exact, or of 1/10, so that they are rounded.
Limits on weights are such that they are met or missed alike however weights are added up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hedgerow import _core
from tests.reference.tree_checks import check_tree
from tests.reference.trees import CLASSES, Sample, Settings

COLUMNS = ("two values", "few values", "many values", "infinities", "constant", "categories")
FINITE = tuple(kind for kind in COLUMNS if kind != "infinities")
EXACT_WEIGHTS = ("none", "ones", "whole", "fractions")
WEIGHTS = (*EXACT_WEIGHTS, "tenths")


def column(rng: np.random.Generator, kind: str, n: int, n_categories: int) -> np.ndarray:
    """Numbers with more or fewer ties, or the numbers of categories."""
    if kind == "two values":
        return rng.integers(0, 2, size=n) * 2.5 - 1.0
    if kind == "few values":
        return rng.integers(-2, 3, size=n) / 4
    if kind == "infinities":
        return rng.choice([-np.inf, -1.0, 0.5, 1e300, np.inf], size=n)
    if kind == "many values":
        return rng.normal(size=n)
    if kind == "constant":
        return np.full(n, 3.0)
    return rng.integers(0, n_categories, size=n).astype(float)


def weights(rng: np.random.Generator, kind: str, n: int) -> np.ndarray | None:
    """Weights of rows, of which the first is always positive."""
    if kind == "none":
        return None
    drawn = {
        "ones": np.ones(n),
        "whole": rng.integers(0, 4, size=n).astype(float),
        "fractions": rng.integers(0, 24, size=n) / 8,
        "tenths": rng.integers(0, 24, size=n) / 10,
    }[kind]
    drawn[0] = max(drawn[0], 1.0)
    return drawn


def targets(
    rng: np.random.Generator,
    criterion: str,
    n: int,
    n_classes: tuple[int, ...],
    n_outputs: int,
    unit: float,
) -> np.ndarray:
    """Classes, or numbers with ties; not negative, and the first positive, as Poisson's must be."""
    if criterion in CLASSES:
        return np.stack([rng.integers(0, k, size=n) for k in n_classes], axis=1).astype(np.int32)
    y = rng.integers(0, int(rng.choice([3, 8, 200])), size=(n, n_outputs)) * unit
    y[0] = np.maximum(y[0], 0.5)
    return y if criterion == "poisson" or rng.random() < 0.5 else y - 0.5


@st.composite
def samples(
    draw: Any,
    criterion: str,
    *,
    columns: tuple[str, ...] = COLUMNS,
    classes: tuple[int, ...] = (2, 3, 5),
    categories: tuple[int, int] = (2, 4),
    missing: tuple[float, ...] = (0.0, 0.25),
    max_rows: int = 18,
    max_features: int = 3,
    n_outputs: int = 1,
    weighted: tuple[str, ...] = WEIGHTS,
    bootstrap: bool = True,
    exact: bool = False,
) -> Sample:
    """Draw a sample; what is large in it comes from a seed, so that it is quick."""
    n = draw(st.integers(2, max_rows))
    kinds = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=max_features))
    shares = [draw(st.sampled_from(missing)) for _ in kinds]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_categories = [int(rng.integers(categories[0], categories[1] + 1)) for _ in kinds]
    made = [column(rng, kind, n, k) for kind, k in zip(kinds, n_categories, strict=True)]
    for x, share in zip(made, shares, strict=True):
        x[rng.random(n) < share] = np.nan
    of_class = criterion in CLASSES
    n_classes = tuple(int(rng.choice(classes)) for _ in range(n_outputs)) if of_class else ()
    counts = rng.multinomial(n, np.full(n, 1 / n)) if bootstrap and draw(st.booleans()) else None
    kinds_of_weights = [kind for kind in weighted if not exact or kind in EXACT_WEIGHTS]
    weight = weights(rng, draw(st.sampled_from(kinds_of_weights)), n)
    unit = 0.1 if not exact and draw(st.booleans()) else 0.125
    if counts is not None:
        counts[0] += 1
    return Sample(
        columns=tuple(made),
        n_categories=tuple(
            k if kind == "categories" else 0 for kind, k in zip(kinds, n_categories, strict=True)
        ),
        y=targets(rng, criterion, n, n_classes, n_outputs, unit),
        n_classes=n_classes,
        criterion=criterion,
        weight=weight,
        counts=None if counts is None else counts.astype(np.uint32),
    )


def stops() -> st.SearchStrategy[Settings]:
    """Every setting that ends growth, alone and together."""
    return st.builds(
        Settings,
        max_depth=st.sampled_from([None, None, 0, 1, 3]),
        min_samples_split=st.sampled_from([2, 2, 3, 6]),
        min_samples_leaf=st.sampled_from([1, 1, 2, 4]),
        min_weight_leaf=st.sampled_from([0.0, 0.0, 1.125, 2.55]),
        min_impurity_decrease=st.sampled_from([0.0, 0.0, 0.03, 0.2]),
    )


def table_of(sample: Sample, dtype: type = np.float64) -> _core.tree.CodeTable:
    """The columns as codes."""
    columns = [
        np.where(np.isnan(x), -1, x).astype(np.int32) if n else np.ascontiguousarray(x, dtype)
        for x, n in zip(sample.columns, sample.n_categories, strict=True)
    ]
    return _core.tree.CodeTable.of_columns(
        columns, np.array(sample.n_categories, dtype=np.int64), 1
    )


def task_of(sample: Sample, table: _core.tree.CodeTable | None = None) -> _core.tree.TreeTask:
    """What the core learns from."""
    table = table_of(sample) if table is None else table
    y, weight = np.ascontiguousarray(sample.y), sample.weight
    if sample.criterion in CLASSES:
        n_classes = np.array(sample.n_classes, dtype=np.int32)
        return _core.tree.TreeTask.classification(table, sample.criterion, y, n_classes, weight)
    return _core.tree.TreeTask.regression(table, sample.criterion, y, weight)


def core_settings(
    settings: Settings, n_features: int, *, in_any_order: bool = False
) -> _core.tree.TreeSettings:
    """The settings as the core has them; in a forest, of equally good features any is taken."""
    signs = settings.monotonic
    return _core.tree.TreeSettings(
        splitter=settings.splitter,
        max_features=n_features if settings.max_features is None else settings.max_features,
        max_depth=-1 if settings.max_depth is None else settings.max_depth,
        min_samples_split=settings.min_samples_split,
        min_samples_leaf=settings.min_samples_leaf,
        min_weight_leaf=settings.min_weight_leaf,
        max_leaf_nodes=-1 if settings.max_leaf_nodes is None else settings.max_leaf_nodes,
        min_impurity_decrease=settings.min_impurity_decrease,
        in_any_order=in_any_order,
        monotonic=None if signs is None else np.array(signs, dtype=np.int8),
    )


def grow(
    sample: Sample, settings: Settings | None = None, *, seed: int = 0, stream: int = 0
) -> _core.tree.GrownTree:
    """The core's tree."""
    grower = core_settings(settings or Settings(), len(sample.columns))
    return task_of(sample).grow(grower, sample.counts, seed, stream)


def grow_and_check(
    sample: Sample, settings: Settings | None = None, *, seed: int = 0, optimal: bool = True
) -> _core.tree.GrownTree:
    """The core's tree, judged."""
    settings = settings or Settings()
    tree = grow(sample, settings, seed=seed)
    check_tree(sample, tree, tree.leaf_of_row, settings, optimal=optimal)
    return tree


def take(sample: Sample, rows: np.ndarray) -> Sample:
    """The sample of some of its rows, in some order."""
    return replace(
        sample,
        columns=tuple(x[rows] for x in sample.columns),
        y=sample.y[rows],
        weight=None if sample.weight is None else sample.weight[rows],
        counts=None if sample.counts is None else sample.counts[rows],
    )


def numbers_sample(
    X: np.ndarray, y: np.ndarray, criterion: str, weight: np.ndarray | None = None
) -> Sample:
    """A sample of a matrix of numbers; y may be one column."""
    of_class = criterion in CLASSES
    y = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.int32 if of_class else np.float64)
    n_classes = tuple(int(k) + 1 for k in y.max(axis=0)) if of_class else ()
    columns = tuple(np.ascontiguousarray(x) for x in X.T)
    return Sample(columns, (0,) * X.shape[1], y, n_classes, criterion, weight)


FIELDS = (
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "missing_go_to_left",
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "value",
    "n_candidates",
    "category_start",
    "category_words",
    "leaf_of_row",
)


def assert_same_bits(one: _core.tree.GrownTree, other: _core.tree.GrownTree) -> None:
    """Two trees are equal to the last bit."""
    for name in FIELDS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8), name)
