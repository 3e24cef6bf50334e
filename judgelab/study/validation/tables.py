"""The tables of the validation study: arrays in, rows of plain numbers out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.engine.context import Context
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.bootstrap import bootstrap_mean
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.validation.notes import INTERVALS

if TYPE_CHECKING:
    from judgelab.study.validation.study import ValidationState

States = Mapping[str, "ValidationState"]


def flat(key: str, estimate: Estimate) -> dict[str, Value]:
    """``key``, ``key_low``, ... of an estimate, for a summary."""
    parts = ("low", "high", "p", "n", "unscored")
    return {key: estimate.value} | {f"{key}_{part}": getattr(estimate, part) for part in parts}


def change_table(
    context: Context, states: States, change: Estimate, word: str, definition: Definition
) -> Table:
    """One row: d, its interval, and what it means for this attack."""
    means = {f"mean_{name}": _mean(state.rows.score) for name, state in states.items()}
    head: dict[str, Value] = {
        "mechanism": context.mechanism.name,
        "attack": context.attack.name,
        "honest_metric": "falls" if context.attack.expects == "fall" else "does not rise",
        "verdict": word,
    }
    note = (
        "d: attacked minus clean, in pooled standard deviations of the rows (a candidate's text "
        f"against one reference). n counts rows; the interval: {INTERVALS[definition]}."
    )
    return Table("smd", "Change under the attack", [{**head, **change.as_dict(), **means}], note)


def human_correlations(clean: ValidationState, draws: int, seed: int) -> dict[str, Estimate]:
    """Spearman and Pearson of clean scores with human grades; empty without grades."""
    agents = clean.panel.agents
    grades = np.array(
        [[item.human.get(agent.name, np.nan) for agent in agents] for item in clean.panel.items],
        dtype=np.float64,
    )
    if np.isnan(grades).all():
        return {}
    scores = clean.scores.agent.values
    return {
        method: clustered_correlation(scores, grades, method, draws, seed)
        for method in ("spearman", "pearson")
    }


def human_table(human: Mapping[str, Estimate]) -> Table:
    """Correlation with human grades (the paper's Table 1)."""
    rows: list[Row] = [{"correlation": name, **e.as_dict()} for name, e in human.items()]
    note = "Over texts; intervals resample items; n counts items, unscored texts."
    return Table("human", "Clean scores against human grades", rows, note)


def agents_table(states: States, draws: int, seed: int) -> Table:
    """Mean score of each candidate."""
    rows: list[Row] = []
    for name, state in states.items():
        for column, agent in enumerate(state.panel.agents):
            if agent.reference:
                continue
            mean = bootstrap_mean(state.scores.agent.values[:, column], draws, seed)
            rows.append({"panel": name, "agent": agent.name, **mean.as_dict()})
    return Table("agents", "Mean score of each candidate", rows, "Intervals over items.")


def coverage_table(states: States) -> Table:
    """How many rows there were, and how many got a score."""
    rows: list[Row] = []
    for name, state in states.items():
        candidates = [k for k, agent in enumerate(state.panel.agents) if not agent.reference]
        texts = [row[k] for row in state.panel.texts for k in candidates]
        row: dict[str, Value] = {
            "panel": name,
            "items": len(state.panel.items),
            "candidates": len(candidates),
            "references": len(state.panel.agents) - len(candidates),
            "absent_texts": sum(text is None for text in texts),
            "rows": len(state.rows.score),
            "unscored_rows": int(np.isnan(state.rows.score).sum()),
        }
        rows.append(row)
    return Table("coverage", "What was scored", rows, "Unscored is left out, never counted as 0.")


def diagnostics(states: States) -> list[Table]:
    """What the mechanism reports beside its scores."""
    rows: list[Row] = [
        {"panel": name, "diagnostic": key, "value": value}
        for name, state in states.items()
        for key, value in state.scores.diagnostics.items()
    ]
    title = "What the mechanism reports beside its scores"
    return [Table("diagnostics", title, rows)] if rows else []


def _mean(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
