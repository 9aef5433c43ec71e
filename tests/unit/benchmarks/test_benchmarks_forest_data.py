"""The data sets that forests are timed on: classes, categories, holes, and which rows are tested on."""

from __future__ import annotations

import bz2
import gzip
import sys

import numpy as np
import pytest

from benchmarks.datasets import from_folder
from benchmarks.suites.forest import some_of_covtype
from hedgerow.errors import DataError, UnavailableError

pytestmark = pytest.mark.long


def write(file, text):
    opener = {".bz2": bz2.open, ".gz": gzip.open}[file.suffix]
    file.parent.mkdir(exist_ok=True)
    with opener(file, "wt") as stream:
        stream.write(text)


def test_the_raw_adults_have_categories_and_holes(tmp_path):
    pytest.importorskip("pandas")
    row = "39, {}, 77516, Bachelors, 13, Never-married, Sales, Husband, White, Male, 0, 0, 40, Peru, {}\n"
    write(
        tmp_path / "adult/adult.data.bz2", row.format("Private", "<=50K") + row.format("?", ">50K")
    )
    write(tmp_path / "adult/adult.test.bz2", row.format("State-gov", ">50K.") + "\n")
    data = from_folder("adult raw")(tmp_path)
    assert data.X.shape == (2, 14)
    assert list(data.y) == [0, 1]
    assert list(data.y_test) == [1]
    assert [dtype == "category" for dtype in data.X.dtypes].count(True) == 8
    assert list(data.X["column 1"].isna()) == [False, True]
    assert data.X_test["column 1"].iloc[0] == "State-gov"


def test_attacks_that_were_not_there_to_learn_from_are_no_class(tmp_path):
    pytest.importorskip("pandas")
    row = "0,tcp,{},SF," + ",".join(["0.5"] * 37) + ",{}.\n"
    known = row.format("http", "normal") + row.format("smtp", "back") + row.format("http", "smurf")
    write(tmp_path / "kddcup99/kddcup.data_10_percent.gz", known)
    write(
        tmp_path / "kddcup99/corrected.gz", row.format("ftp", "worm") + row.format("ftp", "smurf")
    )
    data = from_folder("kddcup99")(tmp_path)
    assert data.X.shape == (3, 41)
    assert list(data.y) == [1, 0, 2]
    assert list(data.y_test) == [-1, 2]


def test_raw_houses_are_the_rows_that_numbers_are_made_of(tmp_path):
    pytest.importorskip("pandas")
    names = "longitude,total_bedrooms,median_house_value,ocean_proximity\n"
    places = ("INLAND", "NEAR BAY")
    rows = [f"{i}.5,{'' if i % 4 == 0 else i},{1000 * i},{places[i % 2]}\n" for i in range(20)]
    write(tmp_path / "california_housing/housing.csv.bz2", names + "".join(rows))
    raw = from_folder("california_housing raw")(tmp_path)
    plain = from_folder("california_housing")(tmp_path)
    np.testing.assert_array_equal(raw.y, plain.y)
    np.testing.assert_array_equal(raw.y_test, plain.y_test)
    np.testing.assert_allclose(raw.X["longitude"], 100 * raw.y + 0.5)
    assert raw.X["ocean_proximity"].dtype == "category"
    assert raw.X["total_bedrooms"].isna().sum() + raw.X_test["total_bedrooms"].isna().sum() == 5


def test_higgs_is_split_so_that_scores_can_be_told_apart(tmp_path):
    rows = "".join(f"{i % 2}\t{i}.0\t0.5\n" for i in range(5100))
    write(tmp_path / "higgs/binary.train.bz2", rows)
    write(tmp_path / "higgs/binary.test.bz2", "1\t7777.0\t0.5\n")
    data = from_folder("higgs")(tmp_path)
    assert (data.X.shape, len(data.y_test)) == ((5000, 2), 101)
    values = np.concatenate([data.X[:, 0], data.X_test[:, 0]])
    assert sorted(values) == [*range(5100), 7777]
    labels = np.concatenate([data.y, data.y_test])
    np.testing.assert_array_equal(labels, values % 2)


def test_tables_without_pandas_are_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnavailableError, match="pip install pandas"):
        from_folder("adult raw")(tmp_path)


def test_more_rows_than_covtype_has_are_refused(tmp_path):
    rows = "".join(f"{i}," * 54 + f"{i % 7 + 1}\n" for i in range(10))
    write(tmp_path / "covtype/covtype.data.bz2", rows)
    with pytest.raises(DataError, match="use the whole file"):
        some_of_covtype(100_000, tmp_path)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "shape", "n_test", "n_classes"),
    [
        ("covtype raw", (481012, 54), 100_000, 7),
        ("higgs", (5000, 28), 2500, 2),
        ("adult raw", (32561, 14), 16281, 2),
        ("kddcup99", (494021, 41), 311029, 23),
    ],
)
def test_the_real_data_of_forests_have_their_published_shapes(
    data_folder, name, shape, n_test, n_classes
):
    data = from_folder(name)(data_folder)
    assert data.X.shape == shape
    assert len(data.y_test) == n_test
    assert data.n_classes == n_classes
    assert set(np.unique(data.y)) == set(range(n_classes))
