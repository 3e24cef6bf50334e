"""What a run that stopped by itself found, and what it left open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.ranking.leaderboard import Ranking
from judgelab.stats.sequential.ends import Bounds, sequence_ends
from judgelab.study.common.batches import PanelByParts
from judgelab.study.common.panels import Panels, ScoredPanel, write_records
from judgelab.study.common.stopping import CANDIDATES, LOOKS, Elimination, Stop, until_clear
from judgelab.study.common.templates import table


@dataclass(frozen=True)
class Race:
    """Candidates that were asked about items until it was clear.

    Attributes:
        panels: ``clean``: the items that were asked about.
        ranking: of the candidates.
        pairs: what is sure of every two.
        summary: how much was asked and left open.
        notes: the same in sentences.
        who: [items, candidates] whose texts were asked about.
    """

    panels: Panels
    ranking: Ranking
    pairs: Table
    summary: dict[str, Value]
    notes: Sequence[str]
    who: Mask


def race(
    context: Context,
    panel: Panel,
    candidates: Sequence[int],
    stop: Stop,
    definition: Definition,
    level: float,
) -> Race:
    """Ask about candidates until it is clear, and write the records.

    A candidate that is not needed any more drops out where scores of the others do not depend on
    its texts: texts that are scored by themselves, or against references. Elsewhere all are asked
    until nothing is open.

    Args:
        panel: texts as written.
        candidates: places of the agents that are ranked.
        level: of intervals.
    """
    chosen, items, bounds = list(candidates), len(panel.items), context.mechanism.bounds
    asking = PanelByParts(context, {"clean": panel}, definition)

    def ask(turns: range, mine: Mask) -> None:
        who = np.ones(len(panel.agents), np.bool_)  # references are asked along
        who[chosen] = mine
        asking.ask(turns, who)

    asked = until_clear(
        stop,
        items,
        [panel.agents[k].name for k in chosen],
        ask,
        lambda: asking.parts["clean"].values[:, chosen],
        level,
        bounds,
        together=lambda: not _apart(context, asking.parts["clean"]),
        words=CANDIDATES,
    )
    panels = asking.finish()
    clean = panels["clean"]
    write_records(context, clean.panel, clean.measured, clean.scores, pairs=True)
    pool = asked.stop.of(items, bounds)
    ranking = _ranking(clean.values[:, chosen], asked, level, bounds, pool)
    summary: dict[str, Value] = {
        "stop/items_asked": len(asked.who),
        "stop/items": asked.turns,
        "stop/asked_share": 1 - asked.saved,
        "stop/open_pairs": int(asked.left.sum()) // 2,
    }
    return Race(panels, ranking, _pairs(asked), summary, [*asked.sentences, LOOKS], asked.who)


def _apart(context: Context, scored: ScoredPanel) -> bool:
    """Whether a candidate's score does not depend on the other candidates' texts."""
    held = any(agent.reference for agent in scored.panel.agents)
    return context.mechanism.subject == "text" or (held and scored.scores.directed is not None)


def _ranking(
    values: Floats, asked: Elimination, level: float, bounds: Bounds | None, pool: int | None
) -> Ranking:
    """Ranks by what is sure, then by mean; no share of resamples, which says nothing here."""
    mean, found = row_means(values.T), asked.standing
    low, high = sequence_ends(values.T, level, bounds, pool)
    rank = np.empty(len(mean))
    rank[np.lexsort((-mean, found.rank_low))] = np.arange(1.0, len(mean) + 1)
    none = np.isnan(mean)
    low, high, rank = (np.where(none, np.nan, one) for one in (low, high, rank))
    share = np.full(len(mean), np.nan)
    n, best, worst = asked.scored, found.rank_low, found.rank_high
    return Ranking(mean, low, high, rank, best, worst, share, n, asked.who.sum(axis=0) - n)


def _pairs(asked: Elimination) -> Table:
    """One row for each two candidates, the open ones first, the likelier winner in front."""
    found, rows = asked.standing, list[Row]()
    for i in range(len(asked.names)):
        for j in range(i):
            a, b = (i, j) if found.above[i, j] or found.p[i, j] < found.p[j, i] else (j, i)
            rows.append(
                {
                    "higher": asked.names[a],
                    "lower": asked.names[b],
                    "order": _state(asked, a, b),
                    "p": float(found.p[a, b]),
                    "items_of_both": int(found.both[a, b]),
                }
            )
    states = ("open", "not needed", "tie", "sure")
    rows.sort(key=lambda row: states.index(str(row["order"])))
    return table(__package__, "stopped_pairs", rows)


def _state(asked: Elimination, a: int, b: int) -> str:
    if asked.tied[a, b]:
        return "tie"
    if not asked.standing.open[a, b]:
        return "sure"
    return "open" if asked.left[a, b] else "not needed"
