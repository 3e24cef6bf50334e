"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from judgelab.attack.protocol import ATTACKED
from judgelab.core.bounds import Count
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import FEW_ITEMS, trained
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report.jobs import Comparison, SweepJob
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind, bootstrap_mean, item_mean
from judgelab.study.common.panels import (
    Panels,
    human_scores,
    missing_pairs,
    pair_entries,
    score_panels,
)
from judgelab.study.common.tables import (
    WITHOUT_P,
    about,
    entries,
    estimate_rows,
    kind_of,
)
from judgelab.study.common.templates import paragraphs, sentences, table
from judgelab.study.discrimination import statistics
from judgelab.study.discrimination.figures import DRAWINGS, HEADLINES, compare

Named = Mapping[str, Estimate]
CHANCE = 0.5
INTERVALS: Mapping[Kind, str] = {
    "items": "95 % intervals over items (docs/definitions.md: how often they hold)",
    "percentile": "95 % percentile intervals by resampling items, too narrow below 30 items",
}
FEWEST = 6
"""Items that a verdict takes: below, no two-sided sign test reaches .05, and intervals rest on the
normal law alone."""
NONE = Estimate(math.nan)
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


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them."""

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
        group = statistics.groups(clean.panel, definition)
        items = {
            name: statistics.per_item(one, definition, name)
            for name, one in states.items()
            if group.known
        }
        figures = {name: statistics.figures(one, how) for name, one in items.items()}
        change = statistics.changes(context, states, items, how) if len(states) > 1 else {}
        beside = statistics.beside(clean, group, how)
        shown = [
            _statistics("discrimination", figures, definition),
            _statistics("change", {"": change}, definition),
            _statistics("beside", {"": beside}, definition),
            _agents(states, definition, how),
        ]
        shapes = {name: statistics.shape(one) for name, one in states.items()}
        summary = self._summary(context, states, figures, change)
        summary |= _entries({"clean": beside}) | _entries(shapes, WITHOUT_P)
        return Result(
            summary=summary,
            primary=f"clean/{self.primary}",
            headlines=HEADLINES,
            tables=[one for one in shown if one.rows],
            figures=[*(["discrimination"] if group.known else []), "agent_scores"],
            notes=_notes(context, states, group.known, definition),
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
        summary |= pair_entries(states)
        summary |= _entries({"change": change})
        if "attackers_score" in change:
            attackers = states["attacked"].panel.provenance[ATTACKED]
            assert isinstance(attackers, list)
            summary["attack_on"] = ", ".join(attackers)
            summary["cheating"] = statistics.cheating(change)
        return summary


def _entries(panels: Mapping[str, Named], parts: tuple[str, ...] = ()) -> dict[str, Value]:
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
        figures, beside, change, alone, leads: as ``statistics`` makes them; figures of each panel.
        judged: whether somebody said which texts are good: by categories of agents, or grades.
    """
    auc, attacked = (figures.get(panel, {}).get("auc", NONE) for panel in ("clean", "attacked"))
    agreement = beside.get("human_within", NONE)
    first = auc if not math.isnan(auc.value) else agreement
    if judged and math.isnan(first.value):
        return []
    change, leads = change or {}, leads or {}
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
        alike=[name for name, one in leads.items() if one.low <= 0 <= one.high],
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


def _more_than_length(beside: Named) -> bool | None:
    """Whether it is shown to do more than length; None where nothing is known of length."""
    gain = beside.get("auc_gain", beside.get("human_within_gain", NONE))
    length = beside.get("length_auc", beside.get("length_human_within", NONE))
    if math.isnan(gain.low):
        return None if math.isnan(length.value) else False
    return gain.low > 0


def _statistics(name: str, named: Mapping[str, Named], definition: Definition) -> Table:
    cells = [
        ({**({"panel": panel} if panel else {}), "statistic": key, "meaning": WORDING[key]}, one)
        for panel, group in named.items()
        for key, one in group.items()
    ]
    rows, intervals = estimate_rows(cells), INTERVALS[kind_of(definition)]
    return table(__package__, name, rows, intervals=intervals)


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
            resampled = kind == "percentile"
            cells.append(
                (head, bootstrap_mean(values, draws, seed) if resampled else item_mean(values))
            )
    cells.sort(
        key=lambda cell: (cell[0]["panel"] != "clean", -np.nan_to_num(cell[1].value, nan=-np.inf))
    )
    return table(__package__, "agents", estimate_rows(cells))


def _notes(context: Context, states: Panels, known: bool, definition: Definition) -> list[str]:
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
        missing=missing_pairs(states),
        scored=int((~np.isnan(clean.values)).any(axis=1).sum()),
        few=FEW_ITEMS,
        corrected=definition == "corrected",
        paired=clean.scores.pair is not None,
        known=known,
        tag=settings.get("tag") if isinstance(settings, Mapping) else None,
    )
