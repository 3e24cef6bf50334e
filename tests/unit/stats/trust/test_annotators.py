"""The alternative annotator test against its paper's steps, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from judgelab.stats.trust.annotators import (
    advantages,
    alternative_annotator,
    benjamini_yekutieli,
)
from tests.judgment_tables import made_raters


def by_steps(
    judge: np.ndarray, labels: np.ndarray, epsilon: float, grades: bool
) -> tuple[list[float], list[float]]:
    """Advantages and p values of section 3, by loops over raters and units."""

    def close(x: float, others: np.ndarray) -> float:
        if grades:
            return -float(np.sqrt(np.mean((x - others) ** 2)))
        return float(np.mean(others == x))

    rho, p = [], []
    for j in range(labels.shape[1]):
        ahead, d = [], []
        for i in range(len(labels)):
            others = np.delete(labels[i], j)
            others = others[~np.isnan(others)]
            if np.isnan(labels[i, j]) or not len(others):
                continue
            of_judge, of_rater = close(judge[i], others), close(labels[i, j], others)
            ahead.append(of_judge >= of_rater - 1e-9)
            d.append(int(of_rater >= of_judge - 1e-9) - int(ahead[-1]))
        rho.append(float(np.mean(ahead)))
        p.append(float(ttest_1samp(d, epsilon, alternative="less").pvalue))
    return rho, p


@pytest.mark.parametrize("grades", [False, True])
def test_the_steps_of_the_paper(grades: bool) -> None:
    table = made_raters(100, judges=(0.9, 0.6))
    labels = table.labels.copy()
    if grades:
        labels += np.random.default_rng(0).integers(0, 3, labels.shape)
    labels[:30, 2] = np.nan
    found = advantages(table.verdicts, table.asked, labels, grades)
    test = alternative_annotator(found, np.arange(100), 0.15)
    for k in range(2):
        rho, p = by_steps(table.verdicts[k, :, 0], labels, 0.15, grades)
        np.testing.assert_allclose(test.advantage[k], rho)
        np.testing.assert_allclose(test.p[k], p)
        rejected = multipletests(p, 0.05, method="fdr_by")[0]
        assert (test.rejected[k] == rejected).all() and test.omega[k] == rejected.mean()
        assert test.average[k] == pytest.approx(np.mean(rho))
        assert test.low[k] < test.average[k] < test.high[k]


def test_the_majority_is_always_as_close_and_the_rater_itself_ties() -> None:
    labels = made_raters(80).labels
    majority = (labels.mean(axis=1) > 0.5).astype(float)
    said = np.stack([majority, labels[:, 0]])[:, :, None]
    found = advantages(said, np.ones(said.shape, bool), labels, False)
    test = alternative_annotator(found, np.arange(80), 0.1)
    np.testing.assert_allclose(test.advantage[0], 1)
    assert (test.difference[1, 0], test.p[1, 0]) == (0, 0)
    assert alternative_annotator(found, np.arange(80), 0.0).p[1, 0] == 1


def test_one_expert_stands_for_all_others_and_is_not_tested() -> None:
    table = made_raters(100, judges=(0.9,))
    test = alternative_annotator(
        advantages(table.verdicts, table.asked, table.labels, False, expert=0), np.arange(100), 0.15
    )
    right = table.labels[:, 1:] == table.labels[:, :1]
    judge = table.verdicts[0, :, :1] == table.labels[:, :1]
    np.testing.assert_allclose(test.advantage[0], [np.nan, *(judge >= right).mean(axis=0)])
    assert np.isnan(test.p[0, 0]) and test.n[0, 0] == 0


def test_two_aspects_of_a_text_count_once_and_few_items_give_no_answer() -> None:
    table = made_raters(60, judges=(0.9,))
    twice = [np.repeat(x, 2, axis=1) for x in (table.verdicts, table.asked)]
    labels = np.repeat(table.labels, 2, axis=0)
    once = alternative_annotator(
        advantages(table.verdicts, table.asked, table.labels, False), np.arange(60), 0.15
    )
    found = advantages(*twice, labels, False)
    np.testing.assert_allclose(
        alternative_annotator(found, np.repeat(np.arange(60), 2), 0.15).p, once.p
    )
    assert (alternative_annotator(found, np.arange(120), 0.15).p < once.p).all()
    few = alternative_annotator(found, np.repeat(np.arange(29), 120)[:120] % 29, 0.15)
    assert np.isnan(few.p).all() and np.isnan(few.omega).all()


def test_a_verdict_that_is_missing_is_never_as_close() -> None:
    table = made_raters(50, judges=(0.9,))
    lost = np.full(table.verdicts.shape, np.nan)
    test = alternative_annotator(
        advantages(lost, table.asked, table.labels, False), np.arange(50), 0.15
    )
    np.testing.assert_allclose(test.advantage, 0)
    assert test.omega[0] == 0


def test_benjamini_and_yekutieli_as_statsmodels_has_it() -> None:
    p = np.random.default_rng(3).random((40, 6)) ** 3
    wanted = [multipletests(row, 0.05, method="fdr_by")[0] for row in p]
    assert (benjamini_yekutieli(p) == wanted).all() and np.any(wanted)
    p[:, 2] = np.nan
    kept = np.delete(p, 2, axis=1)
    wanted = [multipletests(row, 0.05, method="fdr_by")[0] for row in kept]
    assert (np.delete(benjamini_yekutieli(p), 2, axis=1) == wanted).all()
