"""A study that stops: who is settled is not asked again, and what is left open is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.errors import ConfigError
from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Agent, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.engine.context import Context
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.pointwise import Pointwise
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.study.common.batches import item_order, joined
from judgelab.study.common.stopping import Stop
from judgelab.study.leaderboard import Leaderboard
from tests.scripted import ScriptedChat, ScriptedLogProb, panel_of
from tests.unit.study.discernment.discernment_context import lab

ITEMS = 150
CHANCE = {"poor": 0.05, "fair": 0.5, "good": 0.51, "best": 0.97}
"""Of a 5 rather than a 1."""


def panel() -> Panel:
    rows = [[f"{name} {k}" for name in (*CHANCE, "people")] for k in range(ITEMS)]
    agents = [Agent(name, reference=name == "people") for name in (*CHANCE, "people")]
    return replace(panel_of(rows), agents=tuple(agents))


def grade(request: ChatRequest) -> str:
    _, item, agent = request.key[:3]
    chance = CHANCE.get(agent, 0.5)
    return "5" if rng_for(3, item, agent).random() < chance else "1"


def ranked(folder: Path, stop: Stop, texts: Panel | None = None) -> tuple[Result, ScriptedChat]:
    lm = ScriptedChat(grade)
    judge = Pointwise(Prompt("pointwise5.txt"), reply="generated")
    one = lab(folder, lm, judge, panel() if texts is None else texts)
    return Leaderboard(stop=stop, bootstrap=50).run(one), lm


def asked(lm: ScriptedChat) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for request in lm.seen:
        found.setdefault(str(request.key[2]), set()).add(str(request.key[1]))
    return found


def test_who_is_settled_is_not_asked_again(tmp_path: Path) -> None:
    full, _ = ranked(tmp_path / "full", Stop())
    result, lm = ranked(tmp_path / "stopped", Stop(order=0.95))
    seen = {name: len(items) for name, items in asked(lm).items()}
    assert seen["poor"] < 60
    assert seen["best"] < 100
    assert seen["fair"] == seen["good"] == ITEMS
    assert len(lm.seen) == len({request.key for request in lm.seen})  # nothing twice
    rows = {row["candidate"]: row for row in result.tables[0].rows}
    assert {name: row["n"] for name, row in rows.items()} == {name: seen[name] for name in CHANCE}
    assert next(iter(rows)) == "best"
    assert list(rows)[-1] == "poor"
    assert (rows["best"]["rank_low"], rows["best"]["rank_high"]) == (1, 1)
    assert (rows["fair"]["rank_low"], rows["fair"]["rank_high"]) == (2, 3)
    assert result.summary["stop/open_pairs"] == 1
    replies = pd.read_parquet(tmp_path / "stopped" / "records" / "clean_reply_texts.parquet")
    assert len(replies) == len(lm.seen)
    assert "Left open, though all items were asked" in result.notes[1]
    assert all(row["unscored"] == 0 for row in rows.values())
    assert result.summary["clean/unscored_texts"] == 0  # not asked is not unscored
    assert {name: row["pairs"] for name, row in rows.items()} == {
        name: seen[name] for name in CHANCE
    }
    before = {row["candidate"]: row for row in full.tables[0].rows}
    assert rows["fair"]["value"] == pytest.approx(before["fair"]["value"])
    wider = rows["fair"]["high"] - rows["fair"]["low"]
    assert wider > before["fair"]["high"] - before["fair"]["low"]
    assert "stop/items" not in full.summary


def test_a_stopped_run_goes_the_same_way_again_wherever_items_stand(tmp_path: Path) -> None:
    first, lm = ranked(tmp_path / "a", Stop(order=0.95, top=1))
    whole = panel()
    turned = replace(whole, items=whole.items[::-1], texts=whole.texts[::-1])
    again, other = ranked(tmp_path / "b", Stop(order=0.95, top=1), turned)
    assert asked(lm) == asked(other)
    assert str(first.tables) == str(again.tables)  # as text: NaN is not NaN
    assert first.notes[1] == "Who is among the best 1 is sure (0.95)."
    assert first.summary["stop/asked_share"] < 0.4
    assert item_order(whole, 0) != list(range(ITEMS))


def test_width_stops_each_at_its_own_time_and_a_tie_within_it_is_settled(tmp_path: Path) -> None:
    result, lm = ranked(tmp_path / "a", Stop(width=1.2))
    seen = {name: len(items) for name, items in asked(lm).items()}
    assert seen["best"] < seen["good"] <= ITEMS
    for row in result.tables[0].rows:
        if row["n"] < ITEMS:
            assert row["high"] - row["low"] <= 1.2
    tied, other = ranked(tmp_path / "b", Stop(order=0.95, width=2.5))
    assert len(other.seen) < 0.9 * 5 * ITEMS
    assert tied.summary["stop/open_pairs"] == 0
    assert tied.notes[1] == "The whole order is sure (0.95, but for differences below 2.5)."
    states = [row["order"] for row in tied.tables[1].rows]
    assert set(states) == {"sure", "not needed"}


def test_ties_are_tested_as_often_as_there_are_pairs() -> None:
    """Not only as often as pairs are open: which these are was found by looking."""
    tie = [np.resize(x, 50) for x in ([0.65, 0.85], [0.85, 0.65])]
    far = np.resize([0.0, 0.1], 50)
    two, three = np.stack(tie, axis=1), np.stack([*tie, far], axis=1)
    stop, stricter = Stop(order=0.9, width=0.1), Stop(order=1 - 0.1 / 3, width=0.1)
    assert not stop.open(two, 0.9, (0.0, 1.0), 99).any()
    assert stricter.open(two, 0.9, (0.0, 1.0), 99).any()
    left = stop.open(three, 0.9, (0.0, 1.0), 99)
    assert left.any() and not left[2].any()


def test_a_width_that_is_not_reached_is_said_and_opens_no_order(tmp_path: Path) -> None:
    texts = panel()
    few = replace(texts, items=texts.items[:30], texts=texts.texts[:30])
    result, _ = ranked(tmp_path, Stop(width=0.2), few)
    rows = result.tables[0].rows
    wide = sum(row["high"] - row["low"] > 0.2 for row in rows)  # type: ignore[operator]
    assert wide == len(CHANCE)
    assert result.notes[1] == "All items were asked about. Still wider than 0.2: 4 of 4 intervals."
    assert result.summary["stop/open_pairs"] == 0  # nobody asked for an order
    assert {row["order"] for row in result.tables[1].rows} <= {"sure", "not needed"}


def test_a_pool_needs_bounds_and_a_top_an_order(tmp_path: Path) -> None:
    lm = ScriptedLogProb(lambda context, target: -1.0)
    one = lab(tmp_path, lm, Mi(), panel())
    with pytest.raises(ConfigError, match="target=pool needs scores"):
        Leaderboard(stop=Stop(order=0.95, target="pool")).run(one)
    assert not lm.seen
    with pytest.raises(ConfigError, match=r"study\.stop\.order"):
        Stop(top=1)


def context_lm(context: str, target: str) -> float:
    """The better the agent, the more its peers' texts tell of it."""
    own = target.split()[0]
    return -8 + 5 * CHANCE.get(own, 0.5) * (len(context) > 20) - (hash_of(target) if own else 0)


def hash_of(text: str) -> float:
    return float(rng_for(1, text).random())


def test_where_scores_depend_on_the_others_all_are_asked_until_all_is_clear(
    tmp_path: Path,
) -> None:
    lm = ScriptedLogProb(context_lm)
    one = lab(tmp_path, lm, Mi(), panel())
    result = Leaderboard(stop=Stop(order=0.95), bootstrap=50).run(one)
    counts = {row["n"] for row in result.tables[0].rows}
    assert len(counts) == 1
    assert len(lm.seen) == int(str(result.summary["stop/items_asked"])) * 25
    assert any("no least and largest" in note for note in result.notes)


def test_joined_measurements_are_those_of_all_items_at_once() -> None:
    """Of what looks at one item at a time; calls add up, also where only one part misses some."""
    whole, lm = panel(), ScriptedLogProb(context_lm)
    parts = [replace(whole, items=whole.items[a:b], texts=whole.texts[a:b]) for a, b in
             ((0, 20), (20, 50))]  # fmt: skip
    first, second = (Mi().measure(part, lm, seed=0) for part in parts)
    both = joined(first, second)
    at_once = Mi().measure(
        replace(whole, items=whole.items[:50], texts=whole.texts[:50]), lm, seed=0
    )
    assert both.identical(at_once)
    failing = ScriptedLogProb(lambda c, t: np.nan if t == "poor 30" else -1.0)
    odd = Mi().measure(parts[1], failing, seed=0)
    for order in ((first, odd), (odd, first)):
        made = joined(*order)
        assert made.attrs["failed_calls"] == 5
        assert int(made["missing_calls"].sum()) == int(odd["missing_calls"].sum())


def test_a_mechanism_that_pairs_items_pairs_those_of_a_batch(tmp_path: Path) -> None:
    one: Context = lab(
        tmp_path,
        ScriptedLogProb(context_lm),
        TvdMi(Prompt("tvd_mi.txt"), critic="likelihood"),
        panel(),
    )
    result = Leaderboard(stop=Stop(order=0.95, batch=25), bootstrap=50).run(one)
    assert result.summary["stop/items_asked"] % 25 == 0
