"""The core's parser of LIBSVM text reads numbers as Python does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import _core

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=5))
def test_numbers_are_those_of_python_to_the_last_bit(pairs):
    text = "".join(f"{label!r} 3:{value!r}\n" for label, value in pairs).encode()
    labels, values, indices, bounds, n_lines, is_whole = _core.data.parse_libsvm(text)
    assert is_whole
    assert n_lines == len(pairs)
    assert list(zip(labels.tolist(), values.tolist(), strict=True)) == pairs
    assert indices.tolist() == [3] * len(pairs)
    assert bounds.tolist() == list(range(len(pairs) + 1))


@settings(max_examples=500)
@given(st.text("0123456789+-.eE_infa", min_size=1, max_size=8))
def test_what_python_takes_for_a_finite_number_is_one(token):
    try:
        expected = float(token)
    except ValueError:
        expected = math.nan
    is_number = math.isfinite(expected) and "_" not in token
    labels, *_, is_whole = _core.data.parse_libsvm(f"{token} 1:1".encode())
    assert is_whole is is_number
    if is_number:
        assert labels.tolist() == [expected]


@pytest.mark.parametrize("digits", [1, 17, 40])
def test_long_numbers_are_rounded_as_python_rounds_them(digits):
    token = "0." + "1234567890" * digits + "e-3"
    labels, *_ = _core.data.parse_libsvm(token.encode())
    assert labels.tolist() == [float(token)]
