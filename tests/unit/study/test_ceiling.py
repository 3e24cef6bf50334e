"""study=ceiling: what could be certified, beside what is estimated."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from judgelab.attack.repetition import Repetition
from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest
from judgelab.core.prompt import Prompt
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.study.ceiling import Ceiling
from tests.scripted import ScriptedChat, ScriptedLogProb
from tests.unit.study.discernment.discernment_context import rows
from tests.unit.study.discrimination.discrimination_context import better, context

ITEMS = 12


def same(request: ChatRequest) -> str:
    """A critic that knows the item by its number, but not of the worst agent."""
    read = re.findall(r"quality (\d) of (\d+)", request.messages[0].content)
    alike = len({item for _, item in read}) == 1 and "6" not in {quality for quality, _ in read}
    return "[[Significant Gain]]" if alike else "[[No Gain]]"


def test_a_critic_stands_below_the_ceiling_of_tvd(tmp_path: Path) -> None:
    mechanism = TvdMi(Prompt("tvd_mi.txt"))
    made = Ceiling().run(context(tmp_path, mechanism, ScriptedChat(same)))
    size = 2 * 20 * ITEMS**2
    ceilings = {r["f"]: r for r in next(t for t in made.tables if t.name == "ceiling").rows
                if r["what"] == "critic's grades"}  # fmt: skip
    assert ceilings["tvd"]["ceiling"] == pytest.approx(1 - 1 / size)
    assert ceilings["kl"]["ceiling"] == pytest.approx(math.log(size))
    assert ceilings["tvd"]["value"] == pytest.approx(0.5)  # pairs without the worst agent
    assert math.isinf(made.summary["critic's grades/kl"])  # type: ignore[arg-type]
    said = "No figure can be given from these items for critic's grades ("
    assert made.answer[0][1].startswith(said)
    assert "Too high" not in made.answer[0][1], "an infinite estimate is no large amount"
    counts = rows(made, "counts", "what")["same source"]
    assert (counts["true_positive"], counts["false_positive"]) == (6 * ITEMS, 0)


def test_mutual_information_may_be_above_what_can_be_certified(tmp_path: Path) -> None:
    lm = ScriptedLogProb(lambda context, target: -50.0 if len(context) < 20 else -10.0)
    made = Ceiling().run(context(tmp_path, Mi(), lm))
    assert made.summary["pointwise MI of texts/kl"] == pytest.approx(40)
    said = "Too high to be proved by so many items without assumptions about the data: "
    assert made.answer[0][1].startswith(f"{said}pointwise MI of texts (kl).")


def test_a_judge_s_verdicts_are_a_table_of_truth_by_decision(tmp_path: Path) -> None:
    judge = Judge(Prompt("judge_no_context.txt"), context=False)
    made = Ceiling().run(context(tmp_path, judge, ScriptedChat(better)))
    found = rows(made, "relations", "measure")
    assert rows(made, "counts", "what")["better text is shown first"]["true_positive"] == 4 * ITEMS
    assert found["youden_j"]["value"] == 1
    assert made.summary["better text is shown first/tvd"] == pytest.approx(0.5)


def test_a_mechanism_without_information_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs estimates of information, and length makes none"):
        Ceiling().run(context(tmp_path, Length()))
    with pytest.raises(ConfigError, match="study=ceiling looks at texts as they are"):
        Ceiling().run(context(tmp_path, Length(), attack=Repetition()))
