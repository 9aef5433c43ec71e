"""Search for certificates that do not hold: ``python -m tests.certificate_search --n 100000 --seed 0``.

Each random problem is fitted, and what the fit claims is judged in decimals of 100 digits. Every false
claim is printed with the index that makes it again (``--index``); a table at the end counts, by
machine, what was certified, declined, refused and slow. The exit status is 1 if a claim is false.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import partial
from multiprocessing import Pool

import numpy as np

from hedgerow.errors import HedgerowError, NotSeparableError
from hedgerow.kernels import as_kernel
from tests.random_problems import MACHINES, problem
from tests.reference.exact_kernels import CONTEXT, ZERO, exact, table
from tests.reference.judged_linear import linear_verdicts_on
from tests.reference.judged_models import verdicts_on

SLOW = 2.0
"""Seconds from which on a fit is counted as slow."""


@dataclass
class Outcome:
    """What became of a problem: "certified", "declined", or the name of an error."""

    index: int
    machine: str
    is_easy: bool
    result: str
    story: str
    seconds: float = 0.0
    judging: float = 0.0
    cause: str = ""
    faults: dict[str, float] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    details: str = ""

    @property
    def line(self):
        """A line that reproduces it."""
        kinds = " ".join(f"{name}={size:.1e}" for name, size in self.faults.items())
        kinds += " ".join(f" {name}?" for name in self.open)
        return f"index={self.index} {self.machine}: {kinds} | {self.details} | {self.story}"


def outcome(index, seed=0, **kind):
    """Fit and judge the problem of this number; ``kind`` is as in `problem`."""
    made = problem(seed, index, **kind)
    found = Outcome(index, made.machine, made.is_easy, "", made.story)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.fit()
    except NotSeparableError as error:
        found.result = "not separable"
        _judged(_judge_proof, made, found, error.proof)
    except HedgerowError as error:
        found.result, found.details = type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - foreign errors are what is looked for
        found.result = f"foreign {type(error).__name__}"
        found.faults["foreign error"] = 1.0
        found.details = str(error)[:200]
    else:
        found.seconds = time.perf_counter() - start
        _judged(_judge_model, made, found)
    return found


def _judged(judge, *args):
    """Judge; what numbers too large or too small keep the judge from is an open question."""
    found = args[1]
    try:
        judge(*args)
    except ArithmeticError as error:
        found.open += (f"{type(error).__name__} of the judge",)


def _judge_model(made, found):
    model = made.estimator
    found.result = "certified" if model.certificate_.is_certified else "declined"
    found.cause = "" if found.result == "certified" else _cause(model)
    found.details = str(model.certificate_)
    start = time.perf_counter()
    verdicts = linear_verdicts_on if "linear" in made.machine else verdicts_on
    for verdict in verdicts(model, made.X, made.y, made.weight):
        if verdict is None:
            continue
        if verdict.faults or verdict.open:
            found.details = f"{verdict} | {found.details}"
        for name, size in verdict.faults.items():
            found.faults[name] = max(size, found.faults.get(name, 0.0))
        found.open += verdict.open
    several = getattr(model, "certificates_", (model.certificate_,))
    if model.certificate_.is_certified != all(one.is_certified for one in several):
        found.faults["summary"] = 1.0
    found.judging = time.perf_counter() - start


def _cause(model):
    """Why there is no certificate."""
    certificate = model.certificate_
    if certificate.dual == -np.inf:
        return "indefinite"
    if not np.isfinite(certificate.primal) or not np.isfinite(certificate.dual):
        return "not finite"
    gap = max(certificate.tolerance, 1e-3 if certificate.criterion == "kkt_violation" else 0.0)
    is_close = certificate.relative_gap <= gap
    is_solved = certificate.criterion == "relative_gap" or (
        certificate.kkt_violation <= certificate.tolerance
    )
    return "rounding" if is_close and is_solved else model.status_


def _judge_proof(made, found, proof):
    """Measure how far apart the combinations that are said to meet truly are."""
    model, rows = made.estimator, proof.rows
    found.details = str(proof)
    with localcontext(CONTEXT):
        K = _table_of(made)[np.ix_(rows, rows)]
        shares, has_intercept = exact(proof.weights), bool(model.fit_intercept)
        signs = exact(np.where(made.y[rows] == np.max(made.y), 1.0, -1.0))
        for side in (signs > 0, signs < 0) if has_intercept else ():
            shares[side] = shares[side] / sum(shares[side], ZERO)
        signed = signs * shares
        own = np.diagonal(K)
        size = max(own + own[0] - 2 * K[0] if has_intercept else own)
        sq_distance = signed @ (K @ signed)
        noise = Decimal("1e-90") * max(
            abs(own)
        )  # of the judge's own 100 digits, where all rows are equal
        if sq_distance < -Decimal("1e-20") * abs(size) - noise or size < -noise:
            found.faults["indefinite"] = float(-sq_distance)
            return
        apart = (max(ZERO, sq_distance) / size).sqrt() if size > noise else ZERO
    if not proof.is_certified:
        found.faults["proof without certificate"] = float(apart)
    elif apart > Decimal("1.01") * Decimal(proof.meeting):
        found.faults["proof"] = float(apart)


def _table_of(made):
    """The exact products of all rows in the space of the machine."""
    model, rows = made.estimator, made.X
    if "linear" in made.machine:
        X = exact(rows)
        return X @ X.T
    if hasattr(model, "scaling_"):
        rows = model.scaling_.apply(rows)
    # A fit that failed need not have a kernel_; numbers follow from the rows as they do in a fit.
    weight = np.ones(rows.shape[0]) if made.weight is None else made.weight
    return table(as_kernel(model.kernel).resolved(rows, weight), exact(rows))


class Tally:
    """Counts of outcomes by machine."""

    def __init__(self):
        self.counts, self.easy, self.kinds = Counter(), Counter(), Counter()
        self.causes, self.errors, self.seconds, self.judging = Counter(), Counter(), 0.0, 0.0

    def add(self, found):
        machine = found.machine
        self.counts[machine, "problems"] += 1
        self.counts[machine, found.result] += 1
        self.counts[machine, "false"] += bool(found.faults)
        self.counts[machine, "open"] += bool(found.open)
        self.counts[machine, "slow"] += found.seconds > SLOW
        if found.is_easy:
            self.easy[machine, found.result] += 1
            self.easy[machine, "problems"] += 1
        if found.cause:
            self.causes[machine, found.cause] += 1
        for name in found.faults:
            self.kinds[machine, name] += 1
        if found.result not in ("certified", "declined"):
            self.errors[found.result] += 1
        self.seconds += found.seconds
        self.judging += found.judging

    def __str__(self):
        columns = ("problems", "certified", "declined", "not separable", "false", "open", "slow")
        lines = [f"{'machine':18}" + "".join(f"{c:>14}" for c in columns) + f"{'easy':>14}"]
        for machine in [m for m in MACHINES if self.counts[m, "problems"]]:
            line = f"{machine:18}" + "".join(f"{self.counts[machine, c]:14d}" for c in columns)
            settled = self.easy[machine, "certified"] + self.easy[machine, "not separable"]
            easy = f"{settled}/{self.easy[machine, 'problems']}"
            lines.append(line + f"{easy:>14}")
        total = [sum(v for (_, kind), v in self.counts.items() if kind == c) for c in columns]
        lines.append(f"{'all':18}" + "".join(f"{v:14d}" for v in total))
        kinds = [f"  {m} {k}: {v}" for (m, k), v in sorted(self.kinds.items())]
        errors = ", ".join(f"{k} {v}" for k, v in self.errors.most_common())
        lines += ["false claims by kind:", *kinds] if kinds else ["no false claim"]
        causes = ", ".join(f"{m} {k} {v}" for (m, k), v in sorted(self.causes.items()))
        lines.append(f"declined for: {causes or 'nothing'}")
        lines.append(f"errors: {errors or 'none'}")
        lines.append(f"fits {self.seconds:.0f} s, judging {self.judging:.0f} s")
        return "\n".join(lines)


def search(indices, seed=0, jobs=1, show=print, **kind):
    """Judge the problems of these numbers; print what is false, and return the tally."""
    tally, task = Tally(), partial(outcome, seed=seed, **kind)
    with Pool(jobs) if jobs > 1 else _Alone() as pool:
        for found in pool.imap_unordered(task, indices, chunksize=16):
            tally.add(found)
            if found.faults:
                show(f"FALSE seed={seed} {found.line}")
            elif found.is_easy and found.result == "declined":
                show(f"DECLINED seed={seed} {found.line}")
            elif found.open:
                show(f"OPEN seed={seed} {found.line}")
    return tally


class _Alone:
    """A pool of this process."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def imap_unordered(self, task, indices, **_):
        return map(task, indices)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="index of the first")
    parser.add_argument("--index", type=int, help="judge this one alone")
    parser.add_argument("--machine", choices=MACHINES, help="this machine alone")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--easy", action="store_true", default=None, help="easy problems alone")
    parser.add_argument("--rows", type=int, default=25, help="most rows of a problem")
    parser.add_argument("--quiet", action="store_true", help="only the table")
    args = parser.parse_args()
    indices = range(args.first, args.first + args.n) if args.index is None else [args.index]
    kind = {"machine": args.machine, "easy": args.easy, "most_rows": args.rows}
    show = partial(print, flush=True)
    if args.index is not None:
        show(outcome(args.index, args.seed, **kind).line)
        return
    by_line = (lambda _: None) if args.quiet else show
    tally = search(indices, args.seed, args.jobs, by_line, **kind)
    show(tally)
    sys.exit(1 if tally.kinds else 0)


if __name__ == "__main__":
    main()
