"""Their or there? Context-sensitive spelling, learnt from any text.

Two words that are easily confused are told apart by what stands around them: which words are near,
and which stand at which place. Each occurrence becomes a row of many thousand features, nearly all
of them zero, and a linear support vector machine draws the plane between the two spellings. How far
the rows lie from it, and on which side, is the histogram this program ends with.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.feature_extraction.text import CountVectorizer

from hedgerow import Hyperplane, LinearSVC

TEST_SHARE = 4
"""One paragraph of so many is kept for the test."""
TOKEN = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[.,;:!?()]")
BETWEEN_QUOTES = re.compile(r"""("{3}|'{3})(.*?)\1""", re.DOTALL)
OTHERS = {"site-packages", "dist-packages", "test", "tests"}
"""Folders within a library that are not its own, or not prose."""
N_BINS = 20
BAR = 28
DASH = "\N{EN DASH}"


@dataclass(frozen=True)
class Occurrence:
    """One of the two words where it was found: what is around it, and how it reads."""

    word: str
    features: list[str]
    snippet: str
    is_test: bool


@dataclass(frozen=True)
class Spelling:
    """What was learnt, and the rows kept for the test."""

    model: LinearSVC
    names: np.ndarray
    n_train: int
    test: list[Occurrence]
    X_test: Any

    @property
    def truth(self) -> np.ndarray:
        """The word that stands in the text, for every row of the test."""
        return np.array([each.word for each in self.test])


# ------------------------------------------------------------------------------------------ text


def read_files(paths: Iterable[Path]) -> str:
    """Return the text of all files."""
    return "\n\n".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def text_at_hand() -> str:
    """Return the text that is there already: Python's reference, and docstrings of libraries."""
    from pydoc_data.topics import topics

    folders = [Path(sysconfig.get_path("stdlib"))]
    folders += [Path(library.__file__).parent for library in (np, scipy, sklearn)]
    docstrings = (text for folder in folders for text in docstrings_in(folder))
    return "\n\n".join([*(topics[name] for name in sorted(topics)), *docstrings])


def docstrings_in(folder: Path) -> Iterator[str]:
    """Yield whatever stands between three quotes in the Python files of a library."""
    for file in sorted(folder.rglob("*.py")):
        if not OTHERS & set(file.relative_to(folder).parts):
            source = file.read_text(encoding="utf-8", errors="replace")
            yield from (text for _, text in BETWEEN_QUOTES.findall(source))


# -------------------------------------------------------------------------------------- features


def occurrences(text: str, pair: Sequence[str], window: int) -> list[Occurrence]:
    """Return where either word stands; paragraphs that are repeated count once."""
    paragraphs = dict.fromkeys(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    found = []
    for number, paragraph in enumerate(paragraphs):
        tokens = [token.replace("’", "'") for token in TOKEN.findall(paragraph)]
        words = [token.lower() for token in tokens]
        for place, word in enumerate(words):
            if word in pair:
                snippet = " ".join(tokens[max(place - 6, 0) : place + 7])
                features = features_around(words, place, window)
                is_test = number % TEST_SHARE == 0
                found.append(Occurrence(word, features, snippet, is_test))
    return found


def features_around(words: list[str], place: int, window: int) -> list[str]:
    """Return what is around a place: words near it, and up to three in a row at their distances."""
    near = {*words[max(place - window, 0) : place], *words[place + 1 : place + 1 + window]}
    features = [f"near {word}" for word in near if word.isalpha()]
    around = {
        offset: words[place + offset] if 0 <= place + offset < len(words) else DASH
        for offset in (-3, -2, -1, 1, 2, 3)
    }
    runs = [(k,) for k in around] + [(-2, -1), (-1, 1), (1, 2), (-3, -2, -1), (1, 2, 3)]
    return features + [collocation(around, run) for run in runs]


def collocation(around: dict[int, str], run: tuple[int, ...]) -> str:
    """Return the name of words at certain distances, the word itself as an underscore."""
    first, last = min(*run, 0), max(*run, 0)
    places = range(first, last + 1)
    return " ".join("_" if k == 0 else around[k] if k in run else "*" for k in places)


# -------------------------------------------------------------------------------------- learning


def learn(found: list[Occurrence], C: float) -> Spelling:
    """Fit the machine to the rows that are not kept for the test."""
    train, test = ([each for each in found if each.is_test is kept] for kept in (False, True))
    vectorizer = CountVectorizer(analyzer=list, binary=True)
    X = vectorizer.fit_transform([each.features for each in train])
    model = LinearSVC(loss="hinge", C=C, calibrate="sigmoid", random_state=0)
    model.fit(X.astype(np.float64), [each.word for each in train])
    X_test = vectorizer.transform([each.features for each in test]).astype(np.float64)
    names = vectorizer.get_feature_names_out()
    return Spelling(model, names, len(train), test, X_test)


def enough(found: list[Occurrence], pair: Sequence[str]) -> bool:
    """Say whether both words are there often enough to learn and to test."""
    counts = [
        sum(each.word == word and each.is_test is kept for each in found)
        for word in pair
        for kept in (False, True)
    ]
    return min(counts) >= 5


# --------------------------------------------------------------------------------------- telling


def summary(spelling: Spelling) -> str:
    """Return the errors on the test, and what is to be beaten."""
    words, counts = np.unique(spelling.truth, return_counts=True)
    error = np.mean(spelling.model.predict(spelling.X_test) != spelling.truth)
    guess = 1 - counts.max() / counts.sum()
    n_test, n_features = spelling.X_test.shape
    lines = (
        f"{spelling.n_train} occurrences to learn from, {n_test} for the test, {n_features} features.",
        str(spelling.model.certificate_),
        f"Wrong in the test: {error:.1%}; if one always wrote '{words[counts.argmax()]}': {guess:.1%}.",
    )
    return "\n".join(lines)


def strongest(spelling: Spelling, n: int = 8) -> str:
    """Return the names of the features that speak loudest for either word."""
    order = np.argsort(spelling.model.coef_[0], kind="stable")
    first, second = spelling.model.classes_
    sides = ((first, order[:n]), (second, order[::-1][:n]))
    return "\n".join(f"For '{word}': {' | '.join(spelling.names[top])}" for word, top in sides)


def least_likely(spelling: Spelling, n: int = 3) -> str:
    """Return where the text of the test reads least likely: a slip of its author, or of ours."""
    column = np.searchsorted(spelling.model.classes_, spelling.truth)
    likely = spelling.model.predict_proba(spelling.X_test)[np.arange(len(column)), column]
    rows = np.argsort(likely, kind="stable")[:n]
    each = (f"  {likely[row]:6.1%}  ... {spelling.test[row].snippet} ..." for row in rows)
    return "\n".join(["Least likely as they stand:", *each])


def distances(spelling: Spelling) -> dict[str, np.ndarray]:
    """Return the signed distances to the plane of the rows of the test, for each word."""
    signed = Hyperplane.of(spelling.model).signed_distance(spelling.X_test)
    return {word: signed[spelling.truth == word] for word in spelling.model.classes_}


def bins_of(by_word: dict[str, np.ndarray]) -> np.ndarray:
    """Return the edges of bins as wide on either side of the plane, which lies between two of them."""
    most = max(np.abs(values).max() for values in by_word.values())
    return np.linspace(-most, most, N_BINS + 1)


def text_histogram(by_word: dict[str, np.ndarray]) -> str:
    """Return the distances of either word as bars, back to back."""
    edges = bins_of(by_word)
    (first, left), (second, right) = (
        (word, np.histogram(values, edges)[0]) for word, values in by_word.items()
    )
    scale = BAR / max(left.max(), right.max())
    lines = ["Signed distance to the plane, in the test", f"{first:>{BAR + 7}}   {second}"]
    for k, edge in enumerate(edges[:-1]):
        bars = ["█" * int(np.ceil(side[k] * scale)) for side in (left, right)]
        plane = f"{'':7}{'─' * (2 * BAR + 3)} the plane\n" if k == N_BINS // 2 else ""
        lines.append(f"{plane}{edge:+6.2f} {bars[0]:>{BAR}} │ {bars[1]}")
    return "\n".join(lines)


def draw(by_word: dict[str, np.ndarray], path: Path) -> None:
    """Save the histogram as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for (word, values), color in zip(by_word.items(), ("#2f6f9f", "#d9822b"), strict=True):
        label = f"{word} ({len(values)})"
        axes.hist(values, bins_of(by_word), alpha=0.6, label=label, color=color)
    axes.axvline(0, color="black", linewidth=1)
    axes.set(xlabel="signed distance to the hyperplane", ylabel="occurrences in the test")
    axes.set_title(" or ".join(by_word) + "?")
    axes.legend(frameon=False)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


# ------------------------------------------------------------------------------------ the program


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description="Learn from text which of two words belongs where, and say how surely.",
        epilog="examples: python examples/spelling.py; "
        "python examples/spelling.py novel.txt --pair their there --plot distances.png",
    )
    parser.add_argument(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="text files to learn from (default: Python's reference, and the docstrings of libraries at hand)",
    )
    parser.add_argument(
        "--pair",
        nargs=2,
        default=("than", "then"),
        metavar="WORD",
        help="the two words (default: than then)",
    )
    parser.add_argument(
        "--window",
        type=int,
        default=10,
        help="how far a word may be and still be near (default: 10)",
    )
    parser.add_argument(
        "-C", type=float, default=0.05, help="weight of the losses in the machine (default: 0.05)"
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="PNG",
        help="save the histogram as a picture (needs matplotlib)",
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> str | None:
    """Run the program; return what went wrong, if anything did."""
    asked = arguments(argv)
    missing = [str(path) for path in asked.files if not path.is_file()]
    if missing:
        return f"{missing[0]} is no file that can be read; give the path of a text file"
    pair = sorted({word.lower() for word in asked.pair})
    found = occurrences(
        read_files(asked.files) if asked.files else text_at_hand(), pair, asked.window
    )
    if len(pair) < 2 or not enough(found, pair):
        return f"the text has too few of {' and '.join(pair)} to learn from and to test; give more text or another pair"
    spelling = learn(found, asked.C)
    by_word = distances(spelling)
    for part in (summary(spelling), strongest(spelling), least_likely(spelling)):
        print(part, end="\n\n")
    print(text_histogram(by_word))
    if asked.plot is not None:
        try:
            draw(by_word, asked.plot)
        except ImportError:
            return "--plot needs matplotlib, which is not installed: pip install matplotlib"
        print(f"\nThe picture is in {asked.plot}.")
    return None


if __name__ == "__main__":
    sys.exit(main())
