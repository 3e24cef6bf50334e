"""Candidates, references, and LMs that write."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from judgelab.agents.candidates import Candidates
from judgelab.config.composing import read_option
from judgelab.core.errors import ConfigError
from judgelab.core.prompt import Prompt
from judgelab.core.resources import conf
from judgelab.core.scores import Scores, measured
from judgelab.engine.context import with_item_references, with_references
from judgelab.study.validation import rows_of
from tests.scripted import NOBODY, ScriptedChat, panel_of

PANEL = panel_of([["a", "b", "c"], ["d", "e", "f"]])


def scores_of(values: np.ndarray) -> Scores:
    filled = np.where(np.eye(3, dtype=bool), np.nan, values)
    score = ("item", "agent"), np.arange(6.0).reshape(2, 3)
    data = measured(PANEL, score=score, directed=(("item", "agent", "peer"), filled))
    return Scores(agent=data["score"], directed=data["directed"])


def test_rows_are_candidates_against_references() -> None:
    directed = np.arange(18.0).reshape(2, 3, 3)
    rows, items = rows_of(with_references(PANEL, ["a0", "a2"]), scores_of(directed))
    assert rows.tolist() == [directed[0, 1, 0], directed[0, 1, 2], *directed[1, 1, [0, 2]]]
    assert items.tolist() == [0, 0, 1, 1]


def test_candidates_write_beside_the_texts_of_people() -> None:
    good = ScriptedChat(lambda request: f" about {request.key[1]} ")
    silent = ScriptedChat(lambda request: None, identity="silent")
    writers = Candidates({"good": good, "silent": silent}, prompt=Prompt("review.txt"))
    panel = writers.answer(PANEL, NOBODY)
    assert [agent.name for agent in panel.agents] == ["a0", "a1", "a2", "good", "silent"]
    assert panel.texts[1] == ("d", "e", "f", "about i1", None)
    assert panel.provenance["agents_unanswered"] == {"silent: refused": 2}
    assert "source 0" in good.seen[0].messages[0].content


@pytest.mark.parametrize(
    ("task", "asked"),
    [("summarization", "Summarise"), ("dialogue", "next speaker"), ("a poem", "[Request]")],
)
def test_candidates_are_asked_for_what_the_task_asks(task: str, asked: str) -> None:
    lm = ScriptedChat(lambda request: "x")
    node = read_option(conf() / "agents" / "candidates.yaml")
    prompts = {name: Prompt(one["file"]) for name, one in node["prompts"].items()}
    panel = replace(PANEL, task=task)
    made = Candidates({"m": lm}, prompts).answer(panel, NOBODY)
    assert asked in lm.seen[0].messages[0].content
    assert made.provenance["agents_prompt"] == prompts.get(task, prompts["other"]).identity


def test_a_candidate_may_not_take_a_persons_name() -> None:
    lm = ScriptedChat(lambda request: "x")
    with pytest.raises(ConfigError, match="agents.models.a1"):
        Candidates({"a1": lm}, prompt=Prompt("review.txt")).answer(PANEL, NOBODY)


def test_references_of_the_data_cost_no_agent() -> None:
    items = [replace(PANEL.items[0], reference="good"), replace(PANEL.items[1], reference=" ")]
    names = zip(PANEL.agents, ("x", "reference", "y"), strict=True)
    agents = tuple(replace(one, reference=False, name=name) for one, name in names)
    plain = replace(PANEL, items=tuple(items), agents=agents)
    found = with_item_references(plain)
    assert [a.name for a in found.agents] == ["x", "reference", "y", "reference*"]
    assert [a.reference for a in found.agents] == [False, False, False, True]
    assert [row[-1] for row in found.texts] == ["good", None]
    assert [row[:-1] for row in found.texts] == list(plain.texts)
    marked = with_references(plain, ["x"])
    assert with_item_references(marked) is marked
    assert with_item_references(PANEL) is PANEL, "no item has one"
