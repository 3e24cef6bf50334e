"""Figures of an audit against those of other packages, and of the notes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pandas import DataFrame
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score, roc_auc_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from judgelab.core.judgments import JudgmentTable
from tests.judgment_tables import (
    ADVERSARIAL,
    audited,
    frank,
    llmbar,
    made_classes,
    made_grades,
    rows,
)

TWO = [[14, 13], [5, 88]]
THREE = [[30, 4, 6], [8, 40, 2], [1, 9, 50]]


def both(table: JudgmentTable) -> tuple[np.ndarray, np.ndarray]:
    """What people and the one judge say of the labelled."""
    there = table.labelled
    return table.labels[there, 0], table.verdicts[0, there, 0]


@pytest.mark.parametrize("counts", [TWO, THREE])
def test_kappa_recall_and_confusion(counts: list[list[int]]) -> None:
    table = made_classes(counts, ("a", "b", "c")[: len(counts)], "")
    people, judge = both(table)
    found = audited(table)
    (row,) = rows(found, "judges")
    assert row["kappa"] == pytest.approx(cohen_kappa_score(people, judge))
    oracle = cohens_kappa(confusion_matrix(people, judge))
    ends = (row["kappa_low"], row["kappa_high"])
    assert ends == pytest.approx((oracle.kappa_low, oracle.kappa_upp), abs=0.025)
    recall = recall_score(people, judge, average=None)
    ours = [one["found_by_the_judge"] for one in rows(found, "classes")]
    assert ours == pytest.approx(list(recall))
    cells = [[one[f"judge: {k}"] for k in table.levels] for one in rows(found, "confusion")]
    assert np.array_equal(cells, confusion_matrix(people, judge))
    assert row["agreement"] == pytest.approx(np.mean(people == judge))
    n, right = len(people), int((people == judge).sum())
    wilson = proportion_confint(right, n, method="wilson")
    assert (row["agreement_low"], row["agreement_high"]) == pytest.approx(wilson, abs=0.004)


def test_a_reply_that_cannot_be_read_agrees_with_nobody() -> None:
    table = made_classes(TWO)
    verdicts = table.verdicts.copy()
    verdicts[0, :2] = np.nan
    third = {"verdicts": np.nan_to_num(verdicts, nan=2.0), "levels": (*table.levels, "unread")}
    people, judge = both(replace(table, **third))
    (row,) = rows(audited(replace(table, verdicts=verdicts)), "judges")
    assert row["kappa"] == pytest.approx(cohen_kappa_score(people, judge))


def test_agreement_of_grades_with_two_grades_of_people_is_the_auc() -> None:
    table = made_grades(150, 1, (1.0,), people=1)
    table = replace(table, labels=(table.labels > 3).astype(float))
    (row,) = rows(audited(table), "judges")
    auc = roc_auc_score(table.labels[:, 0], table.verdicts[0, :, 0])
    assert row["agreement"] == pytest.approx(auc)
    # DeLong's standard error, by the placements of each text
    one, two = (table.verdicts[0, table.labels[:, 0] == k, 0] for k in (1.0, 0.0))
    above = (np.sign(one[:, None] - two[None]) + 1) / 2
    se = np.sqrt(above.mean(1).var(ddof=1) / len(one) + above.mean(0).var(ddof=1) / len(two))
    width = float(row["agreement_high"]) - float(row["agreement_low"])  # type: ignore[arg-type]
    assert width == pytest.approx(2 * 1.96 * se, rel=0.08)


def test_correlations_within_systems_are_those_of_the_notes(shared_data: Path) -> None:
    """All rows of FRANK: a page has the Pearson correlation of what ranks leave."""
    table = frank(shared_data).of(["BertScore P Art", "FactCC"])
    system = np.unique(table.units.first.astype(str), return_inverse=True)[1].astype(np.intp)
    shown = [
        r for r in rows(audited(table), "conditions") if "of one system" in str(r["condition"])
    ]
    for k, row in enumerate(shown):
        known = ~np.isnan(table.verdicts[k, :, 0])
        ranks = DataFrame({"a": table.verdicts[k, known, 0], "b": table.truth[known]}).rank()
        rest = ranks - ranks.groupby(system[known]).transform("mean")
        assert row["value"] == pytest.approx(rest["a"].corr(rest["b"]), abs=1e-9)
    assert len(shown) == 2


def test_llmbar() -> None:
    """trust.md 1 and 5: of 65 judges 37 are not above one half; the longer text wins .197."""
    table = llmbar(ADVERSARIAL)
    found = audited(table, minimum=0.6)
    judges = rows(found, "judges")
    assert len(judges) == 65
    low = [row for row in judges if row["agreement"] is not None and row["agreement"] <= 0.5]  # type: ignore[operator]
    assert len(low) == 37 and not any(row["verdict"] == "use" for row in low)
    rules = {row["who"]: row["agreement"] for row in rows(found, "agreement")}
    assert rules["rule: longer"] == pytest.approx(0.197, abs=0.001)
