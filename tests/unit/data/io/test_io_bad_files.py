"""Files that cannot be read: each gets one sentence that says what, where and what to do."""

from __future__ import annotations

import bz2
import gzip
import os
import pickle
import random
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.memory import in_fresh_process, peak_growth
from hedgerow import LinearSVC
from hedgerow.errors import (
    DataError,
    FileAccessError,
    FileFormatError,
    HedgerowError,
    ParameterError,
)
from hedgerow.io import RowFiles, read_table

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
        ("1 1:2\nx 1:3\n", 2, "the label 'x' is not a number"),
        ("1 1:2\n1 1:3 4\n", 2, "'4' is not an index:value pair"),
        ("1 1:2\n1 a:3\n", 2, "'a:3' is not an index:value pair"),
        ("1 1:2\n\n# remark\n1 1:\n", 4, "'1:' is not an index:value pair"),
        ("1 1:2\n1 1:nan\n", 2, "'1:nan' is not an index:value pair of finite numbers"),
        ("1 1:2\ninf 1:1\n", 2, "the label 'inf' is not a number"),
        ("1 1:2\n1 3:1 2:1\n", 2, "the indices do not increase"),
        ("1 1:2\n1 2:1 2:1\n", 2, "the indices do not increase"),
        ("1 1:2\n1 -1:1\n", 2, "'-1:1' is not an index:value pair"),
        ("1 1:2\n1,2 1:1\n", 2, "the label '1,2' is not a number"),
        ("1 1:1\n0 2147483647:1\n", 2, "the index 2147483647 is too large"),
        ("1 1:1\n0 " + "9" * 5000 + ":1\n", 2, "999... is too large"),
        ("1 1:1\n0 " + "9" * 5000 + ":1 7:1\n", 2, "the indices do not increase"),
        ("1 1:1\n0 007:1 8:" + "x" * 5000 + "\n", 2, "xxx...' is not an index:value pair"),
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

    monkeypatch.setattr("hedgerow.data.io.source.os.open", refuse)
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


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
@pytest.mark.parametrize("text", [CSV, SVM])
def test_every_truncation_is_found_by_a_fit_to_files(tmp_path: Path, compress, text: str) -> None:
    data = compress(text.encode())
    path = tmp_path / "t.gz"
    for n_bytes in range(len(data)):
        path.write_bytes(data[:n_bytes])
        with pytest.raises(DataError):
            LinearSVC().fit_files(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Without the check nobody would ever write to the pipe, and the test would hang.
    release = threading.Timer(20, lambda: os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)))
    release.start()
    try:
        for read in (read_table, RowFiles, LinearSVC().fit_files):
            with pytest.raises(
                FileAccessError, match=r"is not a regular file; copy its content into one"
            ):
                read(pipe)
        with pytest.raises(FileAccessError, match="is not a regular file"):
            read_table("/dev/null")
    finally:
        release.cancel()


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(FileAccessError, match="null"):
        read_table("a\0b")


def test_more_columns_than_there_can_be_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.gz"
    path.write_bytes(gzip.compress(b"," * (3 << 20)))
    for read in (read_table, LinearSVC().fit_files):
        with pytest.raises(FileFormatError, match="the line has 3,145,729 cells") as caught:
            read(path, format="csv")
        assert caught.value.line == 1


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    for module in ("source", "csv_file", "libsvm_file"):
        monkeypatch.setattr(f"hedgerow.data.io.{module}.LONGEST_LINE", 1000)
    path = tmp_path / "t"
    path.write_text("a,y\n1,2\n" + '"' + "x" * 3000 + "\n")
    with pytest.raises(FileFormatError, match="line 3: the line is longer than"):
        read_table(path, format="csv")
    path.write_text("1 1:1\n0 " + " ".join(f"{i}:1" for i in range(1, 3000)) + "\n")
    with pytest.raises(FileFormatError, match="line 2: the line is longer than"):
        list(RowFiles(path, format="libsvm", block_bytes=7).blocks())


def _bytes_for_long_label(path: Path) -> int:
    return peak_growth(lambda: read_table(path, target="y") and None)[1]


def test_one_long_label_does_not_widen_all_others(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20_000))
    path.write_text(f"a,y\n{rows}1,{'z' * 100_000}\n")
    assert in_fresh_process(_bytes_for_long_label, path) < 2**26  # as a fixed width: 8 GB
    table = read_table(path, target="y")
    assert set(table.y.tolist()) == {"x", "y", "z" * 100_000}


def test_a_long_label_is_a_class_of_a_fit_to_files(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "t.csv"
    names = ["x", "y", "z" * 1000]
    rows = "".join(f"{i % 3},{names[i % 3 if i > 100 else i % 2]}\n" for i in range(300))
    path.write_text(f"a,y\n{rows}")  # pyarrow cannot read the long rows in blocks of 200 bytes
    for _ in range(2):
        model = LinearSVC(random_state=0).fit_files(path, block_bytes=200)
        assert model.classes_.tolist() == names
        assert model.predict([[2]]).tolist() in [[name] for name in names]
        monkeypatch.setattr("hedgerow.data.io.csv_blocks.find_spec", lambda _: None)


def test_wide_tables_are_read_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"

    def seconds(n_columns: int) -> float:
        lines = [",".join(f"c{i}" for i in range(n_columns))]
        lines += [",".join(["1"] * n_columns), ",".join(["2"] * n_columns)]
        path.write_text("\n".join(lines))
        began = time.process_time()
        assert len(read_table(path, target=-1).feature_names) == n_columns - 1
        return time.process_time() - began

    seconds(100)
    assert seconds(32_000) < 40 * seconds(4_000) + 1.0  # 8 times as long; the square would be 64


def test_infinite_labels_are_refused_by_a_fit_to_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,0\n2,inf\n3,0\n")
    with pytest.raises(DataError, match="the target holds inf, which is not a class"):
        LinearSVC().fit_files(path)


def _damaged(data: bytes, random: np.random.Generator) -> bytes:
    """Return the bytes cut short, or with some of them changed."""
    if random.random() < 0.3:
        return data[: random.integers(len(data))]
    changed = bytearray(data)
    for place in random.integers(len(data), size=random.integers(1, 6)):
        changed[place] = random.integers(256)
    return bytes(changed)


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_parquet_file_is_a_table_or_a_named_error(tmp_path: Path, seed: int) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    random = np.random.default_rng(seed)
    path = tmp_path / "t.parquet"
    columns = {"a": random.normal(size=20), "y": np.array(["x", "yes"])[np.arange(20) % 2]}
    compression = ("none", "snappy", "zstd")[seed % 3]
    parquet.write_table(pa.table(columns), path, compression=compression, row_group_size=7)
    data = path.read_bytes()
    assert sum(block.n_rows for block in RowFiles(path).blocks()) == 20
    for _ in range(20):
        path.write_bytes(_damaged(data, random))
        with suppress(HedgerowError):
            for block in RowFiles(path, format="parquet").blocks():
                assert np.isfinite(block.parts[0]).all()


def test_a_parquet_file_must_have_one_label_in_a_row(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    for labels, words in (
        ([[1], [2]], "the target holds list"),
        ([1.0, float("nan")], "row 2 has the target nan"),
        ([1.0, None], "row 2 has no target"),
    ):
        parquet.write_table(pa.table({"a": [1.0, 2.0], "y": pa.array(labels)}), path)
        with pytest.raises(FileFormatError, match=words):
            LinearSVC().fit_files(path)
    parquet.write_table(pa.table([[1.0], [2.0], [0]], names=["a", "a", "y"]), path)
    with pytest.raises(FileFormatError, match="two columns have the same name"):
        LinearSVC().fit_files(path)
