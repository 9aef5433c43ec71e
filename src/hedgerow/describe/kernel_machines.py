"""Kernel machines: kernel, steps and support vectors."""

from __future__ import annotations

import re
from typing import Any

from hedgerow._page.words import count, short
from hedgerow.describe.registry import describes
from hedgerow.kernels import Precomputed
from hedgerow.svm import SVDD, NuSVR
from hedgerow.svm._machine import KernelMachine

__all__: list[str] = []

_LONG_NUMBERS = re.compile(r"\d+\.\d{6,}(e[-+]\d+)?")


@describes(KernelMachine)
def _kernel_machine(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "support_"):
        return {}
    n_rows, n_support = int(model.shape_fit_[0]), len(model.support_)
    n_steps = int(model.n_iter_.sum()) if hasattr(model.n_iter_, "sum") else int(model.n_iter_)
    compression = getattr(model, "compression_", None)
    sentences = [
        f"Solved by decomposition in {count(n_steps, 'step')}; status {model.status_!r}.",
        _kernel_words(model),
        f"{n_support:,} of {count(n_rows, 'training row')} are its support vectors.",
    ]
    by_class = getattr(model, "n_support_", None) if hasattr(model, "classes_") else None
    return {
        "data": {"n_rows": n_rows},
        "training": {"sentences": sentences + ([] if compression is None else [str(compression)])},
        "support": {
            "n_support": n_support,
            "n_by_class": by_class,
            "compression": None if compression is None else str(compression),
        },
    }


def _kernel_words(model: Any) -> str:
    if isinstance(model.kernel_, Precomputed):
        n_rows = count(model.n_features_in_, "training row")
        return f"Takes the kernel of each new row with each of {n_rows}."
    return (
        f"Kernel {_LONG_NUMBERS.sub(lambda found: f'{float(found[0]):.6g}', repr(model.kernel_))}."
    )


@describes(SVDD)
def _svdd(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "radius_"):
        return {}
    return {"training": {"sentences": [f"The ball has the radius {short(model.radius_)}."]}}


@describes(NuSVR)
def _nu_svr(model: Any, top: int) -> dict[str, Any]:  # noqa: ARG001
    if not hasattr(model, "epsilon_"):
        return {}
    width = short(model.epsilon_)
    return {"training": {"sentences": [f"The tube reaches {width} to either side."]}}
