"""Who gains by cheating alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgelab.attack.repetition import Repetition
from judgelab.attack.word_deletion import WordDeletion
from judgelab.core.prompt import Prompt
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.study.discrimination import Discrimination
from tests.scripted import ScriptedChat
from tests.unit.study.discrimination.discrimination_context import better, context, graded

STUDY = Discrimination(bootstrap=200)


def test_length_falls_to_repetition_by_the_problematic_alone(tmp_path: Path) -> None:
    """By everybody it changes no order, and so no AUC; by some it turns the order around."""
    everybody = STUDY.run(context(tmp_path / "a", Length(), attack=Repetition()))
    assert everybody.summary["change/auc"] == 0
    assert "cheating" not in everybody.summary
    assert "attack_on" not in everybody.summary
    alone = STUDY.run(context(tmp_path / "b", Length(), attack=Repetition(on="problematic")))
    found = alone.summary
    assert (found["clean/auc"], found["attacked/auc"], found["change/auc"]) == (1, 0, -1)
    assert found["change/others_score"] == 0
    assert found["change/attackers_score_low"] > 5  # type: ignore[operator]
    assert found["change/advantage"] == found["change/attackers_score"]
    assert (found["cheating"], found["attack_on"]) == ("pays", "a2, a3")
    said = dict(alone.answer)["Under repetition"]
    assert said.startswith("Under repetition by 2 agents of 4, cheating alone pays")
    assert "the AUC by -1" in said


def test_a_judge_of_quality_gives_nothing_for_it(tmp_path: Path) -> None:
    judge = Judge(Prompt("judge_no_context.txt"), context=False)
    made = STUDY.run(
        context(tmp_path, judge, ScriptedChat(better), attack=Repetition(on="problematic"))
    )
    assert made.summary["change/advantage"] == 0
    assert made.summary["cheating"] == "neither gain nor loss shown"


def test_shortening_oneself_costs(tmp_path: Path) -> None:
    made = STUDY.run(context(tmp_path, Length(), attack=WordDeletion(on=["a0", "a1"])))
    assert made.summary["cheating"] == "costs"


def test_no_interval_no_answer(tmp_path: Path) -> None:
    lab = context(tmp_path, Length(), attack=Repetition(on=["a3"]), panel=graded(2))
    made = STUDY.run(lab)
    assert made.summary["cheating"] == "undecided"
    assert made.summary["change/attackers_score"] == pytest.approx(
        9.5
    )  # 7 and 8 words, said twice, and two between
