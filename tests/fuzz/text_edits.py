"""Changes to text of lines and words, such as tables in CSV or LIBSVM's formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.byte_edits import damaged

__all__ = ["ODD_WORDS", "edited_text"]

ODD_WORDS: tuple[bytes, ...] = (
    *(
        b"",
        b" ",
        b"0",
        b"1",
        b"-1",
        b"+1",
        b"-0",
        b"2",
        b"1.",
        b".5",
        b"1e5",
        b"1E-5",
        b"1e",
        b"--1",
    ),
    *(
        b"1e308",
        b"-1.7e308",
        b"1e309",
        b"1e-320",
        b"1e-400",
        b"9" * 400,
        b"9" * 5000,
        b"0" * 300 + b"1",
    ),
    *(b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808"),
    *(
        b"nan",
        b"NaN",
        b"NA",
        b"inf",
        b"-inf",
        b"Infinity",
        b"null",
        b"?",
        b"0x10",
        b"1_000",
        b"1,5",
    ),
    *(
        b"True",
        b"x",
        b"\xc3\xa9",
        b"\xd9\xa1\xd9\xa2",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\0",
        b"a\0b",
    ),
    *(
        b'"',
        b'""',
        b'"a',
        b'a"b',
        b'"a""b"',
        b"'",
        b"#",
        b"\\",
        b"=1+1",
        b"%s",
        b"{}",
        b"\xef\xbb\xbf",
    ),
    *(
        b"\r",
        b"\x0b",
        b"\x0c",
        b"\x1c",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xc2\xa0",
        b"\t",
        b"z" * 20_000,
    ),
)
_LINE_ENDS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n\r", b"", b"\0\n", b"\x0c\n", b" \n", b",\n")
_WORD = re.compile(rb'"[^"\n]*"|[^\s,;:"]+')


def edited_text(rng: Random, text: bytes, others: Sequence[bytes], words: Sequence[bytes]) -> bytes:
    """Change a word, a line, a column, the line ends or some bytes; `words` mean something here."""
    change = rng.choice(_CHANGES)
    return change(rng, text, rng.choice(others), (*ODD_WORDS, *words))


def _word(rng: Random, text: bytes, _other: bytes, words: Sequence[bytes]) -> bytes:
    """Replace a word by an odd one, by another, or remove it."""
    found = list(_WORD.finditer(text))
    if not found:
        return text + rng.choice(words)
    one = rng.choice(found)
    another = rng.choice(found).group()
    new = rng.choice([rng.choice(words), rng.choice(words), rng.choice(words), another, b""])
    return text[: one.start()] + new + text[one.end() :]


def _between(rng: Random, text: bytes, _other: bytes, words: Sequence[bytes]) -> bytes:
    """Put something between two words."""
    found = list(_WORD.finditer(text))
    at = rng.choice(found).end() if found else 0
    return (
        text[:at]
        + rng.choice([b",", b";", b":", b" ", b"\t", b"\n", rng.choice(words)])
        + text[at:]
    )


def _line(rng: Random, text: bytes, other: bytes, _words: Sequence[bytes]) -> bytes:
    """Repeat, remove, move, cut or take over a line."""
    lines = text.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(6)
    if how == 0:
        lines[i:i] = [lines[j]] * rng.choice([1, 1, 3, 300])
    elif how == 1:
        del lines[i]
    elif how == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif how == 3:
        lines[i] = lines[i][: rng.randrange(len(lines[i]) + 1)]
    elif how == 4:
        lines[i:i] = rng.sample(other.split(b"\n"), 1)
    else:
        lines[i] = lines[i] + lines[j]
    return b"\n".join(lines)


def _everywhere(rng: Random, text: bytes, _other: bytes, words: Sequence[bytes]) -> bytes:
    """Replace a word or a delimiter wherever it stands."""
    found = _WORD.findall(text)
    old = rng.choice([b",", b";", b" ", b":", b"\t", b'"', *found[:50]])
    return text.replace(
        old, rng.choice([b",", b";", b"\t", b" ", b":", b"", rng.choice(words)]), 2000
    )


def _line_ends(rng: Random, text: bytes, _other: bytes, _words: Sequence[bytes]) -> bytes:
    return text.replace(b"\n", rng.choice(_LINE_ENDS))


def _column(rng: Random, text: bytes, _other: bytes, words: Sequence[bytes]) -> bytes:
    """Append a column, or very many."""
    n = rng.choice([1, 1, 1, 2, 2000])
    cell = rng.choice([b",", b";", b" "]) + rng.choice([b"1", rng.choice(words)[:50]])
    return b"\n".join(line + cell * n for line in text.split(b"\n")[:60])


def _encoding(rng: Random, text: bytes, _other: bytes, _words: Sequence[bytes]) -> bytes:
    how = rng.randrange(4)
    if how == 0:
        return b"\xef\xbb\xbf" + text
    decoded = text.decode("utf-8", errors="replace")
    return decoded.encode(["utf-16", "utf-32", "latin-1"][how - 1], errors="replace")


def _bytes(rng: Random, text: bytes, other: bytes, _words: Sequence[bytes]) -> bytes:
    return damaged(rng, text, [other])


_Change = Callable[[Random, bytes, bytes, Sequence[bytes]], bytes]
_CHANGES: tuple[_Change, ...] = (
    *(_word,) * 8,
    *(_between, _between, _line, _line, _line, _everywhere, _column, _line_ends, _encoding),
    *(_bytes, _bytes),
)
