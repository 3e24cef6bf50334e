"""Noise by its definition: a loop over pairs of verdicts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from judgelab.stats.trust.noise import noise


@pytest.mark.parametrize("seed", range(3))
def test_two_verdicts_differ_as_often_as_a_loop_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (60, 5)) / 7
    values[rng.random(values.shape) < 0.4] = np.nan
    cluster, differ, apart = np.arange(60) // 3, [], []
    for own in values:
        pairs = list(combinations(own[~np.isnan(own)], 2))
        differ += [np.mean([a != b for a, b in pairs])] if pairs else []
        apart += [np.mean([abs(a - b) for a, b in pairs])] if pairs else []
    found, moved = noise(values, cluster), rng.permutation(60)
    assert (found.differ.value, found.apart.value, found.units) == pytest.approx(
        (np.mean(differ), np.mean(apart), len(differ))
    )
    assert found.differ.low < found.differ.value < found.differ.high
    other = noise(values[moved][:, rng.permutation(5)], cluster[moved])
    assert other.differ.as_dict() == pytest.approx(found.differ.as_dict())


def test_the_interval_holds_and_narrows_with_items() -> None:
    """Runs that differ with probability .2 on each text, 300 tables of 100 texts."""
    rng = np.random.default_rng(0)
    runs = np.stack([np.zeros((300, 100)), rng.random((300, 100)) < 0.2], axis=2).astype(float)
    found = [noise(one, np.arange(100)).differ for one in runs]
    assert 0.92 < np.mean([one.low <= 0.2 <= one.high for one in found]) < 0.99
    twice = [noise(np.tile(one, (2, 1)), np.arange(200)).differ for one in runs[:20]]
    assert all(b.half_width < a.half_width for a, b in zip(found, twice, strict=False))
