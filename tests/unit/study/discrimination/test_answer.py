"""The sentences that a discrimination study opens with: on each edge, never louder than ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from judgelab.attack.case_flip import CaseFlip
from judgelab.core.errors import DataError
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.result import Result
from judgelab.core.scores import measured
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.length import Length
from judgelab.mechanism.protocol import Mechanism
from judgelab.mechanism.rouge import Rouge
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.panels import ScoredPanel, missing_pairs, pair_entries
from judgelab.study.discrimination import Discrimination
from judgelab.study.discrimination.statistics import Figures, answer, beside
from tests.scripted import NOBODY, ScriptedChat, ScriptedLogProb
from tests.snapshots import same
from tests.unit.study.discrimination.discrimination_context import better, context, graded

GOOD = Estimate(0.8, 0.7, 0.9, 40)
LENGTH = Estimate(0.6, 0.5, 0.7, 40)
MORE = {"length_auc": LENGTH, "auc_gain": Estimate(0.2, 0.1, 0.3, 40)}
SNAPSHOT = Path(__file__).with_name("answers.txt")


def estimates(given: Any) -> Any:
    """A list of numbers is an Estimate; ``more`` stands beside MORE."""
    if isinstance(given, dict):
        more = {"beside": MORE | estimates(given.pop("more"))} if "more" in given else {}
        return {key: estimates(value) for key, value in given.items()} | more
    return Estimate(*given) if isinstance(given, list) else given


CASES = yaml.safe_load(SNAPSHOT.with_suffix(".yaml").read_text(encoding="utf-8"))


def said(auc: Estimate = GOOD, attacked: Estimate = GOOD, **made: Any) -> list[tuple[str, str]]:
    parts = {"change": {}, "beside": MORE, "leads": {}, "has_gold": True} | made
    attack = parts.pop("attack", "")
    return answer("mi", attack, Figures({"auc": auc}, {"auc": attacked}, **parts))


def test_what_it_says_on_each_edge() -> None:
    same(SNAPSHOT, ((name, said(**estimates(given))) for name, given in CASES.items()))


def test_length_is_taken_in_the_direction_that_does_better() -> None:
    """ "More than length" was said where the shorter text was right 67 times in 100."""
    words = {"a": "one two three four", "b": "one"}
    agents = tuple(Agent(name) for name in words)
    items = tuple(Item(f"i{k}", "s", human={"a": 1.0, "b": 2.0}) for k in range(6))
    panel = Panel(items, agents, tuple(tuple(words.values()) for _ in items))
    scored = SimpleNamespace(panel=panel, values=np.tile([0.0, 1.0], (6, 1)))
    group = SimpleNamespace(exist=False)
    found = beside(scored, group, (50, 0, "items"))  # type: ignore[arg-type]
    assert found["human_within"].value == found["length_human_within"].value == 1
    assert found["human_within_gain"].value == 0
    scored.values[:, 1] = 0.0  # a tie of all texts is not more than that
    assert beside(scored, group, (50, 0, "items"))["human_within_gain"].value == -0.5  # type: ignore[arg-type]


def test_an_attack_that_cannot_change_length_does_not_change_it(tmp_path: Path) -> None:
    """ "AUC change 0.000 [-0.459, 0.459]" was printed where no score can differ."""
    made = Discrimination(bootstrap=20).run(context(tmp_path, Length(), attack=CaseFlip()))
    for name in ("auc", "effect_size", "score"):
        found = [made.summary[f"change/{name}{part}"] for part in ("", "_low", "_high", "_p")]
        assert found == [0.0, 0.0, 0.0, 1.0]
    assert "exactly as before" in dict(made.answer)["Under case_flip"]


@pytest.mark.parametrize(
    ("mechanism", "lm", "said"),
    [
        (Judge(Prompt("judge.txt")), ScriptedChat(lambda _: None), "144 of 144 calls failed"),
        (Judge(Prompt("judge.txt")), ScriptedChat(lambda _: "?"), "144 of 144 calls failed"),
        (Rouge(), NOBODY, "no item has two texts"),
    ],
)
def test_a_run_that_scored_no_text_ends_with_a_sentence(
    tmp_path: Path, mechanism: Mechanism, lm: EvaluationLM, said: str
) -> None:
    """It ended with DONE, exit code 0 and "judge scored the texts"."""
    panel = graded()
    marked = replace(panel.agents[3], reference=True)  # a reference without any text
    bare = replace(
        panel,
        agents=(*panel.agents[:3], marked),
        texts=tuple((*row[:3], None) for row in panel.texts),
    )
    one = context(tmp_path, mechanism, lm, panel=bare if lm is NOBODY else panel)
    with pytest.raises(DataError, match=said) as caught:
        Discrimination(bootstrap=20).run(one)
    assert "scored none of" in str(caught.value)
    assert (tmp_path / "records" / "clean_texts.parquet").is_file()


def test_which_items_are_the_negatives_is_said_to_be_drawn(tmp_path: Path) -> None:
    """The seed moved an AUC by .009, outside an interval that is of one draw."""
    lm = ScriptedLogProb(lambda c, t: -len(t) + 0.1 * len(c))
    made = Discrimination(bootstrap=20).run(context(tmp_path, TvdMi(Prompt("tvd_mi.txt")), lm))
    assert any(note.startswith("Drawn: for each item 1 other") for note in made.notes)


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


def test_pairs_that_lack_a_verdict_are_counted(result: Result) -> None:
    one_order, dropped = (result.summary[f"clean/{key}_pairs"] for key in ("one_order", "dropped"))
    assert 0 < one_order <= 12  # type: ignore[operator]
    assert one_order + 2 * dropped == 12  # type: ignore[operator]


def test_recorded_verdicts_without_a_value_are_counted_too() -> None:
    panel = graded(3)
    verdict = np.full((3, 4, 4), 1.0)
    verdict[0] = np.nan
    data = measured(panel, verdict=(("item", "agent", "peer"), verdict))
    states = {"clean": ScoredPanel(panel, data, JUDGE.score(data))}
    assert pair_entries(states) == {"clean/one_order_pairs": 0, "clean/dropped_pairs": 6}
    assert "0 pairs of texts count by one order and 6 are left out" in next(missing_pairs(states))
