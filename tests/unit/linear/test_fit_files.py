"""fit_files: rows in files give what the same rows give in memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from hedgerow import LinearSVC, LinearSVR, NotCertifiedWarning
from hedgerow.errors import (
    DataError,
    FileAccessError,
    FileFormatError,
    ParameterError,
)

BLOCK = 2000
"""Bytes of a block: a small file has more than fit into memory."""


def small_rows(n_rows=300, n_features=6, seed=0):
    """Return sparse rows with labels that a plane tells apart but for noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features)).round(3)
    X[X < 0.2] = 0.0
    X[:, 0] += 0.001  # no column is empty
    score = X @ np.linspace(-1, 2, n_features) + 0.4 * random.normal(size=n_rows)
    return X, score.round(3)


def svm_file(folder: Path, X, y, name="rows.svm") -> Path:
    path = folder / name
    dump_svmlight_file(X, y, str(path), zero_based=False)
    return path


INTERCEPTS = [{"fit_intercept": False}, {"intercept": "penalized"}, {"intercept": "free"}]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("solver", ["auto", "dual_coordinate_descent"])
def test_files_give_the_objective_of_memory(tmp_path, loss, intercept, solver):
    X, score = small_rows()
    y = np.where(score > np.median(score), 1, -1)
    path = svm_file(tmp_path, X, y)
    settings = {"loss": loss, "C": 0.05, "random_state": 0, "tol": 1e-4, **intercept}
    streamed = LinearSVC(solver=solver, **settings).fit_files(path, block_bytes=BLOCK)
    whole = LinearSVC(**{**settings, "tol": 1e-9}).fit(X, y)
    best, found = whole.certificate_.primal, streamed.certificate_
    assert found.is_certified
    # Both bounds hold for the same rows, to the rounding of a sum in another order.
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)
    assert found.primal <= best * (1 + 1e-4)
    assert streamed.status_ == "optimal"
    assert streamed.alpha_.shape == whole.alpha_.shape
    assert (streamed.predict(X) == whole.predict(X)).mean() > 0.97


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_values_are_fitted_from_files_too(tmp_path, loss, intercept):
    X, values = small_rows()
    path = svm_file(tmp_path, X, values)
    settings = {"loss": loss, "C": 0.1, "epsilon": 0.05, "random_state": 0, **intercept}
    streamed = LinearSVR(**settings).fit_files(path, block_bytes=BLOCK)
    whole = LinearSVR(**settings, tol=1e-9).fit(X, values)
    best, found = whole.certificate_.primal, streamed.certificate_
    assert found.is_certified
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)
    assert streamed.coef_.shape == whole.coef_.shape
    assert streamed.alpha_.shape == values.shape


@pytest.mark.parametrize("class_weight", [None, "balanced", {3: 2.0}])
def test_classes_that_come_late_are_found(tmp_path, class_weight):
    X, score = small_rows()
    y = np.digitize(score, np.quantile(score, [0.3, 0.7])) + 1
    order = np.argsort(y, kind="stable")  # class 3 is first seen in the last blocks
    X, y = X[order], y[order]
    path = svm_file(tmp_path, X, y)
    settings = {"C": 0.05, "random_state": 0, "class_weight": class_weight}
    streamed = LinearSVC(**settings).fit_files(path, block_bytes=BLOCK)
    whole = LinearSVC(**settings).fit(X, y)
    assert streamed.classes_.tolist() == [1, 2, 3]
    assert streamed.classes_.dtype == whole.classes_.dtype
    assert len(streamed.certificates_) == 3
    for ours, theirs in zip(streamed.certificates_, whole.certificates_, strict=True):
        assert ours.is_certified
        assert ours.primal == pytest.approx(theirs.primal, rel=2e-4)  # two gaps of 1e-4


def test_neither_blocks_nor_the_copy_change_what_is_certified(tmp_path):
    X, score = small_rows()
    path = svm_file(tmp_path, X, np.where(score > 0, 1, -1))
    model = LinearSVC(C=0.05, random_state=0)
    parsed = model.fit_files(path, block_bytes=BLOCK).coef_
    (tmp_path / "copies").mkdir()
    for cache in (True, tmp_path / "copies"):
        assert np.array_equal(model.fit_files(path, block_bytes=BLOCK, cache=cache).coef_, parsed)
    assert list((tmp_path / "copies").iterdir()) == []
    one_block = model.fit_files(path)
    assert one_block.certificate_.is_certified


def test_several_files_are_one(tmp_path):
    X, score = small_rows()
    y = np.where(score > 0, 1, -1)
    whole = svm_file(tmp_path, X, y)
    svm_file(tmp_path, X[:100], y[:100], "part-1.svm")
    second = svm_file(tmp_path, X[100:], y[100:], "part-2.svm")
    (tmp_path / "part-2.svm.gz").write_bytes(gzip.compress(second.read_bytes()))
    second.unlink()
    model = LinearSVC(C=0.05, random_state=0)
    objective = model.fit_files(whole).certificate_.primal
    parts = model.fit_files(str(tmp_path / "part-*"), block_bytes=BLOCK)
    assert parts.alpha_.shape == (1, 300)
    assert parts.certificate_.primal == pytest.approx(objective, rel=2e-4)
    with pytest.raises(FileAccessError, match="no file matches"):
        model.fit_files(str(tmp_path / "nothing-*"))


@pytest.mark.parametrize("is_arrow", [True, False])
def test_a_table_with_a_header_gives_names(tmp_path, monkeypatch, is_arrow):
    if not is_arrow:
        monkeypatch.setattr("hedgerow.data.io.csv_blocks.find_spec", lambda _: None)
    X, score = small_rows()
    labels = np.where(score > 0, "yes", "no")
    lines = ["a,b,answer,c,d,e,f"]
    lines += [
        ",".join([str(v) for v in x[:2]] + [label] + [str(v) for v in x[2:]])
        for x, label in zip(X, labels, strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n")
    settings = {"C": 0.05, "random_state": 0}
    model = LinearSVC(**settings).fit_files(path, target="answer", block_bytes=BLOCK)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.classes_.tolist() == ["no", "yes"]
    whole = LinearSVC(**settings).fit(X, labels)
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=2e-4)


def test_a_parquet_file_is_read_by_blocks(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, score = small_rows()
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    path = tmp_path / "rows.parquet"
    y = np.where(score > 0, 7, 3)
    parquet.write_table(pa.table(columns | {"label": y}), path, row_group_size=50)
    model = LinearSVC(C=0.05, random_state=0).fit_files(path, block_bytes=BLOCK)
    assert model.classes_.tolist() == [3, 7]
    whole = LinearSVC(C=0.05).fit(X, y)
    assert model.certificate_.primal == pytest.approx(whole.certificate_.primal, rel=2e-4)
    parquet.write_table(pa.table({"a": ["x", "y"], "label": [0, 1]}), path)
    with pytest.raises(FileFormatError, match="column 'a' holds string values, not numbers"):
        LinearSVC().fit_files(path)


@pytest.mark.parametrize("is_arrow", [True, False])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,y\n1,0\nred,1\n", "line 3: column 'a' holds 'red', which is not a number"),
        ("a,y\n1,0\n,1\n", "row 2 has no value in column 'a'"),
        ("a,y\n1,0\ninf,1\n", "row 2 has the value inf in column 'a'"),
        ("a,y\n1,0\n2\n", "line 3: the row has 1 cell"),
        ("a,y\n1,0\n2,?\n", "the target"),
    ],
)
def test_a_table_of_more_than_numbers_is_refused(tmp_path, monkeypatch, text, words, is_arrow):
    if not is_arrow:
        monkeypatch.setattr("hedgerow.data.io.csv_blocks.find_spec", lambda _: None)
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError) as caught:
        LinearSVC().fit_files(path)
    if words == "the target":
        assert "target" in str(caught.value)
    else:
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"penalty": "l1"}, "penalty='l1' needs all rows in memory"),
        ({"solver": "lbfgs"}, "solver='lbfgs' needs all rows in memory"),
        ({"C": np.inf}, "C=inf needs all rows in memory"),
        ({"multi_class": "ovo"}, "multi_class='ovo' needs all rows in memory"),
        ({"calibrate": "isotonic"}, "calibrate='isotonic' needs all rows in memory"),
    ],
)
def test_what_needs_all_rows_is_refused(tmp_path, parameters, words):
    path = svm_file(tmp_path, *small_rows(20))
    with pytest.raises(ParameterError, match=words):
        LinearSVC(**parameters).fit_files(path)


def test_bad_files_are_named(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("1 1:1\n" * 1000 + "0 1:x\n")
    with pytest.raises(FileFormatError, match=r"line 1001: '1:x' is not an index:value pair"):
        LinearSVC().fit_files(path, block_bytes=100)
    path.write_text("1 1:1\n1 2:1\n")
    with pytest.raises(DataError, match="one class"):
        LinearSVC().fit_files(path)
    with pytest.raises(FileFormatError, match="up to number 2 where n_features=1"):
        LinearSVC().fit_files(path, n_features=1)
    with pytest.raises(ParameterError, match="block_bytes=0 is not allowed"):
        LinearSVC().fit_files(path, block_bytes=0)
    path.write_text("a,b,y\n1,2,0\n3,4,1\n")
    with pytest.raises(FileFormatError, match="2 features where n_features=600; leave"):
        LinearSVC().fit_files(path, n_features=600)


@pytest.mark.long
def test_blocks_of_a_line_can_be_sampled(tmp_path):
    path = svm_file(tmp_path, *small_rows(40))
    whole = LinearSVC(random_state=0).fit_files(path)
    lines = LinearSVC(random_state=0).fit_files(path, block_bytes=1)
    np.testing.assert_allclose(lines.coef_, whole.coef_, atol=0.05)


def test_a_fit_that_runs_out_of_passes_says_so(tmp_path):
    path = svm_file(tmp_path, *small_rows())
    with pytest.warns(NotCertifiedWarning, match="raise max_iter"):
        model = LinearSVR(max_iter=1, tol=1e-9, C=10.0, random_state=0).fit_files(path)
    assert model.status_ == "max_iter"
    assert model.certificate_.gap > 0


@pytest.mark.parametrize("solver", ["auto", "dual_coordinate_descent"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_of_rows_are_those_of_fit(tmp_path, solver, class_weight):
    X, score = small_rows()
    y = np.where(score > np.median(score), 1, -1)
    weights = np.random.default_rng(1).integers(0, 4, size=len(y)).astype(float)
    path = svm_file(tmp_path, X, y)
    settings = {"C": 0.05, "random_state": 0, "class_weight": class_weight}
    model = LinearSVC(solver=solver, **settings)
    streamed = model.fit_files(path, block_bytes=BLOCK, sample_weight=weights)
    best = LinearSVC(**settings, tol=1e-9).fit(X, y, weights).certificate_.primal
    found = streamed.certificate_
    assert found.is_certified
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)


@pytest.mark.parametrize("kind", ["csv", "plain csv", "parquet"])
@pytest.mark.parametrize("cache", [True, False])
def test_a_column_may_weigh_the_rows(tmp_path, monkeypatch, kind, cache):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    X, values = small_rows()
    weights = np.random.default_rng(1).integers(0, 4, size=len(values)).astype(float)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    table = pa.table({"how often": weights, "value": values} | columns)
    path = tmp_path / "rows"
    (parquet.write_table if kind == "parquet" else csv.write_csv)(table, path)
    if kind == "plain csv":
        monkeypatch.setattr("hedgerow.data.io.csv_blocks.find_spec", lambda _: None)
    settings = {"C": 0.1, "epsilon": 0.05, "random_state": 0}
    streamed = LinearSVR(**settings).fit_files(
        path, target="value", weight=0, block_bytes=BLOCK, cache=cache
    )
    whole = LinearSVR(**settings, tol=1e-9).fit(X, values, weights)
    assert streamed.n_features_in_ == 6
    assert streamed.feature_names_in_.tolist() == list(columns)
    best, found = whole.certificate_.primal, streamed.certificate_
    assert found.dual <= best * (1 + 1e-9) <= found.primal * (1 + 2e-9)


def test_weights_that_cannot_be_are_refused(tmp_path):
    X, score = small_rows(20)
    path = svm_file(tmp_path, X, np.where(score > 0, 1, -1))
    with pytest.raises(DataError, match=r"sample_weight has shape \(19,\) but X has 20 rows"):
        LinearSVC().fit_files(path, sample_weight=np.ones(19))
    with pytest.raises(DataError, match=r"sample_weight has shape \(21,\) but X has 20 rows"):
        LinearSVC().fit_files(path, sample_weight=np.ones(21))
    with pytest.raises(ParameterError, match="weight=0 cannot be chosen"):
        LinearSVC().fit_files(path, weight=0)
    table = tmp_path / "t.csv"
    table.write_text("a,w,y\n1,1,0\n2,-1,1\n")
    with pytest.raises(FileFormatError, match=r"row 2 has the weight -1.0; weights must be"):
        LinearSVC().fit_files(table, weight="w")
    with pytest.raises(ParameterError, match="weight='w' and sample_weight both weigh the rows"):
        LinearSVC().fit_files(table, weight="w", sample_weight=[1, 1])
    table.write_text("a,w,y\n1,0,0\n2,0,1\n")
    with pytest.raises(DataError, match="weight"):
        LinearSVR().fit_files(table, weight="w")


def test_a_full_disk_says_what_to_do(tmp_path, monkeypatch):
    path = svm_file(tmp_path, *small_rows(20))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        "hedgerow.data.io.cache._narrowed", lambda _: type("Full", (), {"tofile": full})()
    )
    with pytest.raises(FileAccessError, match=r"No space left on device.*cache=False"):
        LinearSVR().fit_files(path)


@pytest.mark.parametrize("block_bytes", [8, 2**24])
def test_huge_entries_and_targets_are_refused(tmp_path, block_bytes):
    table, rows = tmp_path / "t.csv", tmp_path / "t.svm"
    table.write_text("a,w,y\n1,1,0\n1e160,1,1\n2,1,0\n")
    rows.write_text("1 1:1\n0 1:-1e300\n1 1:2\n")
    for path in (table, rows):
        with pytest.raises(DataError, match=r"has the value .*values beyond 1e\+100 overflow"):
            LinearSVC().fit_files(path, block_bytes=block_bytes)
    table.write_text("a,w,y\n1,1,0\n2,1,1e200\n2,1,0\n")
    with pytest.raises(DataError, match=r"the target holds 1e\+200"):
        LinearSVR().fit_files(table, block_bytes=block_bytes)
    table.write_text("a,w,y\n1,1,0\n2,1e200,1\n2,1,0\n")
    with pytest.raises(FileFormatError, match=r"row 2 has the weight 1e\+200"):
        LinearSVC().fit_files(table, weight="w", block_bytes=block_bytes)
