"""The part on biases: what its tables and evidence say of real judges, and of made ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent
from judgelab.study.audit.biases import Biases
from judgelab.study.audit.evidence import Findings, joined
from tests.judgment_tables import ADVERSARIAL, audit_case, frank, llmbar, made_pairs


def _rows(found: Findings, table: str) -> dict[str, dict]:
    return {row["judge"]: row for one in found.tables if one.name == table for row in one.rows}


def test_real_judges_of_pairs(shared_data: Path, tmp_path: Path):
    table = llmbar(shared_data, ADVERSARIAL)
    found = Biases().run(audit_case(table, tmp_path))
    place, length = _rows(found, "position"), _rows(found, "length")
    assert place["Falcon/CoT"]["reading"] == "favours the first"
    assert place["ChatGPT/Rating"]["reading"] == "equal grades"
    assert any("ChatGPT/Rating" in said and "half a credit" in said for said in found.notes)
    assert length["LLaMA2/Vanilla"]["reading"] == "prefers longer texts"
    evidence = joined([found], table.names)
    assert evidence["Falcon/CoT"].position.low > 0.9 and evidence["Falcon/CoT"].averaged
    assert np.isnan(evidence["ChatGPT/Rating"].position.value)
    assert any("families" in said for said in found.notes)  # what own family would need
    curve = next(one for one in found.tables if one.name == "calibration").rows
    gpt4 = {row["judge_says"]: row for row in curve if row["judge"] == "GPT-4/Metrics_Reference"}
    assert gpt4[0.0]["people"] < 0.25 < 0.75 < gpt4[1.0]["people"]


def test_metrics_on_a_scale_of_their_own(shared_data: Path, tmp_path: Path):
    table = frank(shared_data)
    found = Biases().run(audit_case(table, tmp_path))
    use = _rows(found, "scale_use")
    assert np.isnan(use["BertScore P Art"]["bias"]) and use["BertScore P Art"]["slope"] > 0
    assert use["FactCC"]["clusters"] < use["FactCC"]["n"]
    assert found.evidence["FactCC"] == {"averaged": True}
    assert any("words" in said for said in found.notes)


def test_one_order_is_not_enough_and_is_said(tmp_path: Path):
    table = made_pairs(60, (0.8,))
    asked = table.asked.copy()
    asked[:, :, 1] = False
    verdicts = np.where(asked, table.verdicts, np.nan)
    found = Biases().run(audit_case(replace(table, verdicts=verdicts, asked=asked), tmp_path))
    assert _rows(found, "position")["judge 0"]["reading"] == "not known"
    assert found.evidence["judge 0"]["averaged"] is False
    assert any("both orders" in said for said in found.notes)


@pytest.mark.parametrize("told", ["families", "panel"])
def test_a_judge_that_favours_its_family(told: str, tmp_path: Path):
    rng = np.random.default_rng(5)
    n = 400
    sides = [("gpt-4o", "other")[:: rng.choice([-1, 1])] for _ in range(n)]
    own = np.array([1.0 if a == "gpt-4o" else -1.0 for a, _ in sides])
    h = rng.choice([-1.0, 1.0], n)
    odds = np.stack([h + 1.0 * own, h])
    said = (rng.random((2, n, 2)) < 1 / (1 + np.exp(-odds))[..., None]).astype(float)
    units = Units.of([f"i{k}" for k in range(n)], *zip(*sides, strict=True))
    table = JudgmentTable(
        "preference",
        units,
        ("rater",),
        ((h + 1) / 2)[:, None],
        (JudgeFacts("vain", family="openai"), JudgeFacts("fair", family="openai")),
        said,
        np.ones(said.shape, np.bool_),
    )
    agents = (Agent("gpt-4o", meta={"family": "openai"}),) if told == "panel" else ()
    part = Biases(families={"gpt-4o": "openai"} if told == "families" else {})
    rows = _rows(part.run(audit_case(table, tmp_path, agents)), "own_family")
    assert rows["vain"]["reading"] == "favours its own" and rows["vain"]["pairs"] == n
    assert rows["fair"]["reading"] == "not clear"


def test_graded_texts_length_and_own_family_at_equal_grade(tmp_path: Path):
    rng = np.random.default_rng(6)
    n = 300
    people = rng.integers(1, 6, n).astype(float)
    own = np.arange(n) % 3 == 0
    words = np.column_stack([np.exp(rng.normal(5, 0.5, n)), np.full(n, np.nan)])
    noise = rng.normal(size=(2, n)) * 0.5
    padded = people + np.log(words[:, 0]) + noise[0]
    values = np.stack([padded, people + 1.0 * own + noise[1]])[..., None]
    units = Units.of([f"i{k}" for k in range(n)], ["mine" if o else "b" for o in own], words=words)
    judges = (JudgeFacts("long"), JudgeFacts("vain", family="mine"))
    table = JudgmentTable(
        "grade", units, ("r",), people[:, None], judges, values, np.ones(values.shape, np.bool_)
    )
    found = Biases().run(audit_case(table, tmp_path))
    length, mine = _rows(found, "length"), _rows(found, "own_family")
    assert length["long"]["reading"] == "prefers longer texts"
    assert length["vain"]["reading"] == "not clear"
    assert list(mine) == ["vain"] and mine["vain"]["reading"] == "favours its own"
    assert mine["vain"]["effect"] == pytest.approx(1 / values[1].std(), abs=0.1)
