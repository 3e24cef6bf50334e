"""Part 1 of an audit on real judgments and on made ones of known truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.result import Row
from judgelab.study.audit.agreement import Agreement
from judgelab.study.audit.evidence import Findings
from tests.judgment_tables import ADVERSARIAL, audit_case, frank, llmbar, made_pairs, made_raters


def rows(found: Findings, name: str, **where: Any) -> list[Row]:
    """Rows of a table with these cells."""
    table = next(table for table in found.tables if table.name == name)
    return [row for row in table.rows if all(row[key] == value for key, value in where.items())]


def test_adversarial_judges_beat_the_longer_text_and_none_is_surely_better_than_the_shorter(
    shared_data: Path, tmp_path: Path
) -> None:
    found = Agreement().run(audit_case(llmbar(shared_data, ADVERSARIAL), tmp_path))
    assert rows(found, "controls", control="longer")[0]["agreement"] == pytest.approx(
        0.197, abs=5e-4
    )
    assert all(row["gain"] > 0 for row in rows(found, "gains", control="longer"))
    below = [row for row in rows(found, "agreement") if row["agreement"] <= 0.5]
    assert len(below) == 37
    assert {one["gain_over"] for one in found.evidence.values()} == {"shorter"}
    strata = {row["stratum"] for row in rows(found, "strata")}
    assert strata == set(ADVERSARIAL)
    pairs = rows(found, "judge_pairs")
    assert len(pairs) == 64 and "2,080" in next(
        t.note for t in found.tables if t.name == "judge_pairs"
    )


def test_on_frank_bbc_every_metric_is_refused(shared_data: Path, tmp_path: Path) -> None:
    found = Agreement().run(audit_case(frank(shared_data), tmp_path))
    assert all(row["refused"] for row in rows(found, "agreement"))
    assert all(np.isnan(one["agreement"].value) for one in found.evidence.values())
    assert all(one["gain"].high < 0.05 for one in found.evidence.values())
    assert any("every pair a tie" in note for note in found.notes)
    assert all(row["systems"] == 4 and row["refused"] for row in rows(found, "correlations"))


def test_a_column_in_another_order_raises_the_join_alarm(shared_data: Path, tmp_path: Path) -> None:
    table = frank(shared_data, None).of(["BertScore P Art", "FactCC", "FEQA"])
    moved, rng = table.verdicts.copy(), np.random.default_rng(0)
    for system in set(table.units.first):  # sorted by system, then by something else
        at = np.flatnonzero(table.units.first == system)
        moved[0, at] = moved[0, rng.permutation(at)]
    before = Agreement().run(audit_case(table, tmp_path))
    # Over both data sets FEQA tells systems apart (r = .92), and not the texts of any (.00).
    assert {name for name, one in before.evidence.items() if one["alarm"]} == {"FEQA"}
    after = Agreement().run(audit_case(replace(table, verdicts=moved), tmp_path))
    assert "check the join" in after.evidence["BertScore P Art"]["alarm"]
    assert "BertScore P Art" not in after.evidence["BertScore P Art"]["alarm"]  # it stands before
    assert any(note.startswith("BertScore P Art: means of") for note in after.notes)
    assert not after.evidence["FactCC"]["alarm"]
    assert any("check the join" in note for note in after.notes)


def test_unread_verdicts_are_counted_and_stay_missing(shared_data: Path, tmp_path: Path) -> None:
    table = llmbar(shared_data).of(["PaLM2/Vanilla_NoRules", "GPT-4/CoT"])
    found = Agreement().run(audit_case(table, tmp_path))
    lost = int(np.isnan(table.verdicts[0]).sum())
    assert lost and rows(found, "agreement", judge="PaLM2/Vanilla_NoRules")[0]["unparsed"] == lost
    assert found.evidence["PaLM2/Vanilla_NoRules"]["unparsed"] == lost / 200
    assert found.evidence["PaLM2/Vanilla_NoRules"]["labelled"] == 100


def test_ceiling_and_agreement_are_of_one_target(tmp_path: Path) -> None:
    table = made_raters(400, (0.8, 0.8, 0.8), (0.8, 1.0))
    found = Agreement().run(audit_case(table, tmp_path))
    one = found.evidence["judge 0"]
    told = {row["control"]: row["agreement"] for row in rows(found, "controls")}
    for each in found.evidence.values():  # of people together, whatever the judge is held against
        assert each["control"] == pytest.approx(told[each["gain_over"]])
    assert one["ceiling"] == pytest.approx(0.68, abs=0.04)
    assert one["agreement"].value == pytest.approx(one["ceiling"], abs=0.05)
    assert rows(found, "agreement", judge="judge 1")[0]["agreement"] > 0.85  # of the majority
    assert found.evidence["judge 1"]["agreement"].value == pytest.approx(0.8, abs=0.03)
    by_agreement = rows(found, "strata", judge="judge 1")
    assert [row["stratum"] for row in by_agreement] == ["people agree fully", "people differ less"]
    assert by_agreement[0]["agreement"] > by_agreement[1]["agreement"]
    alpha = rows(found, "ceiling", judge="people with each other")[0]["krippendorff_alpha"]
    assert alpha == pytest.approx(2 * 0.68 - 1, abs=0.08)


def test_one_rater_has_no_ceiling_and_no_label_no_agreement(tmp_path: Path) -> None:
    found = Agreement().run(audit_case(made_pairs(50), tmp_path))
    assert np.isnan(found.evidence["judge 0"]["ceiling"])
    assert any("second" in note for note in found.notes)
    bare = Agreement().run(audit_case(made_pairs(50, labelled=0), tmp_path))
    assert "needs labels" in bare.lacking and bare.evidence["judge 0"]["labelled"] == 0


def graded(systems: int, items: int, noise: float) -> JudgmentTable:
    """Grades of known quality: systems differ, and texts of a system do."""
    rng = np.random.default_rng(0)
    quality = rng.normal(0, 1, systems)[None] + rng.normal(0, 1, (items, systems))
    said = (quality + rng.normal(0, noise, quality.shape)).ravel()
    names = [f"item {i}" for i in range(items) for _ in range(systems)]
    by = [f"system {k}" for _ in range(items) for k in range(systems)]
    return JudgmentTable(
        "grade",
        Units.of(names, by),
        ("p",),
        np.round(quality).reshape(-1, 1),
        (JudgeFacts("j"),),
        said[None, :, None],
        np.ones((1, len(names), 1), bool),
    )


def test_systems_are_ranked_from_six_on(tmp_path: Path) -> None:
    row = rows(Agreement().run(audit_case(graded(8, 40, 0.5), tmp_path)), "correlations")[0]
    assert row["tau_between_systems"] > 0.7 and row["systems"] == 8
    assert row["tau_between_systems_low"] < row["tau_between_systems"]
    assert row["items"] == 40 and 0.5 < row["tau_within_items"] < 1


def test_single_texts_are_compared_two_by_two(tmp_path: Path) -> None:
    found = Agreement().run(audit_case(graded(1, 300, 0.5), tmp_path))
    one = rows(found, "agreement")[0]
    assert one["n"] == 150 and 0.55 < one["agreement"] < 0.95 and not one["refused"]
    assert any("two by two" in note for note in found.notes)
    assert found.evidence["j"]["labelled"] == 300


def test_labels_chosen_with_known_chances_say_how_often_it_agrees_on_the_whole_pool(
    tmp_path: Path,
) -> None:
    table = made_pairs(4000, (0.9,), seed=3)
    right = (table.verdicts == table.labels[None]).all(axis=(0, 2))
    chance = np.where(right, 0.1, 0.4)  # what it has wrong is labelled more often
    drawn = np.random.default_rng(1).random(4000) < chance
    units = replace(table.units, chance=chance)
    seen = replace(table, units=units, labels=np.where(drawn[:, None], table.labels, np.nan))
    whole = Agreement().run(audit_case(table, tmp_path)).evidence["judge 0"]["agreement"].value
    found = Agreement().run(audit_case(seen, tmp_path)).evidence["judge 0"]["agreement"]
    naive = Agreement().run(audit_case(replace(seen, units=table.units), tmp_path))
    assert found.low < whole < found.high
    assert naive.evidence["judge 0"]["agreement"].high < whole
    said = Agreement().run(audit_case(seen, tmp_path)).notes
    assert any("different chances" in note for note in said)


def test_few_second_labels_are_no_bar(tmp_path: Path) -> None:
    table = made_raters(300, (0.9, 0.8), (0.9,))
    labels = table.labels.copy()
    labels[20:, 1] = np.nan
    found = Agreement().run(audit_case(replace(table, labels=labels), tmp_path))
    one = found.evidence["judge 0"]
    split = int((labels[:20, 0] != labels[:20, 1]).sum())
    assert np.isnan(one["ceiling"]) and one["agreement"].n == 300 - split
    assert rows(found, "ceiling", judge="people with each other")[0]["n"] == 20
    assert any("Only 20 items" in note for note in found.notes)


def test_people_who_split_over_a_category_count_among_people(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(0), 300
    truth = rng.integers(0, 3, n)
    said = np.where(rng.random((3, n)) < 0.8, truth, (truth + 1) % 3).astype(float)
    table = JudgmentTable(
        "category",
        Units.of([f"item {k}" for k in range(n)], ["a"] * n),
        ("one", "two"),
        said[:2].T,
        (JudgeFacts("judge"),),
        said[2:, :, None],
        np.ones((1, n, 1), np.bool_),
        levels=("x", "y", "z"),
    )
    found = Agreement().run(audit_case(table, tmp_path))
    people, judge, *_ = rows(found, "ceiling")
    assert people["agreement"] == pytest.approx((said[0] == said[1]).mean())
    assert judge["agreement"] == pytest.approx((said[2] == said[:2]).mean())
    assert people["n"] == n
    assert judge["more_than_people"] == pytest.approx(judge["agreement"] - people["agreement"])


def test_two_people_who_differ_do_not_call_it_a_tie(tmp_path: Path) -> None:
    """A judge that is better than both is no worse than one that always shrugs."""
    table = made_raters(600, (0.75, 0.75), (0.95,))
    found = Agreement().run(audit_case(table, tmp_path))
    one = found.evidence["judge 0"]
    assert one["gain"].low > 0.2
    assert rows(found, "controls", control="always tie") == [] or rows(
        found, "controls", control="always tie"
    )[0]["agreement"] == pytest.approx(0.5)
    apart = int((table.labels[:, 0] != table.labels[:, 1]).sum())
    assert one["gain"].n == 600 - apart and one["agreement"].n == 600
    assert one["ceiling"] == pytest.approx(1 - apart / 600)
    assert any(f"On {apart} labelled units people are split" in note for note in found.notes)
