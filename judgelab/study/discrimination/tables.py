"""The tables of the discrimination study: arrays in, rows of plain numbers out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table, Value
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.correlation import clustered_correlation
from judgelab.stats.intervals.bootstrap import bootstrap_mean
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.groups import category, groups

if TYPE_CHECKING:
    from judgelab.study.discrimination.study import State

States = Mapping[str, "State"]

WORDING = {
    "effect_size": "Effect size d (paired, over items)",
    "auc": "AUC, good-faith against problematic agents",
    "pair_auc": "AUC, good pairs against mixed pairs",
    "score": "Mean score",
}


def figures_table(figures: Mapping[str, Mapping[str, Estimate]]) -> Table:
    """One row per panel and statistic."""
    rows = [
        _estimate({"panel": state, "statistic": name, "meaning": WORDING[name]}, estimate)
        for state, group in figures.items()
        for name, estimate in group.items()
    ]
    note = "95 % intervals by resampling items; n counts items, unscored the items left out."
    return Table("discrimination", "Good faith against problematic agents", rows, note)


def change_table(change: Mapping[str, Estimate]) -> Table:
    """Attacked minus clean, paired by item."""
    rows = [
        _estimate({"statistic": name, "meaning": WORDING[name]}, estimate)
        for name, estimate in change.items()
    ]
    note = "Attacked minus clean on the same items; the interval resamples items once for both."
    return Table("change", "What the attack changes", rows, note)


def agents_table(states: States, definition: Definition, draws: int, seed: int) -> Table:
    """Mean score of each agent, best first on the clean panel."""
    rows: list[Row] = []
    for state, part in states.items():
        group = groups(part.panel, definition)
        labels = np.where(group.good, "good faith", np.where(group.bad, "problematic", "other"))
        for column, agent in enumerate(part.panel.agents):
            head: dict[str, Value] = {
                "panel": state,
                "agent": agent.name,
                "category": category(agent, definition),
                "group": "reference" if agent.reference else str(labels[column]),
            }
            values = part.scores.agent.values[:, column]
            rows.append(_estimate(head, bootstrap_mean(values, draws, seed)))
    rows.sort(key=lambda row: (row["panel"] != "clean", -_number(row["value"])))
    return Table(
        "agents", "Mean score of each agent", rows, "Higher is better; intervals over items."
    )


def categories_table(states: States, definition: Definition, draws: int, seed: int) -> Table:
    """Mean score of each category: per item over its agents, then over items."""
    rows: list[Row] = []
    for state, part in states.items():
        labels = [
            None if agent.reference else category(agent, definition) for agent in part.panel.agents
        ]
        for name in sorted({label for label in labels if label is not None}):
            mask = np.array([label == name for label in labels])
            per_item = _row_means(part.scores.agent.values[:, mask])
            head: dict[str, Value] = {"panel": state, "category": name, "agents": int(mask.sum())}
            rows.append(_estimate(head, bootstrap_mean(per_item, draws, seed)))
    return Table("categories", "Mean score of each category", rows, "Without the human reference.")


def correlation_table(states: States, draws: int, seed: int) -> Table:
    """Spearman correlation of the score with what it should, and should not, follow."""
    rows: list[Row] = []
    for state, part in states.items():
        for name, other in _companions(part.panel):
            estimate = clustered_correlation(
                part.scores.agent.values, other, method="spearman", draws=draws, seed=seed
            )
            rows.append(_estimate({"panel": state, "with": name}, estimate))
    note = "Spearman over all texts, interval by resampling items; here unscored counts texts."
    return Table("correlations", "What the score goes along with", rows, note)


def coverage_table(states: States) -> Table:
    """How many texts were there, and how many got a score."""
    rows: list[Row] = []
    for state, part in states.items():
        texts = [text for row in part.panel.texts for text in row]
        agent = part.scores.agent.values
        row: dict[str, Value] = {
            "panel": state,
            "items": agent.shape[0],
            "agents": agent.shape[1],
            "texts": sum(text is not None for text in texts),
            "absent_texts": sum(text is None for text in texts),
            "scored_texts": int((~np.isnan(agent)).sum()),
            "unscored_texts": int(np.isnan(agent).sum()),
        }
        if part.scores.pair is not None:
            pair = part.scores.pair.values
            off = ~np.eye(pair.shape[1], dtype=bool)
            row["scored_pairs"] = int((~np.isnan(pair[:, off])).sum())
            row["unscored_pairs"] = int(np.isnan(pair[:, off]).sum())
        rows.append(row)
    return Table("coverage", "What was scored", rows, "Unscored is left out, never counted as 0.")


def _companions(panel: Panel) -> Iterator[tuple[str, NDArray[np.float64]]]:
    length = [[np.nan if t is None else float(len(t.split())) for t in row] for row in panel.texts]
    yield "length in words", np.array(length)
    human = [[item.human.get(agent.name, np.nan) for agent in panel.agents] for item in panel.items]
    if not np.isnan(human).all():
        yield "human score", np.array(human, dtype=np.float64)


def _estimate(head: Mapping[str, Value], estimate: Estimate) -> dict[str, Value]:
    return {**head, **estimate.as_dict()}


def _row_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    count = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _number(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else -np.inf
