"""The programs in examples/ run, and find what is there to be found."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).parents[2] / "examples"
SLIP = "It is much older then the hedge beside it ."


@pytest.fixture(scope="module")
def spelling():
    spec = importlib.util.spec_from_file_location("spelling", EXAMPLES / "spelling.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["spelling"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["spelling"]


@pytest.fixture
def novel(tmp_path):
    """A text of 400 paragraphs that spells than and then right, and one that does not."""
    random = np.random.default_rng(0)
    nouns = np.array(["oak", "elm", "yew", "ash", "holly", "hazel", "maple", "rowan"])
    forms = [
        "The {} is older than the {} and no {} grows near .",
        "If the {} is cut , then the {} grows , as a {} would .",
        "A {} needs more water than a {} or a {} does .",
        "First comes the {} , and then the {} near the {} .",
    ]
    lines = [
        random.choice(forms).format(*random.choice(nouns, 3)) + f" Line {i} ." for i in range(400)
    ]
    # Every fourth paragraph is for the test, counted from the first: the slip is among them.
    path = tmp_path / "novel.txt"
    path.write_text("\n\n".join([SLIP, *lines]), encoding="utf-8")
    return path


def test_spelling_learns_from_a_file_and_finds_its_slip(spelling, novel, capsys):
    assert spelling.main([str(novel)]) is None
    told = capsys.readouterr().out
    assert "300 occurrences to learn from, 101 for the test" in told
    assert "Certified" in told
    wrong, guess = (float(share) for share in re.findall(r"([\d.]+)%[;.]", told))
    assert wrong == pytest.approx(100 / 101, abs=0.06)  # the slip, of 101 in the test
    assert guess > 40
    least = told.split("Least likely as they stand:\n")[1].splitlines()[0]
    assert "older then the hedge" in least
    assert "the plane" in told


def test_distances_are_those_of_the_hyperplane(spelling, novel):
    found = spelling.occurrences(novel.read_text(encoding="utf-8"), ("than", "then"), 5)
    learnt = spelling.learn(found, 0.05)
    by_word = spelling.distances(learnt)
    model = learnt.model
    expected = model.decision_function(learnt.X_test) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(by_word["then"], expected[learnt.truth == "then"], rtol=1e-12)
    assert sum(map(len, by_word.values())) == len(learnt.test)


def test_features_name_what_is_around(spelling):
    words = ["if", "it", "rains", ",", "then", "we", "stay"]
    features = spelling.features_around(words, 4, window=3)
    expected = {"near rains", ", _", "_ we", "_ we stay", "rains * _", "it * * _", ", _ we"}
    assert expected <= set(features)
    assert "near if" not in features
    assert "near if" in spelling.features_around(words, 4, window=4)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.txt"], "nowhere.txt is no file"),
        (["--pair", "than", "than", "{novel}"], "too few of than"),
        (["--pair", "hither", "thither", "{novel}"], "too few of hither and thither"),
    ],
)
def test_what_cannot_be_learnt_is_told_in_a_sentence(spelling, novel, arguments, says):
    assert says in spelling.main([each.replace("{novel}", str(novel)) for each in arguments])


def test_a_picture_is_saved(spelling, novel, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    assert spelling.main([str(novel), "--plot", str(tmp_path / "distances.png")]) is None
    assert (tmp_path / "distances.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_there_is_still_a_histogram(spelling, novel, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "pip install matplotlib" in spelling.main([str(novel), "--plot", "distances.png"])
    assert "the plane" in capsys.readouterr().out


def run(*arguments):
    command = [sys.executable, str(EXAMPLES / "spelling.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


def test_spelling_helps():
    assert "--pair WORD WORD" in run("--help")


def test_spelling_needs_no_file():
    told = run()
    wrong, guess = (float(share) for share in re.findall(r"([\d.]+)%[;.]", told))
    assert wrong < guess / 4
    assert int(re.search(r"(\d+) features", told)[1]) > 10_000
