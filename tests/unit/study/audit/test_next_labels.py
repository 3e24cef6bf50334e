"""The part on what to label next: its file and back, when chances differ, and abstention."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.judgments import JudgmentTable
from judgelab.dataset.table import LabelledTable
from judgelab.study.audit.credits import credits_of
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.next_labels import FILE, NextLabels
from tests.judgment_tables import ADVERSARIAL, audit_case, frank, llmbar, made_pairs


def _hidden(table: JudgmentTable, share: float, seed: int = 0, told: bool = True) -> JudgmentTable:
    """Labels of a random share of the items alone."""
    kept = np.random.default_rng(seed).random(int(table.clusters.max()) + 1) < share
    labels = np.where(kept[table.clusters][:, None], table.labels, np.nan)
    chance = np.full(len(labels), share if told else np.nan)
    return replace(table, labels=labels, units=replace(table.units, chance=chance))


def _file(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / FILE, keep_default_na=False, na_values=[""])


def _rows(found: Findings, table: str) -> list[dict]:
    return [row for one in found.tables if one.name == table for row in one.rows]


def test_equal_chances_by_default_and_all_is_stored(tmp_path: Path):
    table = _hidden(made_pairs(400, (0.9, 0.7)), 0.2)
    found = NextLabels(budget=40).run(audit_case(table, tmp_path, seed=3))
    file = _file(tmp_path)
    left = int((~table.labelled).sum())
    assert len(file) == 400 and file["drawn"].sum() == 40 == found.summary["next_labels"]
    assert set(file.columns) >= {"id", "agent", "other", "pi", "chance", "turn", "round", "seed"}
    assert file["seed"].unique() == [3] and file["round"].unique() == [1]
    assert np.allclose(file["pi"].dropna(), 40 / left) and file["pi"].notna().sum() == left
    assert np.allclose(file["chance"], 0.2 + 0.8 * 40 / left)
    drawn = file[file["drawn"] == 1]
    assert drawn["turn"].tolist() == list(range(1, 41))
    assert not set(drawn["id"]) & set(table.units.item[table.labelled])
    again = tmp_path / "again"
    NextLabels(budget=40).run(audit_case(table, again, seed=3))
    assert (again / FILE).read_bytes() == (tmp_path / FILE).read_bytes()
    NextLabels(budget=40, round=2).run(audit_case(table, again, seed=3))
    assert set(_file(again).query("drawn == 1")["id"]) != set(drawn["id"])


def _unsure(items: int, seed: int) -> JudgmentTable:
    """A judge that is right where its orders agree, but for a fifth of items where peers differ."""
    table = made_pairs(items, (1.0, 1.0), seed=seed)
    rng = np.random.default_rng([seed, 1])
    hard = rng.random(items) < 0.2
    verdicts = table.verdicts.copy()
    wrong = hard & (rng.random(items) < 0.5)
    verdicts[0, wrong] = 1 - verdicts[0, wrong]
    verdicts[1, hard] = 0.5
    return replace(table, verdicts=verdicts)


def test_unequal_chances_where_a_gain_is_predicted_and_labels_come_back(tmp_path: Path):
    off, plain, held = [], [], []
    for seed in range(15):
        whole = _unsure(600, seed)
        table = _hidden(whole, 0.15, seed)
        part = NextLabels(budget=90, judges=["judge 0"], target="agreement")
        found = part.run(audit_case(table, tmp_path, seed=seed))
        file = _file(tmp_path).set_index("id")
        assert np.ptp(file["pi"].dropna()) > 0.1 and "harder to foretell" in found.notes[0]
        rows = file.loc[list(table.units.item)]
        assert rows["pi"].sum() == pytest.approx(90)
        now = table.labelled | (rows["drawn"] == 1).to_numpy()
        units = replace(
            table.units, chance=rows["chance"].to_numpy(), turn=rows["turn"].to_numpy(float)
        )
        labels = np.where(now[:, None], whole.labels, np.nan)
        second = replace(table, labels=labels, units=units)
        part = NextLabels(judges=["judge 0"], round=2)
        (row,) = _rows(part.run(audit_case(second, tmp_path)), "weighted_agreement")
        true = credits_of(whole).item[0].mean()
        assert (row["n"], row["items"]) == (now.sum(), 600)
        off.append(row["value"] - true)
        plain.append(row["unweighted"] - true)
        held.append(row["low"] <= true <= row["high"])
    assert np.mean(plain) < -0.05  # hard items are labelled more often
    assert abs(np.mean(off)) < 0.01 < -np.mean(plain)
    assert np.mean(held) >= 0.84


def test_labels_chosen_in_an_unknown_way_stand_for_themselves_unless_said(tmp_path: Path):
    table = _hidden(made_pairs(200, (0.9,)), 0.3, told=False)
    found = NextLabels(budget=35).run(audit_case(table, tmp_path))
    assert any("study.sampled=true" in said for said in found.notes)
    assert any(said.startswith("Deciding alone: this holds if") for said in found.notes)
    file = _file(tmp_path).set_index("id").loc[list(table.units.item)]
    assert (file["chance"][table.labelled] == 1).all()
    left = (~table.labelled).sum()
    assert np.allclose(file["chance"][~table.labelled], 35 / left)
    said = NextLabels(budget=35).run(audit_case(table, tmp_path, sampled=True))
    assert not any("study.sampled=true" in one or "holds if" in one for one in said.notes)
    assert np.allclose(_file(tmp_path)["chance"], (200 - left + 35) / 200)


def test_nothing_is_left_and_names_are_checked(tmp_path: Path):
    found = NextLabels().run(audit_case(made_pairs(40), tmp_path))
    assert not (tmp_path / FILE).exists() and "none to label" in found.notes[0]
    with pytest.raises(ConfigError, match="no judge is called 'judge O'. Did you mean"):
        NextLabels(judges=["judge O"]).run(audit_case(made_pairs(40), tmp_path))


def test_no_label_yet(tmp_path: Path):
    table = _hidden(made_pairs(80, (0.9,)), 0.0, told=False)
    found = NextLabels(budget=30).run(audit_case(table, tmp_path))
    assert found.summary == {"next_labels": 30}
    assert np.allclose(_file(tmp_path)["chance"], 30 / 80)
    assert not _rows(found, "abstention")


def test_real_judges_decide_alone_where_both_orders_agree(shared_data: Path, tmp_path: Path):
    table = llmbar(shared_data)
    rows = _rows(NextLabels().run(audit_case(table, tmp_path)), "abstention")
    strict = {row["judge"]: row for row in rows if row["confidence"] == 1}
    best = strict["GPT-4/Metrics_Reference"]
    assert best["accepted"] and best["n"] == 96 and best["coverage"] == 0.96
    assert best["wrong"] < 0.05 < best["high"]
    assert strict["Falcon/CoT"]["n"] == 14 and not strict["Falcon/CoT"]["accepted"]
    fooled = _rows(
        NextLabels().run(audit_case(llmbar(shared_data, ADVERSARIAL), tmp_path)), "abstention"
    )
    assert not any(row["accepted"] for row in fooled if row["judge"].startswith("ChatGPT"))
    unequal = replace(table, units=replace(table.units, chance=np.linspace(0.5, 1, 100)))
    told = NextLabels().run(audit_case(unequal, tmp_path))
    assert not _rows(told, "abstention") and any("equal chances" in said for said in told.notes)


def test_intervals_of_grades(shared_data: Path, tmp_path: Path):
    table = frank(shared_data)
    rows = _rows(NextLabels().run(audit_case(_hidden(table, 0.5), tmp_path)), "grade_intervals")
    assert {row["judge"] for row in rows} == set(table.names)
    assert all(row["low"] <= row["high"] for row in rows)
    file = _file(tmp_path)  # an item is drawn with all its responses
    assert (file.groupby("id")["drawn"].nunique() == 1).all()
    few = NextLabels().run(audit_case(_hidden(table, 0.03), tmp_path))
    assert any("too few labelled items" in said for said in few.notes)


def test_the_file_filled_in_and_added_to_a_table_is_read(tmp_path: Path):
    whole = made_pairs(60, (0.9, 0.6), seed=2)
    item = list(whole.units.item)
    said = pd.DataFrame(
        [
            {"id": item[k], "agent": "a", "other": "b", "judge": name, "order": order}
            | {"verdict": "ba"[int(whole.verdicts[j, k, order])]}
            for j, name in enumerate(whole.names)
            for k in range(60)
            for order in range(2)
        ]
    )
    label = dict(zip(item, ["ba"[int(one)] for one in whole.labels[:, 0]], strict=True))
    parts = [said]
    for number in (1, 2):
        path = tmp_path / "table.csv"
        pd.concat(parts).to_csv(path, index=False)
        table = LabelledTable(path=str(path)).load().judgments
        part = NextLabels(budget=10, round=number)
        part.run(audit_case(table, tmp_path, seed=number))
        filled = _file(tmp_path).astype({"rater": object, "preference": object})
        drawn = filled["drawn"] == 1
        filled.loc[drawn, "rater"] = "ann"
        filled.loc[drawn, "preference"] = filled["id"][drawn].map(label)
        parts.append(filled)
    pd.concat(parts).to_csv(path, index=False)
    back = LabelledTable(path=str(path)).load().judgments
    assert int(back.labelled.sum()) == 20 and np.allclose(back.units.chance, 20 / 60)
    assert sorted(back.units.turn[back.labelled]) == list(range(1, 21))
    true = dict(zip(item, whole.labels[:, 0], strict=True))
    assert all(back.truth[k] == true[back.units.item[k]] for k in np.flatnonzero(back.labelled))
