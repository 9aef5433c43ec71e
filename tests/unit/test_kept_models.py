"""Files of every released version load, and predict as they did when they were written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow
from tests.models.write import HERE, MODELS, answers, write

FILES = sorted(HERE.glob("*/*.hedge"))
RTOL = 1e-12
"""Scores are sums of a few products of moderate size; instruction sets may add them differently."""


def test_this_version_and_the_oldest_format_are_kept():
    kept = {file.parent.name for file in FILES}
    assert {"format-1", hedgerow.__version__} <= kept
    assert {file.stem for file in FILES if file.parent.name == hedgerow.__version__} == set(MODELS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_kept_model_loads_and_predicts_as_recorded(file: Path):
    model = hedgerow.load(file)
    expected = json.loads((file.parent / "expected.json").read_text(encoding="utf-8"))[file.stem]
    found = answers(model, expected["inputs"])
    assert set(found) == set(expected) - {"inputs"}
    for method, values in found.items():
        if np.asarray(values).dtype.kind == "f":
            np.testing.assert_allclose(values, expected[method], rtol=RTOL, atol=RTOL)
        else:
            assert values == expected[method]


def test_the_files_are_small():
    for file in FILES:
        is_foreign = file.stem.endswith("-foreign")  # scikit-learn's own packing takes most of it
        holds_forest = file.stem == "SelectFromForest"  # with its own records beside it
        most = 20_000 if is_foreign else 12_000 if holds_forest else 8_000
        assert file.stat().st_size < most


def test_files_are_written_once(tmp_path: Path):
    folder = tmp_path / "new"
    write(folder)
    assert {file.stem for file in folder.glob("*.hedge")} == set(MODELS)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    (folder / "LinearSVR.hedge").unlink()
    write(folder)
    assert {file.name for file in folder.iterdir()} == {file.name for file in before}
    same = [file for file in before if file.stem != "LinearSVR"]
    assert all(file.read_bytes() == before[file] for file in same)


def test_a_complete_folder_is_left_alone():
    command = [sys.executable, "-m", "tests.models.write"]
    before = {file: file.read_bytes() for file in FILES}
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE.parents[1])
    assert run.returncode == 1
    assert "raise the version first" in run.stderr
    assert {file: file.read_bytes() for file in FILES} == before
