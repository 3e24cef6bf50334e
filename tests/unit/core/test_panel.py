"""Panels refuse what does not fit, and rewrite texts independently of order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judgelab.attack.protocol import RuleAttack
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Item, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.step import Place
from tests.scripted import NOBODY


def make(order: tuple[int, ...] = (0, 1, 2)) -> Panel:
    items = tuple(Item(f"i{k}", f"source {k}") for k in order)
    return Panel(items, (Agent("x"), Agent("y")), tuple(("p", "q") for _ in order))


class Draw(RuleAttack):
    name = "draw"

    def rule(self, text: str, at: Place) -> str:
        return str(at.rng.random())


def test_order_of_items_does_not_change_what_an_item_gets() -> None:
    def draw(panel: Panel) -> dict[str, tuple[str | None, ...]]:
        drawn = Draw().apply(panel, NOBODY, seed=3)
        return {item.id: row for item, row in zip(drawn.items, drawn.texts, strict=True)}

    assert draw(make()) == draw(make((2, 0, 1)))


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
    base = make()
    others = [replace(base, texts=((text, text),) * 3) for text in ("other", None, "")]
    assert len({base.digest, *(other.digest for other in others)}) == 4
    assert make().digest == base.digest


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
