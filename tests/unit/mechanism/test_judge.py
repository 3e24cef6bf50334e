"""The judge: labels, both orders, position bias, and three definitions of a score."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from judgelab.calls.cached import CountingLM
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply import read_choice
from judgelab.mechanism.chat_eval import ChatEval, ChatEvalPointwise
from judgelab.mechanism.judge import Judge, position, win_rates
from judgelab.study.qualification.pools import preferences_of
from judgelab.study.qualification.responses import all_pairs
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


def honest(request: ChatRequest) -> str:
    return "[[A]]" if shown(request)[0] > shown(request)[1] else "[[B]]"


def judged(rule, categories=()):  # type: ignore[no-untyped-def]
    judge = Judge(PROMPT, context=False)
    return judge, judge.measure(panel_of(TEXTS, categories), ScriptedChat(rule), seed=0)


def test_an_honest_judge_ranks_and_has_no_bias() -> None:
    judge, data = judged(honest)
    scores = judge.score(data)
    np.testing.assert_allclose(scores.agent.values[0], [1, 2 / 3, 1 / 3, 0])
    assert scores.diagnostics == {"first_preferred": 0.5, "ties": 0.0, "orders_agree": 1.0}
    with pytest.raises(DataError, match="marks 0 agents as reference"):
        judge.score(data, "released")


def test_a_judge_that_always_says_a_is_all_bias_and_no_information() -> None:
    judge, data = judged(lambda r: "[[A]]")
    scores = judge.score(data)
    assert (scores.agent.values == 0.5).all()
    assert scores.diagnostics == {"first_preferred": 1.0, "ties": 0.0, "orders_agree": 0.0}
    assert (judge.score(data, "paper").agent.values == 1).all()  # the row mean sees only bias


def test_released_pair_scores_use_the_reference_alone() -> None:
    judge, data = judged(honest, ("Faithful", "Faithful", "Strategic", "Other"))
    pair = judge.score(data, "released").pair
    assert pair is not None
    # Everybody beats the reference, so every pair without it ties at 1; its own quality is 1/2.
    assert pair.values[0, 0, 1] == pair.values[0, 0, 2] == pair.values[0, 1, 2] == 1.0
    assert pair.values[0, 0, 3] == 0.5
    corrected = judge.score(data).pair
    assert corrected is not None
    assert corrected.values[0, 0, 1] == pytest.approx(2 / 3)
    assert corrected.values[0, 0, 2] == pytest.approx(1 / 3)


def test_context_shows_the_source_and_no_context_hides_it() -> None:
    lm = ScriptedChat(lambda r: "[[C]]")
    Judge(Prompt("judge.txt")).measure(panel_of(TEXTS), lm, seed=0)
    assert ["source" in r.messages[0].content for r in lm.seen] == [True] * (3 * 4 * 3)
    _, data = judged(lambda r: None if "source 0" in r.messages[0].content else "[[C]]")
    assert not np.isnan(data["verdict"].values[0, 0, 1])


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("Compare {a} with {b} and {colour}.", r"asks for \['colour'\]"),
        ("Is {a} better than the other?", r"put {b} where"),
    ],
)
def test_a_prompt_without_the_texts_or_with_more_is_refused_before_it_is_paid(
    template: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "p.txt"
    file.write_text(template)
    judge, lm = Judge(Prompt(str(file)), context=False), ScriptedChat(lambda r: "[[A]]")
    with pytest.raises(ConfigError, match=said):
        judge.measure(panel_of(TEXTS), lm, seed=0)
    assert not lm.seen


def test_a_prompt_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        Prompt("nowhere.txt")


QUALITY = np.array([0.9, 0.6, 0.4, 0.1])
"""P(agent wins) against agent j is 1/2 + (QUALITY_i - QUALITY_j) / 2."""


def verdicts(rng: np.random.Generator, items: int, unread: float, bias: float):  # type: ignore[no-untyped-def]
    """[item, agent, peer] of a judge that prefers the first text, some unread at random."""
    wins = 0.5 + (QUALITY[:, None] - QUALITY[None, :]) / 2 * (1 - 2 * bias) + bias
    found = (rng.random((items, 4, 4)) < wins).astype(float)
    found[rng.random(found.shape) < unread] = np.nan
    found[:, np.arange(4), np.arange(4)] = np.nan
    names = [f"a{k}" for k in range(4)]
    coords = {"item": [str(k) for k in range(items)], "agent": names, "peer": names}
    return xr.DataArray(found, dims=("item", "agent", "peer"), coords=coords)


def test_one_order_is_used_and_the_bias_stays_out() -> None:
    """Position bias of .2 and 30 % unread at random: every score has the mean of complete data."""
    first = verdicts(np.random.default_rng(1), 4000, unread=0.3, bias=0.2)
    agent = win_rates(first).agent.values
    known = ~np.isnan(agent)
    error = np.nanstd(agent, axis=0) / np.sqrt(known.sum(axis=0))
    truth = 0.5 + 0.6 * (QUALITY - QUALITY.mean()) / 2 * 4 / 3
    assert (np.abs(np.nanmean(agent, axis=0) - truth) < 4 * error).all()
    both = ~np.isnan(first.values + np.swapaxes(first.values, 1, 2))
    alone = ~np.isnan(first.values) & ~both
    assert alone.sum() / (~np.isnan(first.values)).sum() == pytest.approx(0.3, abs=0.01)
    for place in np.argwhere(alone)[:50]:  # each verdict of a single order moves its agent's score
        other = first.copy(deep=True)
        other.values[tuple(place)] = 1 - other.values[tuple(place)]
        moved = win_rates(other).agent.values[place[0], place[1]]
        assert moved != agent[place[0], place[1]] or np.isnan(moved)


def test_nothing_is_scored_from_nothing() -> None:
    first = verdicts(np.random.default_rng(3), 2, unread=0, bias=0)
    first.values[0, 0] = np.nan  # shown first, agent 0 was never read
    first.values[1] = np.nan
    agent = win_rates(first).agent.values
    assert np.isnan(agent[0, 0])
    assert not np.isnan(agent[0, 1:]).any()
    assert np.isnan(agent[1]).all()
    assert all(math.isnan(v) for v in position(np.full((2, 3, 3), np.nan)).values())


def test_labels_are_whole_words() -> None:
    assert read_choice("That deserves a mention, hence two.", ("one", "two")) == "two"
    assert read_choice("None of them", ("one", "two")) is None
    assert read_choice("One beats two", ("one", "two")) == "one"
    assert read_choice("One beats two", ("one", "two"), "last") == "two"
    assert read_choice("`Two`.", ("one", "two")) == "two"
    assert read_choice(None, ("one",)) is None
    levels = ("null", "low", "medium", "high", "expert")
    assert read_choice("Following the highlights: medium", levels, "last") == "medium"


def test_a_debate_goes_round_and_the_last_words_count() -> None:
    def speak(request: Any) -> str | None:
        said = request.messages[0].content.split("[What has been said so far]")[1]
        if "sceptic" in request.key:
            return None  # silent: the others go on
        return "one" if "Nobody has spoken" in said else "after one, I say two"

    lm = ScriptedChat(speak)
    roles = {"sceptic": "who doubts", "reader": "who reads", "writer": "who writes"}
    panel = panel_of([["a", "b"], ["c", None]])
    data = ChatEval(Prompt("chat_eval.txt"), roles, rounds=2).measure(panel, lm, seed=0)
    assert len(lm.seen) == 2 * 3 * 2  # both orders of one pair, three roles, two rounds
    counted = CountingLM(lm)  # a dry run, in which nobody answers, counts as many
    ChatEval(Prompt("chat_eval.txt"), roles, rounds=2).measure(panel, counted, seed=0)
    assert counted.total.calls == 2 * 3 * 2
    assert data["verdict"].values[0, 0, 1] == 0.0 and np.isnan(data["verdict"].values[1]).all()


def test_people_prefer_the_higher_grade_or_what_they_named() -> None:
    named = json.dumps([["b", "a"], ["a", "c"]])
    items = (
        Item("1", "s", human={"a": 3, "b": 3, "c": 3}, meta={"preferences": named}),
        Item("2", "s", human={"a": 3, "b": 1}),
    )
    panel = Panel(items, tuple(map(Agent, "abc")), (("x",) * 3,) * 2)
    gold = preferences_of(panel, all_pairs(panel))
    np.testing.assert_array_equal(gold, [[-1, 1, 0], [1, np.nan, np.nan]])


DEBATED = Prompt("chat_eval_pointwise.txt")
ROLES = {"reader": "who reads", "checker": "who checks", "mute": "who says nothing"}


def test_the_roles_last_grades_are_averaged_and_silence_is_counted() -> None:
    """The checker corrects itself after it has heard the reader; 9 lies outside the scale."""

    def speak(request: Any) -> str | None:
        text = request.messages[0].content
        if "mute" in request.key:
            return None
        if "checker" in request.key:
            return "Out of 5, I say\n2" if "reader: Of 3 claims" in text else "too early: 5"
        return "Of 3 claims all hold.\n9" if "[Answer]\nb\n" in text else "Of 3 claims all hold.\n4"

    lm = ScriptedChat(speak)
    panel = panel_of([["a", "b"], ["c", None]])
    debate = ChatEvalPointwise(DEBATED, ROLES)
    data = debate.measure(panel, lm, seed=0)
    assert len(lm.seen) == 3 * 3 * 2  # texts, roles, rounds
    assert "from 1 to 5" in lm.seen[0].messages[0].content
    np.testing.assert_array_equal(data["value"].values, [[3, 2], [3, np.nan]])
    np.testing.assert_array_equal(debate.score(data).agent.values, data["value"].values)
