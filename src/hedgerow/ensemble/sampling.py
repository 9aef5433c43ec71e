"""Which rows each member of an ensemble learns from.

Nothing is kept of a sample but how to draw it again: a number for every row and member would take more
memory than the members. Rows of one group are one unit, drawn or left out together; units are drawn
from pools, each as often as its sampler says. A plain bootstrap has one pool, a balanced one has a
pool per class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow import _core
from hedgerow._base.parameters import true_or_false, whole_number
from hedgerow._base.state import record
from hedgerow._base.state.rules import truths, whole_numbers
from hedgerow.errors import UnavailableError

__all__ = [
    "Counts",
    "RowSampler",
    "all_rows_sampler",
    "bootstrap_sampler",
    "class_sampler",
    "known_sampler",
    "member_seeds",
]

Counts: TypeAlias = NDArray[np.uint32]
Indices: TypeAlias = NDArray[np.int64]

MOST_ROWS = 2**40
"""More rows than any machine holds: a file that says so says it to take all memory."""

MOST_OF_ONE = 1000
"""So many times the units of a pool may be drawn from it, on average."""

NEVER = -1
"""The pool of units that are never drawn: rows without weight."""


def member_seeds(seed: int, member: int) -> tuple[int, int]:
    """Return two seeds of a member: of its fit, which fits scikit-learn's 32 bits, and of its sample."""
    fit, sample = _core.system.random_uint64(seed, member, 2)
    return int(fit) >> 32, int(sample)


@record(
    seed=whole_number(0, 2**64 - 1),
    n_rows=whole_number(1),
    n_draws=whole_numbers("pools"),
    with_replacement=truths("pools"),
    pool_of_unit=whole_numbers("listed_units", low=NEVER),
    unit_of_row=whole_numbers("grouped_rows"),
    group_of_row=whole_numbers("crossing_rows"),
    n_redrawn=whole_number(0),
    leaves_rows_out=true_or_false,
    tree_numbers=whole_numbers("chosen_trees"),
)
@dataclass(frozen=True, eq=False)
class RowSampler:
    """Draws, for every member by its number, how often each row is in its sample.

    Attributes
    ----------
    seed : int
        The ensemble's.
    n_rows : int
        Rows there are.
    n_draws : ndarray of int64 of shape (n_pools,)
        How many units are drawn from each pool.
    with_replacement : ndarray of bool of shape (n_pools,)
        Whether a unit may be drawn more than once.
    pool_of_unit : ndarray of int64
        The pool of every unit, -1 for those that are never drawn; empty if all are in one pool.
    unit_of_row : ndarray of int64
        The unit of every row; empty if each row is one.
    group_of_row : ndarray of int64
        Given where a group has rows in several units: a row is out of the bag only if its whole
        group is. Empty elsewhere.
    n_redrawn : int
        How many are then drawn, with replacement, from those drawn so far; 0 if that is all.
    leaves_rows_out : bool
        Whether a row can be missing from a sample.
    tree_numbers : ndarray of int64
        Which of all samples that can be drawn belongs to each member, if the members are some of those
        that were fitted, in any order; empty if they are the first ones.
    """

    seed: int
    n_rows: int
    n_draws: Indices
    with_replacement: NDArray[np.bool_]
    pool_of_unit: Indices
    unit_of_row: Indices
    group_of_row: Indices
    n_redrawn: int
    leaves_rows_out: bool
    tree_numbers: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def number_of(self, member: int) -> int:
        """Return which of all samples belongs to a member."""
        return int(self.tree_numbers[member]) if len(self.tree_numbers) else member

    def fit_seed(self, member: int) -> int:
        """Return the seed that a member is fitted with."""
        return member_seeds(self.seed, self.number_of(member))[0]

    def for_members(self, numbers: Sequence[int]) -> RowSampler:
        """Return the sampler of an ensemble whose members have the samples of these numbers."""
        chosen = np.array(numbers, dtype=np.int64)
        is_beginning = np.array_equal(chosen, np.arange(len(chosen)))
        return replace(self, tree_numbers=chosen[:0] if is_beginning else chosen)

    def _state_problem(self) -> str | None:
        """Say why samples could not be drawn again."""
        if self.n_rows > MOST_ROWS:
            return f"it has more than {MOST_ROWS} rows"
        for name in ("unit_of_row", "group_of_row"):
            numbers = getattr(self, name)
            if len(numbers) not in (0, self.n_rows) or numbers.max(initial=0) >= self.n_rows:
                return f"{name} has not one number below {self.n_rows} for each row"
        if len(self.unit_of_row) and self.unit_of_row.max() >= self.n_units:
            return "a row is in a unit that is not there"
        if not len(self.unit_of_row) and self.n_units != self.n_rows:
            return f"it has {self.n_units} units for {self.n_rows} rows"
        return self._problem_of_pools()

    def _problem_of_pools(self) -> str | None:
        """Say why units could not be drawn from their pools."""
        pools = self.pool_of_unit
        if len(pools) and pools.max() >= len(self.n_draws):
            return "a unit is in a pool that is not there"
        if not len(pools) and len(self.n_draws) != 1:
            return f"all units are in one pool, and there are {len(self.n_draws)}"
        drawable = pools[pools != NEVER] if len(pools) else None
        sizes = (
            np.array([self.n_units])
            if drawable is None
            else np.bincount(drawable, minlength=len(self.n_draws))
        )
        most = sizes * np.where(self.with_replacement, MOST_OF_ONE, 1)
        if np.any(self.n_draws > most):
            return "more units are drawn from a pool than it has"
        if self.n_redrawn > MOST_OF_ONE * self.n_draws.sum():
            return "more units are drawn again than were drawn"
        return None

    @cached_property
    def n_units(self) -> int:
        """How many units there are."""
        if len(self.pool_of_unit):
            return len(self.pool_of_unit)
        return int(self.unit_of_row.max()) + 1 if len(self.unit_of_row) else self.n_rows

    def counts(self, member: int) -> Counts | None:
        """Return how often each row is in the sample of a member; None if each is there once."""
        if not self.leaves_rows_out:
            return None
        with self._within_memory():
            return self._counts(member)

    def _counts(self, member: int) -> Counts:
        _, seed = member_seeds(self.seed, self.number_of(member))
        units = self._drawn(seed)
        if self.n_redrawn:
            rows = np.repeat(np.arange(len(units)), units)
            again = _core.system.random_below(seed, len(self.n_draws), len(rows), self.n_redrawn)
            units = np.bincount(rows[again], minlength=len(units)).astype(np.uint32)
        return units[self.unit_of_row] if len(self.unit_of_row) else units

    def in_bag(self, counts: Counts) -> Counts:
        """Return counts that are 0 for the rows of groups of which no row was drawn."""
        if not len(self.group_of_row):
            return counts
        drawn = np.bincount(self.group_of_row, counts)
        return drawn.astype(np.uint32)[self.group_of_row]

    def rows(self, member: int) -> NDArray[Any]:
        """Return the rows in the sample of a member, each as often as it is there."""
        counts = self.counts(member)
        with self._within_memory():
            every = np.arange(self.n_rows, dtype=np.int32 if self.n_rows < 2**31 else np.int64)
            return every if counts is None else np.repeat(every, counts)

    @contextmanager
    def _within_memory(self) -> Iterator[None]:
        """Say that samples cannot be drawn where memory runs out."""
        try:
            yield
        except MemoryError as error:
            msg = (
                f"a sample of {self.n_rows} rows does not fit into memory; free some, and try again"
            )
            raise UnavailableError(msg) from error

    def _drawn(self, seed: int) -> Counts:
        """Return how often each unit is drawn from its pool."""
        if not len(self.pool_of_unit):
            return _draw(
                seed, 0, self.n_units, int(self.n_draws[0]), bool(self.with_replacement[0])
            )
        units = np.zeros(self.n_units, dtype=np.uint32)
        for pool, members in enumerate(self._members):
            n, again = int(self.n_draws[pool]), bool(self.with_replacement[pool])
            units[members] = _draw(seed, pool, len(members), n, again)
        return units

    @cached_property
    def _members(self) -> list[Indices]:
        return [np.flatnonzero(self.pool_of_unit == pool) for pool in range(len(self.n_draws))]


def known_sampler(ensemble: Any, asked: str) -> RowSampler:
    """Return what draws the samples of the members; refuse what was asked if that is not known."""
    sampler: RowSampler | None = vars(ensemble).get("sampler_")
    if sampler is None:
        msg = (
            f"{asked} is not available: estimators_ was replaced, so the rows that its members were fitted "
            "on are not known; use the model as its fit left it"
        )
        raise UnavailableError(msg)
    return sampler


def _draw(seed: int, pool: int, size: int, n: int, again: bool) -> Counts:
    """Return how often each of the units of a pool is drawn."""
    counts: Counts = np.zeros(size, dtype=np.uint32)
    if again and n == size:
        counts[:] = _core.resample.multinomial_counts(seed, pool, size, 1)[0]
        return counts
    if again:
        counts[:] = np.bincount(_core.system.random_below(seed, pool, size, n), minlength=size)
        return counts
    counts[slice(None) if n == size else _core.system.random_permutation(seed, pool, size)[:n]] = 1
    return counts


def all_rows_sampler(seed: int, n_rows: int) -> RowSampler:
    """Return the sampler that takes every row once."""
    return _sampler(seed, n_rows, [n_rows], [False], leaves_rows_out=False)


def bootstrap_sampler(
    seed: int,
    weights: NDArray[np.float64],
    groups: Indices | None,
    max_samples: float | None,
) -> RowSampler:
    """Return the sampler of bootstraps: rows of positive weight, or groups of them.

    As many units are drawn as there are; ``max_samples`` is another number, or a share of them.
    """
    is_there = weights > 0
    units, unit_of_row = _units(groups, is_there)
    pool_of_unit = np.where(units, 0, NEVER)
    n_units = int(np.count_nonzero(units))
    return _sampler(
        seed,
        len(weights),
        [n_of(max_samples, n_units)],
        [True],
        pool_of_unit=None if units.all() else pool_of_unit,
        unit_of_row=unit_of_row,
    )


def n_of(max_samples: float | None, n_units: int) -> int:
    """Return how many units are drawn of so many."""
    if max_samples is None:
        return n_units
    if isinstance(max_samples, int | np.integer):
        return int(max_samples)
    return max(int(max_samples * n_units), 1)


def class_sampler(
    seed: int,
    codes: Indices,
    weights: NDArray[np.float64],
    groups: Indices | None,
    *,
    draws: Sequence[tuple[int, bool]],
    n_redrawn: int,
) -> RowSampler:
    """Return the sampler that draws so many units of each class, with or without replacement.

    A unit is a row or, where there are groups, the rows of one group that are of one class.
    """
    is_there = weights > 0
    if groups is None:
        pool_of_unit = np.where(is_there, codes, NEVER)
        unit_of_row, crossing = None, None
    else:
        pieces, unit_of_row = np.unique(
            np.stack([groups, codes], axis=1), axis=0, return_inverse=True
        )
        unit_of_row = unit_of_row.reshape(-1).astype(np.int64)
        has_weight = np.bincount(unit_of_row, is_there, minlength=len(pieces)) > 0
        pool_of_unit = np.where(has_weight, pieces[:, 1], NEVER)
        crossing = groups if len(np.unique(pieces[:, 0])) < len(pieces) else None
    return _sampler(
        seed,
        len(codes),
        [n for n, _ in draws],
        [again for _, again in draws],
        pool_of_unit=pool_of_unit,
        unit_of_row=unit_of_row,
        group_of_row=crossing,
        n_redrawn=n_redrawn,
    )


def _units(
    groups: Indices | None, is_there: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], Indices | None]:
    """Return which units have a row that is there, and the unit of each row if it is not its own."""
    if groups is None:
        return is_there, None
    return np.bincount(groups, is_there) > 0, groups


def _sampler(
    seed: int,
    n_rows: int,
    n_draws: Sequence[int],
    with_replacement: Sequence[bool],
    *,
    pool_of_unit: Any = None,
    unit_of_row: Any = None,
    group_of_row: Any = None,
    n_redrawn: int = 0,
    leaves_rows_out: bool = True,
) -> RowSampler:
    """Return a sampler; what is not given is empty."""
    empty = np.empty(0, dtype=np.int64)
    return RowSampler(
        seed=seed,
        n_rows=n_rows,
        n_draws=np.array(n_draws, dtype=np.int64),
        with_replacement=np.array(with_replacement, dtype=bool),
        pool_of_unit=empty if pool_of_unit is None else pool_of_unit,
        unit_of_row=empty if unit_of_row is None else unit_of_row,
        group_of_row=empty if group_of_row is None else group_of_row,
        n_redrawn=n_redrawn,
        leaves_rows_out=leaves_rows_out,
    )
