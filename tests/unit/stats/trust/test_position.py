"""Position bias: golden values of real judges, known truth, and ties that look like a bias."""

from __future__ import annotations

import numpy as np
import pytest

from judgelab.stats.intervals.ends import t_ends
from judgelab.stats.trust.position import first_shown, position_bias
from tests.judgment_tables import llmbar, made_pairs


def _of(table):
    return position_bias(table.verdicts, table.asked, table.clusters)


def _student(table, at):
    return tuple(float(end) for end in t_ends(first_shown(table.verdicts)[at]))


def test_real_judges_have_the_published_bias() -> None:
    table = llmbar()
    found = _of(table)
    at = table.names.index("Falcon/CoT")
    assert found.share[at] == pytest.approx(0.93)
    assert _student(table, at) == pytest.approx((0.895, 0.965), abs=5e-4)
    assert (found.low[at], found.high[at]) == pytest.approx((0.888, 0.965), abs=5e-4)
    assert (found.flips[at], found.to_first[at]) == (86, 86)
    at = table.names.index("GPT-4/Metrics_Reference")
    assert found.share[at] == pytest.approx(0.51)
    assert _student(table, at) == pytest.approx((0.490, 0.530), abs=5e-4)
    assert (found.low[at], found.high[at]) == pytest.approx((0.490, 0.534), abs=5e-4)


def test_ties_of_a_judge_of_single_texts_are_no_bias() -> None:
    table = llmbar()
    found = _of(table)
    at = table.names.index("ChatGPT/Rating")
    assert (found.flips[at], found.to_first[at]) == (47, 0)
    pointwise = np.array([one.pointwise for one in table.judges])
    assert found.one_way[at] and pointwise[at] and (found.to_first[pointwise] == 0).all()
    assert table.values[at][first_shown(table.verdicts)[at] == 0] == pytest.approx(0.5)


def test_a_judge_that_takes_the_first_text_is_found_and_a_fair_one_is_not():
    fair = _of(made_pairs(200, (0.8,) * 400, first=0.0))
    assert 0.92 < ((fair.low <= 0.5) & (fair.high >= 0.5)).mean() < 0.98
    found = _of(made_pairs(400, (0.8,), first=0.4))
    assert found.low[0] < 0.7 < found.high[0]  # .4 + .6 * .5
    always = _of(made_pairs(50, (0.8,), first=1.0))
    assert always.share[0] == 1 and 0.85 < always.low[0] < 1 and always.high[0] == 1


def test_a_missing_verdict_leaves_its_unit_out_and_is_counted():
    table = made_pairs(40, (0.7,))
    table.verdicts[0, 3, 1] = np.nan
    found = _of(table)
    assert (found.clusters[0], found.unscored[0]) == (39, 1)


def test_units_of_one_item_are_one_cluster():
    table = made_pairs(60, (0.7,), first=0.3, seed=2)
    twice = np.concatenate([table.verdicts, table.verdicts], axis=1)
    asked = np.ones(twice.shape, np.bool_)
    cluster = np.tile(np.arange(60), 2)
    found = position_bias(twice, asked, cluster)
    alone = _of(table)
    assert (found.low[0], found.high[0]) == pytest.approx((alone.low[0], alone.high[0]))
    assert found.clusters[0] == 60


def test_the_interval_of_a_few_flips_that_go_one_way_holds():
    """As of LLMBar's GPT-4/Vanilla_1shot: 8 flips in 100, all to the second text."""
    rng = np.random.default_rng(0)
    second = rng.random((1000, 50)) < 0.08
    verdicts = np.where(second[..., None], [0.0, 1.0], 1.0)
    asked = np.ones(verdicts.shape, bool)
    found = position_bias(verdicts, asked, np.arange(50))
    held = ((found.low <= 0.46) & (found.high >= 0.46)).mean()
    assert 0.93 <= held <= 0.985
