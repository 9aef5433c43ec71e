"""Files that cannot be read: each gets one sentence that says what, where and what to do."""

from __future__ import annotations

import bz2
import gzip
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.errors import FileAccessError, FileFormatError, ParameterError
from hedgerow.io import read_table

CSV = "a,b,y\n1,2,0\n3,4,1\n"
SVM = "1 1:2 3:4\n-1 2:5\n1 1:1\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "empty"),
        ("\n\n", None, "empty"),
        ("a,b,y\n", None, "no row"),
        ("a,b,y\n1,2,0\n3,4\n", 3, "2 cells where the first row has 3"),
        ("a,b,y\n1,2,0\n3,4,5,6\n", 3, "4 cells where the first row has 3"),
        ("a,b,y\n1,2,0\n\n3,4,\n", 4, "the target is missing"),
        ("a,b,y\n1,2,?\n", 2, "the target is missing ('?')"),
        ("a,a,y\n1,2,0\n", 1, "two columns are called 'a'"),
        ('a,b,y\n1,2,0\n"3,4,1\n', 3, "check its quotes"),
        ('a,b,y\n"1"x,2,0\n', 2, "check its quotes"),
        (b"a,b,y\n1,2,0\n\xff,4,1\n", 3, "not UTF-8"),
        (CSV.encode("utf-16"), 1, "not UTF-8"),
    ],
)
def test_a_bad_csv_line_is_named(tmp_path: Path, text, line: int | None, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(FileFormatError) as caught:
        read_table(path, target="y", format="csv")
    assert caught.value.line == line
    assert caught.value.path == path
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1 1:2\nx 1:3\n", 2, "the label 'x' is no number"),
        ("1 1:2\n1 1:3 4\n", 2, "'4' is no index:value pair"),
        ("1 1:2\n1 a:3\n", 2, "'a:3' is no index:value pair"),
        ("1 1:2\n\n# remark\n1 1:\n", 4, "'1:' is no index:value pair"),
        ("1 1:2\n1 1:nan\n", 2, "'1:nan' is no index:value pair of finite numbers"),
        ("1 1:2\ninf 1:1\n", 2, "the label 'inf' is no number"),
        ("1 1:2\n1 3:1 2:1\n", 2, "the indices do not increase"),
        ("1 1:2\n1 2:1 2:1\n", 2, "the indices do not increase"),
        ("1 1:2\n1 -1:1\n", 2, "'-1:1' is no index:value pair"),
        ("1 1:2\n1,2 1:1\n", 2, "the label '1,2' is no number"),
        ("", None, "empty"),
    ],
)
def test_a_bad_libsvm_line_is_named(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    path = tmp_path / "t.svm"
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        read_table(path, format="libsvm")
    assert caught.value.line == line
    assert words in str(caught.value)


def test_more_features_than_expected_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text(SVM)
    with pytest.raises(FileFormatError, match="up to number 3 where 2 are expected"):
        read_table(path, n_features=2)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("file_format", ["auto", "csv", "libsvm"])
def test_every_truncation_of_a_compressed_file_is_found(
    tmp_path: Path, compress, file_format: str
) -> None:
    text = CSV if file_format != "libsvm" else SVM
    data = compress(text.encode())
    path = tmp_path / "t.gz"
    for n_bytes in range(len(data)):
        path.write_bytes(data[:n_bytes])
        with pytest.raises(FileFormatError):
            read_table(path, format=file_format)


def test_a_truncation_deep_in_a_file_names_a_line_near_it(tmp_path: Path) -> None:
    noise = random.Random(0)
    rows = "".join(f"{noise.random()},{noise.random()}\n" for _ in range(20_000))
    path = tmp_path / "t.csv.gz"
    data = gzip.compress(("a,b\n" + rows).encode())
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(FileFormatError, match="damaged or cut short") as caught:
        read_table(path)
    assert 8_000 < caught.value.line < 11_000  # half of the bytes hold about half of the lines


def test_a_target_that_is_not_there_lists_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(CSV)
    with pytest.raises(
        FileFormatError, match="no column 'z'; choose the target among 'a', 'b', 'y'"
    ):
        read_table(path, target="z")
    with pytest.raises(FileFormatError, match="no column 3;"):
        read_table(path, target=3)
    path.write_text("1,2\n3,4\n")
    with pytest.raises(FileFormatError, match="position from 0 to 1"):
        read_table(path, target="y")
    path.write_text("1\n2\n")
    with pytest.raises(FileFormatError, match="the only column is the target"):
        read_table(path, target=0)


def test_what_cannot_be_opened_says_why(tmp_path: Path, monkeypatch) -> None:
    with pytest.raises(FileAccessError, match="no such file"):
        read_table(tmp_path / "nope.csv")
    with pytest.raises(FileAccessError, match="is a folder"):
        read_table(tmp_path)

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("hedgerow.io.source.os.open", refuse)
    with pytest.raises(FileAccessError, match="permission is denied"):
        read_table(tmp_path / "t.csv")


def test_contradictory_wishes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text(SVM)
    with pytest.raises(ParameterError, match="leave target out"):
        read_table(path, target="y")
    with pytest.raises(ParameterError, match="format='xls' is not known"):
        read_table(path, format="xls")


def test_a_format_error_survives_pickling() -> None:
    error = FileFormatError("t.csv", 3, "a problem")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.path, copy.line, str(copy)) == (error.path, 3, "t.csv, line 3: a problem")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=60), st.text("ab1.,;\t\n\"':# -", max_size=60)))
def test_any_bytes_are_a_table_or_a_named_error(tmp_path: Path, data: bytes | str) -> None:
    path = tmp_path / "t"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    for file_format in ("auto", "csv", "libsvm"):
        try:
            n_rows = read_table(path, format=file_format).n_rows
        except FileFormatError:
            continue
        assert n_rows > 0
