"""Scores of the recorded mechanisms, as judgelab's mechanisms make them of the release.

u is [items, agents], S is [items, agents, agents] and symmetric; NaN is unscored. ``released``
takes failed calls at face value. ``corrected`` leaves them out: of an item only their number is
known, and where failing does not depend on the result a recorded cell is on average the completed
share of one, so it is divided by that; items with less than half of their calls are unscored.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import xarray as xr

from experiments.peer_prediction.domain import BoolArray, Domain, FloatArray, IntArray
from experiments.peer_prediction.failed_calls import decided, linear_effect
from judgelab.core.panel import Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.core.scores import Scores, both_directions, measured, symmetric, without_noise
from judgelab.mechanism.gppm import Gppm
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.mi import Mi
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.effect_size import group_difference
from judgelab.stats.intervals.arrays import row_means
from judgelab.study.discrimination.statistics import groups, in_pairing_order

GOOD_FAITH = ("Faithful", "Style")
PROBLEMATIC = ("Strategic", "Low Effort")
RANGE = {
    "tvd_mi": (-1.0, 1.0),
    "judge_with_context": (0.0, 1.0),
    "judge_without_context": (0.0, 1.0),
}
"""Mechanism -> what a call may give, of those whose calls fail."""
JUDGES = {
    "judge_with_context": Judge(Prompt("judge.txt")),
    "judge_without_context": Judge(Prompt("judge_no_context.txt"), context=False),
}
LEAST_DONE = 0.5
"""Share of an item's calls below which it is unscored: what is scaled up has to be known."""
PAIR = ("item", "agent", "peer")
# every table asks for the same scores: those of five domains and four attacks fit
KEPT = 128


@lru_cache(KEPT)
def scores_of(data: Domain, mechanism: str, *, corrected: bool) -> Scores | None:
    """What the mechanism makes of the recorded items; None where the release lacks it."""
    pairs = data.pairs(mechanism)
    if pairs is None:
        return None
    if mechanism in RANGE:
        cells = _completed(data, mechanism, pairs) if corrected else pairs
        definition: Definition = "corrected" if corrected else "released"
        if not corrected and not any(agent.reference for agent in data.agents):
            definition = "paper"  # without a Reference the release takes the row mean
        return _of_cells(data, mechanism, cells, definition)
    tokens = data.arrays["tokens"]
    data_of_calls = measured(
        _panel(data, mechanism),
        conditional=(PAIR, data.arrays["logp_cond"] * tokens[:, :, None]),
        marginal=(PAIR[:2], data.arrays["logp_base"] * tokens),
        tokens=(PAIR[:2], tokens),
    )
    scores = (Mi() if mechanism == "mi" else Gppm()).score(data_of_calls)
    if mechanism == "gppm" and not corrected:  # the figure that its workers' order decided
        released = xr.zeros_like(scores.agent) - data.arrays["gppm_released"]
        return Scores(agent=released, pair=scores.pair)
    return scores


def _of_cells(data: Domain, mechanism: str, cells: FloatArray, definition: Definition) -> Scores:
    """Of the critic's differences or a judge's verdicts [items, agents, agents]."""
    if mechanism in JUDGES:
        verdict = measured(_panel(data, mechanism, len(cells)), verdict=(PAIR, cells))
        return JUDGES[mechanism].score(verdict, definition)
    p_minus_q = measured(_panel(data, mechanism, len(cells)), cells=(PAIR, cells))["cells"]
    agent, pair = both_directions(p_minus_q), symmetric(p_minus_q)
    return Scores(agent=without_noise(agent), pair=without_noise(pair))


def _completed(data: Domain, mechanism: str, pairs: FloatArray) -> FloatArray:
    """The cells as if the failed calls had been left out."""
    share = data.completed(mechanism)
    return np.asarray(pairs / np.where(share >= LEAST_DONE, share, np.nan)[:, None, None])


def agent_scores(data: Domain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """u [items, agents], higher is better; None where the release lacks the mechanism.

    A released mean over both directions is summed by direction first, where the mechanisms sum by
    pair: the figures agree to 1e-15, and those of the tables keep their last digit.
    """
    scores, pairs = scores_of(data, mechanism, corrected=corrected), data.pairs(mechanism)
    if scores is None or pairs is None:
        return None
    values = np.asarray(scores.agent.values, dtype=np.float64)
    if corrected or mechanism == "gppm" or mechanism in JUDGES:
        return values
    u = (row_means(pairs) + row_means(np.swapaxes(pairs, 1, 2))) / 2
    assert np.nanmax(np.abs(u - values), initial=0.0) < 1e-12
    return u


def pair_scores(data: Domain, mechanism: str, *, corrected: bool) -> FloatArray | None:
    """S [items, agents, agents], symmetric; None where the release lacks the mechanism."""
    return _pairs(scores_of(data, mechanism, corrected=corrected))


@lru_cache(KEPT)
def cases(data: Domain, mechanism: str) -> tuple[tuple[FloatArray, FloatArray | None], ...]:
    """(u, S) with the failed calls decided against, and for, Good Faith; empty where none failed.

    Of the items that ``corrected`` scores.
    """
    pairs = data.pairs(mechanism)
    if pairs is None or mechanism not in RANGE:
        return ()
    share = data.completed(mechanism)
    enough = share >= LEAST_DONE
    failures = np.where(enough & (share < 1), data.failed(mechanism), 0)
    if not failures.any():
        return ()
    good, bad = (group_mask(data, group, corrected=True) for group in (GOOD_FAITH, PROBLEMATIC))

    def scores(cells: FloatArray) -> Scores:
        return _of_cells(data, mechanism, cells, "corrected")

    def difference(cells: FloatArray) -> FloatArray:
        return group_difference(np.asarray(scores(cells).agent.values), good, bad)

    effect = linear_effect(difference, len(data.agents))
    table = np.where(enough[:, None, None], pairs, np.nan)
    both = [scores(decided(table, failures, sign * effect, *RANGE[mechanism])) for sign in (-1, 1)]
    return tuple((np.asarray(one.agent.values), _pairs(one)) for one in both)


def one_order_scores(data: Domain, mechanism: str) -> FloatArray | None:
    """A judge's released u (i shown first only), failed calls left out."""
    if (pairs := data.pairs(mechanism)) is None:
        return None
    scores = _of_cells(data, mechanism, _completed(data, mechanism, pairs), "paper")
    return np.asarray(scores.agent.values)


def first_wins(data: Domain, mechanism: str) -> FloatArray | None:
    """[items, 1] share of completed comparisons that the response shown first wins."""
    one_order = one_order_scores(data, mechanism)
    return None if one_order is None else row_means(one_order)[:, None]


def group_mask(data: Domain, categories: Sequence[str], *, corrected: bool) -> BoolArray:
    """Mask [agents] of the agents under test in these categories, for the effect sizes.

    The human reference is not under test. The released code drops the first agent instead,
    which is the Reference wherever there is one.
    """
    masks = groups(_panel(data, "mi"), "released")
    mask = (masks.good if tuple(categories) == GOOD_FAITH else masks.bad).copy()
    if not corrected:
        mask[0] = False
    return mask


def group_indices(data: Domain, categories: Sequence[str]) -> IntArray:
    """Agents of these categories, for the AUC, in the order in which the released code pairs them.

    The human reference is in where the release puts it in a category (ICLR: Faithful).
    """
    member = np.array([agent.category in categories for agent in data.agents], dtype=np.bool_)
    return in_pairing_order(_panel(data, "mi"), member).astype(np.int64)


def align(
    clean_ids: IntArray, clean: FloatArray, attacked_ids: IntArray, attacked: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both arrays on the items of either, in order of id; NaN rows where one lacks the item."""
    ids = np.union1d(clean_ids, attacked_ids)
    return _placed(ids, clean_ids, clean), _placed(ids, attacked_ids, attacked)


@lru_cache(KEPT)
def _panel(data: Domain, mechanism: str, items: int | None = None) -> Panel:
    """The items that a mechanism has scores of, or so many of no name, without their texts."""
    ids = data.ids(mechanism)
    names = ids if items in (None, len(ids)) else range(items or 0)
    rows = tuple(Item(str(one), "") for one in names)
    return Panel(rows, data.ranked_agents, ((None,) * len(data.agents),) * len(rows), data.task)


def _placed(ids: IntArray, own: IntArray, values: FloatArray) -> FloatArray:
    placed = np.full((len(ids), *values.shape[1:]), np.nan)
    placed[np.searchsorted(ids, own)] = values
    return placed


def _pairs(scores: Scores | None) -> FloatArray | None:
    pair = None if scores is None else scores.pair
    return None if pair is None else np.asarray(pair.values)
