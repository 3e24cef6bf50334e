"""Does a metric punish degradation and resist manipulation? (GEM paper, Algorithm 1, section 4)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.core.result import Result, Value
from judgelab.core.scores import Scores
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.standardized import standardized_mean_difference, verdict
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.long_tables import (
    measurement_records,
    pair_records,
    score_records,
    text_records,
)
from judgelab.study.validation import tables
from judgelab.study.validation.notes import notes

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """What the statistics run over.

    Attributes:
        score: [rows] s_i = f(w_i, x_i, y_i); a row is a candidate's text against one reference,
            or the text alone where the mechanism does not look at references.
        item: [rows] number of the item.
    """

    score: Floats
    item: NDArray[np.int64]


@dataclass(frozen=True)
class ValidationState:
    """The texts before or after the attack, and what the mechanism says of them."""

    panel: Panel
    measured: xr.Dataset
    scores: Scores
    rows: Rows


@dataclass(frozen=True)
class Validation(Study):
    """Standardised mean difference before and after an attack on the candidates' texts.

    d = (mean' - mean) / sqrt((s^2 + s'^2) / 2) over rows; the references' texts stay as they are.
    The verdict holds d against what the attack expects of an honest metric. Where the data has
    human grades, the clean scores are correlated with them (the paper's Table 1).

    Definitions (stats.standardized):
        corrected: t interval and sign flips over items, whose rows belong together.
        paper: paired normal interval over rows, 1.96 standard errors.
        released: the same with 1.645, which is what the printed intervals match.

    Args:
        definition: whose interval.
        references: agents to be held against; null: those the data marks.
        bootstrap: sign flips behind the p value, and resamples of the items elsewhere.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    bootstrap: int = 2000

    def __post_init__(self) -> None:
        if self.bootstrap < 1:
            raise ConfigError("study.bootstrap must be at least 1.")

    def run(self, context: Context) -> Result:
        """Measure and score the clean and the attacked candidates, and compare.

        Raises:
            ConfigError: under an attack, there is no candidate or no reference.
        """
        panels = self._panels(context)
        states = {name: self._state(context, panel) for name, panel in panels.items()}
        for name, state in states.items():
            self._record(context, name, state)
        change = self._change(states, context.seed) if len(states) > 1 else None
        word = "" if change is None else verdict(context.attack.expects, change)
        human = tables.human_correlations(states["clean"], self.bootstrap, context.seed)
        made = [
            *(
                []
                if change is None
                else [tables.change_table(context, states, change, word, self.definition)]
            ),
            *([tables.human_table(human)] if human else []),
            tables.agents_table(states, self.bootstrap, context.seed),
            tables.coverage_table(states),
            *tables.diagnostics(states),
        ]
        return Result(
            summary=_summary(context, self.definition, states, change, word, human),
            primary="change/smd" if change is not None else "clean/human_spearman",
            tables=made,
            figures=["score_change"] if change is not None else [],
            notes=notes(context, states, change, word, self.definition),
            provenance={
                name: origin_of(state.panel, state.measured.attrs) for name, state in states.items()
            },
            estimators=estimators(*(state.scores for state in states.values())),
        )

    def ask(self, context: Context) -> None:
        """See Study."""
        for panel in self._panels(context).values():
            context.measure(panel)

    def _panels(self, context: Context) -> dict[str, Panel]:
        panels = context.panels(self.references, spare_references=True)
        if len(panels) > 1:
            _both_roles(panels["clean"])
        return panels

    def _state(self, context: Context, panel: Panel) -> ValidationState:
        measured = context.measure(panel)
        scores = context.score(measured, self.definition)
        return ValidationState(panel, measured, scores, rows_of(panel, scores))

    def _record(self, context: Context, name: str, state: ValidationState) -> None:
        """Keep what was measured before anything that could fail on odd numbers."""
        write = context.run_dir.write_table
        write(f"records/{name}_scores.parquet", score_records(state.panel, state.scores))
        write(f"records/{name}_measurements.parquet", measurement_records(state.measured))
        write(f"records/{name}_texts.parquet", text_records(state.panel))
        if state.scores.directed is not None:
            write(f"records/{name}_pairs.parquet", pair_records(state.scores.directed))

    def _change(self, states: Mapping[str, ValidationState], seed: int) -> Estimate:
        clean, attacked = states["clean"].rows, states["attacked"].rows
        return standardized_mean_difference(
            clean.score,
            attacked.score,
            clean.item,
            definition=self.definition,
            draws=self.bootstrap,
            seed=seed,
        )


def rows_of(panel: Panel, scores: Scores) -> Rows:
    """Candidates' scores, one row for each reference where the mechanism looks at references."""
    candidate = np.array([not agent.reference for agent in panel.agents], dtype=np.bool_)
    numbers = np.arange(len(panel.items))
    if scores.directed is None:
        values = scores.agent.values[:, candidate]
    else:
        known = scores.directed.values[:, candidate]
        peers = ~candidate if not candidate.all() else candidate
        values = known[:, :, peers].reshape(len(numbers), -1)
        if candidate.all():  # the diagonal is no row
            off = ~np.eye(len(candidate), dtype=np.bool_).reshape(-1)
            values = values[:, off]
    item = np.repeat(numbers, values.shape[1])
    return Rows(values.reshape(-1).astype(np.float64), item.astype(np.int64))


def _both_roles(panel: Panel) -> None:
    references = sum(agent.reference for agent in panel.agents)
    if 0 < references < len(panel.agents):
        return
    names = ", ".join(agent.name for agent in panel.agents[:6])
    raise ConfigError(
        f"study=validation attacks candidates and leaves references alone, but {references} of "
        f"{len(panel.agents)} agents are references: set study.references=[NAMES] ({names}, ...)."
    )


def _summary(
    context: Context,
    definition: Definition,
    states: Mapping[str, ValidationState],
    change: Estimate | None,
    word: str,
    human: Mapping[str, Estimate],
) -> dict[str, Value]:
    panel = states["clean"].panel
    summary: dict[str, Value] = {
        "study": "validation",
        "definition": definition,
        "mechanism": context.mechanism.name,
        "evaluation_lm": context.evaluation_lm.identity,
        "dataset": str(panel.provenance.get("dataset", "")),
        "preprocessor": context.preprocessor.name
        if context.mechanism.reads == "preprocessed"
        else "none",
        "attack": context.attack.name,
        "expects": context.attack.expects,
        "items": len(panel.items),
        "candidates": sum(not agent.reference for agent in panel.agents),
    }
    if change is not None:
        summary |= {"verdict": word, **tables.flat("change/smd", change)}
    for name, estimate in human.items():
        summary |= tables.flat(f"clean/human_{name}", estimate)
    for name, state in states.items():
        candidates = [not agent.reference for agent in state.panel.agents]
        scored = state.scores.agent.values[:, candidates]
        summary[f"{name}/mean_score"] = float(np.nanmean(scored)) if scored.size else np.nan
        summary[f"{name}/unscored_texts"] = int(np.isnan(scored).sum())
        summary |= {f"{name}/{k}": v for k, v in state.scores.diagnostics.items()}
    return summary
