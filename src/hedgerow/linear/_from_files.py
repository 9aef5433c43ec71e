"""``fit_files``: machines fitted to files that need not fit into memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.fingerprint import fingerprint
from hedgerow._base.parameters import any_of, none, repeatable_seed, whole_number
from hedgerow._engine import check_n_threads
from hedgerow.data.blocks import Survey
from hedgerow.data.io import RowFiles
from hedgerow.data.io.file_blocks import FileBlocks
from hedgerow.data.io.targets import StreamedClasses, StreamedValues
from hedgerow.data.rows import compact, remember_columns
from hedgerow.data.weights import check_weights, class_factors, refuse_one_class
from hedgerow.errors import (
    DataError,
    NotCertifiedWarning,
    ParameterError,
    StoppedError,
    warn_user,
)
from hedgerow.linear._machine import Result, SupervisedMachine
from hedgerow.losses import BUILT_IN, Loss, loss_by_name, regression_loss
from hedgerow.monitor import current, monitored_fit
from hedgerow.problems.certificates import Certificate, worst
from hedgerow.problems.crammer_singer import planes_of
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import SOLVERS, Settings
from hedgerow.solvers.streamed.fit import StreamedFit
from hedgerow.solvers.streamed.solve import (
    DESCENT,
    NEWTONS,
    most_sampled_features,
    solve_blocks,
)
from hedgerow.solvers.streamed.task import RowArrays, StreamedTask

__all__ = ["ClassifierFromFiles", "RegressorFromFiles"]

Vector = NDArray[np.float64]
Paths: TypeAlias = str | Path | Iterable[str | Path]


class MachineFromFiles(SupervisedMachine):
    """A machine that can be fitted to files in blocks."""

    penalty: str
    loss: str | Loss

    @monitored_fit
    def fit_files(
        self,
        paths: Paths,
        *,
        target: str | int | None = None,
        weight: str | int | None = None,
        sample_weight: Any = None,
        format: str = "auto",  # noqa: A002 - the word a user would look for
        n_features: int | None = None,
        block_bytes: int = 1 << 24,
        cache: bool | str | Path = True,
    ) -> Self:
        """Fit the machine to files that need not fit into memory, and certify it.

        The files are parsed once. If their rows fit into 4 blocks, the result is that of ``fit``.
        Otherwise a compact copy of them is read again and again, one block at a time; ``max_iter``
        counts those passes. Only a few blocks are in memory, however many rows there are. ``alpha_``
        and ``at_bound_`` are set if alpha takes no more than 8 blocks.

        Parameters
        ----------
        paths : str, Path, or several
            LIBSVM, CSV or Parquet files of the same columns; text may be compressed by gzip or
            bzip2. A path with ``*``, ``?`` or ``[`` is a pattern that names all files that match.
        target : str, int or None
            The column with the labels or values, by name or position; None is the last column. In a
            LIBSVM file they are at the start of each line.
        weight : str, int or None
            The column with the weights of the rows, if there is one; not in LIBSVM files.
        sample_weight : array of shape (n_samples,) or None
            The weights of all rows, where no column has them.
        format : {"auto", "csv", "libsvm", "parquet"}
            The format of the files; "auto" infers it from the first bytes of each file.
        n_features : int or None
            How many features LIBSVM files have, in case the last ones never occur.
        block_bytes : int, default=2**24
            About how many bytes of a file are processed at a time.
        cache : bool or path, default=True
            Where the compact copy is written: True is the folder for temporary files; a path names
            another folder. The copy takes 12 bytes per value of a LIBSVM file, 8 per value of others,
            and is removed when the fit ends. False makes no copy and parses the files in every pass.

        Returns
        -------
        Self
            The fitted model itself. A NotCertifiedWarning is issued if the gap remains above ``tol``.
        """
        self._check()
        self._refuse_what_needs_all_rows()
        columns = {"target": target, "weight": weight}
        files = _files(paths, format, n_features, block_bytes, **columns)
        targets = self._new_targets()
        with FileBlocks(files, targets, cache, _weights(weight, sample_weight)) as rows:
            survey, seconds = self._survey(rows, n_features)
            task, model = self._task(rows, survey, targets)
            self._fit_task(task, model, rows, seconds)
        return self

    def _new_targets(self) -> Any:
        """Return what encodes the targets."""
        raise NotImplementedError

    def _task(
        self, rows: FileBlocks, survey: Survey, targets: Any
    ) -> tuple[StreamedTask, dict[str, Any]]:
        """Return the problems of the machine, and attributes that do not depend on their solutions."""
        raise NotImplementedError

    def _survey(self, rows: FileBlocks, n_features: int | None) -> tuple[Survey, float]:
        """Read the files once and remember their columns; return also the seconds that took."""
        began = time.monotonic()
        try:
            most_features = most_sampled_features(self.solver)
            found = rows.survey(n_features, most_features, repeatable_seed(self.random_state))
        except _core.system.Stopped:
            msg = "the fit was stopped before the files were read once, so there is no model; allow more time"
            raise StoppedError(msg) from None
        remember_columns(self, rows.files.feature_names, rows.n_features)
        return found, time.monotonic() - began

    def _fit_task(
        self, task: StreamedTask, model: dict[str, Any], rows: FileBlocks, seconds: float
    ) -> None:
        """Solve and certify the problems of a task, as ``fit`` does if all rows fit into memory."""
        sample = task.survey.sample
        if sample is not None and sample.is_whole:
            problems = task.whole(compact(sample.matrix, check_n_threads(self.n_jobs)))
            self._keep(problems, self._solve(problems, partial(self._model_at, **model)))
        else:
            self._keep_fit(self._streamed(task, rows, seconds))

    def _model_at(self, point: tuple[Vector, float], **fixed: Any) -> dict[str, Any]:
        """Return the attributes with which a machine of one problem predicts."""
        raise NotImplementedError

    def _streamed(self, task: StreamedTask, rows: FileBlocks, seconds: float) -> StreamedFit:
        """Solve the problems of a task by passes over its blocks."""
        seed = repeatable_seed(self.random_state)
        settings = Settings(float(self.tol), int(self.max_iter), seed, self.solver_options or {})
        key = None
        if current().store is not None:
            parameters = {**self.get_params(deep=False), "max_time": None, "random_state": seed}
            shape = rows.n_rows, rows.n_features
            key = fingerprint("fit_files", rows.files.identity, shape, parameters)
        return solve_blocks(
            task,
            settings,
            self.solver,
            vectors=rows.vectors,
            n_threads=check_n_threads(self.n_jobs),
            key=key,
            seconds_of_pass=seconds,
        )

    def _keep_fit(self, fit: StreamedFit) -> None:
        """Set the fitted attributes, and warn if a certificate is missing."""
        self.coef_, self.intercept_ = np.array(fit.w), np.array(fit.intercepts)
        for name in ("alpha_", "at_bound_"):
            self.__dict__.pop(name, None)
        if len(fit.at_bound) and fit.status != "interrupted":
            self.alpha_, self.at_bound_ = np.array(fit.alpha), fit.at_bound
        self.certificate_ = worst(tuple(fit.certificates))
        self.n_iter_, self.status_, self.solver_ = max(fit.n_iter, 1), fit.status, fit.solver
        if not self.certificate_.is_certified and fit.status not in ("interrupted", "stopped"):
            advice = self._advice(fit.task.without_rows())
            warn_user(f"{self.certificate_} To close the gap, {advice}.", NotCertifiedWarning)

    def _refuse_what_needs_all_rows(self) -> None:
        """Refuse parameters that blocks cannot serve."""
        newton = next((n for n in NEWTONS if self.loss in SOLVERS[n].losses), "auto")
        for name, value, able in (
            ("loss", self.loss, [loss.name for loss in BUILT_IN if loss.core_rule is not None]),
            ("penalty", self.penalty, ("l2",)),
            ("solver", self.solver, ("auto", DESCENT, newton)),
            ("multi_class", getattr(self, "multi_class", "ovr"), ("ovr",)),
            ("calibrate", getattr(self, "calibrate", None), (None,)),
        ):
            if value not in able:
                msg = (
                    f"{name}={value!r} needs all rows in memory, which fit_files and partial_fit have "
                    f"not; use {name}={' or '.join(map(repr, able))}, or fit"
                )
                raise ParameterError(msg)
        if math.isinf(self.C):
            msg = "C=inf needs all rows in memory, which fit_files and partial_fit have not; use a finite C, or fit"
            raise ParameterError(msg)


class ClassifierFromFiles(MachineFromFiles):
    """A classifier with ``fit_files``."""

    class_weight: Any
    certificates_: tuple[Certificate, ...]

    def _forget_what_other_fits_left(self) -> None:
        """Drop the fitted attributes that only a fit to all rows sets."""
        for name in ("probability_maps_", "multilabel_"):
            self.__dict__.pop(name, None)

    def _new_targets(self) -> StreamedClasses:
        """Return what encodes the labels."""
        return StreamedClasses()

    def _task(
        self, rows: FileBlocks, survey: Survey, targets: StreamedClasses
    ) -> tuple[StreamedTask, dict[str, Any]]:
        """Return one problem, or one for each of more than two classes; set the classes."""
        classes, ranks, totals = targets.close()
        arrays, weights = self._arrays(classes, ranks, totals)
        n_problems = 1 if len(classes) == 2 else len(classes)
        n_threads = check_n_threads(self.n_jobs) if n_problems == 1 else 1
        problem = partial(self._problem, n_threads=n_threads)
        self._forget_what_other_fits_left()
        self.classes_ = classes
        loss = loss_by_name(self.loss)
        task = StreamedTask(rows, survey, n_problems, loss, arrays, problem, weights)
        return task, {"classes_": classes}

    def _model_at(self, point: tuple[Vector, float], **fixed: Any) -> dict[str, Any]:
        """Return the attributes with which a machine of one problem predicts."""
        w, intercept = point
        coef, intercepts = (w[None, :], np.array([intercept])) if w.ndim == 1 else planes_of(w)
        return {"coef_": coef, "intercept_": intercepts, **fixed}

    def _keep(self, problems: list[LinearProblem], results: list[Result]) -> None:
        """Set the fitted attributes of a fit in memory, the certificate of each problem among them."""
        self.certificates_ = tuple(certificate for _, certificate in results)
        super()._keep(problems, results)

    def _keep_fit(self, fit: StreamedFit) -> None:
        """Set the fitted attributes of a fit by blocks, the certificate of each problem among them."""
        self.certificates_ = tuple(fit.certificates)
        super()._keep_fit(fit)

    def _arrays(
        self, classes: NDArray[Any], ranks: NDArray[np.intp], totals: Vector
    ) -> tuple[RowArrays, Vector]:
        """Return what gives y and weight of rows by their codes, and the weight of a row of each class."""
        numbers = np.arange(len(classes))
        factors = class_factors(self.class_weight, classes, numbers, totals)
        refuse_one_class(classes, numbers, totals * factors)
        weights = self._cost_of_losses(float(np.sum(totals * factors))) * factors
        positive = [1] if len(classes) == 2 else list(range(len(classes)))

        def arrays(k: int, codes: NDArray[Any]) -> dict[str, Vector]:
            signs = np.where(ranks == positive[k], 1.0, -1.0)
            return {"y": signs[codes], "weight": weights[ranks][codes]}

        return arrays, weights


class RegressorFromFiles(MachineFromFiles):
    """A regressor with ``fit_files``."""

    epsilon: float

    def _new_targets(self) -> StreamedValues:
        """Return what reads the values."""
        return StreamedValues()

    def _task(
        self, rows: FileBlocks, survey: Survey, targets: StreamedValues
    ) -> tuple[StreamedTask, dict[str, Any]]:
        """Return the one problem of a regression."""
        if targets.weight == 0.0:
            raise DataError("every row has the weight 0; give some row a positive weight")
        cost = self._cost_of_losses(targets.weight)
        unit = targets.unit(around_mean=self.fit_intercept)
        arrays, weight = partial(_regression_arrays, weight=cost), np.array([cost])
        loss = regression_loss(self.loss, float(self.epsilon))
        return StreamedTask(rows, survey, 1, loss, arrays, self._problem, weight, unit), {}

    def _model_at(self, point: tuple[Vector, float], **fixed: Any) -> dict[str, Any]:
        """Return the attributes with which a machine predicts."""
        w, intercept = point
        return {"coef_": w, "intercept_": np.array([intercept]), **fixed}

    def _keep_fit(self, fit: StreamedFit) -> None:
        """Set the fitted attributes of a fit by blocks in the shapes of a regressor."""
        super()._keep_fit(fit)
        self.coef_ = self.coef_[0]
        if hasattr(self, "alpha_"):
            self.alpha_, self.at_bound_ = self.alpha_[0], self.at_bound_[0]


def _regression_arrays(k: int, codes: NDArray[Any], weight: float) -> dict[str, Vector]:  # noqa: ARG001
    ones = np.ones(len(codes))
    return {"y": ones, "weight": weight * ones, "targets": codes.astype(np.float64)}


def _weights(column: str | int | None, sample_weight: Any) -> Vector | None:
    """Return the weights of all rows, unless a column has them, after a check."""
    if sample_weight is None:
        return None
    if column is not None:
        msg = f"weight={column!r} and sample_weight both weigh the rows; give one of them"
        raise ParameterError(msg)
    return check_weights(sample_weight, np.size(sample_weight))


def _files(
    paths: Paths, file_format: str, n_features: Any, block_bytes: Any, **columns: str | int | None
) -> RowFiles:
    """Return the files to read, after a check of the numbers."""
    for name, value, rule in (
        ("n_features", n_features, any_of(none, whole_number(1))),
        ("block_bytes", block_bytes, whole_number(1)),
    ):
        expected = rule(value)
        if expected is not None:
            msg = f"{name}={value!r} is not allowed in fit_files: it must be {expected}"
            raise ParameterError(msg)
    most = 2**30  # what the parser counts in 32 bits
    return RowFiles(paths, format=file_format, block_bytes=min(block_bytes, most), **columns)
