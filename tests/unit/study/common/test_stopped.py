"""A study that stops: who is settled is not asked again, and what is left open is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Agent, Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.pointwise import Pointwise
from judgelab.mechanism.rouge import Rouge
from judgelab.study.common.stopping import Stop
from judgelab.study.leaderboard import Leaderboard
from judgelab.study.leaderboard.race import item_order, join
from tests.scripted import NOBODY, ScriptedChat, ScriptedLogProb, panel_of
from tests.unit.study.discernment.discernment_context import lab

ITEMS = 150
CHANCE = {"poor": 0.05, "fair": 0.5, "good": 0.51, "best": 0.97}
"""Of a 5 rather than a 1."""


def panel() -> Panel:
    rows = [[f"{name} {k}" for name in (*CHANCE, "people")] for k in range(ITEMS)]
    agents = [Agent(name, reference=name == "people") for name in (*CHANCE, "people")]
    return replace(panel_of(rows), agents=tuple(agents))


def part_of(whole: Panel, start: int, end: int) -> Panel:
    return replace(whole, items=whole.items[start:end], texts=whole.texts[start:end])


def grade(request: ChatRequest) -> str:
    _, item, agent = request.key[:3]
    chance = CHANCE.get(agent, 0.5)
    return "5" if rng_for(3, item, agent).random() < chance else "1"


def ranked(folder: Path, stop: Stop, texts: Panel | None = None) -> tuple[Result, ScriptedChat]:
    lm = ScriptedChat(grade)
    judge = Pointwise(Prompt("pointwise5.txt"), reply="generated")
    one = lab(folder, lm, judge, panel() if texts is None else texts)
    return Leaderboard(stop=stop, bootstrap=50).run(one), lm


def said(result: Result) -> str:
    return " ".join(result.notes)


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
    assert set(rows) == set(CHANCE)
    assert all(row["n"] == seen[name] for name, row in rows.items())
    assert next(iter(rows)) == "best"
    assert list(rows)[-1] == "poor"
    assert (rows["best"]["rank_low"], rows["best"]["rank_high"]) == (1, 1)
    assert (rows["fair"]["rank_low"], rows["fair"]["rank_high"]) == (2, 3)
    assert result.summary["stop/open_pairs"] == 1
    replies = pd.read_parquet(tmp_path / "stopped" / "records" / "clean_reply_texts.parquet")
    assert len(replies) == len(lm.seen)
    assert "Left open, though every item was asked about: the order of fair and good" in " ".join(
        result.notes
    )
    assert all(row["unscored"] == 0 for row in rows.values())
    assert result.summary["clean/unscored_texts"] == 0  # not asked is not unscored
    before = {row["candidate"]: row for row in full.tables[0].rows}
    assert rows["fair"]["value"] == pytest.approx(before["fair"]["value"])
    wide, narrow = (row["fair"]["high"] - row["fair"]["low"] for row in (rows, before))
    assert wide > narrow
    assert "stop/items" not in full.summary


def test_a_stopped_run_goes_the_same_way_again_wherever_items_stand(tmp_path: Path) -> None:
    first, lm = ranked(tmp_path / "a", Stop(order=0.95, top=1))
    whole = panel()
    turned = replace(whole, items=whole.items[::-1], texts=whole.texts[::-1])
    again, other = ranked(tmp_path / "b", Stop(order=0.95, top=1), turned)
    assert asked(lm) == asked(other)
    assert str(first.tables) == str(again.tables)  # as text: NaN is not NaN
    assert "Sure (.95): best is the best by mean score." in said(first)
    assert first.summary["stop/asked_share"] < 0.4
    assert item_order(whole, 0) != list(range(ITEMS))


def context_lm(context: str, target: str) -> float:
    """The better the agent, the more its peers' texts tell of it."""
    own = target.split()[0]
    return -8 + 5 * CHANCE.get(own, 0.5) * (len(context) > 20) - (hash_of(target) if own else 0)


def hash_of(text: str) -> float:
    return float(rng_for(1, text).random())


def test_where_scores_depend_on_the_others_all_are_asked_until_all_is_clear(tmp_path: Path) -> None:
    lm = ScriptedLogProb(context_lm)
    one = lab(tmp_path, lm, Mi(), panel())
    result = Leaderboard(stop=Stop(order=0.95), bootstrap=50).run(one)
    counts = {row["n"] for row in result.tables[0].rows}
    assert len(counts) == 1
    assert len(lm.seen) == int(str(result.summary["stop/items_asked"])) * 25
    assert any("no least and largest" in note for note in result.notes)


def test_joined_measurements_are_those_of_all_items_at_once() -> None:
    """Of what looks at one item at a time."""
    whole, lm = panel(), ScriptedLogProb(context_lm)
    first, second, at_once = (
        Mi().measure(part_of(whole, *ends), lm, seed=0) for ends in ((0, 20), (20, 50), (0, 50))
    )
    assert join(first, second).identical(at_once)


REFERENCES = 12
"""Of 60 items: batches without any are certain."""


def texts_with_some_references() -> Panel:
    """Candidates that say all, half or little of what the reference says."""
    whole = "one two three four five six seven eight"
    rows = [[f"{whole} item{k}", "one two three four", "one nine"] for k in range(60)]
    made = panel_of(rows)
    items = tuple(
        replace(item, reference=f"{whole} item{k}" if k < REFERENCES else None)
        for k, item in enumerate(made.items)
    )
    return replace(made, items=items)


def test_batches_without_a_reference_measure_what_the_others_do(tmp_path: Path) -> None:
    """They measured another variable, zeros filled this one, and all three scored 0."""
    one = lab(tmp_path / "a", NOBODY, Rouge(), texts_with_some_references())
    full = Leaderboard(bootstrap=50).run(one)
    two = lab(tmp_path / "b", NOBODY, Rouge(), texts_with_some_references())
    result = Leaderboard(stop=Stop(width=0.001, batch=4), bootstrap=50).run(two)
    scores = [{row["candidate"]: row["value"] for row in r.tables[0].rows} for r in (full, result)]
    assert scores[0] == pytest.approx(scores[1])
    assert len(set(scores[0].values())) == 3 and max(scores[0].values()) == 1  # type: ignore[type-var]
    assert {row["n"] for row in result.tables[0].rows} == {REFERENCES}
