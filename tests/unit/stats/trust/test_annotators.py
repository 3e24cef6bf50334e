"""The alternative annotator test against its paper's steps, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from judgelab.stats.trust.annotators import Replaced, alternative_annotator_test
from tests.judgment_tables import made_raters


def by_steps(
    judge: np.ndarray, labels: np.ndarray, epsilon: float, grades: bool
) -> tuple[list[float], list[float]]:
    """Advantages and p values of section 3, by loops over raters and units."""

    def close(x: float, others: np.ndarray) -> float:
        return -np.sqrt(np.mean((x - others) ** 2)) if grades else np.mean(others == x)

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


def replaced(judge: np.ndarray, labels: np.ndarray, cluster: object = None, **how: Any) -> Replaced:
    units = np.arange(len(labels)) if cluster is None else np.asarray(cluster)
    asked = np.ones(len(labels), np.bool_)
    found = alternative_annotator_test(judge, asked, labels, units, **{"grades": False, **how})
    assert found is not None
    return found


@pytest.mark.parametrize("grades", [False, True])
def test_the_steps_of_the_paper(grades: bool) -> None:
    table = made_raters(100, judges=(0.9, 0.6))
    labels = table.labels.copy()
    if grades:
        labels += np.random.default_rng(0).integers(0, 3, labels.shape)
    labels[:30, 2] = np.nan
    for judge in table.verdicts[:, :, 0]:
        found = replaced(judge, labels, grades=grades)
        rho, p = by_steps(judge, labels, 0.15, grades)
        assert found.p == pytest.approx(p) and found.advantage == pytest.approx(np.mean(rho))
        assert found.winning_rate == multipletests(p, 0.05, method="fdr_by")[0].mean()
        assert (found.tested, found.n) == (3, 100)


def test_the_majority_is_always_as_close_and_the_rater_itself_ties() -> None:
    labels = made_raters(80).labels
    majority = (labels.mean(axis=1) > 0.5).astype(float)
    assert replaced(majority, labels, epsilon=0.1).advantage == 1
    assert replaced(labels[:, 0], labels, epsilon=0.1).p[0] == 0
    assert replaced(labels[:, 0], labels, epsilon=0.0).p[0] == 1


def test_two_aspects_of_a_text_count_once_and_few_items_give_no_answer() -> None:
    table = made_raters(60, judges=(0.9,))
    judge, labels = table.verdicts[0, :, 0], table.labels
    twice, both, items = np.repeat(judge, 2), np.repeat(labels, 2, axis=0), np.arange(60).repeat(2)
    once = replaced(judge, labels)
    assert replaced(twice, both, items).p == pytest.approx(once.p)
    assert (replaced(twice, both).p < once.p).all()
    asked = np.arange(60) < 29
    test = alternative_annotator_test
    assert test(judge, asked, labels, np.arange(60), grades=False) is None
    assert test(judge, np.arange(60) < 30, labels, np.arange(60), grades=False) is not None


def test_a_verdict_that_is_missing_is_never_as_close() -> None:
    found = replaced(np.full(50, np.nan), made_raters(50).labels)
    assert (found.advantage, found.winning_rate) == (0, 0)
