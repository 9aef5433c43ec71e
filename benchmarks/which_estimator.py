"""What each kind of classifier costs and achieves on covtype: the table of docs/which-estimator.md.

``python -m benchmarks.which_estimator DIR`` fits each once to 1000, 10 000 and 100 000 rows of all
seven classes and prints a table. Processor seconds are those of all threads together; a busy
machine disturbs them less than the clock on the wall. One fit each: the order of magnitude counts.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Dataset, from_folder
from hedgerow import SVC, DecisionTreeClassifier, LinearSVC, RandomForestClassifier, TableClassifier

__all__ = ["CLASSIFIERS", "measure", "table_of"]

CLASSIFIERS: dict[str, tuple[Any, int]] = {
    "`LinearSVC`": (TableClassifier(LinearSVC()), 100_000),
    "`SVC(C=10)`": (TableClassifier(SVC(C=10.0)), 10_000),
    "`DecisionTreeClassifier`": (DecisionTreeClassifier(random_state=0), 100_000),
    "`RandomForestClassifier`": (RandomForestClassifier(random_state=0), 100_000),
}
"""By name: the classifier, and the most rows it is fitted to here."""

SIZES = (1_000, 10_000, 100_000)
N_TEST = 10_000


def measure(model: Any, data: Dataset, n_rows: int) -> tuple[float, float, float]:
    """Return processor seconds of a fit and of predicting the test rows, and the test accuracy."""
    began = time.process_time()
    model.fit(data.X[:n_rows], data.y[:n_rows])
    fitted = time.process_time()
    predicted = model.predict(data.X_test[:N_TEST])
    ended = time.process_time()
    return fitted - began, ended - fitted, float(np.mean(predicted == data.y_test[:N_TEST]))


def table_of(data: Dataset, sizes: tuple[int, ...] = SIZES) -> list[str]:
    """Return the lines of the table."""
    heads = [f"{n:,} rows".replace(",", " ") for n in sizes]
    lines = [
        f"| classifier | {' | '.join(heads)} | predict {N_TEST:,} rows |".replace(",", " "),
        f"|---|{'---|' * len(sizes)}---|",
    ]
    for name, (model, most) in CLASSIFIERS.items():
        cells, prediction = [], 0.0
        for n_rows in sizes:
            if n_rows > most:
                cells.append("")
                continue
            fit, prediction, accuracy = measure(model, data, n_rows)
            cells.append(f"{fit:.2g} s, {100 * accuracy:.0f} %")
        lines.append(f"| {name} | {' | '.join(cells)} | {prediction:.2g} s |")
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(table_of(from_folder("covtype raw")(Path(sys.argv[1])))) + "\n")
