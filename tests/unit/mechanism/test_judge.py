"""The judge: labels, both orders, position bias, and three definitions of a score."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import ChatRequest, Reply
from judgelab.core.parse_reply import read_label
from judgelab.core.prompt import Prompt
from judgelab.mechanism.judge import VERDICTS, Judge, position
from tests.scripted import ScriptedChat, panel_of

TEXTS = [["good text", "fair text", "poor text", "human text"]] * 3
RANK = {"good": 3, "fair": 2, "poor": 1, "human": 0}
PROMPT = Prompt("judge_no_context.txt")


def shown(request: ChatRequest) -> tuple[int, int]:
    body = request.messages[0].content
    first, second = body.split("[End of answer A]")
    return tuple(
        next(v for k, v in RANK.items() if f"{k} text" in part) for part in (first, second)
    )  # type: ignore[return-value]


def judged(rule, categories=()):  # type: ignore[no-untyped-def]
    judge = Judge(PROMPT, context=False)
    return judge, judge.measure(panel_of(TEXTS, categories), ScriptedChat(rule), seed=0)


def test_an_honest_judge_ranks_and_has_no_bias() -> None:
    judge, data = judged(lambda r: "[[A]]" if shown(r)[0] > shown(r)[1] else "[[B]]")
    scores = judge.score(data)
    np.testing.assert_allclose(scores.agent.values[0], [1, 2 / 3, 1 / 3, 0])
    assert scores.diagnostics == {"first_preferred": 0.5, "ties": 0.0, "orders_agree": 1.0}


def test_a_judge_that_always_says_a_is_all_bias_and_no_information() -> None:
    judge, data = judged(lambda r: "[[A]]")
    scores = judge.score(data)
    assert (scores.agent.values == 0.5).all()
    assert scores.diagnostics == {"first_preferred": 1.0, "ties": 0.0, "orders_agree": 0.0}
    assert (judge.score(data, "paper").agent.values == 1).all()  # the row mean sees only bias


def test_released_pair_scores_use_the_reference_alone() -> None:
    judge, data = judged(
        lambda r: "[[A]]" if shown(r)[0] > shown(r)[1] else "[[B]]",
        ("Faithful", "Faithful", "Strategic", "Other"),
    )
    pair = judge.score(data, "released").pair
    assert pair is not None
    # Everybody beats the reference, so every pair without it ties at 1; its own quality is 1/2.
    assert pair.values[0, 0, 1] == pair.values[0, 0, 2] == pair.values[0, 1, 2] == 1.0
    assert pair.values[0, 0, 3] == 0.5
    corrected = judge.score(data).pair
    assert corrected is not None
    assert corrected.values[0, 0, 1] == pytest.approx(2 / 3)
    assert corrected.values[0, 0, 2] == pytest.approx(1 / 3)


def test_released_definition_needs_one_reference() -> None:
    judge, data = judged(lambda r: "[[C]]")
    with pytest.raises(DataError, match="marks 0 agents as reference"):
        judge.score(data, "released")


def test_context_shows_the_source_and_no_context_hides_it() -> None:
    lm = ScriptedChat(lambda r: "[[C]]")
    Judge(Prompt("judge.txt")).measure(panel_of(TEXTS), lm, seed=0)
    assert all("source" in r.messages[0].content for r in lm.seen)
    assert len(lm.seen) == 3 * 4 * 3
    _, data = judged(lambda r: None if "source 0" in r.messages[0].content else "[[C]]")
    assert not np.isnan(data["verdict"].values[0, 0, 1])


def test_unread_verdicts_are_unscored() -> None:
    judge, data = judged(lambda r: "no verdict" if shown(r)[0] == 3 else "[[B]]")
    assert np.isnan(data["verdict"].values[:, 0, 1:]).all()
    scores = judge.score(data)
    assert np.isnan(scores.agent.values[:, 0]).all()
    assert scores.diagnostics["first_preferred"] == 0.0


def test_position_of_nothing_is_unknown() -> None:
    assert all(math.isnan(v) for v in position(np.full((2, 3, 3), np.nan)).values())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A is better. [[A]]", 1.0),
        ("[[ b ]]", 0.0),
        ("[[C]].\n", 0.5),
        ("Options are [[A]], [[B]] and [[C]].\nVerdict: [[B]]", 0.0),
        ("[[A]] or [[B]]?\n\n**[[A]]**.\n", 1.0),
        ("Both say [[A]]: [[A]]", 1.0),
        ("[[A]] beats [[B]] clearly", None),
        ("[[A]] is better than [[B]].", None),
        ("The winner is [[A]], not [[B]].", None),
        ("**[[A]]** (rather than [[C]])", None),
        ("I prefer [[A]].\nSo [[B]] loses.", None),
        ("A", None),
        ("[A]", None),
        ("[[D]]", None),
        ("", None),
    ],
)
def test_labels_are_read_strictly(text: str, value: float | None) -> None:
    got = read_label(Reply(text), VERDICTS)
    assert math.isnan(got) if value is None else got == value


def test_a_prompt_with_an_unknown_field_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "p.txt").write_text("Compare {a} with {b} and {colour}.")
    judge = Judge(Prompt(str(tmp_path / "p.txt")), context=False)
    with pytest.raises(ConfigError, match=r"asks for \['colour'\]"):
        judge.measure(panel_of(TEXTS), ScriptedChat(lambda r: "[[A]]"), seed=0)
    with pytest.raises(ConfigError, match="cannot be read"):
        Prompt("nowhere.txt")


def test_braces_in_a_text_are_text(tmp_path) -> None:  # type: ignore[no-untyped-def]
    lm = ScriptedChat(lambda r: "[[A]]")
    Judge(PROMPT, context=False).measure(panel_of([["{task} {x}", "b"]]), lm, seed=0)
    assert "{task} {x}" in lm.seen[0].messages[0].content
