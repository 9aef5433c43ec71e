"""Every loss meets the inequality that makes a gap a proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hedgerow.losses import LOSSES, REGRESSION_LOSSES, loss_by_name, regression_loss

numbers = st.floats(-50, 50)
weights = st.floats(1e-3, 1e3)
epsilons = st.floats(0, 5)
losses = st.one_of(
    st.sampled_from(list(LOSSES.values())),
    st.builds(
        regression_loss,
        st.sampled_from(list(REGRESSION_LOSSES)),
        epsilons,
    ),
)


@given(losses, numbers, weights, st.floats(0, 1))
def test_fenchel_young_holds_for_every_residual_and_alpha(loss, residual, weight, share):
    r, c = np.array([residual]), np.array([weight])
    low, high = np.maximum(loss.lower(c), -100 * c), np.minimum(loss.upper(c), 100 * c)
    alpha = low + share * (high - low)
    slack = c * loss.value(r) + loss.conjugate(alpha, c) - alpha * r
    assert slack >= -1e-9 * (1 + abs(c * loss.value(r)) + abs(alpha * r))


@given(losses, numbers, weights)
def test_fenchel_young_is_tight_at_the_loss_own_alpha(loss, residual, weight):
    r, c = np.array([residual]), np.array([weight])
    alpha = loss.alpha_at(r, c)
    assert loss.lower(c) <= alpha <= loss.upper(c)
    tight = alpha * r - loss.conjugate(alpha, c)
    assert_allclose(c * loss.value(r), tight, rtol=1e-9, atol=1e-9 * (1 + weight))


@given(losses, numbers, weights)
def test_alpha_is_a_slope(loss, residual, weight):
    r, c, h = np.array([residual]), np.array([weight]), 1e-6
    rise = (c * loss.value(r + h) - c * loss.value(r)) / h
    fall = (c * loss.value(r) - c * loss.value(r - h)) / h
    alpha = loss.alpha_at(r, c)
    room = 1e-3 * c * (1 + abs(residual))
    assert fall - room <= alpha <= rise + room


def test_the_logistic_loss_is_exact_far_out():
    loss, c = LOSSES["logistic"], np.ones(2)
    far = np.array([-700.0, 700.0])
    assert_allclose(loss.value(far), [np.exp(-700.0), 700.0], rtol=1e-15)
    assert_allclose(loss.alpha_at(far, c), [np.exp(-700.0), 1.0], rtol=1e-15)
    assert_allclose(loss.second_derivative(far, c), np.exp(-700.0), rtol=1e-15)


def test_an_unknown_loss_names_the_known_ones():
    with pytest.raises(ValueError, match="'hinge', 'squared_hinge', 'logistic'"):
        loss_by_name("huber")
    with pytest.raises(ValueError, match="'epsilon_insensitive', 'squared_epsilon_insensitive'"):
        regression_loss("huber", 0.1)
