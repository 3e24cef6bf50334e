"""The gate on real judges, with labels in any order, and on labels that were drawn unevenly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.credits import credits_of
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.gate import Gate, label_gains
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.rules import TrustRules
from tests.judgment_tables import ADVERSARIAL, llmbar, made_pairs


def gate(table: JudgmentTable) -> Findings:
    none: Any = None
    return Gate().run(AuditCase(table, none, none, {}, True, TrustRules(), 0, 100))


def test_of_real_judges_none_that_is_right_less_than_half_the_time_passes(
    shared_data: Path,
) -> None:
    table = llmbar(shared_data, ADVERSARIAL)
    found = gate(table)
    accuracy = np.nanmean(credits_of(table).item, axis=1)
    passed = np.array([found.evidence[name]["gate_p"] <= 0.05 for name in table.names])
    assert (accuracy <= 0.5).sum() == 37
    assert not passed[accuracy <= 0.5].any()
    assert passed.sum() == found.summary["better_than_controls"]
    assert found.evidence["GPT-4/Rating"]["pointwise"]
    assert not found.evidence["GPT-4/CoT"]["pointwise"]


def test_the_order_of_the_file_changes_nothing_and_turns_do() -> None:
    table = made_pairs(80, (0.8, 0.5), seed=1)
    back = np.arange(80)[::-1]
    assert gate(table).evidence == gate(table.at(back)).evidence
    assert "one look" in gate(table).notes[0]
    good = credits_of(table).item[0]
    best_first = replace(table.units, turn=np.argsort(np.argsort(-good, kind="stable")) * 1.0)
    early = gate(replace(table, units=best_first))
    assert early.evidence["judge 0"]["gate_p"] < gate(table).evidence["judge 0"]["gate_p"]
    assert not early.notes


def test_labels_that_were_likelier_count_for_less() -> None:
    """The mean of what is bet on has the sign of the mean gain of the whole pool."""
    table = made_pairs(4000, (0.5,), seed=2)
    gain = credits_of(table).gains[0, 0]
    chance = np.where(gain > 0, 0.5, 0.1)  # what the judge gets right is asked for more often
    drawn = np.random.default_rng(3).random(4000) < chance
    labels = np.where(drawn[:, None], table.labels, np.nan)
    uneven = replace(table, labels=labels, units=replace(table.units, chance=chance))
    bets = label_gains(uneven, credits_of(uneven))
    assert np.abs(bets).max() <= 1
    assert credits_of(uneven).cluster_gains[0, 0].mean() > 0.1
    assert bets[0, 0].sum() / (0.1 / chance[drawn]).sum() == pytest.approx(gain.mean(), abs=0.03)
    assert gate(uneven).evidence["judge 0"]["gate_p"] > 0.05


def test_without_labels_the_gate_says_what_it_needs() -> None:
    assert "Labels" in gate(made_pairs(20, labelled=0)).lacking
