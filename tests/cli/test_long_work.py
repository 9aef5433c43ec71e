"""Long work can be limited, interrupted and gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import hedgerow as library


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    """Return a table with nothing to learn, on which coordinate descent never ends."""
    generator = np.random.default_rng(0)
    rows = np.column_stack([generator.normal(size=(4000, 8)), generator.integers(0, 2, 4000)])
    path = tmp_path / "noise.csv"
    path.write_text("a,b,c,d,e,f,g,h,y\n" + "\n".join(",".join(map(str, row)) for row in rows))
    return path


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Return a model whose parameters make training endless."""
    path = tmp_path / "endless.hedge"
    learner = library.LinearSVC(
        loss="hinge", solver="dual_coordinate_descent", C=1e6, tol=1e-15, max_iter=10**9
    )
    library.save(library.TableClassifier(learner), path)
    return path


def test_train_stops_in_time_and_keeps_what_it_has(hedgerow, noise, endless, tmp_path) -> None:
    began = time.monotonic()
    arguments = ("--load", endless, "--target", "y", "--save", tmp_path / "m.hedge")
    outcome = hedgerow("train", noise, *arguments, "--max-time", 1, "--json")
    assert time.monotonic() - began < 10
    assert outcome.json["certificate"]["status"] == "time_limit"
    model = library.load(tmp_path / "m.hedge")
    assert model.learner_.status_ == "time_limit"
    assert model.learner_.max_time is None  # the limit was the command's, not the model's


def test_a_search_without_time_still_ends_with_a_model(hedgerow, noise, tmp_path) -> None:
    save = tmp_path / "m.hedge"
    outcome = hedgerow(
        "auto", noise, "--target", "y", "--loss", "hinge", "--max-time", 0.05, "--save", save
    )
    assert outcome.code == 0
    assert "give it more time" in outcome.out.replace("\n         ", " ")
    assert len(library.load(save).predict(library.read_table(noise, target="y"))) == 4000


@pytest.mark.parametrize("value", ["0", "-1", "soon"])
def test_a_time_that_is_none_is_refused(hedgerow, noise, value) -> None:
    outcome = hedgerow("auto", noise, "--target", "y", "--max-time", value)
    assert outcome.code == 2
    assert "--max-time" in outcome.err


def start(*arguments: object) -> subprocess.Popen[str]:
    program = "from hedgerow.cli.main import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_ctrl_c_saves_the_model_as_far_as_it_came(noise, endless, tmp_path) -> None:
    save, checkpoint = tmp_path / "m.hedge", tmp_path / "fit.checkpoint"
    options = ("--load", endless, "--target", "y", "--save", save, "--checkpoint", checkpoint)
    with start("train", noise, *options) as process:
        time.sleep(6)  # reading and starting take less, also on a busy machine
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=20)[1]
    assert process.returncode == 130
    assert f"The model, as far as it came, is in {save}." in errors
    assert library.load(save).learner_.status_ == "interrupted"


def test_a_finished_command_leaves_no_checkpoint(hedgerow, table, tmp_path) -> None:
    checkpoint = tmp_path / "search.checkpoint"
    outcome = hedgerow("auto", table, "--target", "kind", "--checkpoint", checkpoint)
    assert outcome.code == 0
    assert not checkpoint.exists()


def test_a_file_that_is_no_checkpoint_is_not_overwritten(hedgerow, table, tmp_path) -> None:
    outcome = hedgerow("auto", table, "--target", "kind", "--checkpoint", table)
    assert outcome.code == 2
    assert "cannot be loaded as a checkpoint" in outcome.err
    assert table.read_text().startswith("size,colour")
