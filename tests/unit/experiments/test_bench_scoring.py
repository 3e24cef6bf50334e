"""What the benchmark of scoring holds its ratios against."""

from __future__ import annotations

import pytest

from experiments.bench.scoring import JOBS, law


def test_law_is_the_ratio_of_tokens() -> None:
    assert law(JOBS["long"]) == pytest.approx(32 * (1024 + 64) / (1024 + 32 * 64))
    assert law(JOBS["paper"]) == pytest.approx(21.67, abs=0.01)
    assert law(JOBS["gem"]) == pytest.approx((30 * 400 + 870 * 500) / (300 + 3_000 + 900 * 100))
