"""What values a parameter may have: one rule a parameter, checked once, at the door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from hedgerow.errors import ParameterError

__all__ = [
    "HUGE",
    "LEAST",
    "Rule",
    "any_number",
    "any_of",
    "check_max_time",
    "check_parameters",
    "check_seed",
    "class_weights",
    "generator_of",
    "is_number",
    "is_whole",
    "mapping",
    "none",
    "one_of",
    "positive_number",
    "real_number",
    "repeatable_seed",
    "seed",
    "short_text",
    "shown",
    "text",
    "thread_count",
    "time_limit",
    "true_or_false",
    "verbosity",
    "whole_number",
]

HUGE = 1e100
"""The largest value, target or weight that is taken: products of three of them do not overflow."""
LEAST = HUGE**-2
"""The least factor such as C that is taken: that which goes with huge values is 1 over their square."""
LARGEST = 2**63 - 1
"""The largest integer that the core can count to."""
MOST_SHOWN = 200
"""Characters of a value that a message shows."""

Rule: TypeAlias = Callable[[Any], str | None]
"""Takes a parameter's value; returns None if it is fine, else what it must be."""


def is_number(value: object) -> bool:
    """Say whether the value is a real number that a float can be, and not a truth value."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:  # an integer beyond the largest float
        return False
    return True


def is_whole(value: object) -> bool:
    """Say whether the value is an integer, and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def check_parameters(estimator: BaseEstimator, rules: Mapping[str, Rule]) -> None:
    """Check each named parameter of the estimator by its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        expected = rule(value)
        if expected is not None:
            msg = f"{name}={shown(value)} is not allowed in {type(estimator).__name__}: it must be {expected}"
            raise ParameterError(msg)


def shown(value: Any) -> str:
    """Return a value as a message shows it, which may not be endless."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"an integer of {value.bit_length()} bits"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def real_number(
    low: float, high: float = np.inf, *, open_low: bool = False, or_infinite: bool = False
) -> Rule:
    """Allow finite real numbers from ``low`` to ``high``, and infinity if told so."""

    def rule(value: Any) -> str | None:
        number = float(value) if is_number(value) else np.nan
        if or_infinite and number == np.inf:
            return None
        if np.isfinite(number) and (number > low if open_low else number >= low) and number <= high:
            return None
        upper = "" if high == np.inf else f" and at most {high:g}"
        finite = f"a finite number {'above' if open_low else 'of at least'} {low:g}{upper}"
        return f"{finite}, or infinity" if or_infinite else finite

    return rule


def positive_number(high: float = HUGE, *, or_infinite: bool = False) -> Rule:
    """Allow positive numbers whose products with others neither overflow nor vanish."""
    positive = real_number(
        0, np.inf if high == HUGE else high, open_low=True, or_infinite=or_infinite
    )
    bounded = real_number(LEAST, high, or_infinite=or_infinite)

    def rule(value: Any) -> str | None:
        return positive(value) or bounded(value)

    return rule


def mapping(value: Any) -> str | None:
    """Allow dictionaries."""
    return None if isinstance(value, Mapping) else "a dictionary"


def any_number(value: Any) -> str | None:
    """Allow real numbers, those that are not finite too."""
    return None if is_number(value) else "a number"


def whole_number(low: int, high: int = LARGEST) -> Rule:
    """Allow integers from ``low`` to ``high``, which is the largest that the core can count to."""

    def rule(value: Any) -> str | None:
        if is_whole(value) and value >= low:
            return None if value <= high else f"an integer of at least {low} and at most {high}"
        return f"an integer of at least {low}"

    return rule


def one_of(*choices: Any) -> Rule:
    """Allow the listed values, compared by equality and type."""

    def rule(value: Any) -> str | None:
        fine = any(type(value) is type(choice) and value == choice for choice in choices)
        return None if fine else "one of " + ", ".join(repr(choice) for choice in choices)

    return rule


def true_or_false(value: Any) -> str | None:
    """Allow booleans, also NumPy's."""
    return None if isinstance(value, bool | np.bool_) else "True or False"


def class_weights(value: Any) -> str | None:
    """Allow what ``class_weight`` may be."""
    fine = value is None or isinstance(value, Mapping)
    fine = fine or (isinstance(value, str) and value == "balanced")
    return None if fine else "None, 'balanced' or a dictionary of label: weight"


def verbosity(value: Any) -> str | None:
    """Allow what ``verbose`` may be: a level, or a switch as scikit-learn has it."""
    fine = isinstance(value, bool | np.bool_) or (is_whole(value) and value >= 0)
    return None if fine else "True, False or an integer of at least 0"


def time_limit(value: Any) -> str | None:
    """Allow what ``max_time`` may be."""
    fine = value is None or (is_number(value) and value > 0)
    return None if fine else "a positive number of seconds, or None"


def check_max_time(max_time: Any) -> None:
    """Refuse what is no time limit."""
    expected = time_limit(max_time)
    if expected is not None:
        msg = f"max_time={shown(max_time)} is no time limit; give {expected}"
        raise ParameterError(msg)


def none(value: Any) -> str | None:
    """Allow None."""
    return None if value is None else "None"


def any_of(*rules: Rule) -> Rule:
    """Allow what any of the rules allows."""

    def rule(value: Any) -> str | None:
        expected = [rule(value) for rule in rules]
        return None if None in expected else " or ".join(map(str, expected))

    return rule


def text(value: Any) -> str | None:
    """Allow text."""
    return None if isinstance(value, str) else "text"


def short_text(value: Any) -> str | None:
    """Allow text that fits on a line."""
    return (
        None if isinstance(value, str) and len(value) <= 200 else "text of at most 200 characters"
    )


def thread_count(value: Any) -> str | None:
    """Allow what ``n_jobs`` may be."""
    fine = value is None or (is_whole(value) and value != 0)
    return None if fine else "a positive integer, -1 or None for all cores"


def seed(value: Any) -> str | None:
    """Allow the values of ``random_state`` that can be written down."""
    fine = value is None or (is_whole(value) and 0 <= value < 2**64)
    return None if fine else "an integer between 0 and 2**64 - 1, or None"


def check_seed(random_state: Any) -> int:
    """Return a 64-bit seed; an integer is its own seed, None draws one from NumPy's global state."""
    if is_whole(random_state):
        if not 0 <= random_state < 2**64:
            msg = f"random_state={shown(random_state)} is not between 0 and 2**64 - 1; choose another integer"
            raise ParameterError(msg)
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    try:
        generator = check_random_state(random_state)
    except ValueError:
        msg = f"random_state={random_state!r} is no seed; give an integer, a RandomState, a Generator or None"
        raise ParameterError(msg) from None
    high, low = generator.randint(0, 2**32, size=2, dtype=np.uint64)
    return (int(high) << 32) | int(low)


def repeatable_seed(random_state: Any) -> int:
    """Return a 64-bit seed; None is 0.

    For estimators that draw numbers only to deal rows out to folds or to order their steps: two fits
    to the same data agree, unless the user asks for other draws.
    """
    return check_seed(0 if random_state is None else random_state)


def generator_of(seed: int, stream: int = 0) -> np.random.Generator:
    """Return NumPy's generator over the same counter-based stream that the core draws from."""
    key = np.array([seed, stream], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=key))
