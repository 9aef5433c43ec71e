"""Linear machines written out as conic programs and handed to Clarabel: the judge of the optimum.

Variables are w, b, one slack a row and what the loss and the penalty need besides. The program is
built from the formula alone, densely and without care for speed; nothing here is shared with the
package. An answer comes with the dual bound of the program, and one that is not good to 1e-9 is an
error: a judge that is not sure does not judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp

ACCURACY = 1e-9
"""Relative gap of a judgement, at most; most reach 1e-12."""


@dataclass(frozen=True)
class Machine:
    """min penalty(w) + penalty(b / scaling) [penalized] + pull b + sum_i c_i loss(target_i - y_i score_i)."""

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    loss: str
    target: np.ndarray
    epsilon: float = 0.0
    intercept: str = "free"
    scaling: float = 1.0
    pull: float = 0.0
    penalty: str = "l2"

    @property
    def is_squared(self):
        return self.loss.startswith("squared")

    @property
    def is_two_sided(self):
        return self.loss.endswith("epsilon_insensitive")

    def scale(self, objective):
        """What differences of objectives near this one are measured by.

        That of a one-class machine may be 0, and is never below -1/2 of the longest row's square.
        """
        longest = np.square(self.X).sum(axis=1).max() if self.pull else 0.0
        return max(abs(objective), 1e-3 * 0.5 * longest)

    def objective(self, w, b):
        """What is minimised, at a point."""
        r = self.target - self.y * (self.X @ w + b)
        if self.loss == "logistic":
            losses = np.logaddexp(0.0, r)
        else:
            losses = np.maximum(0.0, np.abs(r) - self.epsilon if self.is_two_sided else r)
            losses = losses**2 if self.is_squared else losses
        held = np.append(w, b / self.scaling) if self.intercept == "penalized" else w
        cost = np.abs(held).sum() if self.penalty == "l1" else 0.5 * held @ held
        return cost + self.pull * b + self.c @ losses


@dataclass(frozen=True)
class Optimum:
    """The best point, its objective, and a value that no point can go below."""

    w: np.ndarray
    b: float
    objective: float
    bound: float

    @property
    def gap(self):
        return self.objective - self.bound


def solve(machine: Machine) -> Optimum:
    """Return the optimum of a machine."""
    program = _Program(machine)
    attempts = [_attempt(program, regularisation) for regularisation in (1e-8, 1e-10)]
    best = min(attempts, key=lambda optimum: abs(optimum.gap))
    if not abs(best.gap) <= ACCURACY * machine.scale(best.objective):
        raise ArithmeticError(f"the judge is not sure: {best}")
    return best


def _attempt(program, regularisation):
    """Solve with one setting of the linear systems: each has programs that only it brings to the end."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.static_regularization_constant = regularisation
    quadratic, linear = program.cost()
    rows, rights, cones = program.constraints()
    A, bounds = sp.vstack(rows, format="csc"), np.concatenate(rights)
    found = clarabel.DefaultSolver(quadratic, linear, A, bounds, cones, settings).solve()
    x = np.array(found.x)
    w, b = x[: program.d], float(x[program.d]) if program.n_b else 0.0
    return Optimum(w, b, float(program.machine.objective(w, b)), float(found.obj_val_dual))


class _Program:
    """1/2 x' P x + q' x with s = b - A x in cones, for x = (w, b, slacks, excesses, sizes).

    Rows without weight are left out. Excesses are the two exponentials of a logistic row, sizes the
    |w_j| (and |b| / scaling) of the l1 penalty.
    """

    def __init__(self, machine):
        used = machine.c > 0
        self.machine = machine
        self.X, self.y = machine.X[used], machine.y[used]
        self.c, self.target = machine.c[used], machine.target[used]
        self.n, self.d = self.X.shape
        self.n_b = int(machine.intercept != "none")
        self.n_exponentials = 2 * self.n if machine.loss == "logistic" else 0
        self.held = self.d + (machine.intercept == "penalized")
        self.n_sizes = self.held if machine.penalty == "l1" else 0

    def blocks(self, w=None, b=None, slack=None, exponential=None, size=None):
        """Return a row of blocks of A, zero where none is given."""
        widths = (self.d, self.n_b, self.n, self.n_exponentials, self.n_sizes)
        given = (w, b, slack, exponential, size)
        height = next(block.shape[0] for block in given if block is not None)
        return sp.hstack(
            [
                sp.csc_array((height, width)) if block is None else sp.csc_array(block)
                for block, width in zip(given, widths, strict=True)
            ],
            format="csc",
        )

    def cost(self):
        machine = self.machine
        is_l2, is_penalized = machine.penalty == "l2", machine.intercept == "penalized"
        squares = [
            np.full(self.d, float(is_l2)),
            np.full(self.n_b, float(is_l2 and is_penalized) / machine.scaling**2),
            2.0 * self.c if machine.is_squared else np.zeros(self.n),
            np.zeros(self.n_exponentials + self.n_sizes),
        ]
        linear = [
            np.zeros(self.d),
            np.full(self.n_b, machine.pull),
            np.zeros(self.n) if machine.is_squared else self.c,
            np.zeros(self.n_exponentials),
            np.ones(self.n_sizes),
        ]
        return sp.diags_array(np.concatenate(squares), format="csc"), np.concatenate(linear)

    def constraints(self):
        kinds = self._entropy() if self.machine.loss == "logistic" else self._clipped()
        if self.n_sizes:
            kinds += self._sizes()
        rows, rights, cones = zip(*kinds, strict=True)
        return rows, rights, [cone for some in cones for cone in some]

    def _margins(self):
        """The blocks of y_i (<w, x_i> + b)."""
        return {"w": self.y[:, None] * self.X, "b": np.tile(self.y[:, None], (1, self.n_b))}

    def _clipped(self):
        """Slacks at least the residual, or its size less epsilon, and at least 0.

        The last is left out for a square, which does not need it: a slack that is 0 with nothing
        pressing on it keeps an interior point from its end.
        """
        eye, positive = sp.eye_array(self.n), [clarabel.NonnegativeConeT(self.n)]
        margins, epsilon = self._margins(), self.machine.epsilon
        against = {name: -block for name, block in margins.items()}
        kinds = [(self.blocks(slack=-eye, **against), epsilon - self.target, positive)]
        if not self.machine.is_squared:
            kinds.append((self.blocks(slack=-eye), np.zeros(self.n), positive))
        if self.machine.is_two_sided:
            kinds.append((self.blocks(slack=-eye, **margins), epsilon + self.target, positive))
        return kinds

    def _entropy(self):
        """Slack >= log(1 + e^r), as e^(r - slack) <= u, e^(-slack) <= v, u + v <= 1."""
        n, eye = self.n, sp.eye_array(self.n)
        at_most_one = self.blocks(exponential=sp.hstack([eye, eye]))
        kinds = [(at_most_one, np.ones(n), [clarabel.NonnegativeConeT(n)])]
        by_row = np.arange(3 * n).reshape(3, n).T.ravel()
        for place, margins, right in ((0, self._margins(), self.target), (1, {}, np.zeros(n))):
            value = np.eye(2)[[place]]
            powers = self.blocks(slack=eye, **margins)
            values = self.blocks(exponential=-sp.kron(value, eye))
            # A cone holds (x, y, z) with y e^(x / y) <= z, here y = 1.
            rows = sp.vstack([powers, sp.csc_array(powers.shape), values], format="csr")[by_row]
            rights = np.concatenate([right, np.ones(n), np.zeros(n)])[by_row]
            kinds.append((rows, rights, [clarabel.ExponentialConeT()] * n))
        return kinds

    def _sizes(self):
        """Sizes at least w_j and -w_j, and b / scaling both ways if it is penalised."""
        eye, sizes = sp.eye_array(self.d), sp.eye_array(self.held)
        w, b = sp.vstack([eye, sp.csc_array((self.held - self.d, self.d))]), None
        if self.n_b:
            b = np.zeros((self.held, 1))
            b[self.d :] = 1.0 / self.machine.scaling
        positive, zeros = [clarabel.NonnegativeConeT(self.held)], np.zeros(self.held)
        return [
            (self.blocks(w=w, b=b, size=-sizes), zeros, positive),
            (self.blocks(w=-w, b=None if b is None else -b, size=-sizes), zeros, positive),
        ]
