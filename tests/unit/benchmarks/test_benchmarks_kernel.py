"""The benchmarks of kernel machines: their judge, their adapters, their suites."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from benchmarks.contest import Case, Contest, Limits, Standing, Suite, Target, is_missing
from benchmarks.datasets import Dataset, two_clouds
from benchmarks.kernel_objectives import KernelTask, dual, goodness, judge_against
from benchmarks.peers.kernel_machines import HedgerowKernel, ScikitLearnKernel
from benchmarks.plot import draw_growth
from benchmarks.report import CaseReport, Report
from benchmarks.suites import load_suite
from benchmarks.suites.kernel_predict import Predictor, PredictTask, with_test_rows
from hedgerow.errors import UnavailableError
from tests.unit.benchmarks.benchmark_data import as_sparse, three_classes

pytestmark = pytest.mark.long

CLASSES = KernelTask(3.0, 0.2)
NUMBERS = KernelTask(3.0, 0.2, "numbers", epsilon=0.05)


def noisy(data):
    """Labels of which a tenth is wrong, so that some coefficients are at their bound."""
    random = np.random.default_rng(4)
    labels = np.unique(data.y)
    y = np.where(random.random(len(data.y)) < 0.1, random.choice(labels, len(data.y)), data.y)
    return Dataset(data.X, y, data.X, data.y)


def curve():
    random = np.random.default_rng(5)
    X = random.uniform(-2, 2, size=(300, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * random.normal(size=300)
    return Dataset(X[:200], y[:200], X[200:], y[200:])


DATA = {
    "two": (CLASSES, noisy(two_clouds(None))),
    "three": (CLASSES, noisy(three_classes())),
    "three sparse": (CLASSES, as_sparse(noisy(three_classes()))),
    "numbers": (NUMBERS, curve()),
}
each_data = pytest.mark.parametrize("name", DATA)


def primal(task, data, result):
    """The sum over all problems of 1/2 |w|^2 + C times the losses, from the formulas."""
    K, total = rbf_kernel(data.X, gamma=task.gamma), 0.0
    labels = [None] if task.kind == "numbers" else list(combinations(np.unique(data.y), 2))
    for pair, a, b in zip(labels, result["dual_coef"], result["intercept"], strict=True):
        scores = K @ a + b
        if pair is None:
            losses = np.maximum(0.0, np.abs(data.y - scores) - task.epsilon)
        else:
            there = np.isin(data.y, pair)
            losses = np.maximum(0.0, 1.0 - np.where(data.y == pair[1], 1, -1) * scores)[there]
        total += 0.5 * a @ K @ a + task.C * losses.sum()
    return total


def optimum(name):
    """What scikit-learn comes to at a tolerance a thousand times finer than asked below."""
    task, data = DATA[name]
    fitter = ScikitLearnKernel()
    return task, data, fitter.result(fitter.fit(task, data, 1e-8, 1))


# ------------------------------------------------------------------------------- the judge


@each_data
def test_at_the_optimum_the_dual_meets_the_primal(name):
    task, data, result = optimum(name)
    best = primal(task, data, result)
    # At 1e-8 the sum over 400 rows of C times the violation is far below 1e-5 of the objective.
    assert dual(task, data.X, data.y, result["dual_coef"]) == pytest.approx(best, rel=1e-5)


@each_data
def test_no_coefficients_give_a_dual_above_the_optimum(name):
    task, data, result = optimum(name)
    best = primal(task, data, result)
    random = np.random.default_rng(6)
    for scale in (0.0, 0.1, 1.0, 10.0):
        wrong = result["dual_coef"] + scale * random.normal(size=result["dual_coef"].shape)
        assert dual(task, data.X, data.y, wrong) <= best * (1 + 1e-12)
        assert dual(task, data.X, data.y, -wrong) <= best * (1 + 1e-12)


@each_data
def test_blocks_make_no_difference(name, monkeypatch):
    task, data, result = optimum(name)
    whole = dual(task, data.X, data.y, result["dual_coef"]), goodness(task, data, result)
    monkeypatch.setattr("benchmarks.kernel_objectives._VALUES", 1000)
    parts = dual(task, data.X, data.y, result["dual_coef"]), goodness(task, data, result)
    assert parts == pytest.approx(whole, rel=1e-12)


@each_data
def test_the_harness_predicts_as_scikit_learn_does(name):
    task, data, result = optimum(name)
    settings = {"C": task.C, "gamma": task.gamma, "tol": 1e-8}
    model = SVC(**settings) if task.kind == "classes" else SVR(epsilon=task.epsilon, **settings)
    expected = model.fit(data.X, data.y).score(data.X_test, data.y_test)
    assert goodness(task, data, result) == pytest.approx(expected, abs=1e-6)


def test_a_reference_is_what_the_figure_is_about():
    task, data, result = optimum("two")
    value = dual(task, data.X, data.y, result["dual_coef"])
    verdict = judge_against(task, data, 2.0 * value)(result)
    assert verdict.figure == pytest.approx(0.5)
    assert verdict.details["dual_objective"] == value
    assert verdict.details["n_support"] == np.count_nonzero(result["dual_coef"])
    assert judge_against(task, data, None)(result).figure == 0.0


# ---------------------------------------------------------------------------- the adapters


@each_data
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("contestant", load_suite("kernel").contestants, ids=lambda c: c.name)
def test_every_adapter_returns_the_coefficients_of_the_stated_problem(contestant, name):
    task, data, best = optimum(name)
    if is_missing(contestant) or not contestant.ladder(task):
        pytest.skip(f"{contestant.name} is not there")
    fitted = contestant.fit(task, data, 1e-5, 1)
    assert contestant.ran(fitted)
    result = contestant.result(fitted)
    reference = dual(task, data.X, data.y, best["dual_coef"])
    verdict = judge_against(task, data, reference)(result)
    # A wrong C, gamma, sign or order of classes leaves far more than 1e-3.
    assert abs(verdict.figure) < 1e-4
    np.testing.assert_allclose(result["intercept"], best["intercept"], atol=1e-3)
    predicted = contestant.predict(fitted, data.X_test)
    expected = goodness(task, data, best)
    if task.kind == "classes":
        assert np.mean(predicted == data.y_test) == pytest.approx(expected, abs=0.01)
    else:
        rest = np.sum((predicted - data.y_test) ** 2)
        total = np.sum((data.y_test - data.y_test.mean()) ** 2)
        assert 1 - rest / total == pytest.approx(expected, abs=1e-3)


@each_data
def test_another_machine_would_be_seen(name):
    task, data, best = optimum(name)
    reference, fitter = dual(task, data.X, data.y, best["dual_coef"]), ScikitLearnKernel()
    others = (KernelTask(1.5, 0.2, task.kind, task.epsilon), KernelTask(3.0, 0.4, task.kind, 0.05))
    for other in others:
        result = fitter.result(fitter.fit(other, data, 1e-5, 1))
        assert judge_against(task, data, reference)(result).figure > 1e-3


# ------------------------------------------------------------------------------ the suites


def test_a_version_without_kernel_machines_is_said_to_have_none(monkeypatch):
    monkeypatch.setattr("hedgerow.__all__", ["LinearSVC"])
    assert not HedgerowKernel.is_there()
    assert HedgerowKernel().ladder(CLASSES) == ()
    monkeypatch.setattr("hedgerow.__all__", ["SVC", "SVR"])
    assert HedgerowKernel().ladder(CLASSES)[0] == 1e-3


def suite_of(contestants, referee, **rest):
    return Suite("few rows", [], contestants, (Target("done", float("inf")),), referee, **rest)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_predictions_are_timed_without_the_fit(one_by_one):
    referee = load_suite("kernel_predict").referee
    suite = suite_of([Predictor(ScikitLearnKernel())], referee)
    load = partial(with_test_rows, 500, two_clouds)
    case = Case("clouds", load, PredictTask(CLASSES, one_by_one))
    crew = {}
    contest = Contest(
        suite, case, load(None), limits=Limits(repeats=1), crew=crew, say=lambda _: None
    )
    try:
        contest.hold()
    finally:
        for worker in crew.values():
            worker.stop()
    (standing,) = contest.standings()
    assert standing.status == "reached", contest.runs
    errors = [run.figure for run in contest.runs if run.phase == "repeat"]
    assert 0.0 < errors[0] < 0.3


def test_test_rows_are_repeated_as_often_as_it_takes():
    data = with_test_rows(450, two_clouds, None)
    assert data.X_test.shape == (450, 8)
    assert np.array_equal(data.X_test[200:400], data.X_test[:200])


def test_numbers_are_thinned_without_keeping_every_one():
    assert len(curve().thinned(20).y) == 20


def report_of_sizes():
    """Two sizes; one contestant never reaches the second."""
    suite = suite_of([ScikitLearnKernel(), HedgerowKernel()], None, remark="Few rows.")
    report = Report("few", suite, Limits(), {})
    for n_rows, status in ((100, "reached"), (1000, "never reached")):
        standings = [
            Standing("scikit-learn", "done", "reached", 1e-3 * n_rows, 0.1),
            Standing("hedgerow", "done", status, 60.0, 0.1),
        ]
        report.cases.append(CaseReport(f"{n_rows} rows", (n_rows, 2), standings, []))
    return report


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_growth_is_drawn_of_those_who_came_to_an_end(suffix, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / f"growth.{suffix}"
    draw_growth(report_of_sizes(), file)
    assert file.stat().st_size > 1000
    assert "svg" not in suffix or "<svg" in file.read_text()


def test_without_matplotlib_nothing_is_run(monkeypatch):
    import sys

    from benchmarks.plot import refuse_without_matplotlib

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnavailableError, match="pip install matplotlib"):
        refuse_without_matplotlib()


def test_the_remark_of_a_suite_is_below_its_tables():
    assert "Few rows." in list(report_of_sizes()._notes())
