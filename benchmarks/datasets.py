"""The data sets of the suites: each is loaded once, and everybody gets the same arrays.

Rows are float64, dense or CSR with 32-bit indices (all peers take those), or a pandas table whose columns of words
are of its dtype for categories; labels are -1 and +1, or 0 to n_classes - 1, or, for regression, numbers. A label of
the test rows that no training row has is -1. ``--data`` names the folder that holds one folder for each set. Every
process of a contestant imports this file, so that it imports little itself.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Dataset",
    "from_folder",
    "in_single_precision",
    "is_table",
    "nothing",
    "some_rows",
    "two_clouds",
]

Rows = Any  # ndarray, scipy.sparse.csr_matrix or pandas.DataFrame


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and labels, or numbers, to learn from, and others to test on."""

    X: Rows
    y: NDArray[Any]
    X_test: Rows
    y_test: NDArray[Any]

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(np.unique(self.y))

    def thinned(self, n_rows: int) -> Dataset:
        """Return about so many training rows, evenly spread, with every label among them."""
        kept = np.arange(0, len(self.y), max(1, len(self.y) // n_rows))
        if self.y.dtype.kind != "f":
            _, first_of_each = np.unique(self.y, return_index=True)
            kept = np.union1d(kept, first_of_each)
        return Dataset(some_rows(self.X, kept), self.y[kept], self.X_test[:1], self.y_test[:1])


def is_table(X: Rows) -> bool:
    """Say whether the rows are those of a table with names and types."""
    return hasattr(X, "iloc")


def some_rows(X: Rows, numbers: NDArray[np.intp]) -> Rows:
    """Return the rows of these numbers, a table's by their place."""
    return X.iloc[numbers] if is_table(X) else X[numbers]


def from_folder(name: str) -> Callable[[Path | None], Dataset]:
    """Return the loader of a data set of the folder that ``--data`` names."""
    return partial(_load, name)


def in_single_precision(name: str, folder: Path | None) -> Dataset:
    """Return a data set as dense float32 rows."""
    data = from_folder(name)(folder)
    return Dataset(_dense(data.X), data.y, _dense(data.X_test), data.y_test)


def _dense(X: Any) -> NDArray[np.float32]:
    """Return dense float32 rows, one after the other in memory."""
    single = X.astype(np.float32)
    return np.ascontiguousarray(single if isinstance(single, np.ndarray) else single.toarray())


def nothing(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return no data, for tasks that need none."""
    none = np.empty((0, 0)), np.empty(0, dtype=np.int64)
    return Dataset(*none, *none)


def two_clouds(folder: Path | None) -> Dataset:  # noqa: ARG001 - the form of a loader
    """Return a small set of two overlapping classes, the same every time."""
    random = np.random.default_rng(0)
    y = np.where(np.arange(600) % 3 == 0, 1, -1)
    X = random.normal(size=(600, 8)) + 0.5 * y[:, None]
    return Dataset(X[:400], y[:400], X[400:], y[400:])


@lru_cache(maxsize=1)  # the cases of a suite come in the order of their data
def _load(name: str, folder: Path | None) -> Dataset:
    """Read a data set; its folder is part of the error if it is not there."""
    from hedgerow.errors import FileAccessError

    if folder is None:
        msg = f"The data set {name} needs a folder; name it by --data or HEDGEROW_DATA"
        raise FileAccessError(msg)
    place = folder / _FOLDERS.get(name, name)
    try:
        return _READERS[name](place)
    except (FileNotFoundError, StopIteration) as error:
        msg = f"The data set {name} is not in {place}; point --data at the folder of all sets"
        raise FileAccessError(msg) from error


def _read_libsvm(train: str, test: str, n_features: int, folder: Path) -> Dataset:
    """Read a pair of LIBSVM files with labels -1 and +1."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder / train), n_features=n_features)
    X_test, y_test = load_svmlight_file(str(folder / test), n_features=n_features)
    return Dataset(_canonical(X), y.astype(np.int64), _canonical(X_test), y_test.astype(np.int64))


def _read_covtype(folder: Path) -> Dataset:
    """Class 2 against the rest, columns scaled to [0, 1], a fixed random 80 % to learn from."""
    table = _covtype_table(folder)
    X, y = table[:, :-1], np.where(table[:, -1] == 2, 1, -1)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(order, [int(0.8 * len(y))])
    return Dataset(X[train], y[train], X[test], y[test])


def _read_covtype_raw(folder: Path) -> Dataset:
    """All seven classes, columns as they are, a fixed random 100 000 rows to test on."""
    table = _covtype_table(folder)
    X, y = table[:, :-1], table[:, -1].astype(np.int64) - 1
    train, test = _split(len(y), len(y) - 100_000)
    return Dataset(X[train], y[train], X[test], y[test])


def _covtype_table(folder: Path) -> NDArray[np.float64]:
    """Read 54 columns and the class."""
    with bz2.open(folder / "covtype.data.bz2", "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.float64)


def _read_higgs(folder: Path) -> Dataset:
    """Signal against background, a fixed random 5000 of both files to learn from.

    Of the 500 rows that are meant to be tested on, one is 0.002 of the accuracy.
    """
    table = np.vstack([np.loadtxt(folder / f"binary.{part}.bz2") for part in ("train", "test")])
    X, y = table[:, 1:], table[:, 0].astype(np.int64)
    train, test = _split(len(y), 5000)
    return Dataset(X[train], y[train], X[test], y[test])


def _split(n_rows: int, n_train: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of so many rows to learn from, and of the others, in a fixed random order."""
    order = np.random.default_rng(0).permutation(n_rows)
    return order[:n_train], order[n_train:]


def _read_letter(folder: Path) -> Dataset:
    """26 letters, labelled from 0; features go from -1 to 1 and hardly any is 0."""
    data = _read_libsvm("letter.scale.bz2", "letter.scale.t.bz2", 16, folder)
    return Dataset(data.X.toarray(), data.y - 1, data.X_test.toarray(), data.y_test - 1)


def _read_california_housing(folder: Path) -> Dataset:
    """Median values of houses in units of 100 000 dollars, a fixed random 80 % to learn from.

    Columns are standardised; missing ones are the median, the place at the ocean one of five columns.
    """
    with bz2.open(folder / "housing.csv.bz2", "rt") as file:
        names, *lines = csv.reader(file)
    table = np.array(lines)
    numbers = [j for j, name in enumerate(names) if name not in _NO_NUMBERS]
    X = np.where(table == "", "nan", table)[:, numbers].astype(np.float64)
    place = table[:, names.index("ocean_proximity")]
    y = table[:, names.index("median_house_value")].astype(np.float64) / 1e5
    train, test = np.split(np.random.default_rng(0).permutation(len(y)), [int(0.8 * len(y))])
    X = np.where(np.isnan(X), np.nanmedian(X[train], axis=0), X)
    X = np.hstack([X, place[:, None] == np.unique(place)])
    X = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return Dataset(X[train], y[train], X[test], y[test])


def _read_california_housing_raw(folder: Path) -> Dataset:
    """Rows and values as above; the place at the ocean is a category, missing numbers are missing."""
    table = _with_categories(_pandas().read_csv(folder / "housing.csv.bz2"))
    y = table.pop("median_house_value").to_numpy(np.float64) / 1e5
    train, test = _split(len(y), int(0.8 * len(y)))
    X, X_test = (table.iloc[rows].reset_index(drop=True) for rows in (train, test))
    return Dataset(X, y[train], X_test, y[test])


def _read_adult_raw(folder: Path) -> Dataset:
    """Six numbers and eight categories, some missing; 1 is an income above 50 000 dollars."""
    how: dict[str, Any] = {"header": None, "skipinitialspace": True, "na_values": "?"}
    parts = [_pandas().read_csv(folder / f"adult.{part}.bz2", **how) for part in ("data", "test")]
    return _of_parts(parts, np.array(["<=50K", ">50K"]))


def _read_kddcup99(folder: Path) -> Dataset:
    """38 numbers and 3 categories; 23 classes, of which most rows have three.

    Some 6 % of the test rows are attacks of a kind that there was none of to learn from.
    """
    names = ("kddcup.data_10_percent.gz", "corrected.gz")
    parts = [_pandas().read_csv(folder / name, header=None) for name in names]
    return _of_parts(parts, np.unique(parts[0].iloc[:, -1].str.rstrip(".")))


def _of_parts(parts: Sequence[Any], labels: NDArray[Any]) -> Dataset:
    """Return two tables without head, of which the last column is a label, maybe with a dot behind it."""
    whole = _pandas().concat(parts, ignore_index=True)
    words = whole.pop(whole.columns[-1]).str.rstrip(".").to_numpy(str)
    places = np.minimum(np.searchsorted(labels, words), len(labels) - 1)
    y = np.where(labels[places] == words, places, -1)
    whole = _with_categories(whole.rename(columns=lambda number: f"column {number}"))
    n_train = len(parts[0])
    X, X_test = whole[:n_train], whole[n_train:].reset_index(drop=True)
    return Dataset(X, y[:n_train], X_test, y[n_train:])


def _with_categories(table: Any) -> Any:
    """Return a table in which columns of words are categories."""
    words = table.columns[[column.dtype.kind == "O" for _, column in table.items()]]
    return table.astype(dict.fromkeys(words, "category"))


def _pandas() -> Any:
    """Return the library that reads tables."""
    from hedgerow.errors import UnavailableError

    try:
        import pandas as pd
    except ImportError as error:
        msg = "Data sets with categories are read by pandas, which is not installed: pip install pandas"
        raise UnavailableError(msg) from error
    return pd


def _read_mnist(folder: Path) -> Dataset:
    """All ten digits; pixels go from 0 to 1."""
    halves: list[Any] = []
    for part in ("train", "t10k"):
        pixels = _read_idx(folder / f"{part}-images-idx3-ubyte.gz", header=16)
        digits = _read_idx(folder / f"{part}-labels-idx1-ubyte.gz", header=8)
        halves += [pixels.reshape(len(digits), -1) / 255.0, digits.astype(np.int64)]
    return Dataset(*halves)


def _read_mnist_3_against_8(folder: Path) -> Dataset:
    """Threes are -1, eights +1; pixels go from 0 to 1."""
    digits = _read_mnist(folder)
    halves: list[Any] = []
    for X, y in ((digits.X, digits.y), (digits.X_test, digits.y_test)):
        wanted = (y == 3) | (y == 8)
        halves += [X[wanted], np.where(y[wanted] == 8, 1, -1)]
    return Dataset(*halves)


def _read_idx(path: Path, header: int) -> NDArray[np.uint8]:
    """Read the bytes behind the header of an idx file."""
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def _read_newsgroups(folder: Path) -> Dataset:
    """Tf-idf of the posts, by date; logarithmic term frequencies, rows of length one."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    posts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with tarfile.open(next(folder.glob("*.tar*"))) as archive:
        for member in archive:
            *_, part, group, _ = ("", "", *member.name.split("/"))
            content = archive.extractfile(member)
            if content is not None:
                text = content.read().decode("latin-1")
                posts["test" if part.endswith("test") else "train"].append((group, text))
    groups, texts = zip(*posts["train"], strict=True)
    test_groups, test_texts = zip(*posts["test"], strict=True)
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    names, y = np.unique(groups, return_inverse=True)
    X = _canonical(vectorizer.fit_transform(texts))
    X_test = _canonical(vectorizer.transform(test_texts))
    return Dataset(X, y, X_test, _positions(names, test_groups))


def _positions(names: NDArray[Any], labels: Iterable[str]) -> NDArray[np.int64]:
    """Return the place of each label among the sorted names."""
    return np.searchsorted(names, list(labels)).astype(np.int64)


def _canonical(X: Any) -> Rows:
    """Return sparse rows as everybody takes them: sorted, 32-bit indices, float64."""
    from scipy import sparse

    X = sparse.csr_matrix(X, dtype=np.float64)
    X.sort_indices()
    short = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_matrix((X.data, *short), shape=X.shape)


_FOLDERS = {
    "mnist10": "mnist",
    "covtype raw": "covtype",
    "adult raw": "adult",
    "california_housing raw": "california_housing",
}
"""Where a set lies that has no folder of its own name."""

_NO_NUMBERS = ("ocean_proximity", "median_house_value")

_READERS: dict[str, Callable[[Path], Dataset]] = {
    "a9a": partial(_read_libsvm, "a9a.bz2", "a9a.t.bz2", 123),
    "ijcnn1": partial(_read_libsvm, "ijcnn1.bz2", "ijcnn1.t.bz2", 22),
    "covtype": _read_covtype,
    "covtype raw": _read_covtype_raw,
    "higgs": _read_higgs,
    "adult raw": _read_adult_raw,
    "kddcup99": _read_kddcup99,
    "california_housing raw": _read_california_housing_raw,
    "letter": _read_letter,
    "california_housing": _read_california_housing,
    "mnist": _read_mnist_3_against_8,
    "mnist10": _read_mnist,
    "20newsgroups": _read_newsgroups,
}
