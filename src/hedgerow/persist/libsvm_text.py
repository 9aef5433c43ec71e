"""The text of LIBSVM's model files taken apart: a header of names and values, and a line a support vector."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import FileFormatError

__all__ = ["MOST_WHOLE", "ModelText", "VectorLines"]

Vector = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_WHOLE = 2.0**53
"""Up to here every whole number is one of float64, as which all numbers of a file are read."""


@dataclass(frozen=True, eq=False)
class VectorLines:
    """What the lines of support vectors say.

    Attributes
    ----------
    coef : ndarray of shape (n_lines, n_vectors)
        The coefficients.
    indices, values : ndarray
        The features of all vectors, one after the other, as they are counted in the file.
    starts : ndarray of int64 of shape (n_vectors + 1,)
        Where those of each vector start, and where the last ones end.
    """

    coef: Vector
    indices: Indices
    values: Vector
    starts: Indices


@dataclass(frozen=True, eq=False)
class ModelText:
    """A model file, its header taken apart.

    Attributes
    ----------
    path : Path
        Where it was read from.
    header : mapping of str to (int, list of str)
        The line and the words of each name.
    first_vector : int
        The line of the first support vector.
    vectors : list of str
        The lines of support vectors.
    """

    path: Path
    header: Mapping[str, tuple[int, list[str]]]
    first_vector: int
    vectors: list[str] = field(repr=False)

    @classmethod
    def of(cls, path: Path, lines: list[str]) -> ModelText:
        """Take the lines of a file apart."""
        header: dict[str, tuple[int, list[str]]] = {}
        for number, line in enumerate(lines, start=1):
            name, *values = line.split() or [""]
            if name == "SV":
                return cls(path, header, number + 1, lines[number:])
            header[name] = number, values
        problem = "there is no line 'SV' after the header; give a model file of LIBSVM's"
        raise FileFormatError(path, None, problem)

    def word(self, name: str, known: Collection[str]) -> str:
        """Return a word of the header, one of those known."""
        values = self._words(name)
        if len(values) != 1 or values[0] not in known:
            raise self.wrong(name, f"{' '.join(values)!r}, which is none of {', '.join(known)}")
        return values[0]

    def numbers(self, name: str, count: int, least: float = -np.inf) -> list[float]:
        """Return finite numbers of the header."""
        values = self._words(name)
        try:
            numbers = [float(value) for value in values]
        except ValueError:
            raise self.wrong(name, f"{' '.join(values)!r}, which is no number") from None
        if len(numbers) != count:
            raise self.wrong(name, f"{len(numbers)} numbers, where {count} must be")
        for number in numbers:
            if not np.isfinite(number):
                raise self.wrong(name, f"{number}, and must be finite")
            if number < least:
                raise self.wrong(name, f"{number:g}, and must be at least {least:g}")
        return numbers

    def whole_numbers(self, name: str, count: int, least: float = -np.inf) -> list[int]:
        """Return whole numbers of the header."""
        numbers = self.numbers(name, count, least)
        for number in numbers:
            if number != int(number) or abs(number) > MOST_WHOLE:
                raise self.wrong(name, f"{number:g}, and must be a whole number below 2**53")
        return [int(number) for number in numbers]

    def vector_lines(self, total: int, n_lines: int) -> VectorLines:
        """Return what the lines of support vectors say, which must be `total`."""
        lines = [line for line in self.vectors if line.strip()]
        if len(lines) != total:
            raise self.wrong(
                "total_sv", f"{total}, and {len(lines)} lines follow 'SV'; the file is cut short"
            )
        parts = []
        for i, line in enumerate(lines):
            try:
                parts.append(_numbers_of(line, n_lines))
            except ValueError:
                problem = (
                    f"{line[:60]!r} is not {n_lines} coefficients and then index:value, finite and the "
                    "indices ascending"
                )
                raise FileFormatError(self.path, self.first_vector + i, problem) from None
        counts = [len(values) for _, _, values in parts]
        return VectorLines(
            coef=np.concatenate([np.empty(0), *(coef for coef, _, _ in parts)])
            .reshape(total, n_lines)
            .T.copy(),
            indices=np.concatenate([np.empty(0, np.int64), *(indices for _, indices, _ in parts)]),
            values=np.concatenate([np.empty(0), *(values for _, _, values in parts)]),
            starts=np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        )

    def wrong(self, name: str, what: str) -> FileFormatError:
        """Return the error of a line of the header."""
        return FileFormatError(self.path, self.header[name][0], f"{name} is {what}")

    def _words(self, name: str) -> list[str]:
        if name not in self.header:
            problem = f"the header lacks {name!r}; give a model file of LIBSVM's"
            raise FileFormatError(self.path, self.first_vector - 1, problem)
        return self.header[name][1]


def _numbers_of(line: str, n_lines: int) -> tuple[Vector, Indices, Vector]:
    """Return the coefficients, indices and values of a line, or raise ValueError."""
    words = line.split()
    coef = np.array(words[:n_lines], dtype=np.float64)
    pairs = np.array([word.split(":") for word in words[n_lines:]], dtype=np.float64)
    numbers, values = pairs.reshape(-1, 2).T
    if pairs.shape != (len(values), 2) and len(values):
        raise ValueError
    if len(coef) != n_lines or not (np.isfinite(coef).all() and np.isfinite(pairs).all()):
        raise ValueError
    if np.any(numbers != np.floor(numbers)) or np.any(np.abs(numbers) > MOST_WHOLE):
        raise ValueError
    indices = numbers.astype(np.int64)
    if np.any(np.diff(indices) <= 0):
        raise ValueError
    return coef, indices, values
