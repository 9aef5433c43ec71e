"""The stubs of the compiled core, generated from its bindings by nanobind.

    python bindings/stubs.py           writes src/hedgerow/_core/*.pyi
    python bindings/stubs.py --check   fails if they are not what would be written

nanobind knows the types of everything but of what is in a tuple, a list or a dictionary: RETURNS says that.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["FOLDER", "stubs"]

FOLDER = Path(__file__).parents[1] / "src" / "hedgerow" / "_core"

_F32, _F64 = "NDArray[numpy.float32]", "NDArray[numpy.float64]"
_I32, _I64 = "NDArray[numpy.int32]", "NDArray[numpy.int64]"
_ANY = "NDArray[Any]"

RETURNS = {
    "data.Matrix.parts": f"tuple[{_ANY}] | tuple[{_ANY}, {_ANY}, {_ANY}, int]",
    "data.Matrix.shape": "tuple[int, int]",
    "data.copy_nonzero": f"tuple[{_F32} | {_F64}, {_I32}]",
    "data.nonzero_bounds": f"{_I32} | None",
    "data.parse_libsvm": f"tuple[{_F64}, {_F64}, {_I32}, {_I32}, int, bool]",
    "kernel.Kernel.parts": "list[tuple[float, ...]]",
    "kernel.kernel_rounding": f"tuple[{_F64}, float]",
    "loss.loss_along": "tuple[float, float, float]",
    "loss.loss_pass": f"tuple[{_F64}, LossSums]",
    "solver.BoxQp.run": "tuple[int, int, float, bool]",
    "solver.BoxQp.state": f"dict[str, {_ANY}]",
    "solver.ClassQp.run": "tuple[int, int, float, bool]",
    "solver.ClassQp.state": f"dict[str, {_ANY}]",
    "solver.DualCoordinateDescent.run": "tuple[int, float]",
    "solver.DualCoordinateDescent.state": f"tuple[{_F64}, {_F64}, float, float, int, bool]",
    "solver.JointDescent.run": f"tuple[{_F64}, {_F64}, int, int]",
    "solver.SequentialDual.run": "tuple[int, float]",
    "solver.SequentialDual.state": f"tuple[{_F64}, {_F64}, {_F64}, {_F64}, int, bool]",
    "solver.averaged_steps": "tuple[int, float]",
    "solver.perceptron_pass": f"tuple[int, {_I64}, float]",
    "solver.steady_steps": "tuple[int, float]",
    "system.exchange_stop_token": "StopToken | None",
    "tree.CodeTable.parts": "tuple[int, bool, list[Any]]",
    "tree.ForestTrees.parts": f"dict[str, {_ANY}]",
    "tree.ForestTrees.tree": f"tuple[{_ANY}, ...]",
}
"""What is in a result that nanobind calls a tuple, a list, a dict or an object."""

PARAMETERS = {"list": "list[Any]", "dict": f"dict[str, {_ANY}]", "Callable": "Callable[..., Any]"}
"""What is in a parameter of such a type."""

_SHAPED = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\((?:[^()]|\([^()]*\))*\)\]")
_DEFINITION = re.compile(r"^( *)def (\w+)\((.*)\) -> (.+?):( \.\.\.)?$")


def _modules() -> dict[str, ModuleType]:
    """Return the core, by no name, and its submodules by theirs."""
    from hedgerow import _core

    found = {name: part for name, part in vars(_core).items() if isinstance(part, ModuleType)}
    return {"": _core, **found}


def _typed(text: str, name: str, unused: set[str]) -> str:
    """Return the stub of a submodule with every type told, and arrays without their shapes."""
    lines, owner = [], ""
    for line in _SHAPED.sub(r"\1", text).split("\n"):
        if line.startswith("class "):
            owner = re.split(r"\W", line[6:])[0] + "."
        elif line and not line[0].isspace():
            owner = ""
        lines.append(_typed_line(line, f"{name}.{owner}", unused))
    return _with_imports("\n".join(lines))


def _with_imports(text: str) -> str:
    """Return the stub of a submodule that imports what it names, and nothing else."""
    doc, definitions = re.split(r"(?m)^(?=class|def|@)", text, maxsplit=1)
    doc = doc[: doc.rindex('"""') + 3]
    others = sorted(set(re.findall(r"hedgerow\._core\.(\w+)\.(\w+)", definitions)))
    definitions = re.sub(r"hedgerow\._core\.\w+\.", "", definitions)
    typing = [name for name in ("Any", "overload") if re.search(rf"\b{name}\b", definitions)]
    lines = ["from collections.abc import Callable"] if "Callable" in definitions else []
    lines += [f"from typing import {', '.join(typing)}"] if typing else []
    lines += [""] if lines else []
    lines += ["import numpy"] if "numpy." in definitions else []
    lines += ["from numpy.typing import NDArray"] if "NDArray" in definitions else []
    lines += ["", *(f"from .{module} import {name}" for module, name in others)] if others else []
    return "\n".join([doc, "", *lines, "", "", definitions]).replace("\n\n\n\n", "\n\n\n")


def _typed_line(line: str, owner: str, unused: set[str]) -> str:
    """Return a line of a stub with the types of a definition told."""
    found = _DEFINITION.match(line)
    if found is None:
        return line
    indent, name, parameters, result, rest = found.groups()
    for bare, full in PARAMETERS.items():
        parameters = re.sub(rf"(: ){bare}(?=,|$| =)", rf"\g<1>{full}", parameters)
    key = f"{owner if indent else owner.split('.', maxsplit=1)[0] + '.'}{name}"
    if result in ("tuple", "list", "dict", "object") and not name.startswith("__"):
        if key not in RETURNS:
            raise SystemExit(f"bindings/stubs.py: say in RETURNS what {key} returns")
        result = RETURNS[key]
        unused.discard(key)
    return f"{indent}def {name}({parameters}) -> {result}:{rest or ''}"


def stubs() -> dict[str, str]:
    """Return the text of every stub by the name of its file."""
    from nanobind.stubgen import StubGen

    texts: dict[str, str] = {}
    unused = set(RETURNS)
    for name, module in _modules().items():
        generator: Any = StubGen(module)
        generator.put(module)
        text = generator.get()
        text = (
            _typed(text, name, unused) if name else text.replace("from hedgerow._core ", "from . ")
        )
        texts[f"{name or '__init__'}.pyi"] = text
    if unused:
        raise SystemExit(f"bindings/stubs.py: RETURNS names {sorted(unused)}, which need it not")
    return texts


def main() -> None:
    """Write the stubs, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="fail if a stub is not up to date")
    check = parser.parse_args().check
    texts = stubs()
    if not check:
        FOLDER.mkdir(exist_ok=True)
        for name, text in texts.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
        return
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.pyi")}
    if kept != texts:
        sys.exit("the stubs of the core are not up to date; run python bindings/stubs.py")


if __name__ == "__main__":
    main()
