"""Write the model files of this version: ``python -m tests.models.write``.

Each version has a folder here with one small file for every public estimator, and ``expected.json``
with inputs and what the models predict for them. ``format-1`` holds what the code before the first
release wrote. A file that exists is never written again: later versions must be able to load it.

Files of released versions are frozen. ``frozen.sha256`` lists their digests, and nothing is written
into their folders; ``keys.txt`` lists the keys under which released versions have stored classes. A
class that is new adds its file to the folder of the version that is under development. On the day
of its release, ``python -m tests.models.write --freeze`` adds that folder and the keys to the lists.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import hedgerow
from hedgerow._base.state.declare import _by_key

HERE = Path(__file__).parent
METHODS = ("predict", "predict_proba", "decision_function", "score_samples", "transform")

POINTS = [[0.0, 1.0], [1.0, 3.0], [2.0, 0.5], [3.0, 2.0], [4.0, 3.5], [5.0, 1.0], [6.0, 6.0]]
TWO = ["no", "no", "no", "yes", "yes", "yes", "yes"]
THREE = [0, 0, 1, 2, 2, 1, 2]
SCORES = [-2.0, -1.0, 0.5, -0.25, 0.75, 1.0, 3.0]
NEW_SCORES = [-3.0, -0.5, 0.0, 0.6, 5.0]
VALUES = [1.0, 2.5, 2.0, 4.0, 5.5, 5.0, 9.0]
NEW_POINTS = [[0.5, 0.5], [2.5, 1.5], [5.5, 4.0], [3.0, -1.0]]
TABLE = {"size": [1.0, 2.0, None, 9.0, 7.5], "colour": ["red", None, "blau", "grün", "red"]}
KINDS = ["small", "small", "large", "large", "large"]
NEW_TABLE = {"size": [0.0, None, 8.0], "colour": ["red", "grün", "violet"]}
TONES = ["warm", "cold", "cold", "cold", "warm"]
KNOWN_TABLE = {"size": [0.0, None, 8.0, 2.5], "colour": ["red", "grün", None, "blau"]}


def on_points(model: Any, y: list[Any]) -> tuple[Any, Any]:
    """Return the model fitted on the points, and other points to ask it about."""
    return model.fit(np.array(POINTS), np.array(y)), NEW_POINTS


def on_table(model: Any) -> tuple[Any, Any]:
    """Return the model fitted on the table, and another table to ask it about."""
    return model.fit(TABLE, KINDS), NEW_TABLE


def on_categories(model: Any, y: list[Any]) -> tuple[Any, Any]:
    """Return the tree fitted on the table, and another table of the same colours to ask it about."""
    return model.fit(TABLE, y), KNOWN_TABLE


def pruned(model: Any, inputs: Any) -> tuple[Any, Any]:
    """Return a fitted tree with few of its leaves, and what to ask it about."""
    return model.prune("cost_complexity", alpha=1.0), inputs


def on_scores(calibrator: Any) -> tuple[Any, Any]:
    """Return the calibrator fitted on scores, and other scores to ask it about."""
    return calibrator.fit(SCORES, TWO), NEW_SCORES


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "LinearSVC": lambda: on_points(hedgerow.LinearSVC(C=0.5, loss="hinge"), TWO),
    "LinearSVC-three": lambda: on_points(hedgerow.LinearSVC(), THREE),
    "LinearSVC-pairs": lambda: on_points(hedgerow.LinearSVC(multi_class="ovo"), THREE),
    "LinearSVC-all-at-once": lambda: on_points(
        hedgerow.LinearSVC(multi_class="crammer_singer", loss="hinge", random_state=0), THREE
    ),
    "LinearSVC-sigmoid": lambda: on_points(
        hedgerow.LinearSVC(calibrate="sigmoid", random_state=0), TWO
    ),
    "LinearSVC-isotonic-three": lambda: on_points(
        hedgerow.LinearSVC(calibrate="isotonic", random_state=0), THREE
    ),
    "ScoreCalibrator": lambda: on_scores(hedgerow.ScoreCalibrator("isotonic")),
    "CalibratedModel": lambda: on_points(hedgerow.CalibratedModel(cv=2, random_state=0), THREE),
    "ThresholdModel": lambda: on_points(
        hedgerow.ThresholdModel(costs=[[0.0, 1.0], [3.0, 0.0]], cv=2, random_state=0), TWO
    ),
    "LinearSVR": lambda: on_points(hedgerow.LinearSVR(C=0.5, epsilon=0.25), VALUES),
    "LinearSVCCV": lambda: on_points(
        hedgerow.LinearSVCCV(Cs=[0.1, 1.0], cv=2, scale="standard", random_state=0), THREE
    ),
    "LinearSVRCV": lambda: on_points(
        hedgerow.LinearSVRCV(Cs=[0.1, 1.0], cv=2, random_state=0), VALUES
    ),
    "LinearOneClassSVM": lambda: on_points(hedgerow.LinearOneClassSVM(nu=0.3), VALUES),
    "Perceptron": lambda: on_points(hedgerow.Perceptron(), TWO),
    "AveragedPerceptron": lambda: on_points(hedgerow.AveragedPerceptron(tol=None), TWO),
    "VotedPerceptron": lambda: on_points(hedgerow.VotedPerceptron(max_iter=99, tol=None), TWO),
    "KernelPerceptron": lambda: on_points(hedgerow.KernelPerceptron(gamma=0.5, tol=None), THREE),
    "SVC": lambda: on_points(hedgerow.SVC(C=2.0, scale="standard"), TWO),
    "SVC-three": lambda: on_points(hedgerow.SVC(kernel="poly", degree=2, gamma=0.1), THREE),
    "SVC-rest": lambda: on_points(
        hedgerow.SVC(
            kernel=hedgerow.RBF(gamma=0.5) + hedgerow.Linear(),
            multi_class="ovr",
            loss="squared_hinge",
        ),
        THREE,
    ),
    "SVC-sigmoid": lambda: on_points(hedgerow.SVC(calibrate="sigmoid", random_state=0), TWO),
    "NuSVC": lambda: on_points(hedgerow.NuSVC(nu=0.5, gamma=0.5), THREE),
    "SVR": lambda: on_points(hedgerow.SVR(C=5.0, epsilon=0.25, scale="minmax"), VALUES),
    "NuSVR": lambda: on_points(hedgerow.NuSVR(kernel="linear", nu=0.4), VALUES),
    "OneClassSVM": lambda: on_points(hedgerow.OneClassSVM(nu=0.3, gamma=0.1), VALUES),
    "SVDD": lambda: on_points(hedgerow.SVDD(nu=0.3), VALUES),
    "DecisionTreeClassifier": lambda: on_points(hedgerow.DecisionTreeClassifier(), THREE),
    "DecisionTreeClassifier-categories": lambda: on_categories(
        hedgerow.DecisionTreeClassifier(criterion="entropy", categorical_features=["colour"]), TONES
    ),
    "DecisionTreeRegressor": lambda: on_points(
        hedgerow.DecisionTreeRegressor(max_leaf_nodes=4), VALUES
    ),
    "DecisionTreeRegressor-pruned": lambda: pruned(
        *on_points(hedgerow.DecisionTreeRegressor(), VALUES)
    ),
    "DecisionStump": lambda: on_points(hedgerow.DecisionStump(class_weight="balanced"), TWO),
    "RandomForestClassifier": lambda: on_points(
        hedgerow.RandomForestClassifier(3, random_state=0), THREE
    ),
    "RandomForestClassifier-categories": lambda: on_categories(
        hedgerow.RandomForestClassifier(3, random_state=0, class_weight="balanced"), TONES
    ),
    "RandomForestRegressor": lambda: on_points(
        hedgerow.RandomForestRegressor(3, random_state=0, max_depth=2), VALUES
    ),
    "RandomForestRegressor-targets": lambda: on_points(
        hedgerow.RandomForestRegressor(3, random_state=0, max_depth=2, keep_targets=True), VALUES
    ),
    "ExtraTreesClassifier": lambda: on_points(
        hedgerow.ExtraTreesClassifier(3, random_state=0), TWO
    ),
    "ExtraTreesRegressor": lambda: on_points(
        hedgerow.ExtraTreesRegressor(3, random_state=0), VALUES
    ),
    "BalancedRandomForestClassifier": lambda: on_points(
        hedgerow.BalancedRandomForestClassifier(3, random_state=0), TWO
    ),
    "SelectFromForest": lambda: on_points(
        hedgerow.SelectFromForest(
            hedgerow.RandomForestClassifier(3), kind="impurity", one_of_each=0.3, random_state=0
        ),
        THREE,
    ),
    "TableEncoder": lambda: on_table(hedgerow.TableEncoder()),
    "TableClassifier": lambda: on_table(hedgerow.TableClassifier(hedgerow.LinearSVC(C=2.0))),
    "TableClassifier-foreign": lambda: on_table(hedgerow.TableClassifier(LogisticRegression())),
}


def answers(model: Any, inputs: Any) -> dict[str, Any]:
    """Return what the model says of the inputs, by method."""
    methods = [name for name in METHODS if hasattr(model, name)]
    methods += ["predict_quantiles"] if hasattr(model, "leaf_targets_") else []
    return {name: getattr(model, name)(inputs).tolist() for name in methods}


def missing(folder: Path) -> list[str]:
    """Return the names of the models that a folder has no file of."""
    return [name for name in MODELS if not (folder / f"{name}.hedge").exists()]


def frozen() -> dict[str, str]:
    """Return the digests of the files of released versions, by their names below this folder."""
    lines = (HERE / "frozen.sha256").read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def digest(file: Path) -> str:
    """Return the digest of a file, as ``sha256sum`` prints it."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def write(folder: Path) -> None:
    """Write every model that the folder lacks, and what is expected of it."""
    if any(Path(name).parent == Path(folder.name) for name in frozen()):
        sys.exit(f"{folder} is frozen: its version is released; raise the version first")
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / "expected.json"
    expected = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    for name in missing(folder):
        model, inputs = MODELS[name]()
        hedgerow.save(model, folder / f"{name}.hedge")
        expected[name] = {"inputs": inputs, **answers(model, inputs)}
    text = json.dumps(expected, indent=1, ensure_ascii=False)
    record.write_text(text + "\n", encoding="utf-8")


def freeze(folder: Path) -> None:
    """Add the files of a version, and the keys of all classes, to the lists of what is frozen."""
    new = {file.relative_to(HERE).as_posix(): digest(file) for file in folder.iterdir()}
    lines = [f"{found}  {name}\n" for name, found in sorted({**new, **frozen()}.items())]
    (HERE / "frozen.sha256").write_text("".join(lines), encoding="utf-8")
    for name in hedgerow.__all__:
        getattr(hedgerow, name)
    keys = {*(HERE / "keys.txt").read_text(encoding="utf-8").split(), *_by_key}
    (HERE / "keys.txt").write_text("".join(f"{key}\n" for key in sorted(keys)), encoding="utf-8")


if __name__ == "__main__":
    target = HERE / hedgerow.__version__
    if sys.argv[1:] == ["--freeze"]:
        freeze(target)
    elif missing(target):
        write(target)
    else:
        sys.exit(f"{target} is complete: files are written once; raise the version first")
