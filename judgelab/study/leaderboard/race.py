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

LOOKS = (
    "This run could stop after every batch. Its intervals and orders hold at every look, and are "
    "wider for that than those of a run whose items were fixed beforehand."
)


def race(
    context: Context,
    panel: Panel,
    candidates: Sequence[int],
    stop: Stop,
    definition: Definition,
    level: float,
) -> tuple[ScoredPanel, Elimination]:
    """Ask about candidates until it is clear, and write the records.

    A candidate that is not needed any more drops out where scores of the others do not depend on
    its texts: texts that are scored by themselves, or against references. Elsewhere all are asked
    until nothing is open.

    Args:
        panel: texts as written.
        candidates: places of the agents that are ranked.
        level: of intervals.

    Returns:
        The items that were asked about, and what is sure of the candidates.
    """
    batches = _Batches(context, panel, candidates, definition)
    asked = until_clear(
        stop,
        [1] * len(panel.items),
        [panel.agents[k].name for k in candidates],
        batches.ask,
        lambda: batches.scored.values[:, batches.candidates],
        level,
        context.mechanism.bounds,
        together=lambda: batches.together,
        figure="mean score",
        item="item",
    )
    clean = batches.finish()
    write_records(context, clean.panel, clean.measured, clean.scores)
    return clean, asked


class _Batches:
    """A panel whose items are asked about a few at a time, in a random order; ``scored`` so far.

    What was asked lies in the cache: a run that was ended goes the same way again without asking.
    """

    def __init__(
        self, context: Context, panel: Panel, candidates: Sequence[int], definition: Definition
    ) -> None:
        self.context, self.panel, self.definition = context, panel, definition
        self.candidates = list(candidates)
        self.scored: ScoredPanel
        self._order = item_order(panel, context.seed)
        self._lm = LoggedLM(context.evaluation_lm, texts=True)
        self._shown = list[Mask]()

    def ask(self, turns: range, mine: Mask) -> None:
        """Ask about the items of these turns, with the texts of these candidates."""
        who = np.ones(len(self.panel.agents), np.bool_)  # references are asked along
        who[self.candidates] = mine
        part = self.context.read(self._part(turns, [who] * len(turns)))
        context = replace(self.context, evaluation_lm=self._lm)
        measured = context.measure(part, self.panel)
        if self._shown:
            before, measured = self.scored.panel, joined(self.scored.measured, measured)
            part = replace(part, items=before.items + part.items, texts=before.texts + part.texts)
        scores = self.context.score(measured, self.definition)
        self.scored = ScoredPanel(part, measured, scores)
        self._shown += [who] * len(turns)

    @property
    def together(self) -> bool:
        """Whether a candidate's score depends on the other candidates' texts."""
        references = any(agent.reference for agent in self.scored.panel.agents)
        against = references and self.scored.scores.directed is not None
        return self.context.mechanism.subject != "text" and not against

    def finish(self) -> ScoredPanel:
        """What was asked, with the replies on disk; what is said of the texts is of all of them."""
        whole = self.context.read(self._part(range(len(self._shown)), self._shown))
        write_replies(self.context, whole, {self.context.mechanism.name: self._lm.log}, "clean")
        return replace(self.scored, panel=whole)

    def _part(self, turns: range, who: Sequence[Mask]) -> Panel:
        """Items of some turns, with the texts of these agents alone: nobody asks about others."""
        items = [self._order[turn] for turn in turns]
        texts = tuple(
            tuple(t if kept else None for t, kept in zip(self.panel.texts[k], mask, strict=True))
            for k, mask in zip(items, who, strict=True)
        )
        return replace(self.panel, items=tuple(self.panel.items[k] for k in items), texts=texts)


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
    lost = asked.who.sum(axis=0) - asked.scored
    return Ranking(mean, low, high, rank, orders.rank_low, orders.rank_high, asked.scored, lost)
