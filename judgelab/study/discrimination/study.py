"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from judgelab.attack.protocol import ATTACKED
from judgelab.core.bounds import Count
from judgelab.core.result import Result, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import call_entries
from judgelab.study.common.groups import groups
from judgelab.study.common.panels import Panels, human_scores, score_panels
from judgelab.study.common.stopping import Stop
from judgelab.study.common.tables import WITHOUT_P, about, diagnostics_tables, entries, kind_of
from judgelab.study.discrimination import statistics, stopped, tables
from judgelab.study.discrimination.compare import DRAWINGS as SWEEP_DRAWINGS
from judgelab.study.discrimination.compare import HEADLINES, compare
from judgelab.study.discrimination.figures import DRAWINGS
from judgelab.study.discrimination.words import answer

Named = Mapping[str, Estimate]


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them.

    Args:
        definition: whose definition where paper, code and we differ (docs/definitions.md).
        bootstrap: under definition=paper|released resamples of the items, behind the percentile
            intervals, and sign flips behind p.
        primary: which figure an optimiser should look at.
        stop: when the primary figure is clear enough; by default everything is asked.
    """

    definition: Definition = "corrected"
    bootstrap: Count = 2000
    primary: Literal["auc", "pair_auc", "effect_size"] = "auc"
    stop: Stop = field(default_factory=Stop)
    drawings: ClassVar[Mapping[str, Any]] = {**DRAWINGS, **SWEEP_DRAWINGS}

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """See Study."""
        return compare(runs)

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in context.panels().values():
            context.measure(panel)

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked panel, and compare."""
        run: stopped.StoppedPanels | None = None
        if self.stop.on:
            raw = context.panels(raw=True)
            run = stopped.asked(context, raw, self.stop, self.definition, self.primary)
        states = (
            score_panels(context, context.panels(), self.definition) if run is None else run.panels
        )
        clean, definition = states["clean"], self.definition
        how = (self.bootstrap, context.seed, kind_of(definition))
        group = groups(clean.panel, definition)
        items = {
            name: statistics.per_item(one, definition, name)
            for name, one in states.items()
            if group.known
        }
        figures = {name: statistics.figures(one, how) for name, one in items.items()}
        change = statistics.changes(context, states, items, how) if len(states) > 1 else {}
        others = {} if run else statistics.beside(clean, group, how)
        shapes = {name: statistics.shape(context, one) for name, one in states.items()}
        if run is not None:
            looked = stopped.figures_at_every_look
            figures = {name: looked(one, items[name], run.pool) for name, one in figures.items()}
            change = stopped.change_at_every_look(change, items, run.pool)
        shown = self._tables(context, states, figures, change, others, shapes)
        summary = self._summary(context, states, figures, change) | _entries({"clean": others})
        if run is None:
            summary |= _entries(shapes, WITHOUT_P)
        else:
            summary |= run.summary
            shown = stopped.tables_at_every_look(shown, states, context.mechanism.bounds, run.pool)
        return Result(
            summary=summary,
            primary=f"clean/{self.primary}",
            headlines=HEADLINES,
            tables=shown,
            figures=[*(["discrimination"] if group.known else []), "agent_scores"],
            notes=tables.notes(
                context, states, group.known, definition, {} if run is None else run.words
            ),
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=answer(
                context.mechanism.name,
                figures,
                beside=others,
                attack=context.attack.name if change else "",
                change=change,
                alone=statistics.alone(states, change),
                # after a stop without intervals that hold for one look alone
                leads=statistics.leads(clean, group) if group.known and run is None else {},
                judged=group.known or not np.isnan(human_scores(clean.panel)).all(),
            ),
        )

    def _tables(
        self,
        context: Context,
        states: Panels,
        figures: Mapping[str, Named],
        change: Named,
        others: Named,
        shapes: Mapping[str, Named],
    ) -> list[Table]:
        definition = self.definition
        how = (self.bootstrap, context.seed, kind_of(definition))
        made = [
            tables.figures_table(figures, states, definition) if figures else None,
            tables.change_table(change, states, definition) if change else None,
            tables.beside_table(others) if others else None,
            tables.agents_table(states, definition, how),
            tables.correlation_table(states, definition, how),
            tables.shape_table(shapes),
            tables.information_table(context, states),
            *diagnostics_tables(states),
        ]
        return [table for table in made if table is not None]

    def _summary(
        self,
        context: Context,
        states: Panels,
        figures: Mapping[str, Named],
        change: Named,
    ) -> dict[str, Value]:
        clean = states["clean"]
        summary = about(context, clean.panel, "discrimination", definition=self.definition)
        summary |= {
            "agents": str(clean.panel.provenance.get("agents", "")),
            "attack": context.attack.name,
            "items": len(clean.panel.items),
            "n_agents": len(clean.panel.agents),
        }
        attrs = clean.measured.attrs
        summary |= {key: str(attrs[key]) for key in ("critic", "reply") if key in attrs}
        for state, part in states.items():
            summary |= _entries({state: figures.get(state, {})})
            summary[f"{state}/unscored_texts"] = int(np.isnan(part.values).sum())
            summary |= {f"{state}/{k}": v for k, v in part.scores.diagnostics.items()}
        summary |= call_entries(states)
        summary |= _entries({"change": change})
        if "attackers_score" in change:
            attackers = states["attacked"].panel.provenance[ATTACKED]
            assert isinstance(attackers, list)
            summary["attack_on"] = ", ".join(attackers)
            summary["cheating"] = statistics.cheating(change)
        return summary


def _entries(panels: Mapping[str, Named], parts: tuple[str, ...] = ()) -> dict[str, Value]:
    """``panel/statistic``, ``panel/statistic_low``, ... of a summary."""
    made: dict[str, Value] = {}
    for state, known in panels.items():
        for name, one in known.items():
            made |= entries(f"{state}/{name}", one, *parts)
    return made
