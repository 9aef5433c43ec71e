"""The compiled core of another build, such as one with sanitizers, in the place of the installed one."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

__all__ = ["use_core_of_environment"]


def use_core_of_environment() -> None:
    """Import the core from the folder that HEDGEROW_CORE names, if it names one."""
    folder = os.environ.get("HEDGEROW_CORE")
    if folder is None:
        return
    path = next(Path(folder).glob("_core*.so"))
    spec = importlib.util.spec_from_file_location("hedgerow._core", path)
    assert spec is not None
    assert spec.loader is not None
    import hedgerow

    module = importlib.util.module_from_spec(spec)
    sys.modules["hedgerow._core"] = module
    spec.loader.exec_module(module)
    hedgerow._core = module
