"""LIBSVM's model files, read and written.

A file has a header of names and values, the line ``SV``, and a line a support vector: its coefficients and
its features, counted from 1. A score is the sum of coefficients times kernel values, minus rho; of two
classes it speaks for the first label that the header names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hedgerow._rows import dense
from hedgerow._targets import pairs_of_classes
from hedgerow._validation import check_fitted
from hedgerow.calibrators import SigmoidMap
from hedgerow.certificates import Certificate
from hedgerow.errors import FileFormatError, ParameterError
from hedgerow.io.source import Source
from hedgerow.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from hedgerow.persist.atomic import atomic_write
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
        defaults, ``support_`` counts the lines of the file, and there is no certificate.

    Raises
    ------
    FileAccessError
        The file cannot be read.
    FileFormatError
        The file makes no sense; the error names the line.
    """
    source = Source(path)
    with source.open() as stream:
        lines = stream.read().decode("utf-8", errors="replace").splitlines()
    text = _ModelText.of(source.path, lines)
    return text.model(n_features)


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


@dataclass(frozen=True)
class _ModelText:
    """A model file, its header taken apart."""

    path: Path
    header: Mapping[str, tuple[int, list[str]]]
    first_vector: int
    vectors: list[str] = field(repr=False)

    @classmethod
    def of(cls, path: Path, lines: list[str]) -> _ModelText:
        header: dict[str, tuple[int, list[str]]] = {}
        for number, line in enumerate(lines, start=1):
            name, *values = line.split() or [""]
            if name == "SV":
                return cls(path, header, number + 1, lines[number:])
            header[name] = number, values
        problem = "there is no line 'SV' after the header; give a model file of LIBSVM's"
        raise FileFormatError(path, None, problem)

    def model(self, n_features: int | None) -> Any:
        """Return the fitted model."""
        machine = self._one_of("svm_type", MACHINES)
        model = MACHINES[machine](**self._kernel())
        is_of_classes = machine in OF_CLASSES
        n_classes = int(self._numbers("nr_class", 1)[0]) if is_of_classes else 2
        total = int(self._numbers("total_sv", 1)[0])
        rho = np.array(self._numbers("rho", n_classes * (n_classes - 1) // 2))
        coef, vectors = self._vectors(total, n_classes - 1, n_features)
        if is_of_classes:
            self._fit_classes(model, coef, rho, vectors)
        else:
            found = {"dual_coef_": coef, "intercept_": -rho, "n_support_": np.array([total])}
            _set(model, vectors, np.arange(total), found | {"n_iter_": 0})
            if machine == "nu_svr":
                model.epsilon_ = 0.0
        if model.kernel == "precomputed" and n_features is not None:
            _widen(model, n_features)
        return model

    def _fit_classes(self, model: Any, coef: Vector, rho: Vector, vectors: Any) -> None:
        """Make a classifier what the file says, its classes in ascending order."""
        labels = np.array(self._numbers("label", coef.shape[0] + 1), dtype=np.int64)
        counts = np.array(self._numbers("nr_sv", len(labels)), dtype=np.int64)
        if counts.sum() != coef.shape[1]:
            raise self._wrong(
                "nr_sv", f"{counts.sum()} support vectors in all, and total_sv is {coef.shape[1]}"
            )
        classes, ranks = np.unique(labels, return_inverse=True)
        if len(classes) < len(labels):
            raise self._wrong("label", "the same label twice")
        planes = Coefficients(coef, counts, is_of_pairs=True).planes()
        everyone, found = np.arange(coef.shape[1]), {}
        for plane, offset, (i, j) in zip(planes, rho, pairs_of_classes(len(labels)), strict=True):
            sign = 1.0 if ranks[i] > ranks[j] else -1.0  # a plane speaks for the larger label
            pair = tuple(sorted((ranks[i], ranks[j])))
            found[pair] = Found(everyone, sign * plane, -sign * offset)
        in_order = [found[pair] for pair in sorted(found)]
        support, kept = of_pairs(in_order, np.repeat(ranks, counts), len(labels))
        side = -1.0 if kept.is_of_pairs else 1.0
        nothing_known = np.zeros(len(found), dtype=np.int64)
        _set(
            model,
            vectors,
            support,
            {
                "classes_": classes,
                "dual_coef_": kept.values,
                "n_support_": kept.n_support,
                "intercept_": side * np.array([one.intercept for one in in_order]),
                "class_weight_": np.ones(len(classes)),
                "n_iter_": nothing_known,
                "certificates_": (NO_CERTIFICATE,) * len(found),
            },
        )
        self._set_probabilities(model, labels)

    def _set_probabilities(self, model: Any, labels: NDArray[np.int64]) -> None:
        """Give a model of two classes its probabilities, if the file has some that grow with the score."""
        if "probA" not in self.header or len(labels) > 2:
            return
        (a,), (b,) = self._numbers("probA", 1), self._numbers("probB", 1)
        if a > 0.0:
            return
        model.calibrate = "sigmoid"
        offset = b if labels[0] < labels[1] else -b
        model.probability_maps_ = (SigmoidMap(slope=-a, center=0.0, offset=offset),)

    def _kernel(self) -> dict[str, Any]:
        """Return the parameters that make the kernel."""
        name, wanted = KERNELS[self._one_of("kernel_type", KERNELS)]
        numbers = {one: self._numbers(one, 1)[0] for one in wanted}
        if "degree" in numbers:
            numbers["degree"] = int(numbers["degree"])
        return {"kernel": name, **numbers}

    def _vectors(self, total: int, n_lines: int, n_features: int | None) -> tuple[Vector, Any]:
        """Return the coefficients, a line a plane, and the support vectors."""
        lines = [line for line in self.vectors if line.strip()]
        if len(lines) != total:
            raise self._wrong(
                "total_sv", f"{total}, and {len(lines)} lines follow 'SV'; the file is cut short"
            )
        coef, entries, counts = np.empty((n_lines, total)), [], []
        for i, line in enumerate(lines):
            words = line.split()
            try:
                coef[:, i] = words[:n_lines]
                pairs = np.array([word.split(":") for word in words[n_lines:]], dtype=np.float64)
                columns, values = pairs.reshape(-1, 2).T
            except ValueError:
                problem = f"{line[:60]!r} is not {n_lines} coefficients and then index:value"
                raise FileFormatError(self.path, self.first_vector + i, problem) from None
            entries.append((columns.astype(np.int64) - 1, values))
            counts.append(len(values))
        columns = (
            np.concatenate([c for c, _ in entries]) if entries else np.empty(0, dtype=np.int64)
        )
        values = np.concatenate([v for _, v in entries]) if entries else np.empty(0)
        if self.header["kernel_type"][1] == ["precomputed"]:
            return coef, values.astype(np.int64) - 1
        widest = int(columns.max(initial=-1)) + 1
        if n_features is not None and widest > n_features:
            msg = f"n_features={n_features} is too few: {self.path} has support vectors with feature {widest}"
            raise ParameterError(msg)
        shape = total, n_features or max(widest, 1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        vectors = sp.csr_array((values, columns, starts), shape=shape)
        is_filled = vectors.nnz > MOSTLY_FILLED * shape[0] * shape[1]
        return coef, vectors.toarray() if is_filled else vectors

    def _one_of(self, name: str, known: Mapping[str, Any]) -> str:
        """Return a word of the header."""
        _, values = self._entry(name)
        if len(values) != 1 or values[0] not in known:
            raise self._wrong(name, f"{' '.join(values)!r}, which is none of {', '.join(known)}")
        return values[0]

    def _numbers(self, name: str, count: int) -> list[float]:
        """Return numbers of the header."""
        _, values = self._entry(name)
        try:
            numbers = [float(value) for value in values]
        except ValueError:
            raise self._wrong(name, f"{' '.join(values)!r}, which is no number") from None
        if len(numbers) != count:
            raise self._wrong(name, f"{len(numbers)} numbers, where {count} must be")
        return numbers

    def _entry(self, name: str) -> tuple[int, list[str]]:
        if name not in self.header:
            problem = f"the header lacks {name!r}; give a model file of LIBSVM's"
            raise FileFormatError(self.path, self.first_vector - 1, problem)
        return self.header[name]

    def _wrong(self, name: str, what: str) -> FileFormatError:
        return FileFormatError(self.path, self.header[name][0], f"{name} is {what}")


NO_CERTIFICATE = Certificate(np.inf, -np.inf, np.inf, "kkt_violation", 0.0, "unknown")
"""What is known of how a model in a file came about."""


def _set(model: Any, vectors: Any, order: NDArray[np.int64], fitted: dict[str, Any]) -> None:
    """Set the fitted attributes; `order` is that of the support vectors among the file's lines."""
    is_table = model.kernel == "precomputed"
    n_columns = int(vectors.max(initial=0)) + 1 if is_table else vectors.shape[1]
    rows = np.zeros((len(order), n_columns)) if is_table else vectors
    model.n_features_in_ = n_columns
    model.support_ = vectors[order] if is_table else order.astype(np.int64)
    model.support_vectors_ = rows[order[:0]] if is_table else rows[order]
    model.kernel_ = model._kernel_as_given().resolved(rows)
    model.shape_fit_ = np.array(rows.shape, dtype=np.int64)
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
