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


def test_what_cheating_alone_brings(tmp_path: Path) -> None:
    """Nothing with a judge of quality; shortening oneself costs; two items have no interval."""
    judge, repeated = Judge(Prompt("judge_no_context.txt"), context=False), Repetition
    labs = {
        "neither gain nor loss shown": context(
            tmp_path / "a", judge, ScriptedChat(better), attack=repeated(on="problematic")
        ),
        "costs": context(tmp_path / "b", Length(), attack=WordDeletion(on=["a0", "a1"])),
        "undecided": context(tmp_path / "c", Length(), attack=repeated(on=["a3"]), panel=graded(2)),
    }
    made = {words: STUDY.run(lab).summary for words, lab in labs.items()}
    assert [one["cheating"] for one in made.values()] == list(labs)
    assert made["neither gain nor loss shown"]["change/advantage"] == 0
    # 7 and 8 words, said twice, and two between
    assert made["undecided"]["change/attackers_score"] == pytest.approx(9.5)
