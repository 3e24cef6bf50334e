"""Panels refuse what does not fit, and rewrite texts independently of order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Item, Panel, rng_for
from judgelab.core.prompt import Prompt
from tests.scripted import panel_of


def test_seed_salt_item_and_agent_each_change_the_stream() -> None:
    base = rng_for(0, "s", "i", "a").random()
    others = [
        rng_for(*key).random()
        for key in ((1, "s", "i", "a"), (0, "t", "i", "a"), (0, "s", "j", "a"), (0, "s", "i", "b"))
    ]
    assert base not in others
    assert rng_for(0, "s", "i", "a").random() == base


@pytest.mark.parametrize(
    ("ids", "names", "texts", "said"),
    [
        ("ii", "", (), "item id 'i' occurs twice"),
        ("i", "xx", (("1", "2"),), "agent name 'x' occurs twice"),
        ("i", "x", (("1", "2"),), "1 items x 1 agents"),
        ("i", "x", (("bad \ud800",),), "Item 'i': a text holds half a character"),
    ],
)
def test_what_is_no_panel_is_refused(ids: str, names: str, texts: Any, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Panel(tuple(Item(i, "a") for i in ids), tuple(map(Agent, names)), texts)


def test_digest_sees_texts_names_and_absence() -> None:
    panels = [panel_of([[text, text]]) for text in ("p", "p", "other", None, "")]
    first, again, *others = [panel.digest for panel in panels]
    assert first == again and len({first, *others}) == 4


def test_a_file_in_the_working_directory_hides_no_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Prompt("judge.txt").identity
    monkeypatch.chdir(tmp_path)
    for name in ("judge.txt", "mine.txt"):
        Path(name).write_text("Other words: {source}")
    assert Prompt("judge.txt").identity == before
    assert Prompt("judge.txt").shipped
    for own in ("./judge.txt", str(tmp_path / "judge.txt"), "mine.txt"):
        assert Prompt(own).template == "Other words: {source}"
        assert not Prompt(own).shipped
    with pytest.raises(ConfigError, match=r"'none\.txt' cannot be read"):
        Prompt("none.txt")
