"""Files that are made to crash, hang or flood: each ends in one sentence of ours, at once."""

from __future__ import annotations

import bz2
import gzip
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hedgerow as h
from hedgerow.errors import FileAccessError, FileFormatError, ModelFormatError
from hedgerow.kernels import RBF, Linear, Precomputed
from hedgerow.persist import layout, read_state, write_state
from tests.unit.persist.forged_files import forge, joined, parts_of, state_and_arrays

pytestmark = pytest.mark.long

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
Y = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 1], [-0.5, 0.5])


def put(array: str, place: Any, value: Any) -> Any:
    return lambda _, arrays: arrays[f"model.{array}"].__setitem__(place, value)


def bounds_that_lie(array: str) -> Any:
    def edit(_: Any, arrays: dict[str, np.ndarray]) -> None:
        arrays[f"model.{array}.indptr"][1:-1] = 10**5
        arrays[f"model.{array}.indptr"][-1] = 0

    return edit


def as_type(array: str, dtype: Any) -> Any:
    def edit(_: Any, arrays: dict[str, np.ndarray]) -> None:
        arrays[f"model.{array}"] = arrays[f"model.{array}"].astype(dtype)

    return edit


def field(record: str, name: str, value: Any) -> Any:
    return lambda state, _: state["fitted"][record]["fields"].__setitem__(name, value)


def cut(arrays: dict[str, np.ndarray], array: str, axis: int) -> None:
    name = f"model.{array}"
    arrays[name] = arrays[name].take([], axis=axis)


def without_outputs(_: Any, arrays: dict[str, np.ndarray]) -> None:
    cut(arrays, "tree_.value", axis=1)
    cut(arrays, "tree_.n_classes", axis=0)


def a_class_too_many(array: str) -> Any:
    """Let the first of two outputs, which has two classes, speak for a third as the second does."""

    def edit(_: Any, arrays: dict[str, np.ndarray]) -> None:
        arrays[f"model.{array}"].reshape(-1, 2, 3)[:, 0, 2] = 1

    return edit


FOREST = h.RandomForestClassifier(3, random_state=0)
WRONG_TOGETHER = {
    "row bounds of coefficients": (h.SVC(gamma=1.0), SPARSE, THREE, bounds_that_lie("dual_coef_")),
    "row bounds of vectors": (
        h.VotedPerceptron(tol=None),
        SPARSE,
        THREE,
        bounds_that_lie("support_vectors_"),
    ),
    "a column of vectors": (
        h.SVC(gamma=1.0),
        SPARSE,
        THREE,
        put("support_vectors_.indices", 0, 2**30),
    ),
    "a row beyond the kernel matrix": (
        h.SVC(kernel="precomputed"),
        X @ X.T,
        Y,
        put("support_", -1, 10**6),
    ),
    "a row beyond a multiple of the kernel matrix": (
        h.SVC(kernel=2 * Precomputed()),
        X @ X.T,
        Y,
        put("support_", -1, 10**6),
    ),
    "a table and rows in one kernel": (
        h.SVC(kernel=RBF(gamma=1.0) + Linear()),
        X,
        Y,
        lambda state, _: state["fitted"]["kernel_"]["parameters"]["right"].update(
            {"class": "Precomputed"}
        ),
    ),
    "coefficients in single precision": (h.SVC(), X, Y, as_type("dual_coef_", "f4")),
    "support vectors of a class": (h.SVC(), X, THREE, put("n_support_", 0, 2**40)),
    "rows of a sampler": (FOREST, X, Y, field("sampler_", "n_rows", 2**50)),
    "no seed of a sampler": (FOREST, X, Y, field("sampler_", "seed", None)),
    "draws of a sampler": (FOREST, X, Y, put("sampler_.n_draws", 0, 2**40)),
    "entries of importances": (FOREST, X, Y, put("tree_importances_.ends", -1, 2**40)),
    "features of importances": (FOREST, X, Y, put("tree_importances_.features", 0, 2**30)),
    "ends of targets": (
        h.ExtraTreesRegressor(3, random_state=0, keep_targets=True),
        X,
        X[:, 0],
        as_type("leaf_targets_.tree_ends", "f8"),
    ),
    "rows of the out-of-bag record": (
        h.RandomForestClassifier(9, random_state=0, oob_score=True),
        X,
        Y,
        field("sampler_", "n_rows", 41),
    ),
    "classes of the out-of-bag record": (
        h.RandomForestClassifier(9, random_state=0, oob_score=True),
        X,
        Y,
        put("oob_.y", (0, 0), 7),
    ),
    "categories of a tree": (
        h.DecisionTreeClassifier(),
        X,
        Y,
        put("tree_.n_categories", slice(None), 2**40),
    ),
    "no values in the leaves of a tree": (
        h.DecisionTreeRegressor(),
        X,
        X[:, 0],
        lambda _, arrays: cut(arrays, "tree_.value", axis=2),
    ),
    "no outputs of a tree": (h.DecisionTreeRegressor(), X, X[:, 0], without_outputs),
    "no knots of a map": (
        h.LinearSVC(calibrate="isotonic"),
        X,
        Y,
        lambda _, arrays: [
            cut(arrays, f"probability_maps_.0.{n}", 0) for n in ("scores", "values")
        ],
    ),
    "no thresholds of a curve": (
        h.ThresholdModel(h.LinearSVC()),
        X,
        Y,
        lambda _, arrays: [cut(arrays, f"curve_.{name}", 0) for name in ("low", "high", "values")],
    ),
    "classes of the leaves of a tree": (
        h.DecisionTreeClassifier(),
        X,
        np.column_stack([Y, THREE]),
        a_class_too_many("tree_.value"),
    ),
    "classes of the leaves of a forest": (
        h.RandomForestClassifier(3, random_state=0),
        X,
        np.column_stack([Y, THREE]),
        a_class_too_many("trees_.parts.10.1"),
    ),
    "classes of out-of-bag sums": (
        h.RandomForestClassifier(9, random_state=0, oob_score=True),
        X,
        np.column_stack([Y, THREE]),
        a_class_too_many("oob_.sums"),
    ),
    "intercepts of a regressor": (
        h.LinearSVR(),
        X,
        X[:, 0],
        lambda _, arrays: arrays.__setitem__("model.intercept_", np.zeros(2)),
    ),
    "planes of pairs": (
        h.LinearSVC(),
        X,
        np.arange(40) % 4,
        lambda state, _: state["parameters"].__setitem__("multi_class", "ovo"),
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("what", WRONG_TOGETHER)
def test_parts_that_do_not_belong_together_are_no_model(what: str, tmp_path: Path):
    model, rows, y, edit = WRONG_TOGETHER[what]
    path = tmp_path / "m.hedge"
    h.save(model.fit(rows, y), path)
    state, arrays = state_and_arrays(path.read_bytes())
    arrays = {name: array.copy() for name, array in arrays.items()}
    forge(path, state, arrays)
    h.load(path)
    edit(state, arrays)
    forge(path, state, arrays)
    with pytest.raises(ModelFormatError, match=r"^[^\n]{1,900}$"):
        h.load(path)


# -------------------------------------------------------------------------------- the file itself


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    h.save(h.LinearSVC().fit(X, Y), tmp_path / "m.hedge")
    return tmp_path / "m.hedge"


def test_a_pipe_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    for read in (h.load, h.read_libsvm_model, lambda path: read_state(path, "checkpoint")):
        with pytest.raises(FileAccessError, match=r"pipe|not a regular file"):
            read(tmp_path / "pipe")
    with (
        pytest.raises(FileAccessError, match=r"pipe|not a regular file"),
        h.checkpoint(tmp_path / "pipe"),
    ):
        pass
    for write in (h.save, h.write_libsvm_model):
        with pytest.raises(FileAccessError, match="not a regular file"):
            write(h.SVC().fit(X, Y), tmp_path / "pipe")


def test_a_folder_and_a_device_are_refused(tmp_path: Path):
    for path in (tmp_path, "/dev/zero"):
        with pytest.raises(FileAccessError, match="cannot read"):
            h.load(path)


def test_a_name_with_a_null_character_is_refused():
    for use in (h.load, lambda path: h.save(h.LinearSVC(), path), h.read_libsvm_model):
        with pytest.raises(FileAccessError, match="null"):
            use("a\0b")


def test_a_name_that_is_no_utf_8_is_a_name(tmp_path: Path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.hedge"))
    h.save(h.LinearSVC(C=3.0), path)
    assert h.load(path).C == 3.0


def test_an_empty_array_of_a_huge_shape_is_refused(saved: Path):
    header, payload = parts_of(saved.read_bytes())
    for shape in ([2**62, 0], [2**32, 2**32, 0], [0, 2**63 - 1]):
        extra = {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]}
        saved.write_bytes(joined({**header, "zz": extra}, payload))
        with pytest.raises(ModelFormatError, match="describes the array 'zz' wrongly"):
            h.load(saved)


@pytest.mark.parametrize("where", ["value", "key", "array"])
def test_half_a_character_in_a_header_is_refused(where: str, saved: Path):
    header, payload = parts_of(saved.read_bytes())
    if where == "array":
        header["\ud800"] = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
    else:
        header["__metadata__"]["x" if where == "value" else "\ud800"] = "\ud800"
    saved.write_bytes(joined(header, payload))
    with pytest.raises(ModelFormatError, match="half a character"):
        h.load(saved)


def test_half_a_character_in_a_parameter_is_refused(saved: Path):
    state, arrays = state_and_arrays(saved.read_bytes())
    state["parameters"]["class_weight"] = {"is": "map", "items": [["\ud800", 1.0]]}
    forge(saved, state, arrays)
    with pytest.raises(ModelFormatError, match="half a character"):
        h.load(saved)


def test_errors_do_not_repeat_long_names(saved: Path):
    long = "x" * 10**5
    for part in ("parameters", "fitted"):
        state, arrays = state_and_arrays(saved.read_bytes())
        state[part][long] = 0
        forge(saved, state, arrays)
        with pytest.raises(ModelFormatError, match="has no") as refused:
            h.load(saved)
        assert len(str(refused.value)) < 1000


# --------------------------------------------------------------------------------- time and memory


def test_the_time_of_loading_does_not_grow_with_the_square_of_a_name(tmp_path: Path):
    """A long name above many values was copied for each of them: 10**11 characters here."""
    state = {"is": "map", "items": [["x" * 10**6, [[0] * 10**5]]]}
    for name, value in ((tmp_path / "short", {"items": []}), (tmp_path / "long", {})):
        forge(name, {**state, **value})
    deep: Any = [0] * 10**5
    for _ in range(20):
        deep = {"is": "map", "items": [["y" * 10**4, deep]]}
    forge(tmp_path / "deep", deep)
    began = time.process_time()
    for name in ("long", "deep"):
        read_state(tmp_path / name, "model")
    assert time.process_time() - began < 5.0
    forge(
        tmp_path / "record",
        {"is": "record", "class": "Scaling", "fields": {"x" * 10**6: [0] * 10**5}},
    )
    with pytest.raises(ModelFormatError):
        read_state(tmp_path / "record", "model")
    assert time.process_time() - began < 5.0


def test_a_header_of_brackets_is_refused_before_it_becomes_lists(tmp_path: Path):
    """Three bytes of JSON would be more than sixty of memory."""
    text = b'{"a":[' + b"[]," * (2 * 10**7) + b"[]]}"
    (tmp_path / "m.hedge").write_bytes(len(text).to_bytes(8, "little") + text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ModelFormatError, match="too much memory"):
        h.load(tmp_path / "m.hedge")
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < 3 * len(text)


def test_what_would_be_refused_as_a_flood_is_not_written(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(layout, "_SMALL", 1000)
    with pytest.raises(h.ParameterError, match="too much memory; keep long lists as arrays"):
        write_state(tmp_path / "f", "checkpoint", [[]] * 10**4)
    write_state(tmp_path / "f", "checkpoint", np.zeros(10**4))


def test_loading_text_of_a_fixed_width_takes_little_memory(tmp_path: Path):
    """Many short texts beside one that is long would all be padded to its width."""
    n, longest = 10**6, 200
    ends = np.arange(n, dtype=np.int64) + longest
    arrays = {"a.bytes": np.full(ends[-1], 65, np.uint8), "a.ends": ends}
    forge(tmp_path / "f", {"is": "strings", "name": "a", "shape": [n], "dtype": "str"}, arrays)
    with pytest.raises(ModelFormatError, match="padding"):
        read_state(tmp_path / "f", "model")


# ------------------------------------------------------------------------------ LIBSVM's model files

HEADER = "svm_type one_class\nkernel_type {}\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n"


@pytest.mark.parametrize("compressed", [gzip.compress, bz2.compress])
def test_a_compressed_model_that_is_cut_short_is_refused(compressed: Any, tmp_path: Path):
    path = tmp_path / "m.model"
    h.write_libsvm_model(h.SVC().fit(X, Y), path)
    data = compressed(path.read_bytes())
    for end in (4, 10, 30, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:end])
        with pytest.raises(FileFormatError, match=r"damaged or cut short|no line 'SV'"):
            h.read_libsvm_model(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("label 0 1", "label 0 1e300"),
        ("label 0 1", "label 0 9007199254740993e3"),
        ("nr_class 2", "nr_class 1e18"),
        ("total_sv", "total_sv 1e300 #"),
        ("nr_sv", "nr_sv 1e300 #"),
        (" 1:", " 1e300:"),
        (" 1:", " -1:"),
        (" 1:", " nan:"),
    ],
)
def test_numbers_of_a_model_that_cannot_be_are_refused(old: str, new: str, tmp_path: Path):
    path = tmp_path / "m.model"
    h.write_libsvm_model(h.SVC().fit(X, Y), path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FileFormatError, match="line"):
        h.read_libsvm_model(path)


@pytest.mark.parametrize("row", ["1e300", "0.5", "1.5", "0", "-1", "nan", "1 1:2"])
def test_a_row_of_a_kernel_matrix_that_cannot_be_is_refused(row: str, tmp_path: Path):
    (tmp_path / "m.model").write_text(HEADER.format("precomputed") + f"1 0:{row}\n")
    with pytest.raises(FileFormatError, match="line 7"):
        h.read_libsvm_model(tmp_path / "m.model")


def test_a_far_row_of_a_kernel_matrix_takes_no_memory(tmp_path: Path):
    (tmp_path / "m.model").write_text(HEADER.format("precomputed") + "1 0:1e10\n")
    model = h.read_libsvm_model(tmp_path / "m.model")
    assert model.n_features_in_ == 10**10
    assert model.support_.tolist() == [10**10 - 1]
    with pytest.raises(h.DataError, match="expecting 10000000000 features"):
        model.predict(X)


# --------------------------------------------------------------------------------------- checkpoints


def left_by_a_crash(path: Path, model: Any) -> None:
    """Leave the checkpoint of a fit that did not end."""
    code = (
        "import os, sys, numpy as np, hedgerow as h\n"
        "from hedgerow.persist.checkpoints import CheckpointFile\n"
        "rng = np.random.default_rng(0); X = rng.normal(size=(40, 4))\n"
        "write = CheckpointFile._write\n"
        "def die(self):\n"
        "    write(self); os._exit(7)\n"
        "CheckpointFile._write = die\n"
        f"with h.checkpoint(sys.argv[1], every=0): h.{model!r}.fit(X, (X[:, 0] > 0).astype(int))\n"
    )
    assert subprocess.run([sys.executable, "-c", code, path], check=False).returncode == 7


@pytest.mark.parametrize(
    "model",
    [
        h.LinearSVC(loss="hinge", solver="interior_point", n_jobs=1, random_state=0),
        h.Perceptron(n_jobs=1, random_state=0),
        h.RandomForestClassifier(n_estimators=20, random_state=0, oob_score=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_checkpoint_whose_states_are_wrong_is_refused(model: Any, tmp_path: Path):
    path = tmp_path / "fit.checkpoint"
    left_by_a_crash(path, model)
    state, _ = state_and_arrays(path.read_bytes())
    kind = {"format": "hedgerow-checkpoint"}
    entries = dict(state["items"])["entries"]["items"]
    assert entries
    for wrong in (
        17,
        [],
        "x",
        {"is": "map", "items": []},
        {"is": "map", "items": [["n_iter", -1]]},
    ):
        for entry in entries:
            entry[1] = wrong
        forge(path, state, **kind)
        with (
            pytest.raises(ModelFormatError, match=r"cannot go on from .*remove the file"),
            h.checkpoint(path),
        ):
            model.fit(X, Y)
    forge(
        path, {"is": "map", "items": [["hedgerow_version", h.__version__], ["entries", 3]]}, **kind
    )
    with pytest.raises(ModelFormatError, match="entries"), h.checkpoint(path):
        pass


def test_an_error_of_the_users_own_code_stays_what_it_is(tmp_path: Path):
    path = tmp_path / "fit.checkpoint"
    left_by_a_crash(path, h.Perceptron(n_jobs=1, random_state=0))

    def fit_and_fail() -> None:
        h.Perceptron(n_jobs=1, random_state=0).fit(X, Y)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), h.checkpoint(path):
        fit_and_fail()
