"""The data sets of the suites: each is loaded once, and everybody gets the same arrays.

Rows are float64, dense or CSR with 32-bit indices (all peers take those); labels are -1 and +1, or
0 to n_classes - 1. ``--data`` names the folder that holds one folder for each set. Every process of a
contestant imports this file, so that it imports little itself.
"""

from __future__ import annotations

import bz2
import gzip
import tarfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "from_folder", "nothing", "two_clouds"]

Rows = Any  # ndarray or scipy.sparse.csr_matrix


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and labels to learn from, and others to test on."""

    X: Rows
    y: NDArray[np.int64]
    X_test: Rows
    y_test: NDArray[np.int64]

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return len(np.unique(self.y))

    def thinned(self, n_rows: int) -> Dataset:
        """Return about so many training rows, evenly spread, with every label among them."""
        step = max(1, len(self.y) // n_rows)
        _, first_of_each = np.unique(self.y, return_index=True)
        kept = np.union1d(np.arange(0, len(self.y), step), first_of_each)
        return Dataset(self.X[kept], self.y[kept], self.X_test[:1], self.y_test[:1])


def from_folder(name: str) -> Callable[[Path | None], Dataset]:
    """Return the loader of a data set of the folder that ``--data`` names."""
    return partial(_load, name)


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
    try:
        return _READERS[name](folder / name)
    except (FileNotFoundError, StopIteration) as error:
        msg = (
            f"The data set {name} is not in {folder / name}; point --data at the folder of all sets"
        )
        raise FileAccessError(msg) from error


def _read_libsvm(train: str, test: str, n_features: int, folder: Path) -> Dataset:
    """Read a pair of LIBSVM files with labels -1 and +1."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(folder / train), n_features=n_features)
    X_test, y_test = load_svmlight_file(str(folder / test), n_features=n_features)
    return Dataset(_canonical(X), y.astype(np.int64), _canonical(X_test), y_test.astype(np.int64))


def _read_covtype(folder: Path) -> Dataset:
    """Class 2 against the rest, columns scaled to [0, 1], a fixed random 80 % to learn from."""
    with bz2.open(folder / "covtype.data.bz2", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float64)
    X, y = table[:, :-1], np.where(table[:, -1] == 2, 1, -1)
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.where(high > low, high - low, 1.0)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = np.split(order, [int(0.8 * len(y))])
    return Dataset(X[train], y[train], X[test], y[test])


def _read_mnist_3_against_8(folder: Path) -> Dataset:
    """Threes are -1, eights +1; pixels go from 0 to 1."""
    halves: list[Any] = []
    for part in ("train", "t10k"):
        pixels = _read_idx(folder / f"{part}-images-idx3-ubyte.gz", header=16)
        digits = _read_idx(folder / f"{part}-labels-idx1-ubyte.gz", header=8)
        wanted = (digits == 3) | (digits == 8)
        halves += [pixels.reshape(len(digits), -1)[wanted] / 255.0]
        halves += [np.where(digits[wanted] == 8, 1, -1)]
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


_READERS: dict[str, Callable[[Path], Dataset]] = {
    "a9a": partial(_read_libsvm, "a9a.bz2", "a9a.t.bz2", 123),
    "ijcnn1": partial(_read_libsvm, "ijcnn1.bz2", "ijcnn1.t.bz2", 22),
    "covtype": _read_covtype,
    "mnist": _read_mnist_3_against_8,
    "20newsgroups": _read_newsgroups,
}
