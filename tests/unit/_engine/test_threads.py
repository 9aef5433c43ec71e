"""Threads, instruction sets, forks and workers change how fast, never what comes out."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits

from hedgerow import (
    SVC,
    SVDD,
    SVR,
    LinearOneClassSVM,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    _core,
)
from hedgerow._base.parameters import check_seed, generator_of
from hedgerow._engine import check_n_threads, side_by_side
from hedgerow.losses import LOSSES, REGRESSION_LOSSES
from hedgerow.solvers import SOLVERS

pytestmark = pytest.mark.long

KINDS = ["dense64", "dense32", "csr"]
CASES = [
    pytest.param(solver, loss, penalty, kind, id=f"{name}-{loss}-{penalty}-{kind}")
    for name, solver in SOLVERS.items()
    for loss in solver.losses
    if loss in {*LOSSES, *REGRESSION_LOSSES}
    for penalty in solver.penalties
    for kind in KINDS
]


def table(kind, n=3000, d=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = np.where(X[:, :3].sum(axis=1) + rng.normal(size=n) > 0, 1, -1)
    make = {"dense64": lambda a: a, "dense32": np.float32, "csr": sp.csr_array}
    return make[kind](X), y


def bits(model):
    parts = (model.coef_, model.intercept_, model.alpha_)
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in parts)).hexdigest()


@pytest.mark.filterwarnings("ignore::hedgerow.NotCertifiedWarning")
@pytest.mark.parametrize(("solver", "loss", "penalty", "kind"), CASES)
def test_any_number_of_threads_gives_the_same_bits(solver, loss, penalty, kind):
    """Some rounds are enough: bits that part never come together again."""
    X, y = table(kind)
    how = {"loss": loss, "solver": solver.name, "random_state": 3, "C": 0.01, "max_iter": 20}
    how |= {"intercept": solver.intercepts[0], "penalty": penalty}
    estimator = LinearSVR if loss in REGRESSION_LOSSES else LinearSVC
    models = [estimator(n_jobs=n, **how) for n in (1, 2, 3, None)]
    assert len({bits(model.fit(X, y)) for model in models}) == 1


def test_any_number_of_threads_gives_the_same_bits_for_many_classes():
    X, y = load_digits(return_X_y=True)
    found = {bits(LinearSVC(n_jobs=n, C=1e-3).fit(X, y)) for n in (1, 2, 4)}
    assert len(found) == 1


def test_any_number_of_threads_gives_the_same_bits_for_one_class():
    X = table("dense64")[0] + 1.0
    found = {bits(LinearOneClassSVM(nu=0.1, n_jobs=n).fit(X)) for n in (1, 2, 3)}
    assert len(found) == 1


MACHINES = {
    "two classes": SVC(C=10.0, gamma=0.02),
    "little room": SVC(C=10.0, gamma=0.02, cache_size=9),
    "pairs": SVC(C=10.0, gamma=0.02),
    "pairs, little room": SVC(C=10.0, gamma=0.02, cache_size=30),
    "rest": SVC(kernel="poly", coef0=1.0, multi_class="ovr", gamma=0.02),
    "by nu": NuSVC(nu=0.2, gamma=0.02),
    "probabilities": SVC(gamma=0.02, calibrate="sigmoid", random_state=0),
    "values": SVR(gamma=0.02),
    "values by nu": NuSVR(kernel="laplacian", gamma=0.02),
    "one class": OneClassSVM(nu=0.2, gamma=0.02),
    "ball": SVDD(nu=0.2, gamma=0.02),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("kind", ["dense64", "csr"])
def test_any_number_of_threads_gives_the_same_bits_for_kernel_machines(name, kind):
    X, y = table(kind, n=1100, d=20)
    y = y if name in ("two classes", "little room", "probabilities") else np.arange(len(y)) % 3
    model, found = MACHINES[name], set()
    for n_jobs in (1, 2, 3):
        model.set_params(n_jobs=n_jobs).fit(X, y)
        scores = getattr(model, "decision_function", model.predict)(X[:200])
        parts = (model.support_, sp.csr_array(model.dual_coef_).data, model.intercept_, scores)
        found.add(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
    assert len(found) == 1


def test_a_wide_table_gives_the_same_bits_for_any_number_of_threads():
    X, y = table("dense64", n=150, d=800)
    found = {bits(LinearSVC(loss="hinge", n_jobs=n).fit(X, y)) for n in (1, 2)}
    assert len(found) == 1


FIT = """
import sys, numpy as np, scipy.sparse as sp
from hedgerow import LinearOneClassSVM, LinearSVC, LinearSVR, _core
from tests.unit._engine.test_threads import table
assert _core.system.isa() == sys.argv[1], _core.system.isa()
out = []
for kind in ("dense64", "dense32", "csr"):
    X, y = table(kind)
    for loss in ("hinge", "squared_hinge"):
        out.append(LinearSVC(loss=loss, tol=1e-8, C=0.1).fit(X, y).coef_[0])
    out.append(LinearSVC(solver="dual_coordinate_descent", random_state=0, C=0.01).fit(X, y).coef_[0])
np.save(sys.argv[2], out)
"""


def run_with_isa(isa, tmp_path):
    path = tmp_path / f"{isa}.npy"
    env = os.environ | {"HEDGEROW_ISA": isa}
    run = [sys.executable, "-c", FIT, isa, str(path)]
    subprocess.run(run, env=env, check=True, cwd=os.getcwd())
    return np.load(path)


def test_the_instruction_sets_agree(tmp_path):
    """Coordinate descent stops at a gap of 1e-4, the others at 1e-8: so near must they be."""
    baseline = run_with_isa("baseline", tmp_path)
    others = [isa for isa in _core.system.supported_isas() if isa != "baseline"]
    for isa in others:
        found = run_with_isa(isa, tmp_path)
        assert_allclose(found, baseline, rtol=0, atol=1e-6 * np.abs(baseline).max())


def test_an_unknown_instruction_set_is_refused_by_name():
    code = "from hedgerow import _core; print(_core.system.isa())"
    env = os.environ | {"HEDGEROW_ISA": "sse9"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert run.returncode != 0
    assert "ValueError: HEDGEROW_ISA is 'sse9'" in run.stderr
    assert "baseline" in run.stderr


def test_a_forked_child_can_fit_after_its_parent_did():
    X, y = table("dense64")
    parent = bits(LinearSVC(n_jobs=2).fit(X, y))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, bits(LinearSVC(n_jobs=2).fit(X, y)).encode())
        os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    with os.fdopen(read) as pipe:
        assert pipe.read() == parent


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_inside_a_joblib_worker_there_is_one_thread(backend):
    assert check_n_threads(None) == _core.system.available_cores()
    with parallel_config(backend=backend, n_jobs=2):
        inside = Parallel()(delayed(check_n_threads)(None) for _ in range(2))
    assert inside == [1, 1]


def test_tasks_side_by_side_use_one_thread_each_and_come_back_in_order():
    assert list(side_by_side(lambda k: (k, check_n_threads(None)), range(5), 2)) == [
        (k, 1) for k in range(5)
    ]
    assert list(side_by_side(lambda k: k, [], 2)) == []


def test_a_task_that_fails_drops_those_not_begun_and_tells_the_caller():
    begun = []

    def task(k):
        begun.append(k)
        if k == 0:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        list(side_by_side(task, range(1000), 2))
    assert len(begun) < 1000


@pytest.mark.sanitize
def test_the_core_under_test_is_the_one_asked_for():
    folder = os.environ.get("HEDGEROW_CORE")
    assert folder is None or Path(_core.__file__).parent == Path(folder)


def test_the_number_of_jobs_is_scikit_learns():
    cores = _core.system.available_cores()
    assert check_n_threads(3) == 3
    assert check_n_threads(-1) == cores
    assert check_n_threads(-cores - 5) == 1


def test_the_affinity_mask_counts():
    mask = os.sched_getaffinity(0)
    code = (
        "import os; from hedgerow import _core\n"
        f"os.sched_setaffinity(0, {{{min(mask)}}}); print(_core.system.available_cores())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "1"


def test_the_raw_stream_is_numpys_philox():
    for seed, stream in ((0, 0), (1, 0), (12345, 678), (2**64 - 1, 2**63)):
        judge = np.random.Philox(key=np.array([seed, stream], dtype=np.uint64), counter=0)
        assert_allclose(_core.system.random_uint64(seed, stream, 9), judge.random_raw(9), rtol=0)


def test_python_draws_from_the_same_stream():
    raw = generator_of(5, 7).bit_generator.random_raw(6)
    assert raw.tolist() == _core.system.random_uint64(5, 7, 6).tolist()


def test_random_numbers_are_spread_evenly():
    draws = _core.system.random_below(7, 0, 10, 100_000)
    counts = np.bincount(draws, minlength=10)
    assert abs(counts - 10_000).max() < 5 * np.sqrt(10_000)
    uniform = _core.system.random_uniform(7, 1, 100_000)
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 5 / np.sqrt(12 * 100_000)
    order = _core.system.random_permutation(7, 2, 1000)
    assert np.array_equal(np.sort(order), np.arange(1000))


def test_seeds_come_from_whatever_scikit_learn_takes():
    assert check_seed(5) == 5
    assert check_seed(np.random.RandomState(0)) == check_seed(np.random.RandomState(0))
    assert check_seed(np.random.default_rng(0)) == check_seed(np.random.default_rng(0))
    np.random.seed(1)  # noqa: NPY002 - the global state is what None means
    first = check_seed(None)
    assert check_seed(None) != first
    np.random.seed(1)  # noqa: NPY002
    assert check_seed(None) == first


def test_the_same_seed_gives_the_same_fit_and_another_seed_another():
    X, y = table("csr")
    kwargs = {"solver": "dual_coordinate_descent", "C": 0.01}
    first, again, other = (LinearSVC(random_state=s, **kwargs).fit(X, y) for s in (0, 0, 1))
    assert bits(first) == bits(again)
    assert bits(first) != bits(other)


WITHOUT_THREADS = """
import sys, threading
import numpy as np
import hedgerow
try:
    threading.Thread(target=print).start()
except RuntimeError:
    pass
else:
    sys.exit(77)
random = np.random.default_rng(0)
X = random.normal(size=(3000, 20))
y = np.digitize(X[:, 0] + random.normal(size=3000), [-1, 1])
np.savetxt(sys.argv[1], np.c_[X, y], delimiter=",")
for model in (
    hedgerow.LinearSVC(n_jobs=4),
    hedgerow.RandomForestClassifier(4, n_jobs=4, random_state=0),
    hedgerow.SVC(n_jobs=4, max_iter=2000),
):
    assert model.fit(X, y).score(X, y) > 0.6
assert hedgerow.LinearSVC(n_jobs=4).fit_files(sys.argv[1], block_bytes=2**15).certificate_.is_certified
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_a_process_that_gets_no_threads_works_without(tmp_path):
    """A stack that is larger than the address space lets no thread start, in Python or in the core."""
    command = 'ulimit -S -s 50000000 && ulimit -v 40000000 || exit 77; exec "$@"'
    code = [sys.executable, "-W", "ignore", "-c", WITHOUT_THREADS, str(tmp_path / "rows.csv")]
    ran = subprocess.run(
        ["bash", "-c", command, "bash", *code],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    if ran.returncode == 77:
        pytest.skip("this system does not limit stacks so")
    assert ran.returncode == 0, ran.stderr
