"""Perceptrons: mistakes, passes, and the rows or hyperplanes they keep."""

from __future__ import annotations

from typing import Any

from hedgerow._page.words import count, short
from hedgerow.describe.registry import describes
from hedgerow.perceptron._base import PerceptronBase
from hedgerow.perceptron.kernel import KernelPerceptron
from hedgerow.perceptron.voted import VotedPerceptron

__all__: list[str] = []

_ENDS = {
    "separated": "the last one made none, so the training rows are separated",
    "plateau": "stopped because it made no more progress",
    "max_iter": "stopped at the limit of passes",
    "stopped": "stopped by a callback",
    "time_limit": "stopped at the time limit",
    "interrupted": "interrupted",
}


@describes(PerceptronBase)
def _perceptron(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "n_mistakes_"):
        return {}
    made, passes = count(model.n_mistakes_, "mistake"), count(model.n_iter_, "pass")
    return {"training": {"sentences": [f"{made} in {passes}; {_ENDS[model.status_]}."]}}


@describes(KernelPerceptron)
def _kernel_perceptron(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "support_vectors_"):
        return {}
    n_rows = int(model.support_vectors_.shape[0])
    sentences = [
        f"Kernel {model.kernel!r} with gamma {short(model.gamma_)}.",
        f"Keeps {count(n_rows, 'training row')} on which mistakes were made.",
    ]
    return {
        "training": {"sentences": sentences},
        "support": {"n_support": n_rows, "n_by_class": None, "compression": None},
    }


@describes(VotedPerceptron)
def _voted_perceptron(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "survivals_"):
        return {}
    n_planes = sum(len(survivals) for survivals in model.survivals_)
    vote = "votes" if n_planes == 1 else "vote"
    return {"training": {"sentences": [f"{count(n_planes, 'hyperplane')} {vote}."]}}
