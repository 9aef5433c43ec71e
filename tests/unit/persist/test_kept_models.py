"""Files of every released version load, and predict as they did when they were written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hedgerow
from hedgerow._base.state.declare import declaration
from hedgerow._base.state.errors import UnknownClassError
from tests.models import write as kept_models
from tests.models.write import HERE, MODELS, answers, digest, freeze, frozen, write

FILES = sorted(HERE.glob("*/*.hedge"))
RTOL = 1e-12
"""Scores are sums of a few products of moderate size; instruction sets may add them differently."""


def test_this_version_and_the_oldest_format_are_kept():
    kept = {file.parent.name for file in FILES}
    assert {"format-1", "0.1.0", hedgerow.__version__} <= kept
    assert {file.stem for file in FILES if file.parent.name == hedgerow.__version__} == set(MODELS)


def test_files_of_released_versions_are_as_they_were_released():
    assert {name: digest(HERE / name) for name in frozen()} == frozen()
    released = {Path(name).parent.name for name in frozen()}
    assert {"format-1", "0.1.0", "libsvm"} <= released
    kept = [file for file in HERE.glob("*/*.*") if file.parent.name in released]
    models = {file.relative_to(HERE).as_posix() for file in kept if file.suffix != ".py"}
    assert models == set(frozen()), "a folder of a released version has another set of files"


def test_every_key_that_a_released_version_wrote_is_known():
    for name in hedgerow.__all__:
        getattr(hedgerow, name)
    keys = (HERE / "keys.txt").read_text(encoding="utf-8").split()
    assert len(keys) > 60
    for key in keys:
        known = {_known(key, "model"), _known(key, "record")} - {None}
        assert known == {key if "." in key else f"hedgerow.{key}"}


def _known(key: str, form: str) -> str | None:
    try:
        return declaration(key, form).key
    except UnknownClassError:
        return None


def test_nothing_is_written_into_the_folder_of_a_released_version(tmp_path: Path):
    folder = tmp_path / "0.1.0"
    with pytest.raises(SystemExit, match="is frozen"):
        write(folder)
    assert not folder.exists()


def test_a_version_is_frozen_on_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept_models, "HERE", tmp_path)
    (tmp_path / "frozen.sha256").write_text(f"{'0' * 64}  0.1.0/SVC.hedge\n")
    (tmp_path / "keys.txt").write_text("Old\nSVC\n")
    (tmp_path / "9.0").mkdir()
    (tmp_path / "9.0" / "SVC.hedge").write_text("the file")
    freeze(tmp_path / "9.0")
    expected = {"0.1.0/SVC.hedge": "0" * 64, "9.0/SVC.hedge": digest(tmp_path / "9.0/SVC.hedge")}
    assert frozen() == expected
    keys = (tmp_path / "keys.txt").read_text().split()
    assert {"Old", "SVC", "hedgerow.SVC", "hedgerow.Scaling"} <= set(keys)
    assert keys == sorted(keys)


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
