"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.result import Result, Row, Table
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import FEW_ITEMS, training_of
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import bootstrap_mean, item_mean
from judgelab.study.common.panels import Panels, missing_pairs, pair_entries, score_panels
from judgelab.study.common.tables import WITHOUT_P, about, all_entries, estimate_rows, kind_of
from judgelab.study.common.templates import sentences, spoken, table
from judgelab.study.discrimination import statistics
from judgelab.study.discrimination.figures import DRAWINGS, HEADLINES, compare

NamedEstimates = Mapping[str, Estimate]


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them."""

    definition: Definition = "corrected"
    bootstrap: Count = 2000
    primary: Literal["auc", "pair_auc", "effect_size"] = "auc"
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS
    compare = staticmethod(compare)

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in context.panels().values():
            context.measure(panel)

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked panel, and compare."""
        definition = self.definition
        states = score_panels(context, context.panels(), definition)
        clean, how = states["clean"], (self.bootstrap, context.seed, kind_of(definition))
        figures = statistics.Figures.of(context, states, definition, how)
        by_panel = {"clean": figures.clean, "attacked": figures.attacked}
        tables = [
            _statistics("discrimination", by_panel, definition),
            _statistics("change", {"": figures.change}, definition),
            _statistics("beside", {"": figures.beside}, definition),
            _agents(states, definition, how),
        ]
        summary = about(context, clean.panel, "discrimination", definition=definition)
        summary |= {
            "agents": str(clean.panel.provenance.get("agents", "")),
            "attack": context.attack.name,
            "items": len(clean.panel.items),
            "n_agents": len(clean.panel.agents),
        }
        attrs = clean.measurements.attrs
        summary |= {key: str(attrs[key]) for key in ("critic", "reply") if key in attrs}
        for state, part in states.items():
            summary |= all_entries(f"{state}/", by_panel[state])
            summary[f"{state}/unscored_texts"] = int(np.isnan(part.values).sum())
            summary |= {f"{state}/{k}": v for k, v in part.scores.diagnostics.items()}
            summary |= all_entries(f"{state}/", statistics.shape(part), *WITHOUT_P)
        summary |= pair_entries(states) | all_entries("change/", figures.change)
        summary |= all_entries("clean/", figures.beside)
        if cheating := figures.cheating:
            summary |= {"attack_on": ", ".join(figures.attackers), "cheating": cheating}
        last = states.get("attacked", clean)
        settings = last.panel.provenance.get("attack_settings")
        has_groups, attack = bool(figures.clean), context.attack.name if figures.change else ""
        return Result(
            summary=summary,
            primary=f"clean/{self.primary}",
            headlines=HEADLINES,
            tables=[one for one in tables if one.rows],
            figures=[*(["discrimination"] if has_groups else []), "agent_scores"],
            notes=sentences(
                __package__,
                "notes.md.j2",
                clean=clean,
                lm=context.evaluation_lm.identity,
                trained=training_of(context.evaluation_lm, clean.panel),
                missing=missing_pairs(states),
                scored=int((~np.isnan(clean.values)).any(axis=1).sum()),
                few=FEW_ITEMS,
                corrected=definition == "corrected",
                has_groups=has_groups,
                tag=settings.get("tag") if isinstance(settings, Mapping) else None,
            ),
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=statistics.answer(context.mechanism.name, attack, figures),
        )


def _statistics(name: str, by_panel: Mapping[str, NamedEstimates], definition: Definition) -> Table:
    cells: list[tuple[Row, Estimate]] = []
    for panel, group in by_panel.items():
        for key, one in group.items():
            meaning = spoken(__package__, "statistics.md.j2", "meaning", key)
            head: Row = {"panel": panel} if panel else {}
            cells.append(({**head, "statistic": key, "meaning": meaning}, one))
    return table(__package__, name, estimate_rows(cells), kind=kind_of(definition))


def _agents(states: Panels, definition: Definition, how: statistics.How) -> Table:
    """Mean score of each agent, best first on the clean panel."""
    cells: list[tuple[Row, Estimate]] = []
    for state, part in states.items():
        group = statistics.groups(part.panel, definition)
        labels = np.where(group.good, "good faith", np.where(group.bad, "problematic", "other"))
        for column, agent in enumerate(part.panel.agents):
            head: Row = {
                "panel": state,
                "agent": agent.name,
                "category": statistics.category(agent, definition),
                "group": "reference" if agent.reference else str(labels[column]),
            }
            values, (draws, seed, kind) = part.values[:, column], how
            mean = item_mean(values) if kind == "items" else bootstrap_mean(values, draws, seed)
            cells.append((head, mean))
    cells.sort(
        key=lambda cell: (cell[0]["panel"] != "clean", -np.nan_to_num(cell[1].value, nan=-np.inf))
    )
    return table(__package__, "agents", estimate_rows(cells))
