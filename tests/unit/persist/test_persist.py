"""Model files: what is loaded is what was saved, or an error says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

import hedgerow
from hedgerow._base.state import dump_state
from hedgerow.auto import TableClassifier
from hedgerow.errors import FileAccessError, ModelFormatError, ParameterError
from hedgerow.linear import LinearSVC
from hedgerow.persist import load, read_state, save, write_state
from tests.unit.persist.forged_files import forge

TABLE = {"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", None, "blau", "grün"]}
LABELS = ["small", "small", "large", "large"]


def state_of(model: object) -> tuple:
    state, arrays = dump_state(model)
    return state, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


@pytest.fixture
def model() -> TableClassifier:
    return TableClassifier(LinearSVC(C=0.5)).fit(TABLE, LABELS)


@pytest.fixture
def saved(model: TableClassifier, tmp_path: Path) -> Path:
    path = tmp_path / "model.hedge"
    save(model, path)
    return path


def test_a_loaded_model_is_the_saved_one(model: TableClassifier, saved: Path) -> None:
    loaded = load(saved)
    assert state_of(loaded) == state_of(model)
    assert loaded.predict(TABLE).tolist() == LABELS
    assert loaded.decision_function(TABLE).tolist() == model.decision_function(TABLE).tolist()
    assert str(loaded.learner_.certificate_) == str(model.learner_.certificate_)


@pytest.mark.parametrize("container", [np.ascontiguousarray, np.asfortranarray, lambda X: X[::2]])
def test_plain_models_of_any_memory_layout_come_back(container, tmp_path: Path) -> None:
    X = container(np.random.default_rng(0).normal(size=(40, 3)))
    model = LinearSVC(class_weight={0: 2.0}).fit(X, X[:, 0] > 0)
    model.coef_ = np.asfortranarray(np.repeat(model.coef_, 2, axis=0))[::2]
    save(model, tmp_path / "m.hedge")
    assert load(tmp_path / "m.hedge").coef_.tolist() == model.coef_.tolist()


def test_a_model_without_a_fit_can_be_saved_too(tmp_path: Path) -> None:
    save(LinearSVC(C=3.0, reg_lambda=None), tmp_path / "m.hedge")
    assert load(tmp_path / "m.hedge").get_params() == LinearSVC(C=3.0).get_params()


def test_arrays_of_the_other_byte_order_come_back_with_their_values(tmp_path: Path) -> None:
    model = LinearSVC().fit(np.eye(2), [0, 1])
    model.coef_ = model.coef_.astype(">f8")
    save(model, tmp_path / "m.hedge")
    assert load(tmp_path / "m.hedge").coef_.tolist() == model.coef_.tolist()


def test_every_truncation_is_found(saved: Path) -> None:
    for n_bytes in reversed(range(saved.stat().st_size)):
        os.truncate(saved, n_bytes)
        with pytest.raises(ModelFormatError):
            load(saved)


def test_every_flipped_bit_is_found_or_changes_nothing(model: TableClassifier, saved: Path) -> None:
    data, expected = saved.read_bytes(), state_of(model)
    with saved.open("r+b", buffering=0) as stream:
        for position, byte in enumerate(data):
            os.pwrite(stream.fileno(), bytes([byte ^ 1 << position % 8]), position)
            with suppress(ModelFormatError):
                assert state_of(load(saved)) == expected
            os.pwrite(stream.fileno(), bytes([byte]), position)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_any_bytes_that_are_no_model_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.hedge"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError, match="cannot be loaded as a model"):
        load(path)


@pytest.mark.parametrize(
    "state",
    [
        {"is": "model", "class": "os.system", "parameters": {}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "parameters": {"nope": 1}, "fitted": {}},
        {"is": "model", "class": "LinearSVC", "parameters": {}, "fitted": {"fit": 1}},
        {"is": "array", "name": "nowhere"},
        {"is": "strange"},
        {"is": ["unhashable"]},
        {},
        [1, 2],
        "{not json",
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_states_that_describe_no_model_are_refused(tmp_path: Path, state: object) -> None:
    forge(tmp_path / "m.hedge", state)
    with pytest.raises(ModelFormatError, match="cannot be loaded as a model"):
        load(tmp_path / "m.hedge")


def test_a_newer_format_asks_for_an_upgrade(tmp_path: Path) -> None:
    forge(tmp_path / "m.hedge", {}, format_version="4", hedgerow_version="9.1")
    with pytest.raises(ModelFormatError, match=r"format 4 by Hedgerow 9\.1 .* upgrade Hedgerow"):
        load(tmp_path / "m.hedge")


def test_a_newer_state_of_a_class_asks_for_an_upgrade(tmp_path: Path) -> None:
    state = {"is": "model", "class": "hedgerow.SVC", "version": 7, "parameters": {}, "fitted": {}}
    forge(tmp_path / "m.hedge", state)
    with pytest.raises(ModelFormatError, match=r"hedgerow\.SVC of state version 7.*; upgrade hedg"):
        load(tmp_path / "m.hedge")


@pytest.mark.parametrize(
    ("version", "remedy"),
    [("9.1", r"written by Hedgerow 9\.1, upgrade to it"), ("0.1.0", "save the model anew")],
)
def test_a_class_of_a_newer_version_asks_for_an_upgrade(
    tmp_path: Path, version: str, remedy: str
) -> None:
    state = {"is": "model", "class": "hedgerow.Oracle", "parameters": {}, "fitted": {}}
    forge(tmp_path / "m.hedge", state, hedgerow_version=version)
    with pytest.raises(ModelFormatError, match=rf"hedgerow\.Oracle.* does not know.*{remedy}"):
        load(tmp_path / "m.hedge")


def test_a_safetensors_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(safetensors.numpy.save({"w": np.zeros(2)}))
    with pytest.raises(ModelFormatError, match="not written by Hedgerow"):
        load(path)


def test_loading_imports_the_classes_it_needs_and_no_others(tmp_path: Path) -> None:
    save(LinearSVC().fit(np.eye(2), [0, 1]), tmp_path / "m.hedge")
    code = (
        "import sys; from hedgerow.persist import load; print(load(sys.argv[1]).predict([[1, 0]]), "
        "[m for m in ('hedgerow.auto', 'hedgerow.evaluation', 'skops') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, tmp_path / "m.hedge"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["[0]", "[]"]


def test_the_file_says_which_version_wrote_it(saved: Path) -> None:
    data = saved.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert header["__metadata__"]["format_version"] == "3"
    assert header["__metadata__"]["hedgerow_version"] == hedgerow.__version__


def test_what_cannot_be_read_is_an_access_error(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="cannot read"):
        load(tmp_path / "nope.hedge")
    with pytest.raises(FileAccessError, match="cannot read"):
        load(tmp_path)
    with pytest.raises(FileAccessError, match="not a regular file"):
        load("/dev/zero")


def test_a_model_that_is_not_ours_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match=r"sklearn\.svm.*SVC cannot be saved: it is no model of"
    ):
        save(SVC(), tmp_path / "m.hedge")
    assert not list(tmp_path.iterdir())


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    fitted = LinearSVC().fit(np.eye(2), [0, 1])
    fitted.coef_ = np.array([[np.nan, 0.0]])
    for model, why in [
        (fitted, "coef_ is .* must be finite"),
        (LinearSVC(C=-1), "C=-1 is not allowed"),
    ]:
        with pytest.raises(ParameterError, match=why):
            save(model, tmp_path / "m.hedge")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["model", "checkpoint"])
def test_any_value_of_states_can_be_written_and_read(kind, tmp_path: Path) -> None:
    model = LinearSVC().fit(np.eye(2), [0, 1])
    value = {"round": 3, "w": (np.arange(6.0).reshape(2, 3), [None, "ü"]), "model": model}
    write_state(tmp_path / "f", kind, value)
    found = read_state(tmp_path / "f", kind)
    assert state_of(found) == state_of(value)


def test_a_file_is_read_as_what_it_is_and_nothing_else(tmp_path: Path) -> None:
    write_state(tmp_path / "f", "checkpoint", LinearSVC())
    with pytest.raises(ModelFormatError, match="cannot be loaded as a model: it is a checkpoint"):
        load(tmp_path / "f")
    write_state(tmp_path / "f", "model", {"not": "a model"})
    with pytest.raises(ModelFormatError, match="it holds a dict and not a model"):
        load(tmp_path / "f")


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    saved: Path, model: TableClassifier, monkeypatch
) -> None:
    before = saved.read_bytes()
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def fail(*_: object, **__: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(os, name, fail)
            patch.setattr(Path, "replace", fail)
            with pytest.raises(FileAccessError, match="No space left on device"):
                save(model, saved)
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]


def test_an_interrupted_save_leaves_the_old_file_and_nothing_else(
    saved: Path, model: TableClassifier, monkeypatch
) -> None:
    before = saved.read_bytes()

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save(model, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_save_keeps_permissions_and_follows_links(
    saved: Path, model: TableClassifier, tmp_path: Path
) -> None:
    saved.chmod(0o640)
    link = tmp_path / "link.hedge"
    link.symlink_to(saved)
    save(model, link)
    assert link.is_symlink()
    assert saved.stat().st_mode & 0o777 == 0o640


def test_places_that_are_no_file_are_refused(model: TableClassifier, tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="not a regular file"):
        save(model, tmp_path)
    with pytest.raises(FileAccessError, match="not a regular file"):
        save(model, "/dev/null")
    with pytest.raises(FileAccessError, match="its folder does not exist"):
        save(model, tmp_path / "no" / "m.hedge")
