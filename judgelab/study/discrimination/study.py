"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judgelab.attack.protocol import ATTACKED
from judgelab.core.bounds import Count
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.auc import item_auc, macro_auc, pair_auc
from judgelab.stats.discrimination.effect_size import (
    auc_delta,
    effect_size_delta,
    group_difference,
    paired_effect_size,
    score_delta,
)
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import Kind
from judgelab.study.common.calls import call_entries, calls_table
from judgelab.study.common.groups import groups, in_pairing_order
from judgelab.study.common.panels import Panels, ScoredPanel, human_scores, score_panels
from judgelab.study.common.stopping import Stop
from judgelab.study.common.tables import about, diagnostics_tables, entries, kind_of
from judgelab.study.discrimination import failed_calls, stopped, tables
from judgelab.study.discrimination.answer import NONE, Found, leads, opening
from judgelab.study.discrimination.beside import Drawing, beside, beside_entries, beside_table
from judgelab.study.discrimination.failed_calls import Bounds
from judgelab.study.discrimination.one_sided import answer, one_sided_change
from judgelab.study.discrimination.structure import (
    information_table,
    shape,
    shape_entries,
    shape_table,
)

DELTAS = {"effect_size": effect_size_delta, "auc": auc_delta, "pair_auc": auc_delta}


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them.

    Args:
        definition: whose definition where paper, code and we differ (docs/definitions.md).
        bootstrap: sign flips behind p values; under definition=paper|released also resamples of the
            items, behind the percentile intervals.
        permutations: sign flips behind the p value of the effect size.
        primary: which figure an optimiser should look at.
        stop: when the primary figure is clear enough; by default everything is asked.
    """

    definition: Definition = "corrected"
    bootstrap: Count = 2000
    permutations: Count = 2000
    primary: Literal["auc", "pair_auc", "effect_size"] = "auc"
    stop: Stop = field(default_factory=Stop)

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in context.panels().values():
            context.measure(panel)

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked panel, and compare."""
        run: stopped.StoppedPanels | None = None
        if self.stop.on:
            panels = context.panels(raw=True)
            run = stopped.asked(
                context, panels, self.stop, self.definition, self.primary, self._per_item
            )
            states = dict(run.panels)
        else:
            states = score_panels(context, context.panels(), self.definition)
        clean = states["clean"]
        known = groups(clean.panel, self.definition).known
        items = {name: self._per_item(one, name) for name, one in states.items()} if known else {}
        bounds = {name: self._bounds(context, states[name], name) for name in items}
        figures = {name: self._figures(one, context.seed) for name, one in items.items()}
        change = self._change(states, items, context.seed) if len(states) > 1 else {}
        group = groups(clean.panel, self.definition)
        others = {} if self.stop.on else beside(clean, group, self._drawing(context))
        if run is not None:
            looked = stopped.figures_at_every_look
            figures = {name: looked(one, items[name], run.pool) for name, one in figures.items()}
            change = stopped.change_at_every_look(change, items, run.pool)
        settings = (self.definition, self.bootstrap, context.seed)
        shapes, information = shape(context, states), information_table(context, states)
        made = [
            tables.figures_table(figures, states, bounds, self.definition) if figures else None,
            tables.change_table(change, states, self.definition) if change else None,
            beside_table(others) if others else None,
            tables.agents_table(states, *settings),
            tables.categories_table(states, *settings) if known else None,
            tables.correlation_table(states, *settings),
            shape_table(shapes),
            information,
            tables.coverage_table(states),
            calls_table(states),
            *diagnostics_tables(states),
        ]
        shown = [table for table in made if table is not None]
        more = shape_entries(shapes)
        notes = tables.notes(context, states, known, self.definition)
        if run is not None:
            scale, more, notes = context.mechanism.bounds, run.summary, (*run.notes, *notes)
            shown = stopped.tables_at_every_look(shown, states, scale, run.pool)
        return Result(
            summary=self._summary(context, states, figures, change, bounds)
            | beside_entries(others)
            | more,
            primary=f"clean/{self.primary}",
            tables=shown,
            figures=[
                *_drawings(known, clean.scores, change),
                *(["information"] if information is not None else []),
            ],
            notes=notes,
            provenance={name: state.origin for name, state in states.items()},
            estimators=estimators(*(state.scores for state in states.values())),
            answer=self._answer(context, states, figures, change, others),
        )

    def _answer(
        self,
        context: Context,
        states: Panels,
        figures: Mapping[str, Mapping[str, Estimate]],
        change: Mapping[str, Estimate],
        others: Mapping[str, Estimate],
    ) -> list[tuple[str, str]]:
        """The sentences; after a stop without those whose intervals hold for one look alone."""
        clean = states["clean"]
        group = groups(clean.panel, self.definition)
        found = Found(
            context.mechanism.name,
            figures.get("clean", {}).get("auc", NONE),
            others,
            context.attack.name if change else "",
            figures.get("attacked", {}).get("auc", NONE),
            change.get("auc", NONE),
            tables.cheating(context, states, change),
            leads(clean, group) if group.known and not self.stop.on else {},
            group.known or not np.isnan(human_scores(clean.panel)).all(),
        )
        return opening(found)

    def _drawing(self, context: Context) -> Drawing:
        return Drawing(self.bootstrap, context.seed, self.interval)

    @property
    def interval(self) -> Kind:
        """Whose intervals: the papers' under their definitions."""
        return kind_of(self.definition)

    def _per_item(self, scored: ScoredPanel, state: str) -> dict[str, Floats]:
        """Statistic -> [items], NaN where it is not known.

        The released code balances the pairs of Table 3, but not those under attack (Table 5).
        """
        panel, pair, values = scored.panel, scored.scores.pair, scored.scores.agent.values
        group = groups(panel, self.definition)
        balanced = self.definition == "released" and state == "clean"
        found = {
            "effect_size": group_difference(values, group.good, group.bad),
            "auc": item_auc(values, group.good, group.bad),
            "pair_auc": np.full(len(panel.items), np.nan),
        }
        if pair is not None:
            found["pair_auc"] = pair_auc(
                pair.values,
                in_pairing_order(panel, group.pair_good),
                in_pairing_order(panel, group.bad),
                balanced=balanced,
                item_seeds=_example_numbers(panel) if balanced else None,
            )
        return found

    def _bounds(self, context: Context, scored: ScoredPanel, state: str) -> Bounds:
        """Statistic -> worst and best case of failed calls that are recorded as 0; mostly empty."""
        group = groups(scored.panel, self.definition)
        made = failed_calls.cases(
            scored,
            lambda data: context.score(data, self.definition),
            lambda values: group_difference(values, group.good, group.bad),
        )
        return failed_calls.bounds(*(self._per_item(one, state) for one in made)) if made else {}

    def _figures(self, items: Mapping[str, Floats], seed: int) -> dict[str, Estimate]:
        return {
            "effect_size": paired_effect_size(
                items["effect_size"], self.bootstrap, seed, self.permutations, self.interval
            ),
            "auc": macro_auc(items["auc"], self.bootstrap, seed, self.interval),
            "pair_auc": macro_auc(items["pair_auc"], self.bootstrap, seed, self.interval),
        }

    def _change(
        self, states: Panels, items: Mapping[str, Mapping[str, Floats]], seed: int
    ) -> dict[str, Estimate]:
        clean, attacked = states["clean"], states["attacked"]
        how = (self.bootstrap, seed, self.interval)
        change = {"score": score_delta(clean.values, attacked.values, *how)}
        change |= one_sided_change(states, *how)
        for name, delta in DELTAS.items() if items else ():
            before, after = items["clean"][name], items["attacked"][name]
            change[name] = delta(before, after, *how)
        return change

    def _summary(
        self,
        context: Context,
        states: Panels,
        figures: Mapping[str, Mapping[str, Estimate]],
        change: Mapping[str, Estimate],
        bounds: Mapping[str, Bounds],
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
            for name, estimate in figures.get(state, {}).items():
                summary |= entries(f"{state}/{name}", estimate)
            for name, (worst, best) in bounds.get(state, {}).items():
                summary |= {f"{state}/{name}_worst": worst, f"{state}/{name}_best": best}
            summary[f"{state}/unscored_texts"] = int(np.isnan(part.values).sum())
            summary |= {f"{state}/{k}": v for k, v in part.scores.diagnostics.items()}
        summary |= call_entries(states)
        for name, estimate in change.items():
            summary |= entries(f"change/{name}", estimate)
        if "attackers_score" in change:
            attackers = states["attacked"].panel.provenance[ATTACKED]
            assert isinstance(attackers, list)
            summary |= {"attack_on": ", ".join(attackers), "cheating": answer(change)}
        return summary


def _example_numbers(panel: Panel) -> list[int]:
    """The release seeds its down-sampling by the item's number in the domain file."""
    return [int(i.id) if i.id.isdigit() else k for k, i in enumerate(panel.items)]


def _drawings(known: bool, scores: Scores, change: Mapping[str, Estimate]) -> tuple[str, ...]:
    names = ["discrimination"] if known else []
    if "attackers_score" in change:
        names.append("one_sided_attack")
    names.append("agent_scores")
    if "first_preferred" in scores.diagnostics:
        names.append("position_bias")
    return tuple(names)
