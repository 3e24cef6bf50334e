"""Scores of the recorded mechanisms, as judgelab's mechanisms make them of the release.

u is [items, agents], S is [items, agents, agents] and symmetric; NaN is unscored. ``released``
takes failed calls at face value; ``corrected`` leaves them out one by one (evaluation_lm=replay,
incomplete=as_recorded and per_call). What the mechanisms' definitions are, their docstrings say.

No mechanism can be asked for two things: a judge's released u without failed calls
(``one_order``), and how often the response shown first wins (``first_wins``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.replay import Replay
from judgelab.mechanism.gppm import Gppm
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.protocol import Definition, Mechanism
from judgelab.mechanism.tvd_mi import TvdMi
from judgelab.releases.peer_prediction.domain import BoolArray, FloatArray, IntArray, ReleasedDomain
from judgelab.stats.discrimination.effect_size import group_difference
from judgelab.stats.intervals.arrays import row_means
from judgelab.study.common.groups import groups, in_pairing_order
from judgelab.study.common.panels import ScoredPanel
from judgelab.study.discrimination import failed_calls

GOOD_FAITH = ("Faithful", "Style")
PROBLEMATIC = ("Strategic", "Low Effort")
JUDGES = ("judge_with_context", "judge_without_context")
ASKED: Mapping[str, Mechanism] = {
    "mi": Mi(),
    "gppm": Gppm(),
    "tvd_mi": TvdMi(Prompt("tvd_mi.txt")),
    "judge_with_context": Judge(Prompt("judge.txt")),
    "judge_without_context": Judge(Prompt("judge_no_context.txt"), context=False),
}
"""Mechanism of the release -> ours."""


def replayed(data: ReleasedDomain, mechanism: str, *, corrected: bool) -> ScoredPanel | None:
    """What the mechanism makes of the recorded items; None where the release lacks it."""
    if data.pairs(mechanism) is None:
        return None
    asked, panel = ASKED[mechanism], _panel(data, mechanism)
    lm = Replay(data.domain, incomplete="per_call" if corrected else "as_recorded")
    measured = lm.of_domain(asked.measurement, data, panel)
    definition: Definition = "corrected" if corrected else "released"
    if mechanism in JUDGES and not corrected and not any(agent.reference for agent in data.agents):
        definition = "paper"  # without a Reference the release takes the row mean
    return ScoredPanel(panel, measured, asked.score(measured, definition))


def agent_scores(data: ReleasedDomain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """u [items, agents], higher is better; None where the release lacks the mechanism.

    A released mean over both directions is summed by direction first, where the mechanisms sum by
    pair: the figures agree to 1e-15, and those of the tables keep their last digit.
    """
    found, pairs = replayed(data, mechanism, corrected=corrected), data.pairs(mechanism)
    if found is None or pairs is None:
        return None
    if corrected or mechanism == "gppm" or mechanism in JUDGES:
        return found.values
    u = (row_means(pairs) + row_means(np.swapaxes(pairs, 1, 2))) / 2
    assert np.nanmax(np.abs(u - found.values), initial=0.0) < 1e-12
    return u


def pair_scores(data: ReleasedDomain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """S [items, agents, agents], symmetric; None where the release lacks the mechanism."""
    found = replayed(data, mechanism, corrected=corrected)
    return None if found is None else _pairs(found)


def cases(data: ReleasedDomain, mechanism: str) -> tuple[tuple[FloatArray, FloatArray | None], ...]:
    """(u, S) with the failed calls decided against, and for, Good Faith; empty where none failed.

    Of the items that ``corrected`` scores.
    """
    found = replayed(data, mechanism, corrected=True)
    if found is None:
        return ()
    good, bad = (group_mask(data, group, corrected=True) for group in (GOOD_FAITH, PROBLEMATIC))
    made = failed_calls.cases(
        found, ASKED[mechanism].score, lambda u: group_difference(u, good, bad)
    )
    return tuple((one.values, _pairs(one)) for one in made)


def one_order_scores(data: ReleasedDomain, mechanism: str) -> FloatArray | None:
    """A judge's released u (i shown first only), failed calls left out."""
    if (found := replayed(data, mechanism, corrected=True)) is None:
        return None
    return np.asarray(ASKED[mechanism].score(found.measured, "paper").agent.values)


def first_wins(data: ReleasedDomain, mechanism: str) -> FloatArray | None:
    """[items, 1] share of completed comparisons that the response shown first wins."""
    one_order = one_order_scores(data, mechanism)
    return None if one_order is None else row_means(one_order)[:, None]


def group_mask(data: ReleasedDomain, wanted: Sequence[str], *, corrected: bool) -> BoolArray:
    """Mask [agents] of the agents under test in these categories, for the effect sizes.

    The human reference is not under test. The released code drops the first agent instead,
    which is the Reference wherever there is one.
    """
    known = groups(_panel(data, "mi"), "released")
    mask = (known.good if tuple(wanted) == GOOD_FAITH else known.bad).copy()
    if not corrected:
        mask[0] = False
    return mask


def group_indices(data: ReleasedDomain, wanted: Sequence[str]) -> IntArray:
    """Agents of these categories, for the AUC, in the order in which the released code pairs them.

    The human reference is in where the release puts it in a category (ICLR: Faithful).
    """
    member = np.array([agent.category in wanted for agent in data.agents], dtype=np.bool_)
    return in_pairing_order(_panel(data, "mi"), member).astype(np.int64)


def align(
    clean_ids: IntArray, clean: FloatArray, attacked_ids: IntArray, attacked: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both arrays on the items of either, in order of id; NaN rows where one lacks the item."""
    ids = np.union1d(clean_ids, attacked_ids)
    return _placed(ids, clean_ids, clean), _placed(ids, attacked_ids, attacked)


def _panel(data: ReleasedDomain, mechanism: str) -> Panel:
    """The items that a mechanism has scores of, without their texts."""
    items = tuple(Item(str(one), "") for one in data.ids(mechanism))
    texts = tuple((None,) * len(data.agents) for _ in items)
    return Panel(items, data.ranked_agents, texts, data.task)


def _placed(ids: IntArray, own: IntArray, values: FloatArray) -> FloatArray:
    placed = np.full((len(ids), *values.shape[1:]), np.nan)
    placed[np.searchsorted(ids, own)] = values
    return placed


def _pairs(scored: ScoredPanel) -> FloatArray | None:
    pair = scored.scores.pair
    return None if pair is None else np.asarray(pair.values)
