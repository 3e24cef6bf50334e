"""The synthetic panel as a whole: labels, determinism, odd texts, speed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.agents.reading import NUMBER, Source, has_letters, units
from judgelab.agents.rewriting import falsify_numbers
from judgelab.agents.rules import TASKS, Rules, writers
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.core.errors import ConfigError
from judgelab.core.panel import Agent, Item, Panel, rng_for

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {
    "one sentence": "The pier at Wenlow reopened on 3 May after 12 years.",
    "one word": "Resumption",
    "dialogue": "Ann: hi, did you eat?\nBo: yes at 8\nAnn: ok bye\nBo: bye",
    "no capitals": "i lost my keys. then i found them. my cat had them all along.",
    "all capitals": "STORM HITS COAST. TWO BRIDGES CLOSED. SCHOOLS SHUT.",
    "non-ascii": "Šárka řekla „ne“. Ærø ligger i Øresund – 5 km væk. 东京很大。",
    "no punctuation": "word after word " * 80,
    "markup": "# Head\n\n* **bold** item {0} %s\n* `code` \\1 $& <b>x</b>\n",
    "digits": "7 7 7 a 7",
    "emoji": "😀 ok 😀",
    "control": "a\x00b \u202e c\u0301 \ufeff d",
}


@pytest.mark.parametrize("task", TASKS)
def test_rules_carry_out_three_strategies_or_more_of_each_category(task: str) -> None:
    strategies = {s.name: s.category for s in load_taxonomy(task).strategies}
    known = Counter(strategies[name] for name in writers(task))
    assert set(known) == {"Faithful", "Style", "Strategic", "Low Effort"}
    assert min(known.values()) >= 3


ATOMS = st.sampled_from(
    [
        *("a", "The", "not", "was", "Bob", "Ann:", "12", "1,000", "3.5%", "06:40", ". ", "! "),
        *(", ", ": ", "\n", "\n\n", " ", '"', "'", "(", ")", "[", "]", "{", "}", "{s}", "\\1", "|"),
        *("-", "–", "é", "你好", "\x00", "# Abstract\n", "We propose ", "because ", "in London "),
        *("killed ", "? ", "isn't ", "I ", "²", "٣", "ǅ", "İ", "May ", "£", "5 km ", "O'Neil"),
    ]
)


@settings(max_examples=25, deadline=None)
@given(st.lists(ATOMS, max_size=30).map("".join))
def test_no_text_breaks_a_rule(text: str) -> None:
    for task in TASKS:
        if has_letters(text):
            source = Source(text, original=text)
            for name, writer in writers(task).items():
                assert has_letters(writer(source, rng_for(0, name))), (task, name)


def test_the_panel_is_labelled_synthetic() -> None:
    items = (Item("1", TEXTS["one sentence"], reference="human"), Item("2", TEXTS["dialogue"]))
    before = Panel(items, (Agent("X"),), (("x",),) * 2, provenance={"dataset": "mine"})
    panel = Rules(seed=3).answer(before)
    assert panel.provenance["agents"] == "rules (synthetic)"
    assert panel.provenance["dataset"] == "mine"
    assert panel.provenance["taxonomy_sha"] == load_taxonomy("summarization").sha
    assert panel.provenance["agents_seed"] == 3
    assert len(panel.agents) == 18
    assert "Sentiment Flip" in panel.provenance["agents_without_rule"]
    for agent in panel.agents:
        assert agent.meta["synthetic"] == ("false" if agent.reference else "true")
    assert [row[0] for row in panel.texts] == ["human", None]


def by_name(panel: Panel) -> dict[tuple[str, str], str | None]:
    return {
        (item.id, agent.name): text
        for item, row in zip(panel.items, panel.texts, strict=True)
        for agent, text in zip(panel.agents, row, strict=True)
    }


@pytest.mark.parametrize("task", TASKS)
def test_order_and_company_of_items_change_nothing(task: str) -> None:
    items = tuple(Item(k, t, meta={"gloss": t}) for k, t in TEXTS.items())
    forward = by_name(Rules().answer(Panel(items=items, task=task)))
    backward = by_name(Rules().answer(Panel(items=items[::-1], task=task)))
    alone = by_name(Rules().answer(Panel(items=items[:1], task=task)))
    assert forward == backward
    assert alone.items() <= forward.items()
    assert forward != by_name(Rules(seed=1).answer(Panel(items=items, task=task)))


def test_the_same_bytes_in_any_process() -> None:
    code = (
        "from judgelab.agents.rules import Rules; from judgelab.core.panel import Item, Panel;"
        "import json; line = json.loads(open('judgelab/dataset/samples/xsum.jsonl').readline());"
        "print(*[Rules().answer(Panel((Item('1', line['document'], meta={'gloss': 'A man ate.'}),),"
        "task=t)).digest for t in ('summarization', 'translation', 'peer_review')])"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_a_translation_rewrites_the_gloss_else_the_reference_else_nothing() -> None:
    items = (
        Item("g", "Der Hund bellt.", reference="ref", meta={"gloss": "The dog barks loudly."}),
        Item("r", "Der Hund schläft.", reference="The hound sleeps soundly."),
        Item("n", "Der Hund frisst."),
    )
    panel = Rules().answer(Panel(items=items, task="translation"))
    assert panel.provenance["base_translation"] == {"gloss": 1, "none": 1, "reference": 1}
    original = [agent.name for agent in panel.agents].index("Original")
    assert "barks" in str(panel.texts[0][original])
    assert "hound" in str(panel.texts[1][original])
    assert set(panel.texts[2]) == {None}


def test_a_task_or_a_strategy_without_rules_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="task 'cooking'.*agents=recorded"):
        Rules().answer(Panel(items=(), task="cooking"))
    path = tmp_path / "own.yaml"
    entry = "{name: Haiku, category: Style, description: d, prompt: p}"
    path.write_text(f"task: summarization\nagents: [{entry}]\n")
    for task in ("summarization", "cooking"):
        path.write_text(f"task: {task}\nagents: [{entry}]\n")
        with pytest.raises(ConfigError, match=f"no strategy of the taxonomy '{task}'"):
            Rules(str(path)).answer(Panel(items=()))


def test_forty_thousand_characters_take_a_fraction_of_a_second_per_agent() -> None:
    line = "The council of Wenlow paid Orla Finch £1,200 on Monday because the ramp had cracked. "
    text = (line * 500)[:40_000]
    for task in TASKS:
        start = time.process_time()
        panel = Rules().answer(Panel(items=(Item("1", text, meta={"gloss": text}),), task=task))
        assert time.process_time() - start < 0.2 * len(panel.agents)


RNG = np.random.default_rng


def texts(source: str) -> list[str]:
    return [sentence for _, sentence in units(source)]


@pytest.mark.parametrize(
    "text", ["In 1987, 12 of 3,400 paid £4.50 at 06:40", "twelve of forty thousand", "9" * 5000]
)
def test_no_number_survives_falsification(text: str) -> None:
    old = NUMBER.findall(text)
    for seed in range(20):
        changed = falsify_numbers(text, frozenset(old), RNG(seed))
        new = NUMBER.findall(changed)
        assert not set(new) & set(old) and len(new) == len(old)
        assert changed != text
