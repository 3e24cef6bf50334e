"""Part 2 of an audit: judges in people's place, and when there is no answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.study.audit.replacement import OFF_SCALE, TOO_FEW, Replacement
from tests.judgment_tables import audit_case, made_pairs, made_raters
from tests.unit.study.audit.test_agreement import graded, rows


def test_a_good_judge_may_replace_people_and_a_random_one_may_not(tmp_path: Path) -> None:
    found = Replacement().run(audit_case(made_raters(), tmp_path))
    first, second = rows(found, "replacement")
    assert (first["judge"], first["may_replace"]) == ("judge 0", "yes")
    assert second["may_replace"] == "no" and second["raters_tested"] == 3
    assert found.evidence["judge 0"]["omega"] == first["winning_rate"] == 1
    assert len(rows(found, "replacement_raters")) == 6
    assert {row["stratum"] for row in rows(found, "replacement_strata")} == {
        "people agree fully",
        "people differ less",
    }
    apart = Replacement().run(audit_case(made_raters(people=(0.95, 0.95, 0.6)), tmp_path))
    agreed = [row["agreement"] for row in rows(apart, "raters")]
    assert min(agreed) == agreed[2] and 0.5 < agreed[2] < 0.7


def test_one_rater_is_refused_in_a_sentence(tmp_path: Path) -> None:
    found = Replacement().run(audit_case(made_pairs(50), tmp_path))
    assert "at least two people" in found.lacking and not found.tables


def test_raters_of_few_items_are_left_out_and_all_out_is_no_answer(tmp_path: Path) -> None:
    table = made_raters(80)
    labels = table.labels.copy()
    labels[29:, 2] = np.nan
    found = Replacement().run(audit_case(replace(table, labels=labels), tmp_path))
    assert rows(found, "replacement")[0]["raters_tested"] == 2
    assert any("rater 2" in note for note in found.notes)
    assert any("1/2" in note for note in found.notes)
    few = Replacement().run(audit_case(made_raters(29), tmp_path))
    assert all(row["refused"] == TOO_FEW for row in rows(few, "replacement"))
    assert np.isnan(few.evidence["judge 0"]["omega"])


def test_grades_on_another_scale_are_refused(tmp_path: Path) -> None:
    table = graded(4, 40, 0.5)
    labels = np.concatenate([table.labels, table.labels + 1], axis=1)
    table = replace(table, labels=labels, raters=("p", "q"))
    near = replace(table, verdicts=np.clip(table.verdicts, labels.min(), labels.max()))
    assert rows(Replacement().run(audit_case(near, tmp_path)), "replacement")[0]["refused"] is None
    far = replace(table, verdicts=100 * table.verdicts)
    found = Replacement().run(audit_case(far, tmp_path))
    assert rows(found, "replacement")[0]["refused"] == OFF_SCALE
    assert np.isnan(found.evidence["j"]["omega"])


def test_an_expert_who_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rater 1"):
        Replacement(expert="rater1").run(audit_case(made_raters(), tmp_path))
    found = Replacement(expert="rater 1").run(audit_case(made_raters(), tmp_path))
    assert rows(found, "replacement")[0]["raters_tested"] == 2


def test_labels_of_easy_items_make_no_judge_replace_people(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 2000
    table = made_raters(n, (0.9, 0.9, 0.9), (0.5,))
    easy = rng.random(n) < 0.3
    verdicts = np.where(easy[:, None], table.labels[:, :1], table.verdicts[0])[None]
    chance = np.where(easy, 0.5, 0.04)
    labels = np.where(rng.random(n)[:, None] < chance[:, None], table.labels, np.nan)
    unequal = replace(
        table, labels=labels, verdicts=verdicts, units=replace(table.units, chance=chance)
    )
    row = rows(Replacement().run(audit_case(unequal, tmp_path)), "replacement", judge="judge 0")[0]
    everywhere = replace(table, verdicts=verdicts)
    all_ = rows(Replacement().run(audit_case(everywhere, tmp_path)), "replacement", judge="judge 0")
    assert all_[0]["winning_rate"] == 0 and row["winning_rate"] == 0
    assert row["average_advantage_low"] < all_[0]["average_advantage"] < 0.85
    assert row["average_advantage_high"] > all_[0]["average_advantage"]
