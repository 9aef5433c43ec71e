"""What read_table makes of LIBSVM files."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pytest

from hedgerow.data.io import read_table

TEXT = "+1 1:0.5 3:2 # a remark\n-1 2:1\n\n+1\n"


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
def test_a_libsvm_file_is_recognised_and_read(tmp_path: Path, compress) -> None:
    path = tmp_path / "a9a"
    path.write_bytes(compress(TEXT.encode()))
    table = read_table(path)
    assert table.X.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0], [0, 0, 0]]
    assert table.y.tolist() == [1, -1, 1]
    assert table.y.dtype == np.int64
    assert table.feature_names is None
    assert (table.n_rows, table.target) == (3, None)
    assert table.notes == ("LIBSVM, features counted from 1.",)


def test_an_index_zero_makes_the_count_start_there(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("1 0:5 2:7\n0 1:6\n")
    table = read_table(path)
    assert table.X.toarray().tolist() == [[5, 0, 7], [0, 6, 0]]
    assert table.notes == ("LIBSVM, features counted from 0.",)


def test_a_width_can_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text(TEXT)
    table = read_table(path, n_features=5)
    assert table.X.shape == (3, 5)
    assert table.X.sum() == pytest.approx(3.5)


def test_labels_that_are_not_whole_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("0.5 1:1\n1 1:2\n")
    assert read_table(path).y.tolist() == [0.5, 1.0]


def test_query_numbers_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "t.svm"
    path.write_text("1 qid:3 1:1\n0 qid:3 1:2\n")
    assert read_table(path).X.toarray().ravel().tolist() == [1.0, 2.0]


def test_times_of_day_in_a_csv_file_are_no_libsvm(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("5,2020-01-01 10:30\n6,2020-01-02 11:45\n")
    assert read_table(path).feature_names == ["x0", "x1"]
