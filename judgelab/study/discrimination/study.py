"""Does a mechanism tell good faith from problematic, and does an attack blunt it? (section 5)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Table, Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.attack_delta import auc_delta, effect_size_delta, score_delta
from judgelab.stats.discrimination.auc import item_auc, macro_auc, pair_auc
from judgelab.stats.discrimination.effect_size import group_difference, paired_effect_size
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.groups import Groups, groups, in_pairing_order
from judgelab.study.common.long_tables import measurement_records, score_records, text_records
from judgelab.study.discrimination import tables
from judgelab.study.discrimination.notes import notes as _notes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PerItem:
    """What each item says [items]; NaN where it says nothing."""

    difference: Floats
    auc: Floats
    pair_auc: Floats


@dataclass(frozen=True)
class State:
    """One half of a run: the clean panel, or the attacked one."""

    panel: Panel
    measured: xr.Dataset
    scores: Scores
    per_item: PerItem


@dataclass(frozen=True)
class Discrimination(Study):
    """Paired effect size, item-level AUC, pair AUC; and what the attack does to them.

    Args:
        definition: whose definition where paper, code and we differ (docs/definitions.md).
        bootstrap: resamples of the items behind every interval.
        permutations: sign flips behind the p value of the effect size.
        primary: which figure an optimiser should look at.
    """

    definition: Definition = "corrected"
    bootstrap: int = 2000
    permutations: int = 2000
    primary: Literal["auc", "pair_auc", "effect_size"] = "auc"

    def __post_init__(self) -> None:
        if self.bootstrap < 1 or self.permutations < 1:
            raise ConfigError("study.bootstrap and study.permutations must be at least 1.")

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in context.panels().values():
            context.measure(panel)

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked panel, and compare."""
        states = {name: self._state(context, panel) for name, panel in context.panels().items()}
        clean = states["clean"]
        known = groups(clean.panel, self.definition).known
        for name, state in states.items():  # before anything that could fail on odd numbers
            scores = score_records(state.panel, state.scores)
            context.run_dir.write_table(f"records/{name}_scores.parquet", scores)
            measurements = measurement_records(state.measured)
            context.run_dir.write_table(f"records/{name}_measurements.parquet", measurements)
            context.run_dir.write_table(f"records/{name}_texts.parquet", text_records(state.panel))
        figures = {name: self._figures(state, context.seed) for name, state in states.items()}
        change = self._change(states, context.seed) if len(states) > 1 else {}
        made = [
            *([tables.figures_table(figures)] if known else []),
            *([tables.change_table(change)] if change else []),
            tables.agents_table(states, self.definition, self.bootstrap, context.seed),
            *(
                [tables.categories_table(states, self.definition, self.bootstrap, context.seed)]
                if known
                else []
            ),
            tables.correlation_table(states, self.bootstrap, context.seed),
            tables.coverage_table(states),
            *_diagnostics(states),
        ]
        return Result(
            summary=self._summary(context, states, figures, change),
            primary=f"clean/{self.primary}",
            tables=made,
            figures=_drawings(known, bool(change), clean.scores),
            notes=_notes(context, states, known, self.definition),
            provenance={
                name: origin_of(state.panel, state.measured.attrs) for name, state in states.items()
            },
            estimators=estimators(*(state.scores for state in states.values())),
        )

    def _state(self, context: Context, panel: Panel) -> State:
        measured = context.measure(panel)
        scores = context.score(measured, self.definition)
        return State(panel, measured, scores, self._per_item(panel, scores))

    def _per_item(self, panel: Panel, scores: Scores) -> PerItem:
        nothing = np.full(len(panel.items), np.nan)
        group = groups(panel, self.definition)
        if not group.known:
            return PerItem(nothing, nothing, nothing)
        values = scores.agent.values
        return PerItem(
            difference=group_difference(values, group.good, group.bad),
            auc=item_auc(values, group.good, group.bad),
            pair_auc=nothing if scores.pair is None else self._pair_auc(panel, scores.pair, group),
        )

    def _pair_auc(self, panel: Panel, pair: xr.DataArray, group: Groups) -> Floats:
        balanced = self.definition == "released"
        if group.pair_good.sum() < 2:
            return np.full(len(panel.items), np.nan)
        return pair_auc(
            pair.values,
            in_pairing_order(panel, group.pair_good),
            in_pairing_order(panel, group.bad),
            balanced=balanced,
            item_seeds=_example_numbers(panel) if balanced else None,
        )

    def _figures(self, state: State, seed: int) -> dict[str, Estimate]:
        item = state.per_item
        return {
            "effect_size": paired_effect_size(
                item.difference, self.bootstrap, seed, permutations=self.permutations
            ),
            "auc": macro_auc(item.auc, self.bootstrap, seed),
            "pair_auc": macro_auc(item.pair_auc, self.bootstrap, seed),
        }

    def _change(self, states: Mapping[str, State], seed: int) -> dict[str, Estimate]:
        clean, attacked = states["clean"], states["attacked"]
        before, after = clean.per_item, attacked.per_item
        scores = (clean.scores.agent.values, attacked.scores.agent.values)
        change = {"score": score_delta(*scores, self.bootstrap, seed)}
        if not groups(clean.panel, self.definition).known:
            return change
        return change | {
            "effect_size": effect_size_delta(
                before.difference, after.difference, self.bootstrap, seed
            ),
            "auc": auc_delta(before.auc, after.auc, self.bootstrap, seed),
            "pair_auc": auc_delta(before.pair_auc, after.pair_auc, self.bootstrap, seed),
        }

    def _summary(
        self,
        context: Context,
        states: Mapping[str, State],
        figures: Mapping[str, Mapping[str, Estimate]],
        change: Mapping[str, Estimate],
    ) -> dict[str, Value]:
        panel = states["clean"].panel
        summary: dict[str, Value] = {
            "study": "discrimination",
            "definition": self.definition,
            "mechanism": context.mechanism.name,
            "evaluation_lm": context.evaluation_lm.identity,
            "dataset": str(panel.provenance.get("dataset", "")),
            "agents": str(panel.provenance.get("agents", "")),
            "attack": context.attack.name,
            "items": len(panel.items),
            "n_agents": len(panel.agents),
        }
        if "critic" in states["clean"].measured.attrs:
            summary["critic"] = str(states["clean"].measured.attrs["critic"])
        if "reply" in states["clean"].measured.attrs:
            summary["reply"] = str(states["clean"].measured.attrs["reply"])
        for state, group in figures.items():
            if groups(panel, self.definition).known:
                summary |= _flat(state, group)
            summary[f"{state}/unscored_texts"] = int(states[state].scores.agent.isnull().sum())
            summary |= {f"{state}/{k}": v for k, v in states[state].scores.diagnostics.items()}
        return summary | _flat("change", change)


def _flat(prefix: str, group: Mapping[str, Estimate]) -> dict[str, Value]:
    flat: dict[str, Value] = {}
    for name, estimate in group.items():
        flat[f"{prefix}/{name}"] = estimate.value
        for part in ("low", "high", "p", "n", "unscored"):
            flat[f"{prefix}/{name}_{part}"] = getattr(estimate, part)
    return flat


def _example_numbers(panel: Panel) -> list[int]:
    """The release seeds its down-sampling by the item's number in the domain file."""
    return [int(i.id) if i.id.isdigit() else k for k, i in enumerate(panel.items)]


def _diagnostics(states: Mapping[str, State]) -> list[Table]:
    rows: list[dict[str, Value]] = [
        {"panel": name, "diagnostic": key, "value": value}
        for name, state in states.items()
        for key, value in state.scores.diagnostics.items()
    ]
    title = "What the mechanism reports beside its scores"
    return [Table("diagnostics", title, rows)] if rows else []


def _drawings(known: bool, attacked: bool, scores: Scores) -> tuple[str, ...]:
    names = ["agent_scores"]
    if known:
        names = ["discrimination", *names]
    if "first_preferred" in scores.diagnostics:
        names.append("position_bias")
    return tuple(names)
