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
from judgelab.stats.sequential.elimination import Standing
from judgelab.stats.sequential.ends import Bounds, sequence_ends
from judgelab.study.common.batches import AskedInBatches, ask_in_batches
from judgelab.study.common.panels import Panels, ScoredPanel, write_records
from judgelab.study.common.stopping import Stop

LOOKS = (
    "This run could stop after every batch. Its intervals and orders hold at every look, and are "
    "wider for that than those of a run whose items were fixed beforehand."
)
APPROXIMATE = (
    "Scores of this mechanism have no least and largest value: that its intervals hold at every "
    "look is exact for normal scores, and nearly so for others that are not strongly skewed."
)
"""experiments/stopping says by how much they fail for skewed ones."""
POOL = (
    "Sure is what asking about all {items} items would say (study.stop.target=pool), not what "
    "other items like these would."
)
NOTE = (
    "Mean score over the items that were asked, with its interval, which holds at every look; and "
    "best and worst rank that is left, with the confidence of study.stop.order. Candidates are "
    "sorted by what is sure, then by mean: those that stopped early were asked about fewer items."
)


@dataclass(frozen=True)
class Race:
    """Candidates that were asked about items until it was clear.

    Attributes:
        panels: ``clean``: the items that were asked about.
        ranking: of the candidates.
        tables: what is sure of every pair.
        summary: how much was asked and left open.
        notes: the same in sentences.
        who: [items, candidates] whose texts were asked about.
        note: of the table of the ranking.
    """

    panels: Panels
    ranking: Ranking
    tables: Sequence[Table]
    summary: dict[str, Value]
    notes: Sequence[str]
    who: Mask
    note: str = NOTE


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
    items, bounds = len(panel.items), context.mechanism.bounds
    stop.of(items, bounds)  # refused before anything is asked

    def needed(found: Panels) -> Mask:
        one = found["clean"]
        mine = stop.needed(one.values[:, list(candidates)], level, bounds, items)
        if mine.any() and not _apart(context, one):
            mine[:] = True
        who = np.full(len(panel.agents), mine.any())
        who[list(candidates)] = mine
        return who

    asked = ask_in_batches(context, {"clean": panel}, stop, definition, needed)
    clean = asked.panels["clean"]
    write_records(context, clean.panel, clean.measured, clean.scores, pairs=True)
    values, who = clean.values[:, list(candidates)], asked.who[:, list(candidates)]
    names = [panel.agents[k].name for k in candidates]
    found = stop.standing(values, level, bounds, items)
    left = stop.open(values, level, bounds, items)
    ranking = _ranking(values, who, found, level, bounds, stop.of(items, bounds))
    wide = None if stop.width is None else ~(ranking.high - ranking.low <= stop.width)
    notes = _sentences(stop, asked, who, names, found, left, bounds, wide)
    return Race(
        asked.panels,
        ranking,
        [_pairs(names, found, left)],
        _summary(asked, who, left),
        notes,
        who,
    )


def _apart(context: Context, scored: ScoredPanel) -> bool:
    """Whether a candidate's score does not depend on the other candidates' texts."""
    held = any(agent.reference for agent in scored.panel.agents)
    return context.mechanism.subject == "text" or (held and scored.scores.directed is not None)


def _ranking(
    values: Floats,
    who: Mask,
    found: Standing,
    level: float,
    bounds: Bounds | None,
    pool: int | None,
) -> Ranking:
    """Ranks by what is sure, then by mean; no share of resamples, which says nothing here."""
    mean = row_means(values.T)
    low, high = sequence_ends(values.T, level, bounds, pool)
    rank = np.empty(len(mean))
    rank[np.lexsort((-mean, found.rank_low))] = np.arange(1.0, len(mean) + 1)
    n = (~np.isnan(values)).sum(axis=0)
    none = np.isnan(mean)
    low, high, rank = (np.where(none, np.nan, one) for one in (low, high, rank))
    share = np.full(len(mean), np.nan)
    best, worst = found.rank_low, found.rank_high
    return Ranking(mean, low, high, rank, best, worst, share, n, who.sum(axis=0) - n)


def _pairs(names: Sequence[str], found: Standing, left: Mask) -> Table:
    """One row for each two candidates, the open ones first, the likelier winner in front."""
    unsure = found.open
    rows: list[Row] = []
    for i in range(len(names)):
        for j in range(i):
            a, b = (i, j) if found.above[i, j] or found.p[i, j] < found.p[j, i] else (j, i)
            state = "sure" if not unsure[a, b] else "open" if left[a, b] else "not needed"
            rows.append(
                {
                    "higher": names[a],
                    "lower": names[b],
                    "order": state,
                    "p": float(found.p[a, b]),
                    "items_of_both": int(found.both[a, b]),
                }
            )
    rows.sort(key=lambda row: (row["order"] != "open", row["order"] != "not needed"))
    note = (
        "Not needed: a pair whose order was not asked for, or that surely differs by less than the "
        "width. p: adjusted for all pairs, and valid at every look. An order may be sure as it "
        "follows from others, with a p of its own that is not small."
    )
    return Table("stopped_pairs", "What is sure of each two", rows, note)


def _summary(asked: AskedInBatches, who: Mask, left: Mask) -> dict[str, Value]:
    return {
        "stop/items_asked": len(who),
        "stop/items": asked.items,
        "stop/asked_share": float(who.sum()) / (asked.items * who.shape[1]),
        "stop/open_pairs": int(left.sum()) // 2,
    }


def _sentences(
    stop: Stop,
    asked: AskedInBatches,
    who: Mask,
    names: Sequence[str],
    found: Standing,
    left: Mask,
    bounds: Bounds | None,
    wide: Mask | None,
) -> list[str]:
    """How much was asked, what is open and how sure the rest is, then what holds."""
    share = who.sum() / (asked.items * who.shape[1])
    count = f"{len(who)} of {asked.items} items"
    said = [
        f"Stopped after {count}: {1 - share:.0%} of the candidates' texts were not asked about."
    ]
    if stop.order is not None:
        open_ = [f"{names[i]} and {names[j]}" for i, j in np.argwhere(np.triu(left))]
        what = "The whole order" if stop.top is None else f"Who is among the best {stop.top}"
        if open_:
            more = f" and {len(open_) - 5} more" if len(open_) > 5 else ""
            shown = "; ".join(open_[:5])
            said.append(f"Left open, though all items were asked: the order of {shown}{more}.")
            sure = int(found.above.sum())
            said.append(f"Orders that are sure ({stop.order:g} for all of them): {sure}.")
        else:
            near = "" if stop.width is None else f", but for differences below {stop.width:g}"
            said.append(f"{what} is sure ({stop.order:g}{near}).")
    elif wide is not None and wide.any():
        many = f"{wide.sum()} of {len(wide)} intervals"
        said.append(f"All items were asked about. Still wider than {stop.width:g}: {many}.")
    if stop.target == "pool":
        said.append(POOL.format(items=asked.items))
    return [*said, LOOKS, *([APPROXIMATE] if bounds is None else [])]
