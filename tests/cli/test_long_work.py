"""Long work can be limited, interrupted and gone on with."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

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


def interrupt_when(seen: bytes, *arguments: object) -> tuple[int, str]:
    """Press Ctrl-C when the terminal shows something; return the exit code and all that was shown."""
    program = "from hedgerow.cli.main import main; main()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=follower)
    os.close(follower)
    shown, pressed = b"", False
    with suppress(OSError):  # what a terminal says when its last user has left
        while piece := os.read(leader, 1 << 16):
            shown += piece
            if seen in shown and not pressed:
                process.send_signal(signal.SIGINT)
                pressed = True
    os.close(leader)
    return process.wait(timeout=60), shown.decode()


PRESSING = """
import json, os, signal, sys
from hedgerow.cli.main import main
from hedgerow.monitor import watch

moments = json.loads(sys.argv.pop(1))

def is_at(part, path):
    return path == ("auto_fit", part) if part == "search" else part in path

def press(event):
    while moments and is_at(moments[0][0], event.path) and event.done >= moments[0][1]:
        moments.pop(0)
        os.kill(os.getpid(), signal.SIGINT)

with watch(press):
    main()
"""
"""A command line that is sent SIGINT at the first step of a task from a number on, one by one."""


def interrupt_at(moments: list[tuple[str, int]], *arguments: object) -> Any:
    command = [sys.executable, "-c", PRESSING, json.dumps(moments), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_ctrl_c_saves_the_model_as_far_as_it_came(noise, endless, tmp_path) -> None:
    save, checkpoint = tmp_path / "m.hedge", tmp_path / "fit.checkpoint"
    options = ("--load", endless, "--target", "y", "--save", save, "--checkpoint", checkpoint)
    code, shown = interrupt_when(b"gap", "train", noise, *options)
    assert code == 130
    assert f"The model, as far as it came, is in {save}." in shown
    assert library.load(save).learner_.status_ == "interrupted"


@pytest.mark.parametrize(
    ("moment", "told", "status"),
    [
        (("search", 1), "Interrupted in the search, after 0 of 5 folds", "optimal"),
        (("search", 12), "Interrupted in the search, after 1 of 5 folds", "optimal"),
        (("search", 38), "Interrupted in the search, after 4 of 5 folds", "optimal"),
        (("fit", 1), "Interrupted while the model was fitted", "interrupted"),
        (("rivals", 1), "Interrupted in the test, when the model was fitted", "optimal"),
    ],
)
def test_ctrl_c_during_auto_saves_the_best_so_far(noise, tmp_path, moment, told, status) -> None:
    save = tmp_path / "m.hedge"
    options = ("--target", "y", "--loss", "hinge", "--n-jobs", 1, "--save", save)
    run = interrupt_at([moment], "auto", noise, *options)
    assert run.returncode == 130
    assert re.fullmatch(
        r"Interrupted.*; press Ctrl-C again to exit immediately\.\n+hedgerow: interrupted\n",
        run.stderr,
    )
    words = " ".join(run.stdout.split())
    assert f"Ctrl-C {told}" in words
    assert "of 1,000 unseen rows are predicted right" in words
    assert f"Saved in {save}" in words
    assert library.load(save).learner_.status_ == status


def test_ctrl_c_during_auto_is_in_its_json_and_the_search_can_go_on(noise, tmp_path) -> None:
    checkpoint = tmp_path / "search.checkpoint"
    options = ("--target", "y", "--loss", "hinge", "--json", "--checkpoint", checkpoint)
    run = interrupt_at([("search", 12)], "auto", noise, *options)
    assert run.returncode == 130
    assert json.loads(run.stdout)["interrupted"] == "search"
    assert f"the same command goes on from {checkpoint}" in " ".join(run.stderr.split())
    assert checkpoint.exists()


@pytest.mark.parametrize("second", [("search", 12), ("fit", 1)])
def test_the_second_ctrl_c_leaves_auto_at_once(noise, tmp_path, second) -> None:
    save = tmp_path / "m.hedge"
    options = ("--target", "y", "--loss", "hinge", "--n-jobs", 1, "--save", save)
    run = interrupt_at([("search", 12), second], "auto", noise, *options)
    assert run.returncode == 130
    assert run.stderr.endswith("hedgerow: interrupted\n")
    assert "Traceback" not in run.stderr
    assert run.stdout == ""
    assert not save.exists()


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
