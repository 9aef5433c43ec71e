"""The page about the command line shows what the command line does."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "command_line.md"
VERBS = ("auto", "train", "predict", "evaluate", "describe")

VOLATILE = {
    r"\d\.\de-\d\d": "TINY",  # what rounding leaves differs between instruction sets
    r"\d+\.\d kB": "SIZE",
    r"took [\d.]+ m?s": "took TIME",
    r"model format \d+": "model format N",
    r"Hedgerow \d+\.\d+\.\d+": "Hedgerow VERSION",
}
"""What may differ between machines and versions, and what stands for it when pages are compared."""


def sessions() -> list[tuple[str, str]]:
    """Return every command of the page with the output printed under it."""
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    commands = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    pairs = [part.partition("\n")[::2] for part in commands if part]
    return [(command, shown) for command, shown in pairs]


def settled(text: str) -> str:
    for pattern, word in VOLATILE.items():
        text = re.sub(pattern, word, text)
    return text


def test_every_command_of_the_page_prints_what_the_page_shows(hedgerow, tmp_path: Path) -> None:
    """One test, as the commands use what those before them have saved."""
    for table in (DOCS / "tables").glob("*.csv"):
        shutil.copy(table, tmp_path)
    for command, shown in sessions():
        program, *arguments = shlex.split(command)
        assert program == "hedgerow"
        outcome = hedgerow(*arguments)
        assert settled(outcome.out + outcome.err) == settled(shown), command


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_shows_every_verb(verb: str) -> None:
    assert any(command.split()[1] == verb for command, _ in sessions())
