"""A fit to rows in files: passes over all blocks until a pass over all rows certifies them."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import in_threads
from hedgerow.linear.files.certificate import StreamedCertificate
from hedgerow.linear.files.rows import Alphas, RowBlock
from hedgerow.linear.files.task import StreamedTask
from hedgerow.monitor import current
from hedgerow.problems.certificates import uncertified
from hedgerow.problems.linear import LinearProblem
from hedgerow.solvers import Settings

__all__ = ["Method", "StreamedFit"]

Vector = NDArray[np.float64]

TIME_FOR_A_PROOF = 1.5
"""What a certificate takes, in passes."""


class Plane(Protocol):
    """Where a method stands with one plane; all its attributes are numbers and arrays."""

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b; ``problem`` is that of any block, or of no rows."""

    def alpha_of(self, problem: LinearProblem, rows: slice) -> Vector:
        """Return the alphas of a block."""

    def settle(self, w: Vector, balance: float, gap: float) -> None:
        """Take over what alpha makes, and the relative gap, computed anew from all rows."""


class Method(Protocol):
    """How planes are moved by blocks."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def moves_alphas(self) -> bool:
        """Whether the alphas that are kept are where it stands; else they follow from the plane."""

    def plane(self, number: int) -> Any:
        """Return where to start."""

    def begin_pass(self, plane: Any) -> None:
        """Begin a pass over all blocks."""

    def visit(self, plane: Any, problem: LinearProblem, rows: slice) -> None:
        """Work on a block."""

    def end_pass(self, plane: Any, problem: LinearProblem) -> None:
        """End a pass over all blocks."""

    def gap(self, plane: Any, problem: LinearProblem) -> float:
        """Return about the relative gap after a pass."""

    def has_stalled(self, plane: Any) -> bool:
        """Say whether more passes would bring nothing."""


class StreamedFit:
    """A fit under way, and what came of it.

    Parameters
    ----------
    task : StreamedTask
        What is fitted.
    method : Method
        How.
    alpha : list
        Where the alphas of every plane are kept, if at all.
    settings : Settings
        When to stop; an iteration is a pass over the files.
    n_threads : int
        For several planes.
    key : str or None
        Under which the state is left in the monitor's store.

    Attributes
    ----------
    planes : list of Plane
        Where the method stands.
    at_bound : ndarray of bool
        Which alphas are at their bound, a row a plane, if the alphas are in memory, else empty.
    w, intercepts : list
        The primal points.
    certificates : list of Certificate
        Theirs.
    n_iter : int
        Passes made, those of certificates apart.
    """

    def __init__(
        self,
        task: StreamedTask,
        method: Method,
        alpha: list[Alphas],
        settings: Settings,
        n_threads: int,
        *,
        key: str | None = None,
    ) -> None:
        self.task = task
        self.alpha = alpha
        in_memory = [each for each in alpha if isinstance(each, np.ndarray)]
        self.at_bound = np.zeros((len(in_memory), task.rows.n_rows), dtype=bool)
        self.planes: list[Plane] = []
        self.n_iter = 0
        self._method = method
        self._settings = settings
        self._n_threads = n_threads
        self._key = key
        self._monitor = current()
        self._n_blocks_done = 0
        self._proven_at = -1
        self._common = task.without_rows()

    @property
    def solver(self) -> str:
        """The name of the method."""
        return self._method.name

    def run(self, seconds_of_survey: float) -> str:
        """Make passes until all is certified or time or passes are over; return the status."""
        self._monitor.reserve(TIME_FOR_A_PROOF * seconds_of_survey)
        try:
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                return self._end(self._passes())
        except _core.Stopped:
            self._proven_at = -1  # some blocks may have been visited since
            return self._end(self._monitor.reason or "stopped")

    def _passes(self) -> str:
        """Make passes until all is certified or no more are allowed; where numbers overflow, stop."""
        self._start()
        try:
            while self.n_iter < self._settings.max_iter:
                self._pass()
                if max(self._gaps()) <= self._settings.tol and self._certify("optimal"):
                    return "optimal"
                if any(map(self._method.has_stalled, self.planes)):
                    return "stalled"
        except FloatingPointError:
            return "stalled"
        return "max_iter"

    def _end(self, status: str) -> str:
        """Certify what there is; Ctrl-C does not wait for that."""
        if status == "interrupted":
            self._keep_points()
            unknown = uncertified(-np.inf, self._settings.tol, status)
            self.certificates = [unknown] * len(self.planes)
            return status
        if self._proven_at != self.n_iter:
            self._certify(status)
        if all(proof.is_certified for proof in self.certificates):
            status = "optimal"
        self.certificates = [replace(proof, status=status) for proof in self.certificates]
        return status

    def _start(self) -> None:
        """Make the planes, or go on from what an earlier, broken-off run left."""
        make = self._method.plane
        self.planes = list(in_threads(make, range(self.task.n_planes), self._n_threads))
        self._resume()

    def _pass(self) -> None:
        """Visit every block once with every plane."""
        began, n_bytes = time.monotonic(), 0
        if self._n_blocks_done == 0:
            for plane in self.planes:
                self._method.begin_pass(plane)
        for number, block in enumerate(self.task.rows.blocks()):
            n_bytes += block.n_bytes
            if number >= self._n_blocks_done:
                self._monitor.check()
                visit = partial(self._visit, block=block)
                list(in_threads(visit, range(len(self.planes)), self._n_threads))
                self._n_blocks_done = number + 1
                self._checkpoint()
                self._monitor.report(n_bytes, self.task.rows.n_bytes, {"pass": self.n_iter + 1})
        for plane in self.planes:
            self._method.end_pass(plane, self._common)
        self._n_blocks_done = 0
        self.n_iter += 1
        self._monitor.reserve(TIME_FOR_A_PROOF * (time.monotonic() - began))

    def _visit(self, k: int, block: RowBlock) -> None:
        self._method.visit(self.planes[k], self.task.block(k, block), block.rows)

    def _gaps(self) -> list[float]:
        """Return about the relative gaps."""
        return [self._method.gap(plane, self._common) for plane in self.planes]

    def _certify(self, status: str) -> bool:
        """Read all rows once more and certify every plane; say whether all are within the tolerance."""
        proofs = [StreamedCertificate(*plane.point(self._common)) for plane in self.planes]
        for block in self.task.rows.blocks():
            if self._monitor.reason == "interrupted":
                raise _core.Stopped
            for k, proof in enumerate(proofs):
                problem = self.task.block(k, block)
                alpha = proof.add(problem, self.planes[k].alpha_of(problem, block.rows))
                self._keep_alphas(k, block.rows, alpha, problem.upper)
        self.w, self.intercepts = [proof.w for proof in proofs], [proof.b for proof in proofs]
        self.certificates = [proof.finish(status, self._settings.tol) for proof in proofs]
        self._proven_at = self.n_iter
        for k, (plane, proof) in enumerate(zip(self.planes, proofs, strict=True)):
            plane.settle(proof.v, proof.balance, self.certificates[k].relative_gap)
        return all(certificate.is_certified for certificate in self.certificates)

    def _keep_alphas(self, k: int, rows: slice, alpha: Vector, upper: Vector) -> None:
        """Keep the alphas of some rows, and which are at their bound, as far as there is room."""
        if self.alpha:
            self.alpha[k][rows] = alpha
        if len(self.at_bound):
            self.at_bound[k, rows] = (alpha != 0.0) & (np.abs(alpha) >= upper)

    def _keep_points(self) -> None:
        """Take the planes as they are."""
        points = [plane.point(self._common) for plane in self.planes]
        self.w, self.intercepts = [w for w, _ in points], [b for _, b in points]

    # -------------------------------------------------------------------------------- checkpoints

    def _checkpoint(self) -> None:
        """Leave where the fit stands, if it is time to."""
        if self._key is not None:
            self._monitor.remember(self._key, self._standing)

    def _standing(self) -> dict[str, Any]:
        every = slice(0, self.task.rows.n_rows)
        return {
            "n_iter": self.n_iter,
            "n_blocks_done": self._n_blocks_done,
            "planes": [
                {name: value for name, value in vars(plane).items() if name != "alpha"}
                for plane in self.planes
            ],
            "alpha": [alpha[every] for alpha in self.alpha] if self._method.moves_alphas else [],
        }

    def _resume(self) -> None:
        """Go on from what an earlier, broken-off run left."""
        left = None if self._key is None else self._monitor.recall(self._key)
        if left is None:
            return
        self.n_iter, self._n_blocks_done = left["n_iter"], left["n_blocks_done"]
        for plane, standing in zip(self.planes, left["planes"], strict=True):
            for name, value in standing.items():
                setattr(plane, name, value)
        for alpha, values in zip(self.alpha, left["alpha"], strict=False):
            alpha[slice(0, len(values))] = values
