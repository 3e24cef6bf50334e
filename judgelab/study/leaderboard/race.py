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
from judgelab.stats.intervals.means import Bounds
from judgelab.stats.ranking.leaderboard import Ranking
from judgelab.stats.sequential import sequence_ends
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
    batches = _Batches(context, panel, candidates, definition)
    outcome = until_clear(
        stop,
        [1] * len(panel.items),
        [panel.agents[k].name for k in candidates],
        batches.ask,
        lambda: batches.state.values[:, batches.columns],
        level,
        context.mechanism.bounds,
        together=batches.together,
        figure="mean score",
        item="item",
    )
    # what is said of the texts is of all of them
    clean = replace(batches.state, panel=batches.texts(range(len(batches.who))))
    write_replies(context, clean.panel, {context.mechanism.name: batches.lm.log}, "clean")
    write_records(context, clean.panel, clean.measurements, clean.scores)
    return clean, outcome


class _Batches:
    """Items that were asked about so far, in a random order.

    Attributes:
        columns: places of the candidates.
        who: [turns] the agents whose texts were asked about.
        state: the texts and scores of all turns; from the first batch on.
    """

    def __init__(
        self, context: Context, panel: Panel, candidates: Sequence[int], definition: Definition
    ) -> None:
        self._panel, self._context, self._definition = panel, context, definition
        self._order = item_order(panel, context.seed)
        self.lm = LoggedLM(context.evaluation_lm, texts=True)
        self.columns, self.who = list(candidates), list[Mask]()
        self.state: ScoredPanel

    def texts(self, turns: range) -> Panel:
        """Items of some turns, with the texts of these agents alone: nobody asks about others."""
        panel, items = self._panel, [self._order[turn] for turn in turns]
        texts = tuple(
            tuple(t if use else None for t, use in zip(panel.texts[k], self.who[turn], strict=True))
            for turn, k in zip(turns, items, strict=True)
        )
        mine = replace(panel, items=tuple(panel.items[k] for k in items), texts=texts)
        return self._context.read(mine)

    def ask(self, turns: range, mine: Mask) -> None:
        """Ask about these candidates' texts on the items of some turns, and score all so far."""
        who = np.ones(len(self._panel.agents), np.bool_)  # references are asked along
        who[self.columns] = mine
        self.who.extend([who] * len(turns))
        new = self.texts(turns)
        measurements = replace(self._context, evaluation_lm=self.lm).measure(new, self._panel)
        if turns.start:
            before = self.state.panel
            measurements = join(self.state.measurements, measurements)
            new = replace(new, items=before.items + new.items, texts=before.texts + new.texts)
        scores = self._context.score(measurements, self._definition)
        self.state = ScoredPanel(new, measurements, scores)

    def together(self) -> bool:
        """Whether a candidate's score depends on the other candidates' texts."""
        references = any(agent.reference for agent in self._panel.agents)
        against = references and self.state.scores.directed is not None
        return self._context.mechanism.subject != "text" and not against


def item_order(panel: Panel, seed: int) -> list[int]:
    """Places of the items, shuffled; an item's turn does not depend on where the data have it."""
    turn = [rng_for(seed, "stop", item.id).random() for item in panel.items]
    return [int(k) for k in np.argsort(turn, kind="stable")]


def join(before: xr.Dataset, more: xr.Dataset) -> xr.Dataset:
    """Measurements of more items below those before."""
    return xr.concat(
        [before, more], "item", data_vars="minimal", coords="minimal", compat="override",
        combine_attrs="override",
    )  # fmt: skip


def standing_ranks(
    values: Floats, elimination: Elimination, level: float, bounds: Bounds | None
) -> Ranking:
    """Ranks by what is sure, then by mean."""
    mean, orders = row_means(values.T), elimination.standing
    low, high = sequence_ends(values.T, level, bounds)
    rank = np.empty(len(mean))
    rank[np.lexsort((-mean, orders.rank_low))] = np.arange(1.0, len(mean) + 1)
    low, high, rank = (np.where(np.isnan(mean), np.nan, one) for one in (low, high, rank))
    unscored = elimination.who.sum(axis=0) - elimination.score_counts
    return Ranking(
        mean, low, high, rank, orders.rank_low, orders.rank_high, elimination.score_counts, unscored
    )
