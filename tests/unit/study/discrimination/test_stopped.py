"""Good against problematic agents, batch by batch: what is asked, and what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judgelab.attack.case_flip import CaseFlip
from judgelab.core.errors import ConfigError
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.stats.sequential.ends import betting_ends
from judgelab.study.common.stopping import Stop
from judgelab.study.discrimination import Discrimination
from tests.scripted import ScriptedChat
from tests.unit.study.discrimination.discrimination_context import better, context, graded


def stopped(folder: Path, stop: Stop, items: int = 80, **rest: object) -> tuple[Result, int]:
    lm = ScriptedChat(better)
    one = context(folder, Judge(Prompt("judge.txt"), reply="generated"), lm, panel=graded(items))
    study = Discrimination(stop=stop, bootstrap=50, **rest)  # type: ignore[arg-type]
    return study.run(one), len(lm.seen)


def table(result: Result, name: str) -> list[dict[str, object]]:
    return [dict(row) for row in next(t for t in result.tables if t.name == name).rows]


def test_a_judge_without_faults_is_asked_about_some_items_alone(tmp_path: Path) -> None:
    result, calls = stopped(tmp_path, Stop(order=0.95))
    n = result.summary["stop/items_asked"]
    assert isinstance(n, int)
    assert n < 40
    assert calls == n * 12
    assert result.summary["stop/items"] == 80
    [auc] = [row for row in table(result, "discrimination") if row["statistic"] == "auc"]
    assert auc["value"] == 1
    assert (auc["low"], auc["high"]) == pytest.approx(betting_ends(np.ones(n)))
    assert auc["n"] == n
    assert "sure (0.95)" in result.notes[1]
    assert any("at every look" in note for note in result.notes)
    assert all(row["low"] is None for row in table(result, "correlations"))
    agents = {row["agent"]: row for row in table(result, "agents")}
    assert agents["a0"]["low"] == pytest.approx(betting_ends(np.ones(n))[0])


def test_what_is_left_out_and_what_is_approximate_is_said(tmp_path: Path) -> None:
    bounded, _ = stopped(tmp_path / "a", Stop(order=0.95))
    said = " ".join(bounded.notes)
    assert "Agreement with people and its gain over length are left out" in said
    (note,) = [note for note in bounded.notes if "exact for normal" in note]
    assert "effect size" in note and "of agents" not in note
    one = context(tmp_path / "b", Length(), panel=graded(40))
    free = Discrimination(stop=Stop(order=0.95), bootstrap=50).run(one)
    (note,) = [note for note in free.notes if "exact for normal" in note]
    assert "of agents" in note


def test_of_the_width_and_of_a_pool(tmp_path: Path) -> None:
    wide, most = stopped(tmp_path / "a", Stop(width=0.1, batch=2))
    pool, least = stopped(tmp_path / "b", Stop(width=0.1, batch=2, target="pool"))
    assert 0 < least < most < 80 * 12
    [auc] = [row for row in table(wide, "discrimination") if row["statistic"] == "auc"]
    assert auc["high"] - auc["low"] <= 0.1  # type: ignore[operator]
    assert any("target=pool" in note for note in pool.notes)


def test_under_an_attack_both_panels_are_asked_about_the_same_items(tmp_path: Path) -> None:
    lm = ScriptedChat(better)
    judge = Judge(Prompt("judge.txt"), reply="generated")
    one = context(tmp_path, judge, lm, CaseFlip(), panel=graded(60))
    lm.rule = lambda request: better(request) if "quality" in str(request.messages) else "[[C]]"
    result = Discrimination(stop=Stop(order=0.95), bootstrap=50).run(one)
    ns = {row["n"] for row in table(result, "discrimination") if row["statistic"] == "auc"}
    assert len(ns) == 1
    change = {row["statistic"]: row for row in table(result, "change")}
    assert change["auc"]["low"] is not None
    assert change["score"]["low"] is None


def test_what_cannot_be_stopped_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    for stop, rest, said in (
        (Stop(width=0.1), {"primary": "effect_size"}, "width"),
        (Stop(order=0.9, top=1), {}, "top"),
    ):
        with pytest.raises(ConfigError, match=f"study.stop.{said}"):
            stopped(tmp_path, stop, **rest)
    bare = replace(graded(10, (None,) * 4))
    with pytest.raises(ConfigError, match="no categories"):
        Discrimination(stop=Stop(width=0.1)).run(context(tmp_path, Length(), panel=bare))
