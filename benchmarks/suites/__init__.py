"""One file for each suite; a new one is a line here and a ``SUITE`` there."""

from __future__ import annotations

from importlib import import_module

from benchmarks.contest import Suite

__all__ = ["SUITES", "load_suite"]

SUITES = {
    "linear": "benchmarks.suites.linear",
    "linear_classes": "benchmarks.suites.linear_classes",
    "linear_memory": "benchmarks.suites.linear_memory",
    "linear_cv": "benchmarks.suites.linear_cv",
    "linear_stream": "benchmarks.suites.linear_stream",
    "kernel": "benchmarks.suites.kernel",
    "kernel_predict": "benchmarks.suites.kernel_predict",
    "kernel_growth": "benchmarks.suites.kernel_growth",
    "tree": "benchmarks.suites.tree",
    "forest": "benchmarks.suites.forest",
    "forest_predict": "benchmarks.suites.forest_predict",
    "forest_oob": "benchmarks.suites.forest_oob",
    "forest_memory": "benchmarks.suites.forest_memory",
    "forest_files": "benchmarks.suites.forest_files",
    "bootstrap": "benchmarks.suites.bootstrap",
    "import": "benchmarks.suites.import_time",
    "monitor": "benchmarks.suites.monitor",
    "persist": "benchmarks.suites.persist",
    "smoke": "benchmarks.suites.smoke",
}


def load_suite(name: str) -> Suite:
    """Return the suite of that name."""
    suite: Suite = import_module(SUITES[name]).SUITE
    return suite
