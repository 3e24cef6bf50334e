"""A critic's rates bound the total variation between the two laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from judgelab.stats.discrimination.binary import acceptance_rate, critic_information
from judgelab.stats.discrimination.information import youden_j

Array = NDArray[np.float64]
UNIT = st.floats(0, 1)


@given(arrays(np.float64, (3, 6), elements=st.floats(0.001, 1)), st.booleans())
def test_no_critic_exceeds_total_variation(rows: Array, graded: bool) -> None:
    p, q = rows[0] / rows[0].sum(), rows[1] / rows[1].sum()
    critic = rows[2] if graded else (rows[2] > 0.5).astype(float)
    variation = float(np.abs(p - q).sum() / 2)
    assert critic_information(p @ critic, q @ critic) <= variation + 1e-12
    best = (p > q).astype(float)
    assert critic_information(p @ best, q @ best) == pytest.approx(variation)


def test_a_test_on_many_pairs_overstates_the_variation_of_one() -> None:
    """Why equation 3 of the paper needs N = 1: P = (.7, .3), Q = (.3, .7), majority of three."""
    single = 0.4
    accept_p = 0.7**3 + 3 * 0.7**2 * 0.3
    accept_q = 0.3**3 + 3 * 0.3**2 * 0.7
    assert critic_information(accept_p, accept_q) > single


@given(UNIT, UNIT)
def test_it_is_youdens_j(tpr: float, fpr: float) -> None:
    assert float(critic_information(tpr, fpr)) == pytest.approx(youden_j(tpr, 1 - fpr), abs=1e-12)


def test_unscored_stays_unscored_and_negative_stays_negative() -> None:
    found = critic_information([0.9, math.nan, 0.1], [[0.2, 0.2, 0.5]])
    assert found[0].tolist() == pytest.approx([0.7, math.nan, -0.4], nan_ok=True)


def test_acceptance_rate_leaves_out_what_was_not_answered() -> None:
    verdicts = [[1.0, 0.25, math.nan, 0.0], [math.nan] * 4]
    found = acceptance_rate(verdicts)
    assert found[0] == pytest.approx(1.25 / 3) and math.isnan(found[1])
    assert acceptance_rate(np.empty((2, 0))) == pytest.approx([math.nan] * 2, nan_ok=True)


def test_rates_outside_the_unit_interval_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        critic_information([1.5, math.nan], 0.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        acceptance_rate([-1.0])
    with pytest.raises(ValueError, match="axis"):
        acceptance_rate(0.5)
