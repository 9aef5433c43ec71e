"""Trees and forests: how large they are, which features matter, and errors out of bag."""

from __future__ import annotations

from typing import Any

from hedgerow._page.words import accuracy_words, count, percent
from hedgerow.describe.estimators import feature_names, strongest
from hedgerow.describe.registry import describe, describes
from hedgerow.ensemble import SelectFromForest
from hedgerow.ensemble.forest.base import Forest
from hedgerow.ensemble.out_of_bag import OutOfBag
from hedgerow.tree._estimator import DecisionTree, TakesTables

__all__: list[str] = []

_MOST_NODES = 10_000_000
"""Of larger forests the depth is not told: it takes seconds to look through all trees."""

_MOST_DRAWS = 50_000_000
_ENDS = {
    "grown": "",
    "flat": "Stopped before all the trees asked for were grown, as more of them no longer lowered the out-of-bag error.",
    "time_limit": "Stopped at the time limit.",
    "interrupted": "Interrupted by Ctrl-C.",
    "stopped": "Stopped by a callback.",
}


@describes(TakesTables)
def _takes_tables(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "category_columns_"):
        return {}
    found, names = model.category_columns_, getattr(model, "feature_names_in_", None)
    if names is None and not len(found.columns):
        return {}
    labels = feature_names(model, model.n_features_in_)
    columns = [
        {"name": label, "values": values.tolist() if j in found else None}
        for j, (label, values) in enumerate(zip(labels, found.by_feature, strict=True))
    ]
    return {"inputs": {"columns": columns}}


@describes(DecisionTree)
def _tree(model: Any, top: int) -> dict[str, Any]:
    if not hasattr(model, "tree_"):
        return {}
    tree = model.tree_
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves:,} leaves"
    sentences = [
        f"Grew a tree with {leaves} and depth {tree.max_depth}.",
        _ENDS.get(model.status_, ""),
    ]
    pruning = getattr(model, "pruning_", None)
    return {
        "data": {"n_rows": int(tree.n_node_samples[0])},
        "training": {"sentences": [s for s in (*sentences, str(pruning or "")) if s]},
        "figures": {"n_leaves": tree.n_leaves, "depth": tree.max_depth},
        "importances": _importances(model, top),
    }


@describes(Forest)
def _forest(model: Any, top: int) -> dict[str, Any]:
    if not hasattr(model, "trees_"):
        return {}
    n_trees, n_nodes = len(model.trees_), model.trees_.core.n_nodes
    n_leaves = (n_nodes + n_trees) / 2 / max(n_trees, 1)
    depth = _depth(model) if n_nodes <= _MOST_NODES else None
    sampler = getattr(model, "sampler_", None)
    n_rows = None if sampler is None else sampler.n_rows
    deepest = "" if depth is None else f"; the deepest has depth {depth}"
    sentences = [
        f"Grew {count(n_trees, 'tree')} with {n_leaves:,.0f} leaves on average{deepest}.",
        _ENDS.get(model.status_, ""),
    ]
    return {
        "data": {} if n_rows is None else {"n_rows": n_rows},
        "training": {"sentences": [sentence for sentence in sentences if sentence]},
        "figures": {"n_trees": n_trees, "mean_n_leaves": n_leaves, "depth": depth},
        "importances": _importances(model, top),
        "quality": [_out_of_bag(model.oob_)]
        if hasattr(model, "oob_") and len(model.oob_.rows)
        else [],
        "advice": _advice(model),
    }


def _depth(model: Any) -> int:
    return max((member.tree_.max_depth for member in model.estimators_), default=0)


def _importances(model: Any, top: int) -> dict[str, Any]:
    values = model.feature_importances_
    return {
        "measure": "impurity",
        "strongest": strongest(values, feature_names(model, len(values)), top),
        "n_all": len(values),
    }


def _advice(model: Any) -> list[dict[str, str]]:
    if hasattr(model, "oob_") or not model.bootstrap:
        return []
    sentence = (
        "Fit it with oob_score=True to learn how good it is on rows that its trees have not seen."
    )
    return [{"name": "no_out_of_bag", "sentence": sentence}]


def _out_of_bag(oob: OutOfBag) -> dict[str, Any]:
    """Return the accuracy or the mean squared error of rows by trees that have not seen them."""
    n_rows = len(oob.rows)
    n_resamples = min(2000, max(200, _MOST_DRAWS // n_rows))
    metric = "accuracy" if oob.classes else "mean_squared_error"
    interval = oob.measure("accuracy" if oob.classes else "vote_error", n_resamples=n_resamples)
    level = f"{100 * interval.confidence_level:g} %"
    if oob.classes:
        sentence = f"Out of bag, {accuracy_words(interval, 'row')}"
    else:
        sentence = (
            f"Out of bag, the mean squared error of {count(n_rows, 'row')} is {_figure(interval.estimate)}; "
            f"{level} interval {_figure(interval.low)} to {_figure(interval.high)}. R^2 is {oob.score_by():.3f}."
        )
    return {
        "method": "out-of-bag",
        "metric": metric,
        "estimate": interval.estimate,
        "standard_error": None,
        "low": interval.low,
        "high": interval.high,
        "confidence_level": interval.confidence_level,
        "n_rows": n_rows,
        "sentence": sentence,
    }


def _figure(number: float) -> str:
    """Return a number with four digits, or without decimals if it is large."""
    return f"{number:,.0f}" if 1e3 <= abs(number) < 1e9 else f"{number:.4g}"


@describes(SelectFromForest)
def _selector(model: Any, top: int) -> dict[str, Any]:
    if not hasattr(model, "support_"):
        return {}
    forest = describe(model.estimator_, top=top)
    n_kept, found = int(model.support_.sum()), model.importances_
    names = [str(name) for name in found.names]
    kept = f"Keeps {n_kept:,} of {count(len(model.support_), 'feature')}"
    share = f"{kept} ({percent(n_kept / len(model.support_))}), judged by {found.kind.replace('_', ' ')} importance."
    out = [
        f"{count(len(model.left_out_), 'feature')} left out for being correlated with one that is kept."
    ]
    return {
        "learner": forest["kind"],
        "data": {"n_rows": forest["data"]["n_rows"]},
        "training": {
            "sentences": [
                *forest["training"]["sentences"],
                share,
                *(out if model.left_out_ else []),
            ]
        },
        "figures": {"n_kept": n_kept, **forest["figures"]},
        "quality": forest["quality"],
        "importances": {
            "measure": found.kind,
            "strongest": strongest(found.values, names, top),
            "n_all": len(names),
        },
    }
