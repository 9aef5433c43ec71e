"""Every loss meets the inequality that makes a gap a proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from hedgerow.losses import LOSSES, loss_by_name

numbers = st.floats(-50, 50)
weights = st.floats(1e-3, 1e3)
losses = st.sampled_from(list(LOSSES.values()))


@given(losses, numbers, weights, st.floats(0, 1))
def test_fenchel_young_holds_for_every_margin_and_alpha(loss, margin, weight, share):
    m, c = np.array([margin]), np.array([weight])
    alpha = share * np.minimum(loss.upper(c), 100 * c)
    slack = c * loss.value(m) - (loss.gain(alpha, c) - alpha * m)
    assert slack >= -1e-9 * (1 + abs(c * loss.value(m)) + abs(alpha * m))


@given(losses, numbers, weights)
def test_fenchel_young_is_tight_at_the_loss_own_alpha(loss, margin, weight):
    m, c = np.array([margin]), np.array([weight])
    alpha = loss.alpha_at(m, c)
    assert 0 <= alpha <= loss.upper(c)
    assert_allclose(c * loss.value(m), loss.gain(alpha, c) - alpha * m, rtol=1e-9, atol=1e-9)


@given(losses, numbers, weights)
def test_alpha_is_minus_a_slope(loss, margin, weight):
    m, c, h = np.array([margin]), np.array([weight]), 1e-6
    rise = (c * loss.value(m + h) - c * loss.value(m)) / h
    fall = (c * loss.value(m) - c * loss.value(m - h)) / h
    alpha = loss.alpha_at(m, c)
    room = 1e-3 * c * (1 + abs(margin))
    assert fall - room <= -alpha <= rise + room


def test_an_unknown_loss_names_the_known_ones():
    with pytest.raises(ValueError, match="'hinge', 'squared_hinge'"):
        loss_by_name("huber")
