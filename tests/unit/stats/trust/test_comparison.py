"""Two judges on the same items, against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from judgelab.stats.trust.comparison import holm, judge_pairs, paired_p

RNG = np.random.default_rng(5)


def test_right_or_wrong_is_mcnemar_s_exact_test() -> None:
    credits = (RNG.random((4, 60)) < np.array([0.9, 0.7, 0.72, 0.5])[:, None]).astype(float)
    found = judge_pairs(credits, np.arange(60))
    for a, b, p in zip(found.one, found.other, found.p, strict=True):
        table = [[np.sum((credits[a] == x) & (credits[b] == y)) for y in (0, 1)] for x in (0, 1)]
        assert p == pytest.approx(mcnemar(np.array(table), exact=True).pvalue)
    assert found.exact.all()
    np.testing.assert_allclose(found.holm, multipletests(found.p, method="holm")[1])
    np.testing.assert_allclose(
        found.difference, credits[found.one].mean(1) - credits[found.other].mean(1)
    )


def test_half_credits_are_a_paired_t_and_items_of_one_cluster_count_once() -> None:
    credits = RNG.choice([0.0, 0.5, 1.0], (2, 50))
    found = judge_pairs(credits, np.arange(50))
    assert not found.exact.any()
    assert found.p[0] == pytest.approx(ttest_rel(credits[0], credits[1]).pvalue)
    twice, cluster = np.repeat(credits, 2, axis=1), np.repeat(np.arange(50), 2)
    again = judge_pairs(twice, cluster)
    assert again.p[0] == pytest.approx(found.p[0])
    assert again.low[0] == pytest.approx(found.low[0]) and again.n[0] == 100
    assert judge_pairs(twice, np.arange(100)).p[0] < found.p[0]


def test_items_of_one_judge_alone_do_not_count_and_equal_judges_do_not_differ() -> None:
    credits = np.array([[1, 0.5, np.nan, 0, 1], [1, 0.5, 1, 0, np.nan]])
    found = judge_pairs(credits, np.arange(5))
    assert found.n[0] == 3 and found.difference[0] == 0 and found.p[0] == 1
    assert np.isnan(paired_p(np.array([0.5, -0.5, np.nan]), np.arange(3)))
    np.testing.assert_allclose(holm([0.04, np.nan, 0.03]), [0.06, np.nan, 0.06])
