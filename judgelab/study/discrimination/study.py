"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from judgelab.attack.protocol import ATTACKED
from judgelab.core.bounds import Count
from judgelab.core.result import Result, Value
from judgelab.engine.context import Context, estimators
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report.comparison import Comparison
from judgelab.report.jobs import SweepJob
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.calls import call_entries
from judgelab.study.common.panels import Panels, groups, human_scores, score_panels
from judgelab.study.common.tables import WITHOUT_P, about, diagnostics_tables, entries, kind_of
from judgelab.study.common.templates import paragraphs
from judgelab.study.discrimination import statistics, tables
from judgelab.study.discrimination.compare import HEADLINES, compare
from judgelab.study.discrimination.figures import DRAWINGS

Named = Mapping[str, Estimate]
CHANCE = 0.5
FEWEST = 6
"""Items that a verdict takes: below, no two-sided sign test reaches .05, and intervals rest on the
normal law alone."""
NONE = Estimate(math.nan)


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them.

    Args:
        definition: whose definition where paper, code and we differ (docs/definitions.md).
        bootstrap: under definition=paper|released resamples of the items, behind the percentile
            intervals, and sign flips behind p.
        primary: which figure an optimiser should look at.
    """

    definition: Definition = "corrected"
    bootstrap: Count = 2000
    primary: Literal["auc", "pair_auc", "effect_size"] = "auc"
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS

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
        definition = self.definition
        states = score_panels(context, context.panels(), definition)
        clean, how = states["clean"], (self.bootstrap, context.seed, kind_of(definition))
        group = groups(clean.panel, definition)
        items = {
            name: statistics.per_item(one, definition, name)
            for name, one in states.items()
            if group.known
        }
        figures = {name: statistics.figures(one, how) for name, one in items.items()}
        change = statistics.changes(context, states, items, how) if len(states) > 1 else {}
        beside = statistics.beside(clean, group, how)
        shown = [
            tables.statistics_table("discrimination", _possible(figures, states), definition),
            tables.statistics_table("change", _possible({"": change}, states), definition),
            tables.statistics_table("beside", {"": beside}, definition),
            tables.agents_table(states, definition, how),
            *diagnostics_tables(states),
        ]
        shapes = {name: statistics.shape(context, one) for name, one in states.items()}
        summary = self._summary(context, states, figures, change)
        summary |= _entries({"clean": beside}) | _entries(shapes, WITHOUT_P)
        return Result(
            summary=summary,
            primary=f"clean/{self.primary}",
            headlines=HEADLINES,
            tables=[table for table in shown if table.rows],
            figures=[*(["discrimination"] if group.known else []), "agent_scores"],
            notes=tables.notes(context, states, group.known, definition),
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=answer(
                context.mechanism.name,
                figures,
                beside=beside,
                attack=context.attack.name if change else "",
                change=change,
                alone=statistics.alone(states, change),
                leads=statistics.leads(clean, group),
                judged=group.known or not np.isnan(human_scores(clean.panel)).all(),
            ),
        )

    def _summary(
        self, context: Context, states: Panels, figures: Mapping[str, Named], change: Named
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


def _possible(figures: Mapping[str, Named], states: Panels) -> dict[str, Named]:
    """Without the statistic of pairs, where a score for each text knows no pairs."""
    paired = all(part.scores.pair is not None for part in states.values())
    return {
        panel: {name: one for name, one in known.items() if paired or name != "pair_auc"}
        for panel, known in figures.items()
    }


def _entries(panels: Mapping[str, Named], parts: tuple[str, ...] = ()) -> dict[str, Value]:
    """``panel/statistic``, ``panel/statistic_low``, ... of a summary."""
    made: dict[str, Value] = {}
    for state, known in panels.items():
        for name, one in known.items():
            made |= entries(f"{state}/{name}", one, *parts)
    return made


def answer(
    mechanism: str,
    figures: Mapping[str, Named],
    *,
    beside: Named,
    attack: str = "",
    change: Named | None = None,
    alone: Mapping[str, Any] | None = None,
    leads: Named | None = None,
    judged: bool = True,
) -> list[tuple[str, str]]:
    """(heading, sentences): what it tells apart, under attack, who is not, what to do.

    Empty where texts are known to be good or bad, or were graded, and there is no figure of it.

    Args:
        mechanism: its name.
        figures: ``statistics.figures`` of each panel; ``change`` of them under the attack.
        beside: ``statistics.beside``.
        alone: ``statistics.alone``, of an attack by some agents alone.
        leads: problematic agent -> good agents' mean score less its own.
        judged: whether somebody said which texts are good: by categories of agents, or grades.
    """
    auc, attacked = (figures.get(panel, {}).get("auc", NONE) for panel in ("clean", "attacked"))
    agreement = beside.get("human_within", NONE)
    first = auc if not math.isnan(auc.value) else agreement
    if judged and math.isnan(first.value):
        return []
    change, leads = change or {}, leads or {}
    alike = [name for name, one in leads.items() if one.low <= 0 <= one.high]
    return paragraphs(
        __package__,
        "answer.md.j2",
        mechanism=mechanism,
        judged=judged,
        auc=auc,
        agreement=agreement,
        of=_side(first),
        needed=_needed(first),
        fewest=FEWEST,
        beside=beside,
        more_than_length=_more_than_length(beside),
        attack=attack,
        attacked=attacked,
        change=change.get("auc", NONE),
        d=change.get("effect_size", NONE),
        changes=change,
        alone=alone,
        above=[name for name, one in leads.items() if one.high < 0],
        alike=alike,
        apart_from=_items_apart([leads[name] for name in alike]),
    )


def _side(one: Estimate) -> str:
    if one.n < FEWEST:
        return "few"
    return "above" if one.low > CHANCE else "below" if one.high < CHANCE else "open"


def _needed(one: Estimate) -> int:
    """Items that would show it, if it is what it seems: intervals shrink with n^.5; 0: unknown."""
    off = abs(one.value - CHANCE)
    half = one.value - one.low if one.value > CHANCE else one.high - one.value
    if not off > 0 or not math.isfinite(half):
        return 0
    return max(math.ceil(one.n * (half / off) ** 2), one.n + 1)


def _items_apart(gaps: Sequence[Estimate]) -> int | None:
    """Items that would tell agents from good ones; 0: none would, None: some of them."""
    needed = [
        math.ceil(one.n * ((one.value - one.low) / one.value) ** 2) for one in gaps if one.value > 0
    ]
    return max(needed) if len(needed) == len(gaps) and gaps else None if needed else 0


def _more_than_length(beside: Named) -> bool | None:
    """Whether it is shown to do more than length; None where nothing is known of length."""
    gain = beside.get("auc_gain", beside.get("human_within_gain", NONE))
    length = beside.get("length_auc", beside.get("length_human_within", NONE))
    if math.isnan(gain.low):
        return None if math.isnan(length.value) else False
    return gain.low > 0
