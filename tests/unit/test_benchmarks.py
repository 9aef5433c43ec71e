"""The benchmark harness: its judge, its adapters, its report and its command line."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks.contest import Limits, Standing, Suite, Target, is_missing
from benchmarks.datasets import Dataset, from_folder, two_clouds
from benchmarks.objectives import LinearTask, accuracy, dual, judge_against, primal, relative_gap
from benchmarks.peers.hedgerow import HedgerowLinear
from benchmarks.peers.intelex_log import accelerated
from benchmarks.peers.ladders import half_decades
from benchmarks.report import CaseReport, Report
from benchmarks.suites import SUITES, load_suite
from benchmarks.timing import Timing, geometric_mean
from benchmarks.worker import FellBackError
from hedgerow import LinearSVC
from hedgerow.errors import FileAccessError
from tests.reference import linear_svm

ROOT = Path(__file__).parents[2]
LOSSES = ["hinge", "squared_hinge"]


def three_classes():
    """Rows whose labels do not come in their sorted order, so that mixed-up planes are seen."""
    random = np.random.default_rng(1)
    y = (np.arange(300) + 1) % 3
    X = random.normal(size=(300, 5))
    X[np.arange(300), y] += 2.0
    return Dataset(X, y, X, y)


def as_sparse(data):
    return Dataset(sparse.csr_matrix(data.X), data.y, sparse.csr_matrix(data.X_test), data.y_test)


DATA = {
    "two": two_clouds(None),
    "three": three_classes(),
    "three sparse": as_sparse(three_classes()),
}

# ------------------------------------------------------------------------------- the judge


@pytest.mark.parametrize("loss", LOSSES)
def test_the_judge_agrees_with_the_reference(loss):
    data, task = two_clouds(None), LinearTask(loss, 0.7)
    random = np.random.default_rng(2)
    for _ in range(5):
        w, b = random.normal(size=8), random.normal()
        expected = linear_svm.primal(
            data.X, data.y, np.full(len(data.y), 0.7), w, b, loss=loss, intercept="penalized"
        )
        value = primal(task, data.X, data.y, w[None, :], np.array([b]))
        # Two float64 sums of 400 terms differ by rounding alone.
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_dual_value_exceeds_an_objective_whatever_alpha_is(loss, name):
    data, task = DATA[name], LinearTask(loss, 0.7)
    n_problems = 1 if data.n_classes == 2 else data.n_classes
    best = LinearSVC(loss=loss, C=0.7, intercept="penalized", tol=1e-9).fit(data.X, data.y)
    objective = primal(task, data.X, data.y, best.coef_, best.intercept_)
    spoiled = np.full((n_problems, len(data.y)), np.nan)
    spoiled[:, :2] = np.inf, -np.inf
    for alpha in (best_outside_the_box(data, C=0.7), best_outside_the_box(data, C=70.0), spoiled):
        assert dual(task, data.X, data.y, alpha) <= objective


def best_outside_the_box(data, C):
    """The alpha of least squares: without the bounds on alpha, its dual value is too high."""
    X = np.hstack([np.asarray(sparse.csr_matrix(data.X).todense()), np.ones((len(data.y), 1))])
    labels = np.unique(data.y)
    planes = []
    for label in labels[1:] if len(labels) == 2 else labels:
        signed = X * np.where(data.y == label, 1.0, -1.0)[:, None]
        ridge = signed @ signed.T + np.eye(len(data.y)) / (2 * C)
        planes.append(np.linalg.solve(ridge, np.ones(len(data.y))))
    return np.array(planes)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_from_alpha_is_that_of_the_certificates(loss, name):
    data, task = DATA[name], LinearTask(loss, 0.7)
    model = LinearSVC(loss=loss, C=0.7, intercept="penalized", tol=1e-6).fit(data.X, data.y)
    claimed = sum(certificate.dual for certificate in model.certificates_)
    assert dual(task, data.X, data.y, model.alpha_) == pytest.approx(claimed, rel=1e-12)


def test_the_gap_is_relative_to_the_larger_value():
    assert relative_gap(2.0, 1.0) == 0.5
    assert relative_gap(0.0, 0.0) == 0.0


# ---------------------------------------------------------------------------- the adapters


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("contestant", load_suite("linear").contestants, ids=lambda c: c.name)
@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # as an error it stops Snap ML's own check
def test_every_adapter_returns_the_planes_of_the_stated_problem(contestant, loss, name):
    data, task = DATA[name], LinearTask(loss, 0.7)
    if is_missing(contestant):
        pytest.skip(f"{contestant.name} is not installed")
    if not contestant.ladder(task):
        pytest.skip(f"{contestant.name} does not offer {loss}")
    ours = HedgerowLinear()
    bound = dual(task, data.X, data.y, ours.result(ours.fit(task, data, 1e-9, 1))["alpha"])
    fitted = contestant.fit(task, data, 1e-6, 1)
    verdict = judge_against(task, data, bound)(contestant.result(fitted))
    # LIBLINEAR's 300 passes and Snap ML's stopping rule leave up to 4e-4 here; a wrong C, sign,
    # order of classes or intercept leaves more than 1e-2.
    assert -1e-12 < verdict.figure < 2e-3
    assert contestant.ran(fitted)


def test_a_ladder_goes_from_loose_to_tight_by_half_decades():
    assert half_decades(1e-1, 1e-3) == (0.1, 0.0316, 0.01, 0.00316, 0.001)


def test_a_patched_class_of_scikit_learn_is_refused():
    contestant = load_suite("linear").contestants[3]
    patched = type("LinearSVC", (), {"__module__": "sklearnex.svm"})()
    with pytest.raises(FellBackError, match=r"sklearnex\.svm"):
        contestant.ran(patched)


def test_the_slow_build_of_snapml_is_refused_where_the_fast_one_could_run(monkeypatch):
    contestant = load_suite("linear").contestants[-1]
    monkeypatch.setattr("benchmarks.peers.snapml.describe_machine", lambda: {"isa": ["avx2"]})
    monkeypatch.delitem(sys.modules, "snapml.libsnapmllocal3_avx2", raising=False)
    with pytest.raises(FellBackError, match="generic build"):
        contestant.ran(None)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (
            ["SVC.fit: running accelerated version on CPU", "SVC.predict: fallback to original"],
            "SVC.predict",
        ),
        ([], "did not log"),
    ],
)
def test_a_call_that_onedal_did_not_do_is_noticed(messages, words):
    def call():
        with accelerated():
            for message in messages:
                logging.getLogger("sklearnex").info(message)

    with pytest.raises(FellBackError, match=words):
        call()


def test_calls_that_onedal_did_are_let_through():
    with accelerated():
        logging.getLogger("sklearnex").info("SVC.fit: running accelerated version on CPU")


@pytest.mark.skipif(
    importlib.util.find_spec("sklearnex") is None, reason="sklearnex is not installed"
)
def test_scikit_learn_intelex_says_in_these_words_what_ran():
    from sklearnex.svm import SVC

    data = two_clouds(None)
    with accelerated():
        SVC().fit(data.X, data.y)
    with pytest.raises(FellBackError, match="fallback"), accelerated():
        SVC(kernel=lambda a, b: a @ b.T).fit(data.X, data.y)


# -------------------------------------------------------------------------------- the data


def test_thinned_data_keep_every_label():
    data = three_classes()
    y = np.where(np.arange(300) == 1, 7, 0)
    few = Dataset(data.X, y, data.X, y).thinned(10)
    assert set(few.y) == {0, 7}
    assert len(few.y) <= 12


def test_data_that_are_not_there_are_named_in_one_sentence(tmp_path):
    with pytest.raises(FileAccessError, match=r"a9a is not in .*; point --data"):
        from_folder("a9a")(tmp_path)
    with pytest.raises(FileAccessError, match="HEDGEROW_DATA"):
        from_folder("a9a")(None)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "n_test", "n_classes"),
    [
        ("a9a", (32561, 123), 16281, 2),
        ("ijcnn1", (49990, 22), 91701, 2),
        ("mnist", (11982, 784), 1984, 2),
        ("20newsgroups", (11314, 129791), 7532, 20),
    ],
)
def test_the_real_data_have_their_published_shapes(data_folder, name, shape, n_test, n_classes):
    data = from_folder(name)(data_folder)
    assert data.X.shape[0] == shape[0]
    assert data.X.shape[1] == data.X_test.shape[1]
    assert len(data.y_test) == n_test
    assert data.n_classes == n_classes
    if name != "20newsgroups":  # the size of its vocabulary is scikit-learn's business
        assert data.X.shape == shape


# ------------------------------------------------------------------------------ the report


def report_with(*charges):
    """A report of one target with cases whose charges are given as (ours, theirs)."""
    suite = load_suite("import")
    report = Report("import", suite, Limits(), {})
    for k, (ours, theirs) in enumerate(charges):
        standings = [
            Standing("hedgerow", "imported", "reached", ours, 0.1),
            Standing("scikit-learn", "imported", "reached", theirs, 0.1),
        ]
        report.cases.append(CaseReport(f"case {k}", (1, 1), standings, []))
    return report


def test_the_ratio_is_ours_over_the_best_peer_and_its_mean_geometric():
    report = report_with((1.0, 2.0), (4.0, 2.0))
    assert [report.ratio(case, "imported") for case in report.cases] == [0.5, 2.0]
    assert report.mean_ratio("imported") == pytest.approx(1.0)


def test_a_case_without_a_charged_peer_has_no_ratio_and_does_not_count():
    report = report_with((1.0, math.nan), (1.0, 2.0))
    assert math.isnan(report.ratio(report.cases[0], "imported"))
    assert report.mean_ratio("imported") == pytest.approx(0.5)


def test_the_document_is_strict_json():
    text = json.dumps(report_with((1.0, math.nan)).as_document(), allow_nan=False)
    assert json.loads(text)["cases"][0]["ratio_to_best_peer"] == {"imported": None}


def test_a_median_ignores_one_slow_repeat_and_the_spread_does_not():
    timing = Timing((1.0, 1.1, 9.0))
    assert timing.median == 1.1
    assert timing.spread == pytest.approx(8.0 / 1.1)
    assert math.isnan(geometric_mean([]))


# ------------------------------------------------------------------------ the command line


def run_benchmarks(*arguments):
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    environment = {k: v for k, v in os.environ.items() if k != "HEDGEROW_DATA"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment
    )


@pytest.mark.slow
def test_the_smoke_suite_tells_everything_a_figure_depends_on(tmp_path):
    file = tmp_path / "smoke.json"
    run = run_benchmarks("smoke", "--repeats", 2, "--only", "squared", "--json", file)
    assert run.returncode == 0, run.stderr
    document = json.loads(file.read_text())
    assert {"cpu", "cores", "memory_bytes", "isa"} <= set(document["machine"])
    assert document["versions"]["hedgerow"]
    assert "--repeats 2" in document["command"]
    (case,) = document["cases"]
    standings = {(s["contestant"], s["target"]): s for s in case["standings"]}
    names = {c.name for c in load_suite("smoke").contestants}
    assert {contestant for contestant, _ in standings} == names
    assert standings["hedgerow", "gap 1e-6"]["status"] == "reached"
    assert case["ratio_to_best_peer"]["gap 1e-6"] > 0
    timed = [r for r in case["runs"] if (r["contestant"], r["phase"]) == ("hedgerow", "repeat")]
    assert all(r["seconds"] > 0 and r["figure"] <= 1e-3 for r in timed)
    assert all(name in run.stdout for name in ("hedgerow", "scikit-learn", "geometric mean"))


def test_a_wrong_case_or_a_missing_folder_is_one_sentence():
    wrong = run_benchmarks("smoke", "--only", "nothing")
    assert wrong.returncode != 0
    assert "in no case's name" in wrong.stderr
    missing = run_benchmarks("linear", "--only", "a9a")
    assert missing.returncode != 0
    assert "Traceback" not in missing.stderr
    assert "HEDGEROW_DATA" in missing.stderr


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_has_ours_and_peers_and_targets_from_loose_to_tight(name):
    suite: Suite = load_suite(name)
    assert {c.is_ours for c in suite.contestants} == {True, False}
    assert len({c.name for c in suite.contestants}) == len(suite.contestants)
    assert len({case.name for case in suite.cases}) == len(suite.cases)
    limits = [target.at_most for target in suite.targets]
    assert limits == sorted(limits, reverse=True)
    assert all(isinstance(target, Target) for target in suite.targets)


def test_accuracy_counts_the_labels_that_are_predicted():
    X, y = np.array([[1.0], [-1.0], [2.0], [-3.0]]), np.array([1, -1, -1, -1])
    assert accuracy(X, y, np.array([[1.0]]), np.array([0.0])) == 0.75
