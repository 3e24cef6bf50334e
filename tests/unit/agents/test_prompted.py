"""The two stages of prompted agents, with an LM that answers from a script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from judgelab.agents import Recorded
from judgelab.agents.prompted import Prompted
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Item, Panel
from tests.scripted import ScriptedChat


def echo(request: ChatRequest) -> str:
    return "/".join(request.key)


def stages(lm: ScriptedChat) -> tuple[list[ChatRequest], list[ChatRequest]]:
    """What was asked while reading, and then for answers."""
    names = [request.key[3] for request in lm.seen]
    assert names == sorted(names, reverse=True)
    return lm.seen[: names.count("reading")], lm.seen[names.count("reading") :]


ITEMS = (Item("one", "First source.", reference="human one"), Item("two", "Second source."))


def test_summaries_read_first_where_the_strategy_has_a_reading_stage() -> None:
    lm = ScriptedChat(echo)
    panel = Prompted(noun="bill").answer(Panel(items=ITEMS), lm)
    reading, answers = stages(lm)
    assert {r.key[2] for r in reading} == {"Fact Manipulation", "Misleading Emphasis"}
    assert len(reading) == 4
    assert len(answers) == 2 * 29
    strategies = load_taxonomy("summarization").strategies
    assert [a.name for a in panel.agents] == [s.name for s in strategies]
    assert [row[0] for row in panel.texts] == ["human one", None]
    assert panel.texts[1][1] == "agents/two/Faithful/answer"


def test_what_is_sent() -> None:
    lm = ScriptedChat(echo)
    Prompted(noun="bill").answer(Panel(items=ITEMS), lm)
    plans = {s.name: s for s in load_taxonomy("summarization").strategies}
    sent = {request.key[1:]: request for request in lm.seen}
    plain = sent["one", "Faithful", "answer"]
    instruction = plans["Faithful"].prompt.replace("{noun}", "bill")
    (message,) = plain.messages
    assert message.role == "user"
    assert message.content.startswith(instruction)
    assert message.content.endswith(instruction)
    assert "```\nFirst source.\n```" in message.content
    assert "{noun}" not in message.content
    assert (plain.temperature, plain.max_tokens) == (0.7, 150)
    reading = sent["one", "Fact Manipulation", "reading"].messages[0].content
    assert "First source." in reading and str(plans["Fact Manipulation"].reading)[:9] in reading
    written = sent["one", "Fact Manipulation", "answer"].messages[0].content
    assert "First source." not in written
    assert "agents/one/Fact Manipulation/reading" in written


def test_reviews_all_read_and_share_one_prompt() -> None:
    lm = ScriptedChat(echo)
    Prompted(max_tokens=99, temperature=0).answer(Panel(items=ITEMS, task="peer_review"), lm)
    reading, answers = stages(lm)
    assert len(reading) == len(answers) == 2 * 28
    assert len({r.messages[0].content for r in reading if r.key[1] == "one"}) == 28
    assert {r.max_tokens for r in (*reading, *answers)} == {99}
    assert {r.temperature for r in answers} == {0}


def test_refused_and_empty_replies_are_unscored_and_counted() -> None:
    def script(request: ChatRequest) -> str | None:
        _, item, name, stage = request.key
        if stage == "reading":
            return None if item == "one" else "notes"
        return "  \n" if name == "Poetic" else " text "

    lm = ScriptedChat(script)
    panel = Prompted().answer(Panel(items=ITEMS), lm)
    column = {agent.name: j for j, agent in enumerate(panel.agents)}
    assert [row[column["Poetic"]] for row in panel.texts] == [None, None]
    assert [row[column["Fact Manipulation"]] for row in panel.texts] == [None, "text"]
    unanswered = panel.provenance["agents_unanswered"]
    assert unanswered == {"answer: empty reply": 2, "reading: refused": 2}
    assert len(stages(lm)[1]) == 2 * 29 - 2


def test_a_source_cannot_close_its_fence_or_fill_placeholders() -> None:
    lm = ScriptedChat(echo)
    tricky = "a ```` b {instruction} {0} {noun}"
    Prompted().answer(Panel(items=(Item("1", tricky),), task="translation"), lm)
    content = lm.seen[0].messages[0].content
    assert f"`````\n{tricky}\n`````" in content


COUNTS = {  # TVD-MI paper, Tables 8, 9 and 7
    "summarization": {"Faithful": 4, "Style": 10, "Strategic": 10, "Low Effort": 5, "Other": 1},
    "translation": {"Faithful": 6, "Style": 15, "Strategic": 4, "Low Effort": 5, "Other": 1},
    "peer_review": {"Faithful": 4, "Style": 12, "Strategic": 8, "Low Effort": 5},
}


@pytest.mark.parametrize("task", COUNTS)
def test_categories_are_those_of_the_paper(task: str) -> None:
    taxonomy = load_taxonomy(task)
    assert taxonomy.task == task
    assert Counter(s.category for s in taxonomy.strategies) == COUNTS[task]
    assert taxonomy.strategies[0].reference
    assert sum(s.reference for s in taxonomy.strategies) == 1


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'summarization'.*peer_review"):
        load_taxonomy("sumarization")
    with pytest.raises(ConfigError, match="no taxonomy 'nowhere"):
        load_taxonomy("nowhere/else.yaml")


ENTRY = "- {name: A, category: Style, description: d, prompt: p}"


@pytest.mark.parametrize(
    "body,message",
    [
        ("agents: 3", "a list of 'agents'"),
        ("agents: [oops", "not readable YAML"),
        ("agents: [{name: A, category: Stile, description: d, prompt: p}]", r"0\.category.*'Style"),
        ("agents: [{name: A, categry: Style}]", r"agents\.0\.categry .*not permitted"),
        (f"agents:\n  {ENTRY}\n  {ENTRY}", "A stands there more than once"),
    ],
)
def test_a_broken_file_names_the_entry(tmp_path: Path, body: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"task: summarization\n{body}\n")
    with pytest.raises(DataError, match=message):
        load_taxonomy(str(path))


def test_recorded_without_responses_names_the_dataset() -> None:
    panel = Panel(items=(Item("1", "s"),), provenance={"dataset": "xsum"})
    with pytest.raises(ConfigError, match="'xsum' has no recorded responses: use agents=rules"):
        Recorded().answer(panel, None)
