"""The scores of forests in the benchmarks, and who counts as fast and good."""

from __future__ import annotations

import io
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import accuracy_score, r2_score

from benchmarks.contest import Limits, Run, Standing, Suite, Target
from benchmarks.datasets import Dataset
from benchmarks.forest_scores import ForestTask, compare_scores, judge_score, score
from benchmarks.report import CaseReport, Report

pytestmark = pytest.mark.long

CLASSES, NUMBERS = ForestTask(n_trees=10), ForestTask("numbers", n_trees=10)


def test_the_score_is_scikit_learns():
    random = np.random.default_rng(0)
    labels, guesses = random.integers(0, 4, (2, 100))
    assert score(CLASSES, labels, guesses) == accuracy_score(labels, guesses)
    y, predicted = random.normal(size=(2, 100))
    assert score(NUMBERS, y, predicted) == pytest.approx(r2_score(y, predicted))


def test_the_judge_keeps_the_score_and_no_number_is_no_result():
    y = np.random.default_rng(0).normal(size=50)
    data = Dataset(None, y, None, y)
    judge = judge_score(NUMBERS, data, None)
    verdict = judge({"predicted": data.y_test + 0.1})
    assert (
        verdict.details["score"]
        == 1.0 - verdict.figure
        == score(NUMBERS, data.y_test, data.y_test + 0.1)
    )
    holes = judge({"predicted": np.full(len(data.y_test), np.nan)})
    run = Run("x", "climb", 0.0, "done", 1.0, holes.figure, holes.details, "", 1.0, "")
    assert not run.meets(Target("grown", float("inf")))


NAMES = ("hedgerow", "good", "fast", "poor")


def report_of(seconds, scores, status="reached"):
    """A report of one case; us first, of the given status, then the peers."""
    contestants = [SimpleNamespace(name=name, is_ours=name == "hedgerow") for name in NAMES]
    targets = (Target("grown", float("inf")),)
    suite = Suite("few", [], contestants, targets, None, conclude=compare_scores)
    standings = [
        Standing(name, "grown", "reached" if name != "hedgerow" else status, taken, 0.1)
        for name, taken in zip(NAMES, seconds, strict=True)
    ]
    runs = [
        Run(name, "repeat", 0.0, "done", taken, 1.0 - one, {"score": one}, "", taken, "")
        for name, taken, several in zip(NAMES, seconds, scores, strict=True)
        for one in several
    ]
    warm_up = Run("good", "warm-up", 0.0, "done", 0.1, math.nan, {}, "", 0.1, "")
    report = Report("few", suite, Limits(), {})
    report.cases.append(CaseReport("case", (1, 1), standings, [warm_up, *runs]))
    return report


EQUAL = [[0.900] * 2, [0.902] * 2, [0.898] * 2, [0.880] * 2]


def test_the_peer_that_counts_is_the_fastest_of_those_as_good_as_the_best():
    (line,) = compare_scores(report_of([1.0, 8.0, 4.0, 0.5], EQUAL)).lines
    assert line.best.contestant == "good"
    assert line.rival.contestant == "fast"
    assert line.ratio == 0.25
    assert line.lacks == pytest.approx(0.002)


def test_a_score_is_the_mean_over_the_fits_with_its_standard_error():
    scores = [[0.90, 0.92, 0.94], *EQUAL[1:]]
    (line,) = compare_scores(report_of([1.0, 8.0, 4.0, 0.5], scores)).lines
    assert line.ours.score == pytest.approx(0.92)
    assert line.ours.error == pytest.approx(0.02 / math.sqrt(3))
    assert line.lacks_error == line.ours.error
    single = report_of([1.0, 8.0, 4.0, 0.5], [[0.9], [0.9], [0.9], [0.9]])
    assert compare_scores(single).lines[0].ours.error == 0.0


def test_a_peer_is_not_left_out_for_what_chance_explains():
    # The mean of the poor one is 0.02 below the best; so is twice its standard error, and more.
    chance = [*EQUAL[:3], [0.86, 0.904]]
    (line,) = compare_scores(report_of([1.0, 8.0, 4.0, 0.5], chance)).lines
    assert line.rival.contestant == "poor"


def test_we_are_no_measure_of_what_is_good():
    better = [[0.95] * 2, *EQUAL[1:]]
    (line,) = compare_scores(report_of([1.0, 8.0, 4.0, 0.5], better)).lines
    assert line.rival.contestant == "fast"
    assert line.lacks == pytest.approx(-0.048)


def test_if_we_break_we_are_charged_the_budget_and_have_no_score():
    report = report_of([60.0, 8.0, 4.0, 0.5], [[], *EQUAL[1:]], "failed")
    comparison = compare_scores(report)
    assert comparison.lines[0].ratio == 15.0
    assert comparison.mean_ratio == pytest.approx(15.0)
    assert math.isnan(comparison.lines[0].lacks)
    assert "- !" in shown(report)
    absent = compare_scores(report_of([math.nan, 8.0, 4.0, 0.5], [[], *EQUAL[1:]], "missing"))
    assert absent.lines[0].ours is None
    assert math.isnan(absent.mean_ratio)


def shown(report):
    console = Console(width=150, file=io.StringIO())
    console.print(report.suite.conclude(report).table())
    return console.file.getvalue()


def test_the_table_puts_low_scores_in_brackets_and_marks_ours_if_it_lacks_too_much():
    text = shown(report_of([1.0, 8.0, 4.0, 0.5], EQUAL))
    assert "(0.8800 ±0.0000)" in text
    assert "fast 4.00 s" in text
    assert "!" not in text
    assert "0.0040 !" in shown(report_of([1.0, 8.0, 4.0, 0.5], [[0.898] * 2, *EQUAL[1:]]))


def test_the_conclusion_is_part_of_the_document_and_strict_json():
    report = report_of([math.nan, 8.0, 4.0, 0.5], [[], *EQUAL[1:]], "missing")
    for contestant in report.suite.contestants:
        contestant.threads = lambda allowed: allowed
    conclusion = json.loads(json.dumps(report.as_document(), allow_nan=False))["conclusion"]
    (case,) = conclusion["cases"]
    assert case["fastest_good_peer"] == "fast"
    assert case["ratio"] is None
    assert [entry["contestant"] for entry in case["entries"]] == ["good", "fast", "poor"]
