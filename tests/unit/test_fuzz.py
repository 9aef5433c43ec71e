"""The fuzz campaign finds planted bugs, repeats itself, and holds what it once found."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.target import MOST_STEPS, TARGETS, find_target
from tests.unit.fuzz_planted import BAD, CRASH, FINE

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore"),  # seeds are fits that need not converge
]

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "tests/fuzz/corpus").glob("*/*.input"))


def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.fuzz", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def fuzz_planted(name: str, folder: Path, *more: object) -> subprocess.CompletedProcess[str]:
    target = f"tests.unit.fuzz_planted:{name}"
    limits = ["--patience", 2, "--megabytes", 200]
    return fuzz("--target", target, "--findings", folder, *limits, *more)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CRASH", "SIGSEGV"),
        ("HANG", "hang"),
        ("EATER", "memory"),
        ("PEAK", "memory"),
        ("FOREIGN", "KeyError: fuzz_planted.py _raise_foreign_error"),
        ("LINES", "several lines: fuzz_planted.py _raise_several_lines"),
        ("WILD", "SIGSEGV"),
    ],
)
def test_a_planted_bug_is_found_saved_and_repeated(name: str, kind: str, tmp_path: Path) -> None:
    run = fuzz_planted(name, tmp_path, "--count", 20, "--seed", 3)
    assert run.returncode == 1, run.stderr
    assert f": {kind}\n" in run.stdout
    assert "20 mutations" in run.stdout
    saved = sorted(tmp_path.glob("*.input"))
    assert saved
    assert all(max(file.read_bytes()) >= BAD for file in saved)
    arguments = re.search(r"python -m tests.fuzz (.*)", run.stdout)
    assert arguments is not None
    again = fuzz(*arguments.group(1).split(), "--patience", 2, "--megabytes", 200)
    assert again.returncode == 1
    assert kind in again.stdout


def test_a_death_does_not_end_the_batch(tmp_path: Path) -> None:
    run = fuzz_planted("CRASH", tmp_path, "--count", 300, "--jobs", 2)
    seeds = CRASH.seeds()
    n_bad = sum(max(CRASH.mutation(seeds, 0, k)) >= BAD for k in range(300))
    assert "300 mutations" in run.stdout
    assert f"\n{n_bad} findings of 1 kinds" in run.stdout
    assert len(list(tmp_path.glob("*.input"))) == 3


def test_errors_of_ours_are_no_findings(tmp_path: Path) -> None:
    run = fuzz_planted("FINE", tmp_path, "--seconds", 1)
    assert run.returncode == 0, run.stdout
    assert "0 findings of 0 kinds" in run.stdout
    assert not list(tmp_path.iterdir())


def test_a_finding_is_saved_with_the_fewest_steps_that_show_it(tmp_path: Path) -> None:
    seeds = FINE.seeds()
    fuzz_planted("FOREIGN", tmp_path, "--count", 200, "--seed", 1)
    for file in tmp_path.glob("*.input"):
        n_changed = [
            sum(a != b for a, b in zip(file.read_bytes(), s, strict=True)) for s in seeds.values()
        ]
        assert min(n_changed) <= 3
        assert sum(byte >= BAD for byte in file.read_bytes()) == 1


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ("hedge", "checkpoint")])
def test_a_mutation_depends_on_its_number_alone(name: str) -> None:
    target = find_target(name)
    seeds = target.seeds()
    forwards = [target.mutation(seeds, 7, k) for k in range(60)]
    backwards = [target.mutation(seeds, 7, k) for k in reversed(range(60))]
    assert forwards == backwards[::-1]
    assert forwards != [target.mutation(seeds, 8, k) for k in range(60)]
    assert len(set(forwards)) > 40


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in ("hedge", "checkpoint")])
def test_the_seeds_of_a_target_are_fine_and_always_the_same(name: str, tmp_path: Path) -> None:
    target = find_target(name)
    seeds = target.seeds()
    assert seeds == target.seeds()
    for seed in seeds.values():
        target.consume(seed, tmp_path)
        for path in tmp_path.iterdir():
            path.unlink()


@pytest.mark.parametrize("name", ["hedge", "checkpoint"])
def test_seeds_of_our_files_can_be_read_and_most_mutations_have_a_right_digest(
    name: str, tmp_path: Path
) -> None:
    from hedgerow.persist import read_state

    target, n_refused_by_digest = find_target(name), 0
    seeds = target.seeds()
    for data in seeds.values():
        (tmp_path / "seed").write_bytes(data.partition(b"\n")[2])
        read_state(tmp_path / "seed", "model" if name == "hedge" else "checkpoint")
    mutations = [target.mutation(seeds, 0, k) for k in range(100)]
    assert mutations == [target.mutation(seeds, 0, k) for k in range(100)]
    for data in mutations:
        path = tmp_path / "m"
        path.write_bytes(data.partition(b"\n")[2])
        try:
            read_state(path, "model" if name == "hedge" else "checkpoint")
        except ValueError as error:
            n_refused_by_digest += "digest" in str(error)
    assert n_refused_by_digest < 25


@pytest.mark.sanitize
def test_what_was_once_found_stays_mended() -> None:
    assert CORPUS
    run = fuzz("--replay", *CORPUS)
    assert run.returncode == 0, run.stdout
    assert run.stdout.count(": fine") == len(CORPUS)


def test_the_corpus_is_small() -> None:
    assert sum(file.stat().st_size for file in CORPUS) < 400_000
    assert {file.parent.name for file in CORPUS} <= set(TARGETS)


def test_steps_of_a_mutation_are_its_beginning() -> None:
    seeds = CRASH.seeds()
    for k in range(50):
        parts = [CRASH.mutation(seeds, 0, k, steps) for steps in range(1, MOST_STEPS)]
        assert parts[-1] == CRASH.mutation(seeds, 0, k)
