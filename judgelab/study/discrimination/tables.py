"""The tables of the discrimination study, and what its notes are filled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table
from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS, trained
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.discrimination.structure import pair_information
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import by_agent, calls_of_each, missing_calls
from judgelab.study.common.groups import category, groups
from judgelab.study.common.panels import Panels, ScoredPanel, human_scores
from judgelab.study.common.tables import (
    INTERVALS,
    WITHOUT_P,
    columns,
    estimate_rows,
    kind_of,
    mean_over_items,
)
from judgelab.study.common.templates import sentences, table
from judgelab.study.discrimination.statistics import How, lengths, shared_by_pairs

Named = Mapping[str, Estimate]
Cells = list[tuple[Row, Estimate]]

WORDING = {
    "effect_size": "Effect size d (paired, over items)",
    "auc": "AUC, good-faith against problematic agents",
    "pair_auc": "AUC, good pairs against mixed pairs",
    "score": "Mean score",
    "attackers_score": "Mean score of the agents whose texts were attacked",
    "others_score": "Mean score of the other agents, whose texts are the same",
    "advantage": "Attackers' mean score less that of the others",
    "human_within": "Pairs of responses to one item that it orders as people do",
    "length_human_within": "The same by length alone: longer, or shorter where that does better",
    "human_within_gain": "Its agreement less that of length",
    "length_auc": "AUC of length alone: longer, or shorter where that does better",
    "auc_gain": "Its AUC less that of length",
}
SHAPE = {
    "u_overseer": "Information summed over ordered pairs of agents: the overseer's pay (eq. 2)",
    "effective_rank": "Effective rank: participation ratio of the agents' correlations over items",
    "compression_reference": "Characters of the sources for each character of the human references",
    "compression_response": "Characters of the sources for each character of the agents' texts",
}


def figures_table(figures: Mapping[str, Named], states: Panels, definition: Definition) -> Table:
    """One row per panel and statistic, with the calls that gave nothing where there are any."""
    missing = {name: calls.missing for name, calls in calls_of_each(states).items()}
    lost = {name: {"missing_calls": n} for name, n in missing.items() if any(missing.values())}
    rows = [
        row
        for state, group in figures.items()
        for row in _rows(_possible(group, states), {"panel": state}, lost.get(state, {}))
    ]
    return table(__package__, "discrimination", rows, intervals=INTERVALS[kind_of(definition)])


def change_table(change: Named, states: Panels, definition: Definition) -> Table:
    """Attacked minus clean, paired by item."""
    rows = _rows(_possible(change, states))
    return table(__package__, "change", rows, intervals=INTERVALS[kind_of(definition)])


def beside_table(others: Named) -> Table:
    """What people say, and what length alone tells."""
    return table(__package__, "beside", _rows(others))


def _rows(named: Named, first: Row | None = None, last: Row | None = None) -> list[Row]:
    cells: Cells = [
        ({**(first or {}), "statistic": name, "meaning": WORDING[name], **(last or {})}, one)
        for name, one in named.items()
    ]
    return estimate_rows(cells)


def _possible(named: Named, states: Panels) -> Named:
    """Without the statistic of pairs, where a score for each text knows no pairs."""
    paired = all(part.scores.pair is not None for part in states.values())
    return {name: one for name, one in named.items() if paired or name != "pair_auc"}


def agents_table(states: Panels, definition: Definition, how: How) -> Table:
    """Mean score of each agent, best first on the clean panel."""
    cells: Cells = []
    missing = by_agent(states)
    for state, part in states.items():
        group = groups(part.panel, definition)
        labels = np.where(group.good, "good faith", np.where(group.bad, "problematic", "other"))
        for column, agent in enumerate(part.panel.agents):
            head: Row = {
                "panel": state,
                "agent": agent.name,
                "category": category(agent, definition),
                "group": "reference" if agent.reference else str(labels[column]),
                **({"missing_calls": int(missing[state][column])} if missing else {}),
            }
            cells.append((head, mean_over_items(part.values[:, column], definition, *how[:2])))
    cells.sort(
        key=lambda cell: (cell[0]["panel"] != "clean", -np.nan_to_num(cell[1].value, nan=-np.inf))
    )
    return table(__package__, "agents", estimate_rows(cells), missing=bool(missing))


def correlation_table(states: Panels, definition: Definition, how: How) -> Table:
    """Spearman correlation of the score with what it should, and should not, follow."""
    cells: Cells = [
        (
            {"panel": state, "with": name},
            clustered_correlation(part.values, other, "spearman", *how),
        )
        for state, part in states.items()
        for name, other in _companions(part.panel)
    ]
    rows = estimate_rows(cells, "unscored_texts")
    return table(__package__, "correlations", rows, intervals=INTERVALS[kind_of(definition)])


def _companions(panel: Panel) -> Iterator[tuple[str, Floats]]:
    yield "length in words", lengths(panel)
    human = human_scores(panel)
    if not np.isnan(human).all():
        yield "human score", human


def shape_table(shapes: Mapping[str, Named]) -> Table:
    """What each panel is like: one row for each quantity."""
    rows: list[Row] = [
        {"panel": state, "quantity": key, "meaning": SHAPE[key]} | columns(one, "value", *WITHOUT_P)
        for state, known in shapes.items()
        for key, one in known.items()
    ]
    return table(__package__, "panel", rows)


def information_table(context: Context, states: Panels) -> Table | None:
    """I(i; j) of every two agents; None where the mechanism does not hold texts together."""
    rows: list[Row] = []
    for state, part in states.items():
        shared = shared_by_pairs(context, part)
        if shared is not None:
            names = [agent.name for agent in part.panel.agents]
            rows += [
                {"panel": state, "agent": names[i], "peer": names[j]}
                | columns(one, "value", *WITHOUT_P)
                for (i, j), one in pair_information(shared).items()
            ]
    by = context.mechanism.name
    return table(__package__, "information", rows, mechanism=by) if rows else None


def notes(
    context: Context,
    states: Panels,
    known: bool,
    definition: Definition,
    stopped: Mapping[str, Any],
) -> list[str]:
    """What was asked, data, LM, and whatever limits what the numbers mean."""
    clean = states["clean"]
    return sentences(
        __package__,
        "notes.md.j2",
        origin=clean.panel.provenance,
        items=len(clean.panel.items),
        agents=len(clean.panel.agents),
        lm=context.evaluation_lm.identity,
        trained=trained(context.evaluation_lm, clean.panel),
        made=clean.measured.attrs,
        missing=missing_calls(states),
        scored=int((~np.isnan(clean.values)).any(axis=1).sum()),
        few=FEW_ITEMS,
        corrected=definition == "corrected",
        paired=clean.scores.pair is not None,
        known=known,
        stopped=stopped,
        tag=_tag(states.get("attacked", clean)),
    )


def _tag(last: ScoredPanel) -> Any:
    settings = last.panel.provenance.get("attack_settings")
    return settings.get("tag") if isinstance(settings, Mapping) else None
