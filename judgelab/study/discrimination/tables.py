"""The tables of the discrimination study, and what its notes are filled with."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from judgelab.core.result import Row, Table
from judgelab.engine.context import Context
from judgelab.engine.provenance import FEW_ITEMS, trained
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import by_agent, missing_calls
from judgelab.study.common.panels import Panels, category, groups
from judgelab.study.common.tables import INTERVALS, estimate_rows, kind_of, mean_over_items
from judgelab.study.common.templates import sentences, table
from judgelab.study.discrimination.statistics import How

Named = Mapping[str, Estimate]

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


def statistics_table(name: str, named: Mapping[str, Named], definition: Definition) -> Table:
    """One row for each panel and statistic; ``""`` for what is not of one panel."""
    cells = [
        ({**({"panel": panel} if panel else {}), "statistic": key, "meaning": WORDING[key]}, one)
        for panel, group in named.items()
        for key, one in group.items()
    ]
    rows, intervals = estimate_rows(cells), INTERVALS[kind_of(definition)]
    return table(__package__, name, rows, intervals=intervals)


def agents_table(states: Panels, definition: Definition, how: How) -> Table:
    """Mean score of each agent, best first on the clean panel."""
    cells: list[tuple[Row, Estimate]] = []
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


def notes(context: Context, states: Panels, known: bool, definition: Definition) -> list[str]:
    """Data, LM, and whatever limits what the numbers mean."""
    clean, last = states["clean"], states.get("attacked", states["clean"])
    settings = last.panel.provenance.get("attack_settings")
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
        tag=settings.get("tag") if isinstance(settings, Mapping) else None,
    )
