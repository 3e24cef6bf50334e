"""A leaderboard that stops by itself: what it asked about, and what it left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import xarray as xr

from judgelab.calls.log import LoggedLM
from judgelab.core.panel import Panel, rng_for
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.ranking.leaderboard import Ranking
from judgelab.stats.sequential import Bounds, sequence_ends
from judgelab.study.common.panels import ScoredPanel, write_records, write_replies
from judgelab.study.common.stopping import Elimination, Stop, until_clear


def race(
    context: Context,
    panel: Panel,
    candidates: Sequence[int],
    stop: Stop,
    definition: Definition,
    level: float,
) -> tuple[ScoredPanel, Elimination]:
    """Ask about candidates until it is clear, in a random order of the items; write the records.

    A candidate that is not needed any more drops out where scores of the others do not depend on
    its texts: texts that are scored by themselves, or against references. Elsewhere all are asked
    until nothing is open. What was asked lies in the cache: a run that was ended goes the same way
    again without asking.

    Args:
        panel: texts as written.
        candidates: places of the agents that are ranked.
        level: of intervals.

    Returns:
        The items that were asked about, and what is sure of the candidates.
    """
    order, columns = item_order(panel, context.seed), list(candidates)
    lm = LoggedLM(context.evaluation_lm, texts=True)
    asking = replace(context, evaluation_lm=lm)
    shown: list[Mask] = []  # [turns] the agents whose texts were shown
    scored: ScoredPanel

    def part(turns: range) -> Panel:
        """Items of some turns, with the texts of these agents alone: nobody asks about others."""
        items = [order[turn] for turn in turns]
        texts = tuple(
            tuple(t if kept else None for t, kept in zip(panel.texts[k], shown[turn], strict=True))
            for turn, k in zip(turns, items, strict=True)
        )
        mine = replace(panel, items=tuple(panel.items[k] for k in items), texts=texts)
        return context.read(mine)

    def ask(turns: range, mine: Mask) -> None:
        nonlocal scored
        who = np.ones(len(panel.agents), np.bool_)  # references are asked along
        who[columns] = mine
        shown.extend([who] * len(turns))
        new = part(turns)
        measured = asking.measure(new, panel)
        if turns.start:
            before, measured = scored.panel, joined(scored.measurements, measured)
            new = replace(new, items=before.items + new.items, texts=before.texts + new.texts)
        scored = ScoredPanel(new, measured, context.score(measured, definition))

    def together() -> bool:
        """Whether a candidate's score depends on the other candidates' texts."""
        references = any(agent.reference for agent in panel.agents)
        against = references and scored.scores.directed is not None
        return context.mechanism.subject != "text" and not against

    asked = until_clear(
        stop,
        [1] * len(panel.items),
        [panel.agents[k].name for k in candidates],
        ask,
        lambda: scored.values[:, columns],
        level,
        context.mechanism.bounds,
        together=together,
        figure="mean score",
        item="item",
    )
    # what is said of the texts is of all of them
    clean = replace(scored, panel=part(range(len(shown))))
    write_replies(context, clean.panel, {context.mechanism.name: lm.log}, "clean")
    write_records(context, clean.panel, clean.measurements, clean.scores)
    return clean, asked


def item_order(panel: Panel, seed: int) -> list[int]:
    """Places of the items, shuffled; an item's turn does not depend on where the data have it."""
    turn = [rng_for(seed, "stop", item.id).random() for item in panel.items]
    return [int(k) for k in np.argsort(turn, kind="stable")]


def joined(before: xr.Dataset, more: xr.Dataset) -> xr.Dataset:
    """Measurements of more items below those before."""
    return xr.concat(
        [before, more], "item", data_vars="minimal", coords="minimal", compat="override",
        combine_attrs="override",
    )  # fmt: skip


def standing_ranks(
    values: Floats, asked: Elimination, level: float, bounds: Bounds | None
) -> Ranking:
    """Ranks by what is sure, then by mean."""
    mean, orders = row_means(values.T), asked.standing
    low, high = sequence_ends(values.T, level, bounds)
    rank = np.empty(len(mean))
    rank[np.lexsort((-mean, orders.rank_low))] = np.arange(1.0, len(mean) + 1)
    low, high, rank = (np.where(np.isnan(mean), np.nan, one) for one in (low, high, rank))
    lost = asked.who.sum(axis=0) - asked.score_counts
    return Ranking(
        mean, low, high, rank, orders.rank_low, orders.rank_high, asked.score_counts, lost
    )
