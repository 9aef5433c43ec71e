"""Write model files by LIBSVM itself: ``python -m tests.models.libsvm.write``, with libsvm-official installed.

Beside the files ``expected.json`` has rows, and what LIBSVM says of them: predictions, scores in the order of
the file's labels, and probabilities where it has some. What is there is what LIBSVM wrote, and is not written again.
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ORDERED, TURNED, THREE = [1, 2], [3, -1], [7, 2, 5]
"""Labels in the order in which they first appear, which is LIBSVM's."""

CASES: dict[str, tuple[str, list[int] | str]] = {
    "c_svc-rbf": ("-s 0 -t 2 -g 0.5", ORDERED),
    "c_svc-linear-turned": ("-s 0 -t 0", TURNED),
    "c_svc-polynomial-three": ("-s 0 -t 1 -d 2 -g 0.5 -r 1 -c 3", THREE),
    "c_svc-sigmoid-three": ("-s 0 -t 3 -g 0.1 -r -0.5", THREE),
    "c_svc-rbf-probabilities": ("-s 0 -t 2 -g 0.5 -b 1", ORDERED),
    "c_svc-rbf-probabilities-turned": ("-s 0 -t 2 -g 0.5 -b 1", TURNED),
    "c_svc-precomputed-three": ("-s 0 -t 4", THREE),
    "nu_svc-rbf-turned": ("-s 1 -t 2 -g 0.5 -n 0.4", TURNED),
    "nu_svc-rbf-three": ("-s 1 -t 2 -g 0.5 -n 0.4", THREE),
    "one_class-rbf": ("-s 2 -t 2 -g 0.5 -n 0.3", "values"),
    "epsilon_svr-polynomial": ("-s 3 -t 1 -d 3 -g 0.2 -r 1 -p 0.2", "values"),
    "nu_svr-linear": ("-s 4 -t 0 -n 0.5", "values"),
    "nu_svr-rbf": ("-s 4 -t 2 -g 0.5 -n 0.5", "values"),
}


def data(kind: list[int] | str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with zeros among their values, targets, and new rows."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(24, 4)) * (rng.random((24, 4)) < 0.7), 2)
    new = np.round(rng.normal(size=(6, 4)), 2)
    if kind == "values":
        return X, np.round(X[:, 0] - X[:, 1] ** 2 + 0.1 * rng.normal(size=24), 2), new
    y = np.array(kind)[np.arange(24) % len(kind)]
    X[:, 0] += 1.5 * (np.arange(24) % len(kind))
    return np.round(X, 2), y, new


def write(name: str, options: str, kind: list[int] | str) -> dict[str, Any]:
    """Train, save, and return what LIBSVM says of the new rows."""
    from libsvm.svm import libsvm
    from libsvm.svmutil import svm_load_model, svm_save_model, svm_train

    X, y, new = data(kind)
    is_table, path = "-t 4" in options, str(HERE / f"{name}.model")
    train, rows = (X @ X.T, new @ X.T) if is_table else (X, new)
    nodes = [_nodes(row, is_table, i + 1) for i, row in enumerate(train.tolist())]
    svm_save_model(path, svm_train(y.tolist(), nodes, f"{options} -e 1e-6 -q"))
    model = svm_load_model(path)
    n_classes = len(kind) if isinstance(kind, list) else 2
    n_scores = n_classes * (n_classes - 1) // 2
    asked = [_nodes(row, is_table, 1) for row in rows.tolist()]
    told = [_answer(libsvm.svm_predict_values, model, row, n_scores) for row in asked]
    expected = {
        "inputs": rows.tolist(),
        "labels": model.get_labels() if isinstance(kind, list) else None,
        "predict": [label for label, _ in told],
        "scores": [scores for _, scores in told],
    }
    if "-b 1" in options:
        shares = [_answer(libsvm.svm_predict_probability, model, row, n_classes) for row in asked]
        expected["probabilities"] = [row for _, row in shares]
    return expected


def _nodes(row: list[float], is_table: bool, number: int) -> dict[int, float]:
    """Return a row as LIBSVM counts: from 1, and the number of the row first in a table."""
    values = dict(enumerate(row, start=1))
    return {0: number} | values if is_table else {j: v for j, v in values.items() if v}


def _answer(method: Any, model: Any, row: dict[int, float], n: int) -> tuple[float, list[float]]:
    """Return a prediction and the numbers beside it."""
    from libsvm.svm import gen_svm_nodearray

    numbers = (ctypes.c_double * n)()
    nodes, _ = gen_svm_nodearray(row, isKernel=True)
    return method(model, nodes, numbers), list(numbers)


if __name__ == "__main__":
    expected = {name: write(name, *case) for name, case in CASES.items()}
    text = json.dumps(expected, indent=1)
    (HERE / "expected.json").write_text(text + "\n", encoding="utf-8")
