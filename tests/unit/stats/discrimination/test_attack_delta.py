"""Attack deltas: values, pairing of the resamples, and what counts as unscored."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from judgelab.stats.discrimination.effect_size import (
    auc_delta,
    effect_size,
    effect_size_delta,
    paired_effect_size,
    score_delta,
)

Array = NDArray[np.float64]
CELLS = st.one_of(st.floats(-10, 10, allow_subnormal=False), st.just(math.nan))


@given(
    st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=CELLS), arrays(np.float64, shape, elements=CELLS)
        )
    )
)
def test_score_delta_counts_agents_scored_on_both_sides(tables: tuple[Array, Array]) -> None:
    clean, attacked = tables
    found = score_delta(clean, attacked, draws=20)
    changes = []
    for before, after in zip(clean, attacked, strict=True):
        row = (after - before)[~np.isnan(after - before)]
        if row.size:
            changes.append(row.mean())
    assert (found.n, found.unscored) == (len(changes), len(clean) - len(changes))
    expected = np.mean(changes) if changes else math.nan
    assert found.value == pytest.approx(expected, abs=1e-9, nan_ok=True)
    back = score_delta(attacked, clean, draws=20)
    assert back.value == pytest.approx(-found.value, abs=1e-9, nan_ok=True)
    assert back.p == pytest.approx(found.p, nan_ok=True)


def test_a_failed_call_is_not_an_effect() -> None:
    clean = np.tile(np.linspace(0, 1, 5), (30, 1)) + np.arange(30)[:, None]
    attacked = clean.copy()
    attacked[:10, 3:] = np.nan
    attacked[10:15] = np.nan
    found = score_delta(clean, attacked)
    assert (found.value, found.n, found.unscored, found.p) == (0, 25, 5, 1)
    assert math.isnan(found.low), "25 items without a change do not bound that of others"
    assert score_delta(clean, attacked, interval="percentile").high == 0


def test_score_delta_interval_comes_from_the_differences() -> None:
    generator = np.random.default_rng(0)
    level = generator.normal(0, 50, size=(120, 1))
    clean = level + generator.normal(size=(120, 8))
    attacked = clean - 0.5 + generator.normal(0, 0.1, size=(120, 8))
    found = score_delta(clean, attacked)
    assert found.low < -0.5 < found.high or found.value == pytest.approx(-0.5, abs=0.01)
    assert found.half_width < 0.01, "item levels cancel"
    assert found.p < 0.001


def test_effect_size_delta_is_paired() -> None:
    generator = np.random.default_rng(3)
    clean = generator.normal(2, 1, size=150)
    attacked = clean * 0.5 + generator.normal(0, 0.05, size=150)
    clean[:4], attacked[2:9] = np.nan, np.nan
    found = effect_size_delta(clean, attacked)
    shared = ~(np.isnan(clean) | np.isnan(attacked))
    assert found.value == effect_size(attacked[shared]) - effect_size(clean[shared])
    assert (found.n, found.unscored) == (141, 9)
    apart = paired_effect_size(clean[shared]).half_width
    assert found.half_width < apart / 2, "shared resamples cancel what both sides share"
    assert found.low < found.value < found.high


@given(
    arrays(np.float64, st.integers(3, 20), elements=st.floats(-10, 10), unique=True),
    st.floats(0.1, 10),
)
def test_a_change_of_scale_is_no_change_of_effect_size(clean: Array, scale: float) -> None:
    found = effect_size_delta(clean, clean * scale, draws=50)
    if not math.isnan(found.value):
        tolerance = 1e-6 * (1 + abs(effect_size(clean)))
        assert found.value == pytest.approx(0, abs=tolerance)
    same = effect_size_delta(clean, clean, draws=50)
    if not math.isnan(same.value):
        assert same.value == 0 and not same.p < 1 and math.isnan(same.low)


def test_effect_size_delta_finds_a_collapse() -> None:
    generator = np.random.default_rng(8)
    clean = generator.normal(2, 1, size=200)
    found = effect_size_delta(clean, generator.normal(0, 1, size=200))
    assert found.high < -1 and found.p < 1e-6


def test_no_spread_on_one_side_is_undefined() -> None:
    found = effect_size_delta([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert all(math.isnan(v) for v in (found.value, found.low, found.high, found.p))
    assert (found.n, found.unscored) == (3, 0)


def test_auc_delta_uses_items_that_have_both() -> None:
    clean = np.array([0.9, 0.8, np.nan, 0.7, 0.9])
    attacked = np.array([0.5, 0.6, 0.1, np.nan, 0.7])
    found = auc_delta(clean, attacked)
    assert found.value == pytest.approx(-0.8 / 3)
    assert (found.n, found.unscored) == (3, 2)
    assert -1 <= found.low <= -0.4 and -0.2 <= found.high <= 0.05
    spread = auc_delta(clean, attacked, interval="percentile")
    assert -0.4 <= spread.low <= spread.high <= -0.2


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="one shape"):
        score_delta(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="1 dimension"):
        auc_delta(np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="infinite"):
        effect_size_delta([1.0, math.inf], [1.0, 2.0])


def test_p_of_the_effect_size_delta_keeps_its_level_on_few_items() -> None:
    rng = np.random.default_rng(5)
    for n in (3, 5, 12):
        ps = [effect_size_delta(*rng.normal(1, 1, (2, n))).p for _ in range(300)]
        assert np.mean(np.array(ps) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_p_of_the_effect_size_delta_finds_a_large_change() -> None:
    rng = np.random.default_rng(6)
    clean = rng.normal(3, 1, 40)
    for kind in ("items", "percentile"):
        assert effect_size_delta(clean, clean - 3, 500, 0, kind).p < 0.01  # type: ignore[arg-type]
        assert effect_size_delta(clean, clean, 500, 0, kind).p == 1  # type: ignore[arg-type]
