"""A fit to rows in files: passes of block descent until a pass over all rows certifies them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._engine import in_threads
from hedgerow.certificates import uncertified
from hedgerow.linear._file_rows import FileRows, RowBlock
from hedgerow.linear._streamed_certificate import StreamedCertificate
from hedgerow.losses import Loss
from hedgerow.monitor import current
from hedgerow.problems import LinearProblem, blocks
from hedgerow.solvers import Settings

__all__ = ["Facts", "Method", "StreamedFit", "StreamedTask"]

Vector = NDArray[np.float64]
Facts: TypeAlias = Callable[[int, slice], dict[str, Vector]]
"""Gives y, weight and, for a regression, targets of some rows in the problem of a plane."""

OFFSETS = np.array([0.0, *(sign * 4.0**-k for k in range(1, 7) for sign in (1, -1))])
"""Where a better free intercept is looked for, in units of the scores."""
TIME_FOR_A_PROOF = 1.5
"""What a certificate takes, in passes."""


class Plane(Protocol):
    """Where a method stands with one plane; all its attributes are numbers and arrays."""

    alpha: Vector

    def point(self, problem: LinearProblem) -> tuple[Vector, float]:
        """Return w and b; ``problem`` is that of any block, or of no rows."""

    def settle(self, w: Vector, balance: float, gap: float) -> None:
        """Take over what alpha makes, and the relative gap, computed anew from all rows."""


class Method(Protocol):
    """How planes are moved by blocks."""

    @property
    def name(self) -> str:
        """What users call it."""

    def plane(self, alpha: Vector, problem: LinearProblem) -> Any:
        """Return where to start, given the problem of the first block; alpha is to be written to."""

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


@dataclass(frozen=True)
class StreamedTask:
    """What is to be fitted.

    Attributes
    ----------
    rows : FileRows
        Surveyed.
    n_planes : int
        How many problems share the rows.
    loss : Loss
        Theirs.
    facts : callable
        What is known of some rows.
    problem : callable
        Makes a problem of a matrix and facts.
    unit : float
        The size that scores are of.
    """

    rows: FileRows
    n_planes: int
    loss: Loss
    facts: Facts
    problem: Callable[..., LinearProblem]
    unit: float = 1.0

    def without_rows(self) -> LinearProblem:
        """Return what the problems of all blocks have in common."""
        nothing = _core.Matrix.dense(np.empty((0, self.rows.n_features)))
        return self.block(0, RowBlock(slice(0, 0), nothing, 0))

    def block(self, k: int, block: RowBlock) -> LinearProblem:
        """Return the problem that a block is for a plane."""
        return self.problem(block.matrix, loss=self.loss, **self.facts(k, block.rows))

    def balance(self, k: int, alpha: Vector) -> None:
        """Make sum_i alpha_i y_i = 0 within the bounds, in place.

        The side that weighs too much is scaled down: its values between the bounds alone if they
        can carry it, so that rows on a bound stay there, else all of them.
        """
        excess = 0.0
        for rows, y, lower, upper in self._bounds(k, len(alpha)):
            np.clip(alpha[rows], lower, upper, out=alpha[rows])
            excess += float(np.sum(y * alpha[rows]))
        heavier, between = 0.0, 0.0
        for rows, y, lower, upper in self._bounds(k, len(alpha)):
            signed = np.maximum(y * alpha[rows] * np.sign(excess), 0.0)
            heavier += float(np.sum(signed))
            between += float(np.sum(signed[(alpha[rows] < upper) & (alpha[rows] > lower)]))
        spared = between > 2.0 * abs(excess)
        total = between if spared else heavier
        factor = max(0.0, 1.0 - abs(excess) / total) if total > 0.0 else 1.0
        for rows, y, lower, upper in self._bounds(k, len(alpha)):
            moved = y * alpha[rows] * excess > 0.0
            if spared:
                moved &= (alpha[rows] < upper) & (alpha[rows] > lower)
            alpha[rows][moved] *= factor

    def at_bound(self, k: int, alpha: Vector) -> NDArray[np.bool_]:
        """Say of each alpha whether it is at its bound."""
        found = np.empty(len(alpha), dtype=bool)
        for rows, _, _, upper in self._bounds(k, len(alpha)):
            found[rows] = (alpha[rows] != 0.0) & (np.abs(alpha[rows]) >= upper)
        return found

    def _bounds(self, k: int, n_rows: int) -> Iterator[tuple[slice, Vector, Vector, Vector]]:
        """Yield y and the bounds of alpha of some rows at a time."""
        for rows in blocks(n_rows):
            facts = self.facts(k, rows)
            weight = facts["weight"]
            yield rows, facts["y"], self.loss.lower(weight), self.loss.upper(weight)


class StreamedFit:
    """A fit under way, and what came of it.

    Parameters
    ----------
    task : StreamedTask
        What is fitted.
    method : Method
        How.
    settings : Settings
        When to stop; an iteration is a pass over the files.
    n_threads : int
        For several planes.
    key : str or None
        Under which the state is left in the monitor's store.

    Attributes
    ----------
    planes : list of Plane
        Where the descent stands.
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
        settings: Settings,
        n_threads: int,
        key: str | None = None,
    ) -> None:
        self.task = task
        self.alpha = np.zeros((task.n_planes, task.rows.n_rows))
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
            self._start()
            while self.n_iter < self._settings.max_iter:
                self._pass()
                if max(self._gaps()) <= self._settings.tol and self._certify("optimal"):
                    return "optimal"
                if any(map(self._method.has_stalled, self.planes)):
                    return self._end("stalled")
        except _core.Stopped:
            self._proven_at = -1  # some blocks may have been visited since
            return self._end(self._monitor.reason or "stopped")
        return self._end("max_iter")

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
        """Make the planes, from the first block or from what an earlier, broken-off run left."""
        with closing(self.task.rows.blocks()) as all_blocks:
            first = next(all_blocks)
            for k, alpha in enumerate(self.alpha):
                self.planes.append(self._method.plane(alpha, self.task.block(k, first)))
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
        proofs = []
        for k, plane in enumerate(self.planes):
            w, intercept = plane.point(self._common)
            b = np.array([intercept])
            if self._common.intercept == "free":
                self.task.balance(k, plane.alpha)
                b = b + self.task.unit * OFFSETS
            proofs.append(StreamedCertificate(w, b, self._settings.tol))
        for block in self.task.rows.blocks():
            if self._monitor.reason == "interrupted":
                raise _core.Stopped
            for k, proof in enumerate(proofs):
                proof.add(self.task.block(k, block), self.planes[k].alpha[block.rows])
        self.w = [proof.w for proof in proofs]
        self.intercepts = [proof.intercept for proof in proofs]
        self.certificates = [proof.finish(status) for proof in proofs]
        self._proven_at = self.n_iter
        for k, (plane, proof) in enumerate(zip(self.planes, proofs, strict=True)):
            plane.settle(proof.v, proof.balance, self.certificates[k].relative_gap)
        return all(certificate.is_certified for certificate in self.certificates)

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
        return {
            "n_iter": self.n_iter,
            "n_blocks_done": self._n_blocks_done,
            "planes": [vars(plane) for plane in self.planes],
        }

    def _resume(self) -> None:
        """Go on from what an earlier, broken-off run left."""
        left = None if self._key is None else self._monitor.recall(self._key)
        if left is None:
            return
        self.n_iter, self._n_blocks_done = left["n_iter"], left["n_blocks_done"]
        for plane, standing in zip(self.planes, left["planes"], strict=True):
            plane.alpha[:] = standing.pop("alpha")
            for name, value in standing.items():
                setattr(plane, name, value)
