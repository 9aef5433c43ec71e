"""Sparse matrices whose arrays contradict each other are refused before SciPy reads them."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import hedgerow as h
from hedgerow._base.sparse import checked_sparse
from hedgerow.errors import DataError

RNG = np.random.default_rng(0)
DENSE = np.abs(np.where(RNG.random((30, 6)) < 0.5, 0.0, RNG.normal(size=(30, 6))))
Y = np.arange(30) % 2


def put(array: str, place: Any, value: Any) -> Callable[[Any], None]:
    """Return what writes a value into an array of a matrix."""
    return lambda matrix: getattr(matrix, array).__setitem__(place, value)


def put_all(*parts: tuple[str, Any, Any]) -> Callable[[Any], None]:
    def change(matrix: Any) -> None:
        for part in parts:
            put(*part)(matrix)

    return change


def cut(array: str) -> Callable[[Any], None]:
    return lambda matrix: setattr(matrix, array, getattr(matrix, array)[:2].copy())


def as_type(array: str, dtype: Any) -> Callable[[Any], None]:
    return lambda matrix: setattr(matrix, array, getattr(matrix, array).astype(dtype))


COMPRESSED = {
    "bounds that decrease to 0": put_all(("indptr", slice(1, -1), 10**6), ("indptr", -1, 0)),
    "bounds beyond the values": put("indptr", -1, 10**7),
    "a negative bound": put("indptr", 1, -(10**6)),
    "bounds that do not begin at 0": put("indptr", 0, 1),
    "an index too large": put("indices", 0, 10**8),
    "a negative index": put("indices", -1, -(10**8)),
    "few bounds": cut("indptr"),
    "few indices": cut("indices"),
    "few values": cut("data"),
    "indices that are floats": as_type("indices", float),
    "bounds without a sign": as_type("indptr", np.uint64),
    "no bounds": lambda matrix: setattr(matrix, "indptr", None),
}
DAMAGE: dict[str, dict[str, Callable[[Any], None]]] = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": {
        "a row too far": lambda matrix: matrix.coords[0].__setitem__(0, 10**8),
        "a negative column": lambda matrix: matrix.coords[1].__setitem__(0, -(10**8)),
        "few values": cut("data"),
    },
    "dia": {
        "a diagonal twice": put("offsets", slice(None), 0),
        "few offsets": cut("offsets"),
    },
    "lil": {
        "a column too far": lambda matrix: (
            matrix.rows[0].append(10**8),
            matrix.data[0].append(1.0),
        ),
        "more values than columns": lambda matrix: matrix.data[0].extend([1.0] * 10**5),
        "few rows": cut("rows"),
        "no list": put("rows", 0, None),
    },
    "dok": {"a key outside": lambda matrix: matrix._dict.__setitem__((10**8, -(10**7)), 1.0)},
}
CASES = [(form, what) for form, damages in DAMAGE.items() for what in damages]

MODELS = [
    h.LinearSVC(),
    h.SVC(),
    h.SVC(kernel="precomputed"),
    h.OneClassSVM(),
    h.VotedPerceptron(tol=None),
    h.DecisionTreeClassifier(),
    h.RandomForestClassifier(2),
    h.SelectFromForest(h.RandomForestClassifier(2)),
    h.CalibratedModel(cv=2),
    h.TableClassifier(),
]
KERNELS = [h.RBF(gamma=1.0), h.Precomputed(), h.FunctionKernel(lambda A, B: (A @ B.T).toarray())]


def damaged(cls: Any, form: str, what: str) -> Any:
    matrix = cls(DENSE).asformat(form).copy()
    DAMAGE[form][what](matrix)
    return matrix


def uses_of(make: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Return what can be done with a matrix, by name."""
    uses: dict[str, Callable[[], Any]] = {}
    for model in MODELS:
        table = DENSE @ DENSE.T if getattr(model, "kernel", None) == "precomputed" else DENSE
        fitted = clone(model).fit(table, Y)
        use = fitted.transform if hasattr(fitted, "transform") else fitted.predict
        uses[f"fit {model}"] = lambda model=model: clone(model).fit(make(), Y)
        uses[f"use {model}"] = lambda use=use: use(make())
    for kernel in KERNELS:
        uses[f"{kernel}"] = lambda kernel=kernel: kernel(make())
        uses[f"{kernel}.diagonal"] = lambda kernel=kernel: kernel.diagonal(make())
        uses[f"{kernel}.rows"] = lambda kernel=kernel: kernel.rows(make(), [0])
    uses["labels"] = lambda: h.LinearSVC().fit(DENSE, make())
    uses["outputs"] = lambda: h.DecisionTreeClassifier().fit(DENSE, make())
    uses["bootstrap_error"] = lambda: h.bootstrap_error(h.LinearSVC(), make(), Y, n_resamples=3)
    return uses


def not_refused(results: Any) -> None:
    """Put the uses that took a damaged matrix, or raised something else than DataError."""
    warnings.simplefilter("ignore")
    wrong = []
    now: list[Any] = [None]
    uses = uses_of(lambda: damaged(*now[0]))
    for cls in (sp.csr_array, sp.csr_matrix):
        for form, what in CASES:
            now[0] = (cls, form, what)
            for use, call in uses.items():
                try:
                    call()
                except DataError as error:
                    if "\n" not in str(error):
                        continue
                    wrong.append((form, what, use, "more than a line"))
                except Exception as error:  # noqa: BLE001 - whatever is not ours is what is looked for
                    wrong.append((form, what, use, repr(error)))
                else:
                    wrong.append((form, what, use, "taken"))
    results.put(wrong)


def test_a_damaged_matrix_is_refused_wherever_it_comes_in():
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=not_refused, args=(results,))
    child.start()
    child.join(300)
    assert child.exitcode == 0  # it would not be after a crash
    assert results.get(timeout=10) == []


@pytest.mark.parametrize(("form", "what"), CASES)
def test_the_error_says_what_is_damaged(form: str, what: str):
    with pytest.raises(DataError, match=r"X is a damaged \w+: it .*; build the matrix again"):
        checked_sparse(damaged(sp.csr_array, form, what))


@pytest.mark.parametrize("cls", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("form", DAMAGE)
def test_a_sound_matrix_passes_with_its_values(cls: Any, form: str):
    for table in (DENSE, DENSE[:, :1], np.zeros((3, 2)), DENSE[:0]):
        found = checked_sparse(cls(table).asformat(form))
        np.testing.assert_array_equal(found.toarray(), table)


def test_no_array_of_a_sound_matrix_is_copied():
    matrix = sp.csr_array(DENSE)
    assert checked_sparse(matrix) is matrix
    assert checked_sparse(DENSE) is DENSE


def test_values_beyond_the_last_bound_are_no_damage():
    """SciPy leaves room at the end of matrices that it has shrunk."""
    data, indices = np.append(sp.csr_array(DENSE).data, 7.0), sp.csr_array(DENSE).indices
    matrix = sp.csr_array(DENSE)
    matrix.data, matrix.indices = data, np.append(indices, 0).astype(indices.dtype)
    np.testing.assert_array_equal(checked_sparse(matrix).toarray(), DENSE)


def test_diagonals_outside_the_matrix_are_left_out():
    """Scipy's conversion takes the number of a far diagonal for that of a near one."""
    for offset in (50, -50, 2**31 - 1, 2**40):
        matrix = sp.dia_array((np.ones((2, 6)), [0, 1]), shape=(6, 6))
        matrix.offsets = np.array([0, offset])
        np.testing.assert_array_equal(checked_sparse(matrix).tocsr().toarray(), np.eye(6))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_half_precision_is_read_in_every_format(form: str) -> None:
    # SciPy can hold such numbers, but cannot convert every format of them.
    half = sp.csr_array(DENSE).asformat(form)
    half.data = half.data.astype(np.float16)
    expected = DENSE.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(checked_sparse(half).tocsr().toarray(), expected)
    assert h.TableClassifier(h.LinearSVC()).fit(half, Y).score(expected, Y) > 0.5
