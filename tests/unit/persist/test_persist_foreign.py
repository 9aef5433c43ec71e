"""Estimators of scikit-learn inside a model: those on our list are kept, all others are refused."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import hedgerow
from hedgerow._base.state import StateError, dump_state, foreign, load_state
from hedgerow.auto import TableClassifier
from hedgerow.errors import ModelFormatError, ParameterError
from tests.unit.persist.forged_files import forged, state_and_arrays

TABLE = {"size": [1.0, 2.0, 8.0, 9.0], "colour": ["red", None, "blau", "grün"]}
LABELS = ["small", "small", "large", "large"]
X, Y = np.random.default_rng(0).random((30, 3)), np.arange(30) % 3

PARTS = {
    "ColumnTransformer": {
        "transformers": [("a", StandardScaler(), [0]), ("b", "passthrough", slice(1, 3))]
    },
    "FeatureUnion": {"transformer_list": [("a", StandardScaler())]},
    "OneVsRestClassifier": {"estimator": LogisticRegression()},
    "Pipeline": {"steps": [("a", StandardScaler()), ("b", GaussianNB())]},
    "StackingClassifier": {"estimators": [("a", GaussianNB())]},
    "StackingRegressor": {"estimators": [("a", LinearRegression())]},
    "VotingClassifier": {"estimators": [("a", GaussianNB())]},
    "VotingRegressor": {"estimators": [("a", LinearRegression())]},
}


class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, *_):
        return self

    def predict(self, X):
        return X


class Derived(LogisticRegression):
    pass


def answers(model):
    if type(model).__name__.startswith("Label"):
        return model.transform(Y)
    found = (model.predict if hasattr(model, "predict") else model.transform)(X)
    return found.toarray() if hasattr(found, "toarray") else found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(foreign.ALLOWED))
def test_every_estimator_on_the_list_comes_back_fitted_and_unfitted(name):
    module, _, cls = name.rpartition(".")
    model = getattr(import_module(module), cls)(**PARTS.get(cls, {}))
    assert type(load_state(*dump_state(model))) is type(model)
    model.fit(Y) if cls.startswith("Label") else model.fit(X, Y)
    np.testing.assert_array_equal(answers(load_state(*dump_state(model))), answers(model))


def test_a_learner_of_scikit_learn_is_saved_with_the_model(tmp_path: Path):
    model = TableClassifier(LogisticRegression(C=3.0)).fit(TABLE, LABELS)
    hedgerow.save(model, tmp_path / "m.hedge")
    loaded = hedgerow.load(tmp_path / "m.hedge")
    assert loaded.get_params()["learner__C"] == 3.0
    assert loaded.decision_function(TABLE).tolist() == model.decision_function(TABLE).tolist()
    assert loaded.predict(TABLE).tolist() == LABELS


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (RandomForestClassifier(), r"sklearn\.ensemble\.RandomForestClassifier"),
        (KNeighborsClassifier(), r"sklearn\.neighbors\.KNeighborsClassifier"),
        (SVC(), r"sklearn\.svm\.SVC"),
        (Mine(), r"test_persist_foreign\.Mine"),
        (Derived(), r"test_persist_foreign\.Derived"),
        (make_pipeline(StandardScaler(), SVC()), r"sklearn\.svm\.SVC"),
        (make_pipeline(StandardScaler(), Mine()), r"test_persist_foreign\.Mine"),
        (make_pipeline(FunctionTransformer(np.log), GaussianNB()), "numpy.log"),
        (make_pipeline(FunctionTransformer(lambda X: X), GaussianNB()), "lambda"),
        (SGDClassifier(random_state=np.random.RandomState(0)), "RandomState"),
        (
            make_pipeline(StandardScaler(), hedgerow.LinearSVC()),
            r"hedgerow\.linear\.svc\.LinearSVC",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_any_other_estimator_is_refused_by_its_name(learner, name, tmp_path: Path):
    with pytest.raises(ParameterError, match=f"cannot be saved: model.learner.*{name}.*; use an"):
        hedgerow.save(TableClassifier(learner), tmp_path / "m.hedge")
    assert not list(tmp_path.iterdir())


def test_without_skops_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch):
    model = TableClassifier(LogisticRegression())
    hedgerow.save(model, tmp_path / "m.hedge")
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    advice = r"needs the package skops .*; pip install 'hedgerow\[foreign\]'$"
    with pytest.raises(ParameterError, match=advice):
        hedgerow.save(model, tmp_path / "n.hedge")
    with pytest.raises(ModelFormatError, match=advice):
        hedgerow.load(tmp_path / "m.hedge")


# --------------------------------------------------------------------------------- tampered blobs


@pytest.fixture
def tamper(tmp_path: Path):
    """Load a file whose packed learner was changed, its digest made right again."""
    path = tmp_path / "m.hedge"
    hedgerow.save(TableClassifier(LogisticRegression()), path)
    state, arrays = state_and_arrays(path.read_bytes())

    def load(blob: bytes, name: str = "sklearn.linear_model.LogisticRegression"):
        state["parameters"]["learner"]["class"] = name
        changed = {**arrays, "model.learner": np.frombuffer(blob, np.uint8)}
        path.write_bytes(forged(state, changed))
        return hedgerow.load(path)

    load.blob = arrays["model.learner"].tobytes()
    return load


def archive(schema: object, compression: int = zipfile.ZIP_STORED, **files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as made:
        made.writestr("schema.json", schema if isinstance(schema, str) else json.dumps(schema))
        for name, data in files.items():
            made.writestr(name, data)
    return buffer.getvalue()


def schema_of(blob: bytes) -> dict:
    return json.loads(zipfile.ZipFile(io.BytesIO(blob)).read("schema.json"))


def node(loader: str, module: str, name: str, **more: object) -> dict:
    return {"__loader__": loader, "__module__": module, "__class__": name, "__id__": 77, **more}


TEXT = node("JsonNode", "builtins", "str", content='"touch ran"', is_json=True)
ARGUMENTS = node("TupleNode", "builtins", "tuple", content=[TEXT])
EVIL = {
    "a function": node("FunctionNode", "os", "system", content="os.system"),
    "a constructor": node("ConstructorFromReduceNode", "subprocess", "Popen", content=ARGUMENTS),
    "an object": node("ObjectNode", "subprocess", "Popen", content=ARGUMENTS),
    "an object of ours": node("ObjectNode", "hedgerow.linear.svc", "LinearSVC"),
    "an operator": node("OperatorFuncNode", "operator", "methodcaller", attrs=ARGUMENTS),
    "a method": node("MethodNode", "builtins", "str", content={"func": "format", "obj": TEXT}),
    "a partial": node("PartialNode", "functools", "partial", content={"func": TEXT}),
    "a type": node("TypeNode", "os", "system"),
    "a tree": node("TreeNode", "sklearn.tree._tree", "Tree", content=TEXT),
    "a loss": node("LossNode", "os", "system", __reduce__={"args": ARGUMENTS}, content=TEXT),
    "an unknown way": node("PickleNode", "builtins", "str", content="x"),
    "a false friend": node("ObjectNode", "sklearn.linear_model.evil", "LogisticRegression"),
    "a generator": node("RandomStateNode", "numpy.random.mtrand", "RandomState", content=TEXT),
}


@pytest.mark.parametrize("what", EVIL)
def test_a_blob_that_asks_for_another_type_builds_nothing(
    what, tamper, tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    schema = schema_of(tamper.blob)
    attributes = schema["content"]["content"]
    assert "C" in attributes
    assert tamper(archive(schema)).learner.C == 1.0
    for placed in (
        {**schema, "content": {**schema["content"], "content": {**attributes, "C": EVIL[what]}}},
        EVIL[what],
    ):
        with pytest.raises(ModelFormatError):
            tamper(archive({"protocol": schema["protocol"], **placed}))
    assert not (tmp_path / "ran").exists()


def test_the_class_that_a_file_claims_is_held_against_the_list_and_the_blob(tamper):
    for name in ("os.system", "sklearn.svm.SVC", "sklearn.naive_bayes.GaussianNB"):
        with pytest.raises(ModelFormatError, match=name):
            tamper(tamper.blob, name)


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"no archive",
        archive("{not json"),
        archive("[" * 100_000),
        archive([]),
        archive({}),
        archive({"__loader__": "JsonNode"}),
        archive(node("JsonNode", "builtins", "str", content="1")),
        archive({"protocol": 2, **TEXT}),
        archive({"protocol": 2, **node("CachedNode", "x", "y")}),
        archive({"protocol": "x", **TEXT}),
        archive(TEXT, compression=zipfile.ZIP_DEFLATED),
    ],
    ids=range(12),
)
def test_a_blob_that_is_no_estimator_is_refused(blob, tamper):
    with pytest.raises(ModelFormatError, match="cannot be loaded as a model"):
        tamper(blob)


def test_every_truncated_blob_is_refused(tamper):
    for n in range(0, len(tamper.blob), 97):
        with pytest.raises(ModelFormatError):
            tamper(tamper.blob[:n])


def test_a_blob_must_be_bytes():
    state, arrays = dump_state(LogisticRegression())
    with pytest.raises(StateError):
        load_state(state, {name: array.astype(float) for name, array in arrays.items()})


def test_the_page_on_model_files_lists_exactly_what_is_on_the_list():
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
    table = page.split("| module | on the list |")[1].split("\n\n")[0]
    listed = re.findall(r"`([A-Z]\w+)`", table)
    assert sorted(listed) == sorted(name.rpartition(".")[2] for name in foreign.ALLOWED)
