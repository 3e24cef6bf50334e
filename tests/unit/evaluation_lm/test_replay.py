"""Recorded verdicts among whose zeros failed calls hide, on made-up data whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.replay import Replay
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.releases.peer_prediction.domain import ReleasedDomain, ReleasedTexts, without_diagonal
from judgelab.stats.discrimination.auc import item_auc
from judgelab.stats.discrimination.effect_size import effect_size, group_difference
from judgelab.study.common.panels import ScoredPanel
from judgelab.study.discrimination.failed_calls import bounds, cases

Floats = NDArray[np.float64]
JUDGE, AGENTS = Judge(Prompt("judge.txt")), 8
GOOD = np.arange(AGENTS) < 4
FULL = AGENTS * (AGENTS - 1)


def truth(items: int, seed: int) -> Floats:
    """Verdicts [items, agents, agents]: good agents win a little more, and so does the first."""
    rng = np.random.default_rng(seed)
    edge = 0.15 * (GOOD[:, None].astype(float) - GOOD[None, :])
    return without_diagonal((rng.random((items, AGENTS, AGENTS)) < 0.55 + edge).astype(float))


def domain(cells: Floats, share: float | Floats, seed: int = 0) -> ReleasedDomain:
    """The verdicts as the release has them: calls fail at random and are stored as 0."""
    rng = np.random.default_rng(seed)
    off = ~np.eye(AGENTS, dtype=bool)
    failed = (rng.random(cells.shape) >= np.reshape(share, (-1, 1, 1))) & off
    done = FULL - failed.sum(axis=(1, 2))
    kept = np.where(failed, 0.0, np.nan_to_num(cells))
    agents = tuple(
        Agent(name=f"a{k}", category="Faithful" if GOOD[k] else "Strategic") for k in range(AGENTS)
    )
    ids = np.arange(len(cells))
    return ReleasedDomain(
        domain="made_up",
        attack=None,
        layout="clone",
        task="summarization",
        task_description="",
        agents=agents,
        item_ids={"judge_with_context": ids, "tvd_mi": ids},
        load_texts=lambda: ReleasedTexts((), ()),
        judge_with_context=without_diagonal(kept),
        tvd_mi=without_diagonal(kept),
        calls_done={"judge_with_context": done, "tvd_mi_p": done, "tvd_mi_q": done * 0 + FULL},
    )


def replayed(data: ReleasedDomain, incomplete: str, run: str = "judge_with_context") -> xr.Dataset:
    items = tuple(Item(str(k), "") for k in data.item_ids[run])
    panel = Panel(items, data.agents, ((None,) * AGENTS,) * len(items), "summarization")
    return Replay("x", incomplete).of_domain(run, data, panel)  # type: ignore[arg-type]


def difference(measured: xr.Dataset, judge: Judge | TvdMi = JUDGE) -> Floats:
    return group_difference(judge.score(measured).agent.values, GOOD, ~GOOD)


def test_failed_calls_are_left_out_whatever_their_share() -> None:
    """A fifth of the calls fail: taken at face value the difference shrinks by a fifth."""
    cells = truth(4000, 1)
    data = domain(cells, 0.8, 2)
    whole = difference(replayed(domain(cells, 1.0), "per_call")).mean()
    assert difference(replayed(data, "per_call")).mean() == pytest.approx(whole, abs=0.01)
    assert difference(replayed(data, "as_recorded")).mean() == pytest.approx(whole * 0.8, abs=0.01)
    assert np.isnan(difference(replayed(data, "unscored"))).all()
    score = JUDGE.score(replayed(data, "per_call"))
    full = JUDGE.score(replayed(domain(cells, 1.0), "per_call"))
    assert score.diagnostics["first_preferred"] == pytest.approx(
        full.diagnostics["first_preferred"], abs=0.005
    )
    critic = TvdMi(Prompt("tvd_mi.txt"))
    assert critic.score(replayed(data, "per_call", "tvd_mi")).agent.values.mean() == pytest.approx(
        np.nanmean(cells), abs=0.005
    )


def test_an_items_order_of_agents_is_that_of_its_zeros_at_face_value() -> None:
    data = domain(truth(50, 4), 0.8, 5)
    found = [
        item_auc(JUDGE.score(replayed(data, how)).agent.values, GOOD, ~GOOD)
        for how in ("per_call", "as_recorded")
    ]
    assert np.array_equal(*found)


def test_what_is_left_out_is_counted() -> None:
    """Items with no failure, with some, with few calls done, and with none."""
    data = domain(truth(4, 3), np.array([1.0, 0.8, 0.3, 0.0]), 6)
    lost = FULL - data.calls_done["judge_with_context"]
    measured = replayed(data, "per_call")
    scored = ~np.isnan(difference(measured))
    assert scored.tolist() == [True, True, False, False]
    assert measured["hidden_calls"].values.tolist() == [0, lost[1], 0, 0]
    assert measured.attrs["calls"] == 4 * FULL and measured.attrs["failed_calls"] == lost.sum()
    assert (~np.isnan(difference(replayed(data, "unscored")))).tolist() == [True, *[False] * 3]
    assert not np.isnan(difference(replayed(data, "as_recorded"))).any()
    unknown = replace(data, calls_done={})
    assert np.isnan(difference(replayed(unknown, "per_call"))).all(), "calls were not counted"


def test_the_truth_lies_between_the_cases() -> None:
    cells = truth(40, 7)
    d = effect_size(difference(replayed(domain(cells, 1.0), "per_call")))
    widths = []
    for share in (0.98, 0.9):
        data = domain(cells, share, 8)
        measured = replayed(data, "per_call")
        panel = Panel((), data.agents, (), "summarization")
        made = cases(
            ScoredPanel(panel, measured, JUDGE.score(measured)),
            JUDGE.score,
            lambda u: group_difference(u, GOOD, ~GOOD),
        )
        per_item = [{"effect_size": group_difference(one.values, GOOD, ~GOOD),
                     "auc": item_auc(one.values, GOOD, ~GOOD),
                     "pair_auc": np.full(40, np.nan)} for one in made]  # fmt: skip
        assert (per_item[0]["effect_size"] <= per_item[1]["effect_size"]).all()
        low, high = bounds(*per_item)["effect_size"]
        assert low < d < high
        assert low < effect_size(difference(measured)) < high
        widths.append(high - low)
    assert widths[0] < widths[1]
    whole = replayed(domain(cells, 1.0), "per_call")
    assert cases(ScoredPanel(panel, whole, JUDGE.score(whole)), JUDGE.score, np.asarray) == ()
