"""What holds for every verb: errors, exit codes, streams, start-up."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hedgerow as package
from hedgerow.cli import main

COMMAND = [sys.executable, "-c", "from hedgerow.cli.main import main; main()"]
VERBS = ("auto", "train", "predict", "evaluate", "describe")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_help_and_version_are_there(hedgerow) -> None:
    assert hedgerow("--version").out == f"hedgerow {package.__version__}\n"
    front = hedgerow("--help")
    assert front.code == 0
    assert front.out == hedgerow("-h").out == hedgerow().out
    places = [front.out.index(f" {verb} ") for verb in VERBS]
    assert places == sorted(places)
    for verb in VERBS:
        page = hedgerow(verb, "--help").out
        assert "Examples:" in page
        assert max(map(len, page.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "no such command 'nope'"),
        (["auto", "--nope"], "no such option '--nope'"),
        (["auto"], "give either a TABLE or --example"),
        (["auto", "{table}", "--example", "iris"], "give either a TABLE or --example"),
        (["auto", "{table}"], "--target is missing; choose the column to predict among 'size'"),
        (["auto", "{table}", "--target", "x"], "no column 'x'; choose the target among 'size'"),
        (["auto", "{table}", "--target", "kind", "--Cs", "a"], "'a' is not a list of numbers"),
        (["auto", "{table}", "--target", "kind", "--Cs", "-1"], "finite numbers above 0"),
        (["auto", "{table}", "--target", "kind", "--test-size", "2"], "test_size=2.0 is not"),
        (["auto", "{table}", "--target", "kind", "--seed", "-1"], "random_state=-1 is not"),
        (["auto", "{folder}", "--target", "kind"], "it is a folder"),
        (["auto", "{folder}/no.csv", "--target", "kind"], "there is no such file"),
        (["train", "{table}", "--target", "kind"], "missing option '--save' / '--model'"),
        (
            ["train", "{table}", "--target", "kind", "--model", "{folder}/x/m"],
            "cannot be written",
        ),
        (
            ["train", "{table}", "--target", "kind", "--model", "{folder}/m", "--C", "0"],
            "C=0.0 is not allowed",
        ),
        (
            ["train", "{bad}", "--target", "kind", "--model", "{folder}/m"],
            "bad.csv, line 3: the row",
        ),
        (["predict", "{table}", "{table}"], "cannot be loaded as a model"),
        (["predict", "{folder}/no.hedge", "{table}"], "cannot read"),
        (["predict", "{table}"], "a MODEL and a TABLE are needed, but '"),
        (["evaluate"], "a MODEL and a TABLE are needed, but nothing was given"),
        (
            ["evaluate", "a", "b", "--load", "c"],
            "given both as an argument and by --load; give it once",
        ),
        (["evaluate", "{table}", "{table}"], "cannot be loaded as a model"),
        (["evaluate", "a", "b", "--metrics", "a,,b"], "is not a list of names such as"),
        (["describe"], "give either a FILE or --load"),
        (["describe", "{folder}"], "it is a folder"),
        (["describe", "{folder}/no.hedge"], "there is no such file"),
        (["describe", "--load", "{table}"], "cannot be loaded as a model"),
        (["describe", "{table}", "--target", "x"], "no column 'x'; choose the target among"),
        (["describe", "{table}", "--top", "0"], "0 is not in the range"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    hedgerow, table: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "bad.csv").write_text("a,kind\n1,x\n2\n")
    places = {"table": table, "folder": tmp_path, "bad": tmp_path / "bad.csv"}
    outcome = hedgerow(*(argument.format(**places) for argument in arguments))
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("hedgerow: ")
    assert outcome.err.count("\n") == 1
    assert words in outcome.err


def test_a_missing_column_is_named_at_predict(
    hedgerow, model: Path, table: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.csv"
    new.write_text(table.read_text().replace("size", "Size", 1))
    outcome = hedgerow("predict", model, new)
    assert outcome.code == 2
    assert "lacks column 'size'" in outcome.err
    assert "has column 'Size'" in outcome.err


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "hedgerow: interrupted\n"),
        (MemoryError(), 1, "hedgerow: there is not enough memory"),
    ],
)
def test_other_ends_have_their_own_exit_codes(
    hedgerow, monkeypatch, error: BaseException, code: int, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(main.cli, "main", fail)
    outcome = hedgerow("auto")
    assert outcome.code == code
    assert outcome.err.startswith(words)


def test_a_mistake_of_ours_is_not_hidden(monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(main.cli, "main", fail)
    with pytest.raises(ZeroDivisionError):
        main.run(["auto"])


@pytest.mark.parametrize("verb", VERBS)
def test_help_does_not_wait_for_scikit_learn(verb: str) -> None:
    code = (
        f"import sys; from hedgerow.cli.main import run; run(['{verb}', '--help']); "
        "sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_a_reader_that_leaves_early_hears_no_complaint(model: Path, tmp_path: Path) -> None:
    table = tmp_path / "long.csv"
    table.write_text("size,colour,weight\n" + "1,red,2\n" * 200_000)
    process = subprocess.Popen(
        [*COMMAND, "predict", model, table], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline().strip() in (b"apple", b"plum")
    process.stdout.close()
    _, complaint = process.communicate()
    assert b"BrokenPipe" not in complaint
    assert b"Traceback" not in complaint


def run_in_terminal(arguments: list[object], **environment: str) -> str:
    """Return what a person would see, control characters included."""
    leader, follower = pty.openpty()
    settings = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    settings = {name: value for name, value in settings.items() if name != "CI"}
    command = [*COMMAND, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=follower, stderr=follower, env=settings)
    os.close(follower)
    seen = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    assert process.wait() == 0
    return seen.decode()


def test_a_terminal_shows_colour_and_a_progress_bar(table: Path) -> None:
    seen = run_in_terminal(["auto", table, "--target", "kind", "--Cs", "0.1,1"])
    assert COLOUR.search(seen)
    assert "Choosing C" in seen
    assert "10/10" in COLOUR.sub("", seen)  # two values of C in five folds


def test_no_color_is_obeyed(table: Path) -> None:
    seen = run_in_terminal(["auto", table, "--target", "kind", "--Cs", "1"], NO_COLOR="1")
    coloured = [code for code in COLOUR.findall(seen) if re.search(r"3\d|4\d", code)]
    assert coloured == []


def test_output_that_knows_only_ascii_is_ascii(table: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    command = [*COMMAND, "auto", str(table), "--target", "kind", "--Cs", "0.1,1"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"|" in done.stdout


def test_ctrl_c_ends_with_130_and_no_traceback(tmp_path: Path) -> None:
    table = tmp_path / "slow.csv"
    table.write_text("a,b,kind\n" + "".join(f"{i % 97},{i % 89},{i % 7}\n" for i in range(60_000)))
    command = [*COMMAND, "auto", table, "--target", "kind", "--loss", "hinge"]
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    err = b""
    while b"Choosing C" not in err:  # the search has begun, and has many fits before it
        err += os.read(leader, 4096)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    while not err.endswith(b"interrupted\r\n"):
        err += os.read(leader, 4096)
    os.close(leader)
    assert process.returncode == 130
    assert b"hedgerow: interrupted" in err
    assert b"Traceback" not in err
    assert out == b""


def test_python_m_hedgerow_is_the_command_line() -> None:
    command = [sys.executable, "-m", "hedgerow", "--version"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("hedgerow ")
