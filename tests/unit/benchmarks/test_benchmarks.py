"""The benchmark harness: its adapters, its report and its command line."""

from __future__ import annotations

import importlib.util
import json
import logging
import math
import os
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from benchmarks.__main__ import _narrowed
from benchmarks.contest import Limits, Standing, Suite, Target, is_missing
from benchmarks.datasets import Dataset, from_folder, two_clouds
from benchmarks.objectives import LinearTask, dual, judge_against
from benchmarks.peers.intelex_log import accelerated
from benchmarks.peers.ladders import half_decades
from benchmarks.peers.scikit_learn import ScikitLearnLinear, ScikitLearnLogistic
from benchmarks.report import CaseReport, Report
from benchmarks.suites import SUITES, load_suite
from benchmarks.timing import Timing, geometric_mean
from benchmarks.worker import FellBackError
from hedgerow.errors import FileAccessError, ParameterError
from tests.unit.benchmarks.benchmark_data import DATA, INTERCEPTS, LOSSES, C, best, three_classes

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]

# ---------------------------------------------------------------------------- the adapters


CONTESTANTS = load_suite("linear").contestants
OFFERED = [
    pytest.param(contestant, task, id=f"{contestant.name} {loss} {intercept}")
    for contestant, loss, intercept in product(CONTESTANTS, LOSSES, INTERCEPTS)
    if contestant.ladder(task := LinearTask(loss, C, intercept))
]
# As an error a deprecation stops Snap ML's own check.
deprecations_pass = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def gap_left_by(contestant, task, name):
    """What the contestant leaves of the gap."""
    if is_missing(contestant):
        pytest.skip(f"{contestant.name} is not installed")
    data = DATA[name]
    bound = dual(task, data.X, data.y, best(task, name)[2])
    fitted = contestant.fit(task, data, 1e-6, 1)
    assert contestant.ran(fitted)
    return judge_against(task, data, bound)(contestant.result(fitted)).figure


@deprecations_pass
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(("contestant", "task"), OFFERED)
def test_every_adapter_returns_the_planes_of_the_stated_problem(contestant, task, name):
    # LIBLINEAR's 300 passes and Snap ML's stopping rule leave up to 4e-4 here; a wrong C, sign,
    # order of classes or intercept leaves more than 3e-3.
    assert -1e-12 < gap_left_by(contestant, task, name) < 2e-3


def test_every_loss_with_a_penalised_intercept_has_peers():
    offers = {param.values[1] for param in OFFERED if not param.values[0].is_ours}
    assert {LinearTask(loss, C) for loss in LOSSES} <= offers


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_wrong_intercept_or_a_wrong_c_would_be_seen(loss, name):
    data, task = DATA[name], LinearTask(loss, C)
    bound = dual(task, data.X, data.y, best(task, name)[2])
    for wrong in (LinearTask(loss, C, "free"), LinearTask(loss, 2 * C)):
        coef, intercept, _ = best(wrong, name)
        result = {"coef": coef, "intercept": intercept}
        assert judge_against(task, data, bound)(result).figure > 3e-3


@deprecations_pass
@pytest.mark.parametrize(("contestant", "task"), OFFERED)
def test_every_adapter_takes_the_scalars_of_numpy(contestant, task):
    assert gap_left_by(contestant, replace(task, C=np.float64(C)), "two") < 2e-3


@pytest.mark.parametrize("task", [LinearTask("logistic", C, i) for i in INTERCEPTS])
def test_a_hessian_that_no_memory_holds_is_refused_before_it_is_tried(task):
    wide = Dataset(sparse.csr_matrix((2, 130_000)), np.array([-1, 1]), None, None)
    with pytest.raises(MemoryError, match="130000 features would take 135 GB"):
        ScikitLearnLogistic("newton-cholesky").fit(task, wide, 1e-3, 1)


def test_a_ladder_goes_from_loose_to_tight_by_half_decades():
    assert half_decades(1e-1, 1e-3) == (0.1, 0.0316, 0.01, 0.00316, 0.001)


def test_a_patched_class_of_scikit_learn_is_refused():
    patched = type("LinearSVC", (), {"__module__": "sklearnex.svm"})()
    with pytest.raises(FellBackError, match=r"LinearSVC is sklearnex\.svm's"):
        ScikitLearnLinear(is_dual=True).ran(patched)
    with pytest.raises(FellBackError, match=r"sklearnex\.svm"):
        ScikitLearnLogistic("lbfgs").ran(SimpleNamespace(models=[patched]))


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
        ("mnist10", (60000, 784), 10000, 10),
        ("letter", (15000, 16), 5000, 26),
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


@pytest.mark.data
def test_the_houses_of_california_are_numbers_on_one_scale(data_folder):
    data = from_folder("california_housing")(data_folder)
    assert data.X.shape == (16512, 13)
    assert len(data.y_test) == 4128
    np.testing.assert_allclose(data.X.std(axis=0), 1.0, rtol=1e-12)
    assert np.isfinite(data.X_test).all()
    assert 0.1 < data.y.min() < data.y.max() < 5.1


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


def test_a_suite_is_narrowed_to_some_qualities_and_without_some_contestants():
    whole = load_suite("linear")
    names = [contestant.name for contestant in whole.contestants]
    few = _narrowed(whole, "1e-3", (names[1], names[2]))
    assert [target.name for target in few.targets] == ["gap 1e-3"]
    assert [contestant.name for contestant in few.contestants] == [names[0], *names[3:]]
    assert few.cases is whole.cases
    same = _narrowed(whole, "", ())
    assert (tuple(same.targets), tuple(same.contestants)) == (
        tuple(whole.targets),
        tuple(whole.contestants),
    )


def test_a_quality_or_a_contestant_that_is_not_there_is_named_with_those_that_are():
    whole = load_suite("linear")
    with pytest.raises(
        ParameterError, match="'1e-9' is in no quality's name; those are 'gap 1e-3'"
    ):
        _narrowed(whole, "1e-9", ())
    with pytest.raises(ParameterError, match="'nobody' is no contestant; those are 'hedgerow'"):
        _narrowed(whole, "", ("nobody",))


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_has_ours_and_peers_and_targets_from_loose_to_tight(name):
    suite: Suite = load_suite(name)
    assert {c.is_ours for c in suite.contestants} == {True, False}
    assert len({c.name for c in suite.contestants}) == len(suite.contestants)
    assert len({case.name for case in suite.cases}) == len(suite.cases)
    limits = [target.at_most for target in suite.targets]
    assert limits == sorted(limits, reverse=True)
    assert all(isinstance(target, Target) for target in suite.targets)


def test_the_table_of_which_estimator_has_a_line_for_each_kind():
    from benchmarks.which_estimator import CLASSIFIERS, table_of

    X, y = np.random.default_rng(0).normal(size=(400, 3)), np.arange(400) % 2
    X[:, 0] += 3 * y
    head, _, *lines = table_of(Dataset(X[:300], y[:300], X[300:], y[300:]), (100, 300))
    assert head == "| classifier | 100 rows | 300 rows | predict 10 000 rows |"
    assert len(lines) == len(CLASSIFIERS)
    assert all(line.count(" s, ") == 2 and line.count("%") == 2 for line in lines)
