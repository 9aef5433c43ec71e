"""Labels as the numbers of their classes: the ways without a sort say what NumPy's says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hedgerow.data.targets import encode_labels

WHOLE = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64]


def assert_as_numpy_says(y):
    classes, codes = encode_labels(y)
    expected, expected_codes = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype == y.dtype
    assert np.array_equal(classes, expected)
    assert codes.dtype == np.int64
    assert np.array_equal(codes, expected_codes)


@given(st.sampled_from(WHOLE).flatmap(lambda kind: hnp.arrays(kind, st.integers(1, 40))))
def test_whole_numbers_anywhere(y):
    assert_as_numpy_says(y)


@given(
    st.sampled_from(WHOLE),
    hnp.arrays(np.int64, st.integers(1, 300), elements=st.integers(0, 6)),
    st.booleans(),
)
def test_few_neighbours_at_either_end_of_their_type(kind, steps, at_the_top):
    info = np.iinfo(kind)
    edge = kind(info.max - 6) if at_the_top else kind(info.min)
    assert_as_numpy_says(edge + steps.astype(kind))


def test_all_of_a_type():
    assert_as_numpy_says(np.arange(-128, 128).astype(np.int8)[::-1].repeat(2))


@pytest.mark.parametrize(
    "y", [np.array(["b", "a", "b"]), np.array([2.0, 1.0, 2.0]), np.array([True, False])]
)
def test_other_labels(y):
    assert_as_numpy_says(y)
