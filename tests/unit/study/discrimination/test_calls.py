"""Calls that gave nothing stand beside every figure that they touch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgelab.core.lm import ChatRequest
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.core.scores import measured
from judgelab.engine.study import Study
from judgelab.mechanism.gem import Gem
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.mechanism.mi import Mi
from judgelab.study.common.calls import calls_of
from judgelab.study.common.panels import ScoredPanel
from judgelab.study.discrimination import Discrimination
from judgelab.study.leaderboard import Leaderboard
from judgelab.study.validation import Validation
from tests.scripted import ScriptedChat, ScriptedLogProb
from tests.unit.study.discernment.discernment_context import rows
from tests.unit.study.discrimination.discrimination_context import better, context, graded

STUDY = Discrimination(bootstrap=100)
JUDGE = Judge(Prompt("judge_no_context.txt"), context=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def result(run: Path) -> Result:
    """Of 144 calls, every 12th cannot be read and every 36th fails."""
    rng = np.random.default_rng(0)
    fate = iter(rng.permutation([None] * 4 + ["no verdict"] * 8 + ["read"] * 132))

    def rule(request: ChatRequest) -> str | None:
        drawn = next(fate)
        return better(request) if drawn == "read" else drawn

    return STUDY.run(context(run, JUDGE, ScriptedChat(rule)))


def test_every_reply_is_kept_with_why_it_was_not_read(run: Path, result: Result) -> None:
    said = pd.read_parquet(run / "records" / "clean_reply_texts.parquet")
    assert len(said) == 144
    lost = said[said["reason"] != ""].groupby("reason")["reply"].agg(["size", "count"])
    assert lost.loc["refused"].tolist() == [4, 0]
    assert lost.loc["none of the labels [[A]], [[B]], [[C]]"].tolist() == [8, 8]
    first = said.iloc[0]
    assert first[["judge", "item", "agent", "peer"]].tolist() == [
        *("judge_no_context", "i0", "a0", "a1")
    ]
    texts = pd.read_parquet(run / "records" / "clean_texts.parquet").set_index(["item", "agent"])
    shown = [texts.loc[("i0", agent), "text"] for agent in ("a0", "a1")]
    assert [text in first["prompt"] for text in shown] == [True, True]
    sources = pd.read_parquet(run / "records" / "source_texts.parquet")
    assert sources["source"].tolist() == [f"source {k}" for k in range(12)]


def test_the_summary_counts_calls_not_cells_of_means(result: Result) -> None:
    found = {key: result.summary[f"clean/{key}"] for key in ("calls", "unread_calls")}
    assert found == {"calls": 144, "unread_calls": 8}
    assert result.summary["clean/failed_calls"] == 4
    one_order, dropped = (result.summary[f"clean/{key}_pairs"] for key in ("one_order", "dropped"))
    assert 0 < one_order <= 12  # type: ignore[operator]
    assert one_order + 2 * dropped == 12  # type: ignore[operator]


def test_tables_and_notes_show_them_and_no_agent_loses_a_score(result: Result) -> None:
    assert result.summary["clean/unscored_texts"] == 0
    assert result.summary["clean/auc"] == pytest.approx(1.0, abs=0.05)
    agents = rows(result, "agents", "agent")
    assert sum(row["missing_calls"] for row in agents.values()) == 24  # two texts a call
    said = [note for note in result.notes if "gave nothing" in note]
    assert said[0].startswith("12 of 144 calls on the clean panel gave nothing (8 could not be")


def test_log_probabilities_that_failed_are_counted(tmp_path: Path) -> None:
    lm = ScriptedLogProb(lambda c, t: np.nan if "7 of 3" in t else -len(t) + 0.1 * len(c))
    made = STUDY.run(context(tmp_path, Mi(), lm))
    assert made.summary["clean/calls"] == 12 * (4 * 3 + 4)
    assert made.summary["clean/failed_calls"] == 4  # the text alone, and before three peers
    assert made.summary["clean/dropped_pairs"] == 3
    lost = pd.read_parquet(tmp_path / "records" / "clean_reply_texts.parquet")
    assert (lost["item"].eq("i3").all(), lost["agent"].eq("a2").all(), len(lost)) == (True, True, 4)


def test_recorded_verdicts_without_a_value_are_counted_too() -> None:
    panel = graded(3)
    verdict = np.full((3, 4, 4), 1.0)
    verdict[0] = np.nan
    data = measured(panel, verdict=(("item", "agent", "peer"), verdict))
    found = calls_of(ScoredPanel(panel, data, JUDGE.score(data)))
    assert found is not None
    counts, by_agent = found
    assert (counts["calls"], counts["unknown_calls"], counts["dropped_pairs"]) == (36, 12, 6)
    assert by_agent.tolist() == [6] * 4


def test_a_mechanism_that_asks_nothing_has_no_calls(tmp_path: Path) -> None:
    made = STUDY.run(context(tmp_path, Length()))
    assert not [key for key in made.summary if "calls" in key]


def with_reference() -> Panel:
    panel = graded()
    return replace(panel, agents=(replace(panel.agents[0], reference=True), *panel.agents[1:]))


@pytest.mark.parametrize("study", [Validation(bootstrap=50), Leaderboard(bootstrap=50)])
def test_calls_that_gave_nothing_are_counted_and_told(study: Study, tmp_path: Path) -> None:
    lm = ScriptedLogProb(lambda c, t: np.nan if "quality 7 of 3 " in c else -len(t) + 0.1 * len(c))
    gem = Gem(prompt=Prompt("second_opinion.txt"), reads="raw")
    made = study.run(context(tmp_path, gem, lm, panel=with_reference()))
    counted = {"calls": 12 * (3 + 1), "unread_calls": 0, "failed_calls": 1, "dropped_pairs": 1}
    assert {key: made.summary.get(f"clean/{key}") for key in counted} == counted
    assert [n for n in made.notes if n.startswith("1 of 48 calls on the clean panel gave nothing")]
