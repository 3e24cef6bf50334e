"""Good against problematic agents, asked until it is clear; every interval holds at every look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Table, Value
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.holm import holm
from judgelab.stats.sequential.ends import FIRST, Bounds, betting_p, sequence_ends, t_above_p
from judgelab.study.common.batches import PanelByParts
from judgelab.study.common.groups import groups
from judgelab.study.common.panels import Panels, ScoredPanel, refuse_unscored, write_records
from judgelab.study.common.stopping import LOOKS, POOL, Stop, in_batches
from judgelab.study.discrimination.statistics import per_item

LEVEL = 0.95
SHARE: Bounds = (0.0, 1.0)
CHANCE = {"auc": 0.5, "pair_auc": 0.5, "effect_size": 0.0}
KEPT = ("discrimination", "change", "agents")
"""Tables whose intervals are replaced; those of others are left out."""


@dataclass(frozen=True)
class StoppedPanels:
    """What was asked until it was clear.

    Attributes:
        panels: the items that were asked about.
        pool: how many items the answers are about; None: all like these.
        summary: how much was asked and left open.
        words: for the notes.
    """

    panels: Panels
    pool: int | None
    summary: dict[str, Value]
    words: Mapping[str, Any]


def asked(
    context: Context,
    panels: Mapping[str, Panel],
    stop: Stop,
    definition: Definition,
    primary: str,
) -> StoppedPanels:
    """Ask about all agents' texts, batch by batch, until the primary figure is clear on each panel.

    Clear: its interval is at most ``width`` wide, or, of an order, it lies surely above chance, or
    surely below (or surely within ``width`` of it). Peers are evidence, so no agent drops out.

    Args:
        panels: texts as written.
        primary: auc, pair_auc or effect_size.

    Raises:
        ConfigError: agents have no categories, or the figure has no such interval.
    """
    first = next(iter(panels.values()))
    items = len(first.items)
    bounds = _bounds(first, stop, definition, primary)
    pool = stop.of(items, bounds)

    asking = PanelByParts(context, panels, definition)

    def left() -> list[str]:
        parts = asking.parts.items()
        values = {name: per_item(part, definition, name)[primary] for name, part in parts}
        above = {name: one - CHANCE[primary] for name, one in values.items()}
        return _open(above, stop, bounds, pool)

    agents = len(first.agents)
    who = in_batches(stop, items, agents, asking.ask, lambda _: np.full(agents, bool(left())))
    found, unclear = asking.finish(), left()
    for name, state in found.items():
        write_records(context, state.panel, state.measured, state.scores, name=name)
    refuse_unscored(context, found)
    summary: dict[str, Value] = {
        "stop/items_asked": len(who),
        "stop/items": items,
        "stop/open": ", ".join(unclear) or "nothing",
    }
    words = {
        "asked": len(who),
        "total": items,
        "left": unclear,
        "stop": stop,
        "primary": primary,
        "chance": CHANCE[primary],
        "bounded": context.mechanism.bounds is not None,
        "looks": LOOKS,
        "pool": POOL.format(items=items) if stop.target == "pool" else "",
    }
    return StoppedPanels(found, pool, summary, words)


def _bounds(first: Panel, stop: Stop, definition: Definition, primary: str) -> Bounds | None:
    """Of the figure's values; refuses what cannot be stopped."""
    if not groups(first, definition).known:
        raise ConfigError(
            "study.stop looks at how good agents are told from problematic ones, but the agents of "
            "these data have no categories: use study=leaderboard, or give categories."
        )
    bounds = None if primary == "effect_size" else SHARE
    if stop.top is not None or (bounds is None and stop.width is not None):
        wrong = "top" if stop.top is not None else "width"
        raise ConfigError(
            f"study.stop.{wrong} is not for study=discrimination study.primary={primary}: leave it "
            "out, or use study.primary=auc."
        )
    return bounds


def _open(
    above: Mapping[str, Floats], stop: Stop, bounds: Bounds | None, pool: int | None
) -> list[str]:
    """Panels on which the figure (less chance) is not clear yet."""
    sure = LEVEL if stop.order is None else 1 - (1 - stop.order) / len(above)
    ends = {name: _ends(values, bounds, pool, sure) for name, values in above.items()}
    if stop.order is None:
        wide = stop.width or np.inf
        return [name for name, (low, high) in ends.items() if not high - low <= wide]
    p = holm(np.array([_both_sides(values, bounds, pool) for values in above.values()]))
    near = stop.width or 0.0
    return [
        name
        for (name, (low, high)), one in zip(ends.items(), p, strict=True)
        if not one <= 1 - stop.order and not (-near <= low and high <= near)
    ]


def _ends(
    values: Floats, bounds: Bounds | None, pool: int | None, level: float = LEVEL
) -> tuple[float, float]:
    """Of values less .5, where they are shares."""
    inner = None if bounds is None else (bounds[0] - 0.5, bounds[1] - 0.5)
    low, high = sequence_ends(values, level, inner, pool)
    return float(low), float(high)


def _both_sides(values: Floats, bounds: Bounds | None, pool: int | None) -> float:
    """p of a mean of 0, valid at every look; bounded values lie within 1 / 2 of it."""
    if bounds is None:
        if (~np.isnan(values)).sum() < FIRST:
            return np.nan
        sides = t_above_p(np.stack([values, -values]))
    else:
        sides = betting_p(np.clip(2 * np.stack([values, -values]), -1, 1), pool)
    return float(min(1.0, 2 * sides.min()))


def figures_at_every_look(
    figures: Mapping[str, Estimate], items: Mapping[str, Floats], pool: int | None
) -> dict[str, Estimate]:
    """Figures with the sequence's interval and p; an effect size has its p alone."""
    made = {}
    for name, estimate in figures.items():
        bounds = None if name == "effect_size" else SHARE
        above = items[name] - CHANCE[name]
        low, high = (np.nan, np.nan)
        if bounds is not None:
            low, high = (CHANCE[name] + end for end in _ends(above, bounds, pool))
        p = _both_sides(above, bounds, pool)
        made[name] = replace(estimate, low=low, high=high, p=p)
    return made


def change_at_every_look(
    change: Mapping[str, Estimate], items: Mapping[str, Mapping[str, Floats]], pool: int | None
) -> dict[str, Estimate]:
    """Changes of AUC with the sequence's interval and p; the others without."""
    made = {}
    for name, estimate in change.items():
        low = high = p = np.nan
        if name in ("auc", "pair_auc"):
            gap = items["attacked"][name] - items["clean"][name]
            low, high = (float(end) for end in sequence_ends(gap, LEVEL, (-1.0, 1.0), pool))
            p = min(1.0, 2 * float(betting_p(np.stack([gap, -gap]), pool).min()))
        made[name] = replace(estimate, low=low, high=high, p=p)
    return made


def tables_at_every_look(
    tables: Sequence[Table], states: Panels, bounds: Bounds | None, pool: int | None
) -> list[Table]:
    """Tables with the sequence's intervals of agents, and no intervals where there is none."""
    made = []
    for table in tables:
        rows = [dict(row) for row in table.rows]
        if table.name == "agents":
            ends = {name: _agent_ends(one, bounds, pool) for name, one in states.items()}
            for row in rows:
                row["low"], row["high"] = ends[str(row["panel"])][str(row["agent"])]
                row["p"] = None
        elif table.name not in KEPT:
            for row in rows:
                row |= {key: None for key in ("low", "high", "p") if key in row}
        made.append(replace(table, rows=rows))
    return made


def _agent_ends(
    state: ScoredPanel, bounds: Bounds | None, pool: int | None
) -> dict[str, tuple[float | None, float | None]]:
    low, high = sequence_ends(state.values.T, LEVEL, bounds, None if bounds is None else pool)
    names = [agent.name for agent in state.panel.agents]
    pairs = zip(low, high, strict=True)
    none = (None, None)
    return {
        name: none if np.isnan(a) or np.isnan(b) else (float(a), float(b))
        for name, (a, b) in zip(names, pairs, strict=True)
    }
