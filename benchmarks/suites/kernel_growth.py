"""How the time of a kernel machine grows with the rows of covtype; ``--plot FILE`` draws it.

Meant for ``--budget 1200 --repeats 0``: who does not end in time at one size is charged the budget.
LIBSVM goes once, as scikit-learn has it.
"""

from __future__ import annotations

from functools import partial

from benchmarks.contest import Case, Suite, Target
from benchmarks.kernel_objectives import KernelTask
from benchmarks.peers.kernel_machines import HedgerowKernel, IntelexKernel, ScikitLearnKernel
from benchmarks.suites.kernel import REMARK, only_told, some_of_covtype

__all__ = ["SUITE"]

SIZES = (10_000, 20_000, 50_000, 100_000, 200_000)


SUITE = Suite(
    title="Kernel machines by the number of rows, covtype, C=32, gamma=32",
    cases=[
        Case(f"{n:_} rows".replace("_", " "), partial(some_of_covtype, n), KernelTask(32.0, 32.0))
        for n in SIZES
    ],
    contestants=(HedgerowKernel(), IntelexKernel(), ScikitLearnKernel()),
    targets=(Target("tolerance 1e-3", float("inf")),),
    referee=only_told,
    remark=REMARK,
)
