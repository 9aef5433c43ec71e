"""Laws of the algebra of kernels, for any kernels and any rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hedgerow._base.state import dump_state, load_state
from hedgerow.kernels import (
    RBF,
    ChiSquared,
    Cosine,
    HistogramIntersection,
    Laplacian,
    Linear,
    Polynomial,
    Wavelet,
)
from hedgerow.testing import check_kernel

FACTORS = st.floats(0.01, 10.0)
SIMPLE = st.one_of(
    st.just(Linear()),
    st.just(Cosine()),
    st.just(HistogramIntersection()),
    st.builds(RBF, gamma=FACTORS),
    st.builds(RBF, sigma=FACTORS),
    st.builds(Laplacian, gamma=st.one_of(FACTORS, st.sampled_from(["scale", "auto"]))),
    st.builds(ChiSquared, gamma=FACTORS),
    st.builds(Wavelet, dilation=FACTORS),
    st.builds(Polynomial, degree=st.integers(1, 3), coef0=FACTORS, gamma=FACTORS),
)


def combined(kernels):
    pairs = st.tuples(kernels, kernels)
    return st.one_of(
        pairs.map(lambda pair: pair[0] + pair[1]),
        pairs.map(lambda pair: pair[0] * pair[1]),
        st.tuples(FACTORS, kernels).map(lambda pair: pair[0] * pair[1]),
    )


KERNELS = st.recursive(SIMPLE, combined, max_leaves=4)


@st.composite
def tables(draw):
    """Rows with zeros, ties and a row that repeats; none of them negative."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(3, 12)), draw(st.integers(1, 5))
    X = rng.uniform(0.0, 2.0, size=(n, d)).round(draw(st.integers(0, 3)))
    X[-1] = X[0]
    return sp.csr_array(X) if draw(st.booleans()) else X


def close(a, b):
    """Sums and products of a few numbers, each computed in the same way: rounding alone."""
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max())


@settings(deadline=None)
@given(SIMPLE, SIMPLE, FACTORS, tables())
def test_sums_products_and_multiples_are_those_of_the_values(k1, k2, factor, X):
    k1, k2 = k1.resolved(X), k2.resolved(X)
    close((k1 + k2)(X), k1(X) + k2(X))
    close((k1 * k2)(X), k1(X) * k2(X))
    close((factor * k1)(X), factor * k1(X))
    close((k1 + k2)(X), (k2 + k1)(X))
    close((factor * (k1 + k2))(X), (factor * k1 + factor * k2)(X))
    close((k1 * (k1 + k2))(X), (k1 * k1 + k1 * k2)(X))


@settings(deadline=None)
@given(KERNELS, tables())
def test_whatever_is_built_of_kernels_is_a_kernel(kernel, X):
    check_kernel(kernel, X)


@settings(deadline=None)
@given(KERNELS)
def test_a_kernel_survives_cloning_and_storage(kernel):
    state, arrays = dump_state(kernel)
    assert load_state(state, arrays) == kernel == clone(kernel)
