"""The two stages of prompted agents, with an LM that answers from a script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import pytest

from judgelab.agents.prompted import Prompted
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.config.build import build
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.core.lm import Capability, ChatRequest, EvaluationLM, LogProbTable, Pairs, Reply
from judgelab.core.panel import Item, Panel

Script = Callable[[ChatRequest], Reply]


class Scripted(EvaluationLM):
    """A chat LM whose replies are a function of the request; it keeps every batch it was sent."""

    identity = "scripted 1"
    capabilities = frozenset({Capability.CHAT})
    facts: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, script: Script) -> None:
        self.script = script
        self.batches: list[list[ChatRequest]] = []

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        raise AssertionError("nobody asked for probabilities")

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        self.batches.append(list(requests))
        return [self.script(request) for request in requests]

    def close(self) -> None:
        return None


def echo(request: ChatRequest) -> Reply:
    return Reply("/".join(request.key))


ITEMS = (Item("one", "First source.", reference="human one"), Item("two", "Second source."))


def test_summaries_read_first_where_the_strategy_has_a_reading_stage() -> None:
    lm = Scripted(echo)
    panel = Prompted(noun="bill").answer(Panel(items=ITEMS), lm)
    reading, answers = lm.batches
    assert {r.key[2] for r in reading} == {"Fact Manipulation", "Misleading Emphasis"}
    assert len(reading) == 4
    assert len(answers) == 2 * 29
    assert [a.name for a in panel.agents] == [
        s.name for s in load_taxonomy("summarization").strategies
    ]
    assert [row[0] for row in panel.texts] == ["human one", None]
    assert panel.texts[1][1] == "agents/two/Faithful/answer"


def test_what_is_sent() -> None:
    lm = Scripted(echo)
    Prompted(noun="bill").answer(Panel(items=ITEMS), lm)
    strategies = {s.name: s for s in load_taxonomy("summarization").strategies}
    sent = {request.key[1:]: request for batch in lm.batches for request in batch}
    plain = sent["one", "Faithful", "answer"]
    instruction = strategies["Faithful"].prompt.replace("{noun}", "bill")
    (message,) = plain.messages
    assert message.role == "user"
    assert message.content.startswith(instruction)
    assert message.content.endswith(instruction)
    assert "```\nFirst source.\n```" in message.content
    assert "{noun}" not in message.content
    assert (plain.temperature, plain.max_tokens) == (0.7, 150)
    reading = sent["one", "Fact Manipulation", "reading"].messages[0].content
    assert (
        "First source." in reading and str(strategies["Fact Manipulation"].reading)[:9] in reading
    )
    written = sent["one", "Fact Manipulation", "answer"].messages[0].content
    assert "First source." not in written
    assert "agents/one/Fact Manipulation/reading" in written


def test_reviews_all_read_and_share_one_prompt() -> None:
    lm = Scripted(echo)
    Prompted(max_tokens=99, temperature=0).answer(Panel(items=ITEMS, task="peer_review"), lm)
    reading, answers = lm.batches
    assert len(reading) == len(answers) == 2 * 28
    assert len({r.messages[0].content for r in reading if r.key[1] == "one"}) == 28
    assert {r.max_tokens for r in (*reading, *answers)} == {99}
    assert {r.temperature for r in answers} == {0}


@pytest.mark.parametrize("task,budget", [("peer_review", 2000), ("translation", 500)])
def test_budgets_are_the_tasks(task: str, budget: int) -> None:
    lm = Scripted(echo)
    Prompted().answer(Panel(items=ITEMS, task=task), lm)
    assert {r.max_tokens for batch in lm.batches for r in batch} == {budget}
    assert len(lm.batches) == (2 if task == "peer_review" else 1)


def test_refused_and_empty_replies_are_unscored_and_counted() -> None:
    def script(request: ChatRequest) -> Reply:
        _, item, name, stage = request.key
        if stage == "reading":
            return Reply(None, reason="filtered") if item == "one" else Reply("notes")
        return Reply("  \n") if name == "Poetic" else Reply(" text ")

    lm = Scripted(script)
    panel = Prompted().answer(Panel(items=ITEMS), lm)
    column = {agent.name: j for j, agent in enumerate(panel.agents)}
    assert [row[column["Poetic"]] for row in panel.texts] == [None, None]
    assert [row[column["Fact Manipulation"]] for row in panel.texts] == [None, "text"]
    assert panel.provenance["agents_unanswered"] == {
        "answer: empty reply": 2,
        "reading: filtered": 2,
    }
    assert len(lm.batches[1]) == 2 * 29 - 2


def test_provenance_names_the_lm_and_the_taxonomy() -> None:
    panel = Prompted().answer(
        Panel(items=ITEMS, task="translation", provenance={"dataset": "x"}), Scripted(echo)
    )
    assert panel.provenance["agents"] == "prompted (scripted 1)"
    assert panel.provenance["taxonomy_sha"] == load_taxonomy("translation").sha
    assert panel.provenance["dataset"] == "x"
    assert {agent.meta["synthetic"] for agent in panel.agents} == {"false"}


def test_a_source_cannot_close_its_fence_or_fill_placeholders() -> None:
    lm = Scripted(echo)
    tricky = "a ```` b {instruction} {0} {noun}"
    Prompted().answer(Panel(items=(Item("1", tricky),), task="translation"), lm)
    content = lm.batches[0][0].messages[0].content
    assert f"`````\n{tricky}\n`````" in content


def test_no_chat_no_answer() -> None:
    with pytest.raises(CapabilityError, match="can chat"):
        Prompted().answer(Panel(items=ITEMS), None)
    assert Prompted.requires == {Capability.CHAT}


@pytest.mark.parametrize(
    "setting", [{"temperature": -1}, {"temperature": float("nan")}, {"max_tokens": 0}]
)
def test_settings_out_of_range_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"agents.{next(iter(setting))}="):
        build({"_target_": "judgelab.agents.prompted.Prompted", **setting}, "agents")
