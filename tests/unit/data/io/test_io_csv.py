"""What read_table makes of CSV files."""

from __future__ import annotations

import bz2
import gzip
import io
import sys
from pathlib import Path

import numpy as np
import pytest

from hedgerow.data.io import Table, csv_file, read_table


@pytest.fixture
def write(tmp_path: Path):
    def write_text(text: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write_text


def test_a_table_of_the_target_alone_has_its_rows(write) -> None:
    table = read_table(write("kind\n0\n1\n1\n"), target="kind", format="csv")
    assert table.n_rows == 3
    assert table.feature_names == []


def test_columns_are_numbers_where_every_cell_is_one_and_text_elsewhere(write) -> None:
    table = read_table(write("size,colour,label\n1.5,red,yes\n-2e3,blue,no\n"), target="label")
    assert table.feature_names == ["size", "colour"]
    assert table.X["size"].tolist() == [1.5, -2000.0]
    assert table.X["colour"].tolist() == ["red", "blue"]
    assert table.y.tolist() == ["yes", "no"]
    assert (table.target, table.n_rows) == ("label", 2)


@pytest.mark.parametrize("token", ["", "NA", "N/A", "nan", "NaN", "null", "?", "  "])
def test_missing_cells_are_nan_among_numbers_and_none_among_text(write, token: str) -> None:
    table = read_table(write(f"a,b\n1,x\n{token},{token}\n"))
    assert np.isnan(table.X["a"][1])
    assert table.X["b"].tolist() == ["x", None]
    assert "2 missing values." in table.notes


@pytest.mark.parametrize(("delimiter", "word"), [(",", "comma"), (";", "semicolon"), ("\t", "tab")])
def test_the_delimiter_is_inferred_and_said(write, delimiter: str, word: str) -> None:
    table = read_table(write(f"a{delimiter}b\n1{delimiter}2\n"))
    assert table.feature_names == ["a", "b"]
    assert f"separated by {word}" in table.notes[0]


def test_a_decimal_comma_does_not_win_against_the_semicolon_around_it(write) -> None:
    table = read_table(write("1,5;2,5\n3,5;4,5\n"))
    assert [values.tolist() for values in table.X.values()] == [["1,5", "3,5"], ["2,5", "4,5"]]


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        ("a,b\n1,2\n", True),
        ("1,2\n3,4\n", False),
        ("colour,kind\nred,p\nblue,q\n", True),
        ("red,p\nblue,q\nred,q\n", False),  # the first row's values come again
        ("p,p,e\nq,p,p\n", False),  # names are different
        (",b\n0,2\n1,3\n", True),  # the index that pandas writes has no name
        ("?,b\nx,c\n", False),  # a missing value is no name
    ],
)
def test_a_header_is_told_from_a_row(write, text: str, has_header: bool) -> None:
    table = read_table(write(text))
    assert table.n_rows == text.count("\n") - has_header
    assert ("names the columns" in table.notes[0]) == has_header


def test_a_target_found_in_the_first_row_makes_it_a_header(write) -> None:
    table = read_table(write("2019,2020\n1,2\n3,4\n"), target="2020")
    assert table.feature_names == ["2019"]
    assert table.y.tolist() == [2, 4]


def test_a_position_written_as_text_is_not_taken_for_a_name(write) -> None:
    table = read_table(write("0,5\n1,6\n"), target="0")
    assert table.X["x0"].tolist() == [5.0, 6.0]
    assert table.y.tolist() == [0, 1]


def test_columns_without_names_are_numbered_without_the_target(write) -> None:
    table = read_table(write("yes,1,2\nno,3,4\nyes,5,6\n"), target=0)
    assert table.feature_names == ["x0", "x1"]
    assert table.target == 0


@pytest.mark.parametrize("target", [-1, "-1", 2, "2"])
def test_a_target_can_be_given_by_position(write, target: int | str) -> None:
    table = read_table(write("a,b,c\n1,2,3\n4,5,6\n"), target=target)
    assert table.target == "c"
    assert table.y.tolist() == [3, 6]


def test_labels_are_whole_numbers_where_they_are_written_as_such(write) -> None:
    whole = read_table(write("a,y\n1,-1\n2,+1\n"), target="y").y
    assert whole.dtype == np.int64
    assert whole.tolist() == [-1, 1]
    assert read_table(write("a,y\n1,0.5\n2,1\n"), target="y").y.tolist() == [0.5, 1.0]
    assert read_table(write("a,y\n1,1\n2,b\n"), target="y").y.tolist() == ["1", "b"]


def test_labels_too_large_to_be_exact_numbers_stay_apart(write) -> None:
    table = read_table(write(f"a,y\n1,{2**53 + 1}\n2,{2**53}\n"), target="y")
    assert table.y.tolist() == [str(2**53 + 1), str(2**53)]


def test_columns_named_as_text_keep_their_leading_zeros(write) -> None:
    table = read_table(write("code,y\n007,0\n010,1\n"), target="y", text_columns=["code", "y"])
    assert table.X["code"].tolist() == ["007", "010"]
    assert table.y.tolist() == ["0", "1"]


def test_a_column_that_turns_to_text_late_keeps_every_cell_as_written(write, monkeypatch) -> None:
    monkeypatch.setattr(csv_file, "_CELLS_IN_A_PIECE", 4)
    table = read_table(write("a,b\n" + "007,1\n" * 10 + "x,2\n"))
    assert table.X["a"].tolist() == ["007"] * 10 + ["x"]
    assert table.X["b"].tolist() == [1.0] * 10 + [2.0]


def test_reading_in_pieces_changes_nothing(write, monkeypatch) -> None:
    path = write("a,b,y\n" + "".join(f"{i},t{i % 3},{i % 2}\n" for i in range(50)))
    whole = read_table(path, target="y")
    monkeypatch.setattr(csv_file, "_CELLS_IN_A_PIECE", 7)
    pieces = read_table(path, target="y")
    assert pieces.X["a"].tolist() == whole.X["a"].tolist()
    assert pieces.X["b"].tolist() == whole.X["b"].tolist()
    assert pieces.y.tolist() == whole.y.tolist()


def test_quotes_hold_delimiters_newlines_and_spaces_around_cells_go(write) -> None:
    table = read_table(write('name, size\n"a, ""b""\nc",  1\nd, 2 \n'))
    assert table.X["name"].tolist() == ['a, "b"\nc', "d"]
    assert table.X["size"].tolist() == [1.0, 2.0]


def test_an_underscore_makes_a_cell_text(write) -> None:
    assert read_table(write("a,b\n1_000,2\n")).X["a"].tolist() == ["1_000"]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_compression_and_byte_order_mark_do_not_matter(write, compress, mark: bytes) -> None:
    path = write(compress(mark + "größe,b\n1,2\n".encode()), "table.anything")
    assert read_table(path).feature_names == ["größe", "b"]


def test_a_dash_is_standard_input(monkeypatch) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert read_table("-").X["b"].tolist() == [2.0]


def test_line_ends_of_windows_and_blank_lines_do_not_matter(write) -> None:
    table = read_table(write("a,b\r\n\r\n1,2\r\n\r\n3,4"))
    assert table.X["a"].tolist() == [1.0, 3.0]


def test_a_missing_target_column_can_be_allowed(write) -> None:
    with_target, without = write("a,y\n1,0\n", "with.csv"), write("a,b\n1,0\n", "without.csv")
    assert read_table(with_target, target="y", require_target=False).y.tolist() == [0]
    assert read_table(without, target="y", require_target=False).y is None


def test_without_names_the_number_of_columns_tells_whether_the_target_is_there(write) -> None:
    ask = {"target": 0, "require_target": False, "n_features": 2}
    with_target = read_table(write("0,1,2\n1,3,4\n", "with.csv"), **ask)
    without = read_table(write("1,2\n3,4\n", "without.csv"), **ask)
    assert without.y is None
    assert with_target.y.tolist() == [0, 1]
    assert with_target.X["x1"].tolist() == without.X["x1"].tolist()


def test_a_table_is_a_value(write) -> None:
    table = read_table(write("a,b\n1,2\n"))
    assert isinstance(table, Table)
    with pytest.raises(AttributeError):
        table.y = np.zeros(1)  # type: ignore[misc]
