"""How replies of the Auto-PRE paper's judges are read."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from judgelab.calls.cached import Counted
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.reply import read_choice
from judgelab.core.scores import MISSING
from judgelab.mechanism.chat_eval import ChatEval
from judgelab.mechanism.chat_eval_pointwise import ChatEvalPointwise
from judgelab.study.qualification.case import all_pairs, preferences_of
from tests.scripted import ScriptedChat, panel_of


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
    counted = Counted(lm)  # a dry run, in which nobody answers, counts as many
    ChatEval(Prompt("chat_eval.txt"), roles, rounds=2).measure(panel, counted, seed=0)
    assert counted.log.calls == 2 * 3 * 2
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
    counts = [data.attrs[name] for name in ("calls", "failed_calls", "unread_calls")]
    assert counts == [18, 6, 1]
    np.testing.assert_array_equal(data[MISSING].values, [[2, 3], [2, 0]])
    np.testing.assert_array_equal(debate.score(data).agent.values, data["value"].values)
