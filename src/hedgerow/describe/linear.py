"""Linear machines: the solver, the rows they were fitted to, and how C was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow._page.words import count, short
from hedgerow.describe.registry import describes
from hedgerow.linear._cross_validated import CrossValidatedMachine
from hedgerow.linear._machine import LinearMachine

__all__: list[str] = []


@describes(LinearMachine)
def _linear_machine(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    found: dict[str, Any] = {}
    if hasattr(model, "solver_"):
        solvers = " and ".join(map(_solver_words, filter(None, model.solver_.split("+"))))
        how = f"Solved by {solvers} in" if solvers else "Took"
        steps = count(model.n_iter_, "iteration")
        sentence = f"{how} {steps}; status {model.status_!r}."
        found["training"] = {"sentences": [sentence]}
    if hasattr(model, "alpha_"):
        found["data"] = {"n_rows": model.alpha_.shape[-1]}
    return found


def _solver_words(name: str) -> str:
    return (
        "Newton's method"
        if name == "newton"
        else name.replace("_", " ").replace("newton", "Newton")
    )


@describes(CrossValidatedMachine)
def _cross_validated(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    places = np.flatnonzero(model.Cs_ == model.C_) if hasattr(model, "C_") else np.empty(0)
    if not places.size or not model.scores_.size:
        return {}
    n_values, n_folds = model.scores_.shape
    chosen = int(places[0])
    scores = model.scores_[chosen]
    error = float(scores.std(ddof=1) / np.sqrt(n_folds)) if n_folds > 1 else None
    metric = model.scoring or ("accuracy" if hasattr(model, "classes_") else "r2")
    metric = metric if isinstance(metric, str) else getattr(metric, "__name__", "score")
    spread = "" if error is None else f" (standard error {short(error)})"
    evidence = {
        "method": f"{n_folds}-fold cross-validation",
        "metric": metric,
        "estimate": float(scores.mean()),
        "standard_error": error,
        "low": None,
        "high": None,
        "confidence_level": None,
        "n_rows": None,
        "sentence": (
            f"By {n_folds}-fold cross-validation the {metric} is {float(scores.mean()):.4g}{spread}; "
            "as C was chosen by it, it is slightly optimistic."
        ),
    }
    low, high = short(model.Cs_[0]), short(model.Cs_[-1])
    sentence = f"C = {short(model.C_)} was chosen from {count(n_values, 'value')} between {low} and {high}."
    return {
        "training": {"sentences": [sentence]},
        "quality": [evidence],
        "advice": _edge_advice(chosen, model.Cs_),
    }


def _edge_advice(chosen: int, values: Any) -> list[dict[str, str]]:
    if 0 < chosen < len(values) - 1 or len(values) == 1:
        return []
    end, more = (
        ("smallest", f"down to {values[0] / 64:g}")
        if chosen == 0
        else ("largest", f"up to {values[-1] * 64:g}")
    )
    sentence = f"The chosen C is the {end} one tried: try some {more} by Cs."
    return [{"name": "c_at_edge", "sentence": sentence}]
