"""The stubs of the compiled core say what its bindings are."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_the_stubs_are_generated_from_these_bindings():
    path = Path(__file__).parents[2] / "bindings" / "stubs.py"
    spec = importlib.util.spec_from_file_location("stubs", path)
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    expected = generator.stubs()
    assert {each.name for each in generator.FOLDER.glob("*.pyi")} == set(expected)
    for name, text in expected.items():
        kept = (generator.FOLDER / name).read_text(encoding="utf-8")
        assert kept == text, f"{name} is not up to date: run python bindings/stubs.py"
