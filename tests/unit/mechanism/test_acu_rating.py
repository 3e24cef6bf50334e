"""Salience in content units, by mechanism=acu_rating: what is asked, and what comes of it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

from judgelab.config import build, resolved
from judgelab.core.panel import Agent, Item, Panel
from judgelab.mechanism.rating import Rating
from tests.scripted import ScriptedChat

CONF = Path(__file__).resolve().parents[3] / "conf"


@pytest.fixture
def mechanism() -> Rating:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = resolved(compose("config", overrides=["mechanism=acu_rating"]))
    found = build(config["mechanism"], "mechanism")
    assert isinstance(found, Rating)
    return found


def panel() -> Panel:
    items = (Item("i", "A long source."), Item("j", "Other source."), Item("k", " "))
    texts = (("eins", "zwei"), ("drei", None), ("vier", "vier"))
    return Panel(items, (Agent("a"), Agent("b")), texts)


def test_every_text_is_asked_once_with_its_source_and_nothing_else(mechanism: Rating) -> None:
    replies = {"eins": "4", "zwei": "Salience: 2/5", "drei": "between 3 and 4"}
    lm = ScriptedChat(
        lambda request: next(r for t, r in replies.items() if t in request.messages[0].content)
    )
    data = mechanism.measure(panel(), lm, seed=0)
    assert mechanism.name == "acu_rating" == lm.seen[0].key[0]
    assert [request.key[1:3] for request in lm.seen] == [("i", "a"), ("i", "b"), ("j", "a")]
    first = lm.seen[0].messages[0].content
    assert "A long source." in first and "eins" in first and "zwei" not in first
    assert all(r.temperature == 0 and r.max_tokens == 10 for r in lm.seen)
    expected = [[4.0, 2.0], [math.nan, math.nan], [math.nan, math.nan]]
    np.testing.assert_array_equal(mechanism.score(data).agent.values, expected)
    assert "rating.txt sha256:" in data.attrs["prompt"]
    assert "content_units.yaml sha256:" in data.attrs["criteria"]
    order = ["content unit is", "1. Write", "2. Match", "3. Choose the grade", "1: very few"]
    order += ["5: every important", "A long source.", "eins", "alone"]
    places = [first.index(part) for part in order]
    assert places == sorted(places), "as the paper specifies"
    assert "important" in first and "leaves out" in first
