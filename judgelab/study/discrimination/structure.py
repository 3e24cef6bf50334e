"""What texts share, pair by pair, and what a panel is like: tables and summary entries."""

from __future__ import annotations

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.engine.context import Context
from judgelab.stats.discrimination.structure import (
    compression,
    effective_rank,
    overseer,
    pair_information,
)
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.panels import Panels, ScoredPanel
from judgelab.study.common.tables import WITHOUT_P, columns, entries

MEANING = {
    "u_overseer": "Information summed over ordered pairs of agents: the overseer's pay (eq. 2)",
    "effective_rank": "Effective rank: participation ratio of the agents' correlations over items",
    "compression_reference": "Characters of the sources for each character of the human references",
    "compression_response": "Characters of the sources for each character of the agents' texts",
}
Shape = dict[str, dict[str, Estimate]]
"""Panel -> quantity -> estimate."""


def shape(context: Context, states: Panels) -> Shape:
    """What is known of each panel; u_overseer where the mechanism holds texts against each other.

    The human reference is one of the peers in u_overseer, and in nothing else.
    """
    found: Shape = {}
    for name, part in states.items():
        known = {
            "effective_rank": effective_rank(part.values[:, part.candidates]),
            "compression_reference": _per_reference(part.panel),
            "compression_response": _per_response(part),
        }
        shared = shared_by_pairs(context, part)
        if shared is not None:
            known["u_overseer"] = overseer(shared)
        found[name] = {key: known[key] for key in MEANING if key in known and known[key].n}
    return found


def shape_entries(found: Shape) -> dict[str, Value]:
    """For the summary."""
    made: dict[str, Value] = {}
    for name, known in found.items():
        for key, estimate in known.items():
            made |= entries(f"{name}/{key}", estimate, *WITHOUT_P)
    return made


def shape_table(found: Shape) -> Table:
    """One row for each panel and quantity."""
    rows: list[Row] = [
        {
            "panel": name,
            "quantity": key,
            "meaning": MEANING[key],
            **columns(one, "value", *WITHOUT_P),
        }
        for name, known in found.items()
        for key, one in known.items()
    ]
    note = (
        "Intervals over items. The paper draws d against the compression by references, and "
        "against an effective rank that it does not define: this one is ours."
    )
    return Table("panel", "What the panel is like", rows, note)


def information_table(context: Context, states: Panels) -> Table | None:
    """I(i; j) of every two agents; None where the mechanism does not hold texts together."""
    rows: list[Row] = []
    for name, part in states.items():
        shared = shared_by_pairs(context, part)
        if shared is None:
            continue
        agents = [agent.name for agent in part.panel.agents]
        for (i, j), found in pair_information(shared).items():
            pair: Row = {"panel": name, "agent": agents[i], "peer": agents[j]}
            rows.append({**pair, **columns(found, "value", *WITHOUT_P)})
    if not rows:
        return None
    title = f"What {context.mechanism.name} finds in common between two agents' texts"
    return Table("information", title, rows, "Each two agents once; means over items.")


def shared_by_pairs(context: Context, part: ScoredPanel) -> Floats | None:
    """[items, agents, agents] what a mechanism finds in two texts together, symmetric.

    None where it scores texts one by one, as a pair's score is then made of those of its texts.
    Of scores against references the direction that was asked for.
    """
    dims = {dim for variable in part.measured.data_vars.values() for dim in variable.dims}
    if context.mechanism.subject != "pair" or "peer" not in dims or part.scores.pair is None:
        return None
    if part.scores.directed is None:
        return np.asarray(part.scores.pair.values, dtype=np.float64)
    directed = np.asarray(part.scores.directed.values, dtype=np.float64)
    return row_means(np.stack([directed, np.swapaxes(directed, 1, 2)], axis=-1))


def _per_reference(panel: Panel) -> Estimate:
    """The item's reference, or the text of the agent that is one."""
    human = [k for k, agent in enumerate(panel.agents) if agent.reference]
    written = [
        item.reference or next((row[k] for k in human if row[k]), None) or ""
        for item, row in zip(panel.items, panel.texts, strict=True)
    ]
    source = [float(len(item.source)) for item in panel.items]
    return compression(source, [float(len(text)) for text in written])


def _per_response(part: ScoredPanel) -> Estimate:
    """Candidates' texts; a source counts once for each of them."""
    texts = [[row[k] for k in part.candidates] for row in part.panel.texts]
    written = np.array([sum(len(t) for t in row if t) for row in texts], dtype=np.float64)
    times = np.array([sum(bool(t) for t in row) for row in texts], dtype=np.float64)
    return compression(times * [len(item.source) for item in part.panel.items], written)
