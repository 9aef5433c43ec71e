"""LIBSVM's model files, read and written.

A file has a header of names and values, the line ``SV``, and a line a support vector: its coefficients and
its features, counted from 1. A score is the sum of coefficients times kernel values, minus rho; of two
classes it speaks for the first label that the header names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow.calibrators.maps import SigmoidMap
from hedgerow.data.io.source import DAMAGE, Source
from hedgerow.data.rows import dense
from hedgerow.data.training_data import check_fitted
from hedgerow.errors import FileFormatError, ParameterError
from hedgerow.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from hedgerow.persist.atomic import atomic_write
from hedgerow.persist.libsvm_text import MOST_WHOLE, ModelText, VectorLines
from hedgerow.problems.certificates import Certificate
from hedgerow.reduction import pairs_of_classes
from hedgerow.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from hedgerow.svm._coefficients import Coefficients, Found, of_pairs

__all__ = ["read_libsvm_model", "write_libsvm_model"]

Vector = NDArray[np.float64]

MACHINES: dict[str, type[Any]] = {
    "c_svc": SVC,
    "nu_svc": NuSVC,
    "one_class": OneClassSVM,
    "epsilon_svr": SVR,
    "nu_svr": NuSVR,
}
KERNELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "linear": ("linear", ()),
    "polynomial": ("poly", ("degree", "gamma", "coef0")),
    "rbf": ("rbf", ("gamma",)),
    "sigmoid": ("sigmoid", ("gamma", "coef0")),
    "precomputed": ("precomputed", ()),
}
"""LIBSVM's kernels: our names of them, and their numbers."""
OF_CLASSES = ("c_svc", "nu_svc")
MOSTLY_FILLED = 0.5
"""Share of values other than zero from which support vectors are kept as an array."""
NO_CERTIFICATE = Certificate(np.inf, -np.inf, np.inf, "kkt_violation", 0.0, "unknown")
"""What is known of how a model in a file came about."""


def write_libsvm_model(model: Any, path: str | Path) -> None:
    """Write a fitted kernel machine as a model file of LIBSVM's, whole or not at all.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted; its kernel one of LIBSVM's, its labels whole numbers, pairs of classes if there are more
        than two, and no ``scale``, as the file has no place for it.
    path : str or Path
        Where to; an older file is replaced at the very end.

    Raises
    ------
    ParameterError
        The model is none that LIBSVM knows.
    FileAccessError
        The file cannot be written; an older one is left as it was.

    Examples
    --------
    >>> import tempfile, hedgerow
    >>> model = hedgerow.SVC(kernel="linear").fit([[0.0], [2.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hedgerow.write_libsvm_model(model, f"{folder}/a.model")
    ...     hedgerow.read_libsvm_model(f"{folder}/a.model").decision_function([[2.0]]).round(3)
    array([1.])
    """
    check_fitted(model)
    machine = next((name for name, cls in MACHINES.items() if type(model) is cls), None)
    if machine is None:
        known = ", ".join(cls.__name__ for cls in MACHINES.values())
        msg = f"LIBSVM has no model like {type(model).__name__}; give a fitted {known}"
        raise ParameterError(msg)
    header = _header(model, machine)
    with atomic_write(path) as stream:
        stream.write("".join(f"{name} {value}\n" for name, value in header.items()).encode())
        stream.write(b"SV\n")
        for line in _vector_lines(model, _sign(model, machine)):
            stream.write(line.encode())


def read_libsvm_model(path: str | Path, *, n_features: int | None = None) -> Any:
    """Read a model file of LIBSVM's.

    Parameters
    ----------
    path : str or Path
        The file, or "-" for standard input; .gz and .bz2 are decompressed.
    n_features : int or None
        How many columns the rows have that it was trained on; None for as many as its support vectors
        speak of.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        A fitted model. What the file does not tell is as nobody had set it: parameters have their
        defaults, ``support_`` counts the lines of the file, there is no certificate, and a NuSVR has no
        ``epsilon_``.

    Raises
    ------
    FileAccessError
        The file cannot be read.
    FileFormatError
        The file makes no sense; the error names the line.
    """
    source = Source(path)
    lines: list[str] = []
    with source.open() as stream:
        try:
            lines.extend(line.decode("utf-8", errors="replace") for line in stream)
        except DAMAGE as error:
            raise source.damaged(len(lines) + 1) from error
    return _model(ModelText.of(source.path, lines), n_features)


# ------------------------------------------------------------------------------------ writing


def _header(model: Any, machine: str) -> dict[str, str]:
    """Return the header's names and values, in LIBSVM's order."""
    kernel_name, numbers_of_kernel = _kernel(model)
    header = {"svm_type": machine, "kernel_type": kernel_name, **numbers_of_kernel}
    sign = _sign(model, machine)
    n_classes = len(model.classes_) if machine in OF_CLASSES else 2
    header |= {"nr_class": str(n_classes), "total_sv": str(len(model.support_))}
    header["rho"] = _spelt(-sign * model.intercept_)
    if machine in OF_CLASSES:
        header["label"] = " ".join(map(str, _whole_labels(model)))
        header |= _probabilities(model)
        header["nr_sv"] = " ".join(map(str, model.n_support_.tolist()))
    return header


def _kernel(model: Any) -> tuple[str, dict[str, str]]:
    """Return LIBSVM's name of the kernel and its numbers."""
    if getattr(model, "scale", None) is not None:
        msg = f"scale={model.scale!r} has no place in a model file of LIBSVM's; fit a model of rows that are scaled already"
        raise ParameterError(msg)
    kinds: dict[type[Any], str] = {
        Linear: "linear",
        Polynomial: "polynomial",
        RBF: "rbf",
        Sigmoid: "sigmoid",
    }
    kernel = model.kernel_
    if isinstance(kernel, Precomputed):
        return "precomputed", {}
    name = kinds.get(type(kernel))
    form = kernel.core_form()
    if name is None or form is None:
        msg = f"LIBSVM has no kernel {kernel!r}; fit with one of {', '.join(KERNELS)}"
        raise ParameterError(msg)
    numbers = form.parameters
    return name, {one: f"{numbers[one]:.17g}" for one in KERNELS[name][1]}


def _sign(model: Any, machine: str) -> float:
    """Return -1 for two classes, of which the second is ours and the first LIBSVM's to speak for."""
    return -1.0 if machine in OF_CLASSES and len(model.classes_) == 2 else 1.0


def _whole_labels(model: Any) -> list[int]:
    """Return the labels, refusing what LIBSVM cannot write and models it cannot be."""
    if model.multi_class != "ovo" and len(model.classes_) > 2:
        msg = f"multi_class={model.multi_class!r} is no model of LIBSVM's, which has pairs of classes; fit with multi_class='ovo'"
        raise ParameterError(msg)
    labels = model.classes_.tolist()
    for label in labels:
        if isinstance(label, str) or label != int(label):
            msg = f"LIBSVM has whole numbers as labels, and this model has {label!r}; encode the labels, for example by LabelEncoder"
            raise ParameterError(msg)
    return [int(label) for label in labels]


def _probabilities(model: Any) -> dict[str, str]:
    """Return LIBSVM's numbers A and B of 1 / (1 + exp(A score + B)), for two classes."""
    maps = getattr(model, "probability_maps_", ())
    if not maps:
        return {}
    if len(model.classes_) > 2 or not isinstance(maps[0], SigmoidMap):
        msg = "LIBSVM keeps probabilities only of two classes by a sigmoid as this model would have them; fit without calibrate"
        raise ParameterError(msg)
    one = maps[0]
    return {"probA": f"{-one.slope:.17g}", "probB": f"{one.offset - one.slope * one.center:.17g}"}


def _spelt(values: Vector) -> str:
    return " ".join(f"{value:.17g}" for value in values)


def _vector_lines(model: Any, sign: float) -> Iterator[str]:
    """Yield a line a support vector."""
    if isinstance(model.kernel_, Precomputed):
        for coef, row in zip(sign * dense(model.dual_coef_).T, model.support_, strict=True):
            yield f"{_spelt(coef)} 0:{row + 1}\n"
        return
    vectors = sp.csr_array(model.support_vectors_)
    for i, coef in enumerate(sign * dense(model.dual_coef_).T):
        some = slice(vectors.indptr[i], vectors.indptr[i + 1])
        pairs = zip(vectors.indices[some].tolist(), vectors.data[some].tolist(), strict=True)
        features = " ".join(f"{j + 1}:{value:.17g}" for j, value in pairs)
        yield f"{_spelt(coef)} {features}\n"


# ------------------------------------------------------------------------------------ reading


def _model(text: ModelText, n_features: int | None) -> Any:
    """Return the fitted model of a file."""
    machine = text.word("svm_type", MACHINES)
    model = MACHINES[machine](**_kernel_parameters(text))
    is_of_classes = machine in OF_CLASSES
    n_classes = text.whole_numbers("nr_class", 1, least=2)[0] if is_of_classes else 2
    total = text.whole_numbers("total_sv", 1, least=0)[0]
    rho = np.array(text.numbers("rho", n_classes * (n_classes - 1) // 2))
    lines = text.vector_lines(total, n_classes - 1)
    vectors = _vectors(text, lines, model.kernel, n_features)
    if is_of_classes:
        _fit_classes(text, model, lines.coef, rho, vectors)
    else:
        found = {"dual_coef_": lines.coef, "intercept_": -rho, "n_support_": np.array([total])}
        _set(model, vectors, np.arange(total), found | {"n_iter_": 0})
    if model.kernel == "precomputed" and n_features is not None:
        _widen(model, n_features)
    return model


def _kernel_parameters(text: ModelText) -> dict[str, Any]:
    """Return the parameters that make the kernel."""
    name, wanted = KERNELS[text.word("kernel_type", KERNELS)]
    parameters: dict[str, Any] = {"kernel": name}
    for one in wanted:
        if one == "degree":
            parameters[one] = text.whole_numbers(one, 1, least=0)[0]
        else:
            parameters[one] = text.numbers(one, 1, least=0 if one == "gamma" else -np.inf)[0]
    return parameters


def _vectors(text: ModelText, lines: VectorLines, kernel: str, n_features: int | None) -> Any:
    """Return the support vectors; of a given table, which of its rows they are."""
    if kernel == "precomputed":
        return _rows_of_table(text, lines)
    wrong = np.flatnonzero(lines.indices < 1)
    if len(wrong):
        line = text.first_vector + int(np.searchsorted(lines.starts, wrong[0], side="right")) - 1
        problem = f"a feature has the index {lines.indices[wrong[0]]}; count features from 1"
        raise FileFormatError(text.path, line, problem)
    widest = int(lines.indices.max(initial=0))
    if n_features is not None and widest > n_features:
        msg = f"n_features={n_features} is too few: {text.path} has support vectors with feature {widest}"
        raise ParameterError(msg)
    shape = lines.coef.shape[1], n_features or max(widest, 1)
    vectors = sp.csr_array((lines.values, lines.indices - 1, lines.starts), shape=shape)
    is_filled = vectors.nnz > MOSTLY_FILLED * shape[0] * shape[1]
    return vectors.toarray() if is_filled else vectors


def _rows_of_table(text: ModelText, lines: VectorLines) -> NDArray[np.int64]:
    """Return the rows of a given table that are support vectors."""
    is_one = np.diff(lines.starts) == 1
    if is_one.all():
        values = lines.values
        is_one = (lines.indices == 0) & (values >= 1) & (values == np.floor(values))
        is_one &= values <= MOST_WHOLE
    if not is_one.all():
        line = text.first_vector + int(np.argmin(is_one))
        problem = "a support vector of a given table must be 0:number, a row counted from 1"
        raise FileFormatError(text.path, line, problem)
    return lines.values.astype(np.int64) - 1


def _fit_classes(text: ModelText, model: Any, coef: Vector, rho: Vector, vectors: Any) -> None:
    """Make a classifier what the file says, its classes in ascending order."""
    labels = np.array(text.whole_numbers("label", coef.shape[0] + 1), dtype=np.int64)
    counts = np.array(text.whole_numbers("nr_sv", len(labels), least=0), dtype=np.int64)
    if counts.sum() != coef.shape[1]:
        raise text.wrong(
            "nr_sv", f"{counts.sum()} support vectors in all, and total_sv is {coef.shape[1]}"
        )
    classes, ranks = np.unique(labels, return_inverse=True)
    if len(classes) < len(labels):
        raise text.wrong("label", "the same label twice")
    in_order = _planes_in_order(Coefficients(coef, counts, is_of_pairs=True), rho, ranks)
    support, kept = of_pairs(in_order, np.repeat(ranks, counts), len(labels))
    side = -1.0 if kept.is_of_pairs else 1.0
    found = {
        "classes_": classes,
        "dual_coef_": kept.values,
        "n_support_": kept.n_support,
        "intercept_": side * np.array([one.intercept for one in in_order]),
        "class_weight_": np.ones(len(classes)),
        "n_iter_": np.zeros(len(in_order), dtype=np.int64),
        "certificates_": (NO_CERTIFICATE,) * len(in_order),
    }
    _set(model, vectors, support, found)
    _set_probabilities(text, model, labels)


def _planes_in_order(coef: Coefficients, rho: Vector, ranks: NDArray[np.int64]) -> list[Found]:
    """Return the planes of pairs in the order of ascending labels, each for the larger one."""
    everyone, found = np.arange(coef.values.shape[1]), {}
    pairs = pairs_of_classes(len(ranks))
    for plane, offset, (i, j) in zip(coef.planes(), rho, pairs, strict=True):
        sign = 1.0 if ranks[i] > ranks[j] else -1.0
        pair = tuple(sorted((ranks[i], ranks[j])))
        found[pair] = Found(everyone, sign * plane, -sign * offset)
    return [found[pair] for pair in sorted(found)]


def _set_probabilities(text: ModelText, model: Any, labels: NDArray[np.int64]) -> None:
    """Give a model of two classes its probabilities, if the file has some that grow with the score."""
    if "probA" not in text.header or len(labels) > 2:
        return
    (a,), (b,) = text.numbers("probA", 1), text.numbers("probB", 1)
    if a > 0.0:
        return
    model.calibrate = "sigmoid"
    offset = b if labels[0] < labels[1] else -b
    model.probability_maps_ = (SigmoidMap(slope=-a, center=0.0, offset=offset),)


def _set(model: Any, vectors: Any, order: NDArray[np.int64], fitted: dict[str, Any]) -> None:
    """Set the fitted attributes; `order` is that of the support vectors among the file's lines."""
    is_table = model.kernel == "precomputed"
    n_columns = int(vectors.max(initial=0)) + 1 if is_table else vectors.shape[1]
    rows = np.zeros((0, n_columns)) if is_table else vectors
    model.n_features_in_ = n_columns
    model.support_ = vectors[order] if is_table else order.astype(np.int64)
    model.support_vectors_ = rows if is_table else rows[order]
    model.kernel_ = model._kernel_as_given().resolved(rows)
    model.shape_fit_ = np.array([len(order), n_columns], dtype=np.int64)
    model.certificate_, model.status_ = NO_CERTIFICATE, "unknown"
    for name, value in fitted.items():
        setattr(model, name, value)


def _widen(model: Any, n_features: int) -> None:
    """Let a model of a given table have more training rows than its last support vector tells."""
    if model.n_features_in_ > n_features:
        msg = f"n_features={n_features} is too few: row {model.n_features_in_} is a support vector"
        raise ParameterError(msg)
    model.n_features_in_ = n_features
    model.support_vectors_ = np.zeros((0, n_features))
    model.shape_fit_ = np.array([n_features, n_features], dtype=np.int64)
