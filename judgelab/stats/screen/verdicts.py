"""What can be said of an agent: it says something about its item, nothing, much less, or not known.

Exact test: the texts of an agent that says nothing might as well lie in any other order within a
block. So its mean score with its peers' texts of the same item is held against that of other
orders, in all of which its length, style and language are alike: p = (1 + orders that reach it) /
(1 + orders drawn).

A test that fails accuses nobody. What accuses is an effect that is surely small beside the others'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from judgelab.stats.intervals.arrays import Floats, Mask, divide, row_means
from judgelab.stats.intervals.ends import above_p, mean_ends, mean_p
from judgelab.stats.intervals.estimate import Estimates
from judgelab.stats.intervals.means import holm_levels, item_mean
from judgelab.stats.screen.exam import Places, effects, weight, with_peers

AgentVerdict = Literal["something", "much less", "nothing", "not known"]
RATE = 0.05  # of false discoveries, among the agents that are named for one thing
DRAWS = 2000
FEWEST_TEXTS = 10  # texts below which nothing is said of an agent
# Shares of the median other agent's effect below which an agent says nothing, or shares much less
# (it may say less, or say it in fewer words or words of its own)
NOTHING, LESS = 0.1, 0.5
RISES = 0.05  # of an agent's own effect: what an attack surely adds that works


@dataclass(frozen=True)
class Screening:
    """One entry for each agent."""

    effect: Floats  # [items, agents] pooled score with peers of the item less that of others
    p: Floats  # of the exact test; NaN where there is none
    sure: Mask  # whether it says something, by that test
    share: Estimates  # of the median other agent's effect
    verdict: Sequence[AgentVerdict]


def merge(
    critics: Sequence[Floats], blocks: Sequence[Places], families: Sequence[str]
) -> list[Floats]:
    """All critics' centred scores [blocks, agents, peers, m, m] as one for each agent [blocks,
    peers, m, m], weighted by the exam of the *others*, so that its test stays exact.

    Where the others alone (two, one of whom says nothing) show no critic to be worth anything, all
    count alike. Critics of one family (one LM) share the weight of one.
    """
    agents = critics[0].shape[1]
    apart = ~np.eye(agents, dtype=np.bool_)
    even = [one / _size(one[:, apart]) for one in critics]
    crowd = np.array([families.count(family) for family in families])
    sums = []
    for agent in range(agents):
        others = np.arange(agents) != agent
        worth = np.array([weight(one, blocks, others) for one in even])
        worth = (worth if worth.any() else np.ones(len(even))) / crowd
        cells = np.stack([one[:, agent] for one in even])
        shares = worth[:, None, None, None, None] * ~np.isnan(cells)
        sums.append(divide((np.nan_to_num(cells) * shares).sum(axis=0), shares.sum(axis=0)))
    return sums


def screen(
    scores: Sequence[Floats], blocks: Sequence[Places], group: NDArray[np.intp]
) -> Screening:
    """Test, measure and name every agent, by scores of ``merge`` and ``group`` [agents] of
    ``with_peers``."""
    each = [with_peers(cells, agent, group) for agent, cells in enumerate(scores)]
    effect = effects(scores, blocks, group)
    p = np.array([permutation_p(own) for own in each])
    few = (~np.isnan(effect)).sum(axis=0) < FEWEST_TEXTS
    share, below = shares_of_median(effect, group)
    none, less = (false_discoveries(np.where(few, np.nan, one)) for one in below)
    sure = false_discoveries(np.where(few, np.nan, p))
    words = ["nothing", "much less", "something"]
    verdict = np.select([none & ~sure, less, sure], words, "not known").tolist()
    return Screening(effect, p, sure, share, verdict)


def permutation_p(cells: Floats, draws: int = DRAWS) -> float:
    """One-sided p of scores [blocks, m, m] of an agent's texts with its peers', as above. The texts
    that are there change places within their block; NaN without two of any block."""
    generator = np.random.default_rng((0, 2))
    observed, sums, moves = 0.0, np.zeros(draws), False
    for block in cells:
        places = np.flatnonzero(~np.isnan(np.diagonal(block)))
        part = np.nan_to_num(block[np.ix_(places, places)])  # a call that failed says nothing
        k = len(places)
        moves |= k > 1
        orders = generator.permuted(np.tile(np.arange(k), (draws, 1)), axis=1)
        observed += float(np.trace(part))
        sums += part[orders, np.arange(k)].sum(axis=1)
    if not moves:
        return np.nan
    slack = 1e-9 * max(1.0, float(np.nanmax(np.abs(cells))))
    return float((1 + np.count_nonzero(sums >= observed - slack)) / (1 + draws))


def false_discoveries(p: Floats) -> Mask:
    """[tests] what is found where at most ``RATE`` of it is false (Benjamini, Hochberg 1995)."""
    discoveries, has_p = np.zeros(len(p), np.bool_), ~np.isnan(p)
    if has_p.any():
        discoveries[has_p] = false_discovery_control(p[has_p]) <= RATE
    return discoveries


def shares_of_median(effect: Floats, group: NDArray[np.intp]) -> tuple[Estimates, list[Floats]]:
    """Shares of the median of the others, with 95 % intervals, and p of each bar, one-sided. Others
    with fewer than ``FEWEST_TEXTS`` texts do not count; NaN where their own effect is not surely
    above 0. ``n``: items that the agent and the median are known of.
    """
    agents = effect.shape[1]
    value, low, high, n = (np.full(agents, np.nan) for _ in range(4))
    below = [np.full(agents, np.nan) for _ in (NOTHING, LESS)]
    members = (effect[:, group == g] for g in range(int(group.max()) + 1))
    each = np.stack([row_means(one) for one in members], axis=1)
    each[:, (~np.isnan(each)).sum(axis=0) < FEWEST_TEXTS] = np.nan
    for agent in range(agents):
        middle = _median(np.delete(each, group[agent], axis=1))
        own = effect[:, agent]
        both = ~np.isnan(own) & ~np.isnan(middle)
        n[agent] = both.sum()
        x, bar = own[both], middle[both]
        others = item_mean(bar)
        if not others.low > 0:
            continue
        value[agent] = x.mean() / others.value
        adds = (x - value[agent] * bar) / others.value
        low[agent], high[agent] = mean_ends(value[agent] + adds)
        for p, least in zip(below, (NOTHING, LESS), strict=True):
            gap = x - least * bar
            two = float(mean_p(gap)) / 2
            p[agent] = two if gap.mean() < 0 else 1 - two
    return Estimates.of(value, (low, high), n, len(effect) - n), below


def attack_gains(changes: Floats) -> Estimates:
    """Mean changes of all systems under all attacks [tests, items]. At the levels of Holm's steps a
    lower end is above ``RISES`` by chance in at most one panel of twenty, however many tests."""
    levels = holm_levels(above_p(changes - RISES, -np.inf))
    n = (~np.isnan(changes)).sum(axis=1)
    ends = mean_ends(changes, levels)
    return Estimates.of(row_means(changes), ends, n, changes.shape[1] - n)


def _median(each: Floats) -> Floats:
    """[items] effect of the agent in the middle, or of both, from [items, agents]."""
    means = row_means(each.T)
    order = np.argsort(np.where(np.isnan(means), np.inf, means), kind="stable")
    count = int((~np.isnan(means)).sum())
    middle = order[(count - 1) // 2 : count // 2 + 1] if count else order[:0]
    return row_means(each[:, middle])


def _size(values: Floats) -> float:
    """Root mean square of what is known; 1 of nothing but zeros."""
    size = float(np.sqrt(np.nanmean(values**2))) if (~np.isnan(values)).any() else 1.0
    return size or 1.0
