"""Use of a scale, its calibration curve, and linear fits by cluster."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp

from judgelab.stats.intervals.ends import heavy_ends
from judgelab.stats.trust.calibration import calibration
from judgelab.stats.trust.clustered import interval_p
from judgelab.stats.trust.linear import clustered_linear
from judgelab.stats.trust.scale_use import scale_use


def test_linear_fits_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(50), 4)
    x = np.column_stack([np.ones(200), 100 * rng.normal(size=200) + rng.normal(size=50)[group]])
    y = rng.normal(size=(2, 200)) + rng.normal(size=50)[group] + x[:, 1] * 0.01
    y[1, :9] = np.nan
    found = clustered_linear(y, x[None], group)
    for k in range(2):
        kept = ~np.isnan(y[k])
        kwds = {"groups": group[kept]}
        wanted = sm.OLS(y[k][kept], x[kept]).fit(cov_type="cluster", cov_kwds=kwds, use_t=True)
        assert found.coefficients[k] == pytest.approx(wanted.params)
        assert found.error[k] == pytest.approx(wanted.bse)
        assert found.high[k] == pytest.approx(wanted.conf_int()[:, 1], rel=0.02)
        assert (found.high[k] > wanted.conf_int()[:, 1]).all()
        without = [
            sm.OLS(y[k][kept & (group != g)], x[kept & (group != g)]).fit().params
            for g in np.unique(group[kept])
        ]
        for column in range(2):
            added = wanted.params[column] - (len(without) - 1) * (
                np.array(without)[:, column] - np.mean(without, axis=0)[column]
            )
            assert (found.low[k, column], found.high[k, column]) == pytest.approx(
                tuple(float(end) for end in heavy_ends(added))
            )
    alike = clustered_linear(y, np.stack([np.ones((1, 200)), np.full((1, 200), 3.0)], 2), group)
    assert np.isnan(alike.coefficients).all()


def _grades(items: int, seed: int):
    """Four responses an item; a generous judge of half the slope, and one that says 3."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(items), 4)
    quality = rng.normal(size=items)[group] * 0.7 + rng.normal(size=4 * items) * 0.7
    people = np.clip(np.round(3 + quality), 1, 5)
    generous = np.clip(people + rng.choice([0, 1], 4 * items, p=[0.4, 0.6]), 1, 5)
    values = np.stack([generous, np.full(4 * items, 3.0), rng.normal(size=4 * items)])
    return values, people, group


def test_a_generous_judge_a_constant_one_and_one_on_another_scale():
    values, people, group = _grades(200, 1)
    found = scale_use(values, people[:, None], people, group)
    assert found.same_scale.tolist() == [True, True, False]
    assert found.bias_low[0] > 0.3 and np.isnan(found.bias[2])
    assert found.bias[0] == pytest.approx((values[0] - people).mean() / people.std(ddof=1))
    assert found.bias_low[0] < found.bias[0] < found.bias_high[0]
    assert (found.entropy[1], found.distinct[1]) == (0, 1) and np.isnan(found.slope[1])
    assert found.entropy[0] == pytest.approx(
        -sum(p * np.log2(p) for p in np.unique(values[0], return_counts=True)[1] / 800)
    )
    assert np.isnan(found.entropy[2]) and found.distinct[2] == 800


def test_bias_and_slope_cover_the_truth_though_items_are_clusters():
    whole, people, group = _grades(20_000, 7)
    bias = (whole[0] - people).mean() / people.std()
    slope = np.polyfit(whole[0], people, 1)[0]
    hits = np.zeros(2)
    for seed in range(100):
        values, people, group = _grades(40, seed)
        found = scale_use(values[:1], people[:, None], people, group)
        hits += [
            found.bias_low[0] <= bias <= found.bias_high[0],
            found.slope_low[0] <= slope <= found.slope_high[0],
        ]
    assert (hits >= 88).all()


def test_calibration_is_the_mean_of_people_at_each_level():
    values, people, group = _grades(50, 3)
    people = np.where(np.arange(200) < 160, people, np.nan)
    rows = list(calibration(values[0], people, group, (1, 5)))
    assert sum(one.n for one in rows) == 160
    assert sum(one.share for one in rows) == pytest.approx(1)
    for one in rows:
        at = (values[0] == one.value) & ~np.isnan(people)
        assert one.people == pytest.approx(people[at].mean())
        assert one.clusters == len(set(group[at]))
        assert 1 <= one.low <= one.people <= one.high <= 5
    assert [one.n for one in calibration(values[1], people * np.nan, group, (1, 5))] == [0]
    binned = list(calibration(values[2], people, group, (1, 5), bins=8))
    assert len(binned) == 8 and [one.value for one in binned] == sorted(one.value for one in binned)
    assert max(abs(one.share - 1 / 8) for one in binned) < 0.01


def test_p_of_an_interval_is_that_of_the_t_test_it_came_from():
    x = np.random.default_rng(4).normal(0.2, 1, 30)
    found = ttest_1samp(x, 0)
    ends = found.confidence_interval()
    assert interval_p(ends.low, ends.high, 30) == pytest.approx(found.pvalue)
