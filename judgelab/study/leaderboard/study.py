"""GRE-bench: who writes the most informative responses? (GEM paper, section 5, appendix A.2)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import origin_of, sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.ranking.leaderboard import Ranking, rank_intervals
from judgelab.study.common.long_tables import (
    measurement_records,
    pair_records,
    score_records,
    text_records,
)
from judgelab.study.leaderboard.benchmarks import Benchmarks, read_benchmarks

LEVEL = 0.90
"""Of the intervals, as in the paper's bars."""


@dataclass(frozen=True)
class Leaderboard(Study):
    """Mean score of every candidate against the references, with its rank.

    Candidates are the agents that are not references: models that write (agents=candidates), or
    texts already written. Intervals (90 %, as in the paper) are over items, those of ranks from
    all candidates' differences on the same items (stats.ranking). The paper's bars take every row
    as independent (mean +- 1.645 sd / sqrt(rows)); other definitions show those beside ours.

    Args:
        definition: corrected: intervals over items; paper, released: also those over rows.
        references: agents to be held against; null: those the data marks.
        humans: candidates that are people, the human baseline.
        benchmarks: a CSV with a column model, and columns of numbers: parameters (billions) for
            the plot, any others to correlate with.
        bootstrap: resamples of the items.

    Raises:
        ConfigError: no resamples.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    humans: Sequence[str] = ()
    benchmarks: str | None = None
    bootstrap: int = 2000

    def __post_init__(self) -> None:
        if self.bootstrap < 1:
            raise ConfigError("study.bootstrap must be at least 1.")

    def run(self, context: Context) -> Result:
        """Measure, score and rank.

        Raises:
            ConfigError: there is no candidate, or a human baseline that nobody knows.
            DataError: the CSV cannot be read.
        """
        others = None if self.benchmarks is None else read_benchmarks(self.benchmarks)
        panel = self._panel(context)
        candidates = self._candidates(panel)
        measured = context.measure(panel)
        scores = context.score(measured, self.definition)
        write = context.run_dir.write_table
        write("records/clean_scores.parquet", score_records(panel, scores))
        write("records/clean_measurements.parquet", measurement_records(measured))
        write("records/clean_texts.parquet", text_records(panel))
        if scores.directed is not None:
            write("records/clean_pairs.parquet", pair_records(scores.directed))
        values = scores.agent.values[:, candidates]
        if np.isnan(values).all():
            raise DataError(
                f"{context.mechanism.name} scored no text of any candidate, so there is nothing to "
                "rank: see the records of the run."
            )
        agents = [panel.agents[k] for k in candidates]
        ranking = rank_intervals(values, level=LEVEL, draws=self.bootstrap, seed=context.seed)
        against = values if scores.directed is None else scores.directed.values[:, candidates]
        rows = self._rows(agents, ranking, values, against, others)
        made = [_board(rows)]
        if others is not None:
            made.append(others.correlations({str(r["candidate"]): r["value"] for r in rows}))
        return Result(
            summary=_summary(context, self.definition, panel, values, rows),
            primary="clean/best_score",
            tables=made,
            figures=["leaderboard", *(["size"] if any("parameters" in r for r in rows) else [])],
            notes=_notes(context, panel, self.humans),
            provenance={"clean": origin_of(panel, measured.attrs)},
            estimators=estimators(scores),
        )

    def ask(self, context: Context) -> None:
        """See Study."""
        context.measure(self._panel(context))

    def _panel(self, context: Context) -> Panel:
        context.no_attack("leaderboard")
        return context.panels(self.references)["clean"]

    def _candidates(self, panel: Panel) -> list[int]:
        found = [k for k, agent in enumerate(panel.agents) if not agent.reference]
        if not found or len(found) == len(panel.agents):
            raise ConfigError(
                f"study=leaderboard holds candidates against references, but {len(found)} of "
                f"{len(panel.agents)} agents are candidates: use agents=candidates, data with more "
                "texts, or study.references=[NAMES]."
            )
        unknown = set(self.humans) - {panel.agents[k].name for k in found}
        if unknown:
            raise ConfigError(f"study.humans: no candidate is called {sorted(unknown)[0]!r}.")
        return found

    def _rows(
        self,
        agents: Sequence[Agent],
        ranking: Ranking,
        values: NDArray[np.float64],
        pairs: NDArray[np.float64],
        others: Benchmarks | None,
    ) -> list[dict[str, Value]]:
        rows: list[dict[str, Value]] = []
        rows_of_each = np.moveaxis(pairs, 1, 0).reshape(len(agents), -1)
        for k, agent in enumerate(agents):
            known = values[~np.isnan(values[:, k]), k]
            row: dict[str, Value] = {
                "candidate": agent.name,
                "kind": "human" if agent.name in self.humans else agent.meta.get("kind", "text"),
                "value": ranking.mean[k],
                "low": ranking.low[k],
                "high": ranking.high[k],
                "rank": ranking.rank[k],
                "rank_low": ranking.rank_low[k],
                "rank_high": ranking.rank_high[k],
                "p_best": ranking.p_best[k],
                "n": len(known),
                "unscored": len(values) - len(known),
            }
            size = None if others is None else others.parameters.get(agent.name)
            if size is not None:
                row["parameters"] = size
            if self.definition != "corrected":
                row["half_width_over_rows"] = _bar(rows_of_each[k])
            rows.append(row)
        return sorted(rows, key=lambda row: -_number(row["value"]))


def _bar(rows: NDArray[np.float64]) -> float:
    """Half of the paper's bar: 1.645 standard errors, rows taken as independent."""
    known = rows[~np.isnan(rows)]
    return 1.645 * float(known.std(ddof=1)) / len(known) ** 0.5 if len(known) > 1 else np.nan


def _number(value: Value) -> float:
    known = isinstance(value, int | float) and value == value
    return float(value) if known and value is not None else -np.inf


def _board(rows: Sequence[Row]) -> Table:
    note = (
        "Mean score over items with its 90 % interval, rank with its 90 % interval, and in what "
        "share of resamples of the items a candidate came first (no probability of being best)."
    )
    return Table("leaderboard", "Leaderboard", rows, note, LEVEL)


def _summary(
    context: Context,
    definition: Definition,
    panel: Panel,
    values: NDArray[np.float64],
    rows: Sequence[Row],
) -> dict[str, Value]:
    best = rows[0]
    return {
        "study": "leaderboard",
        "definition": definition,
        "mechanism": context.mechanism.name,
        "evaluation_lm": context.evaluation_lm.identity,
        "dataset": str(panel.provenance.get("dataset", "")),
        "preprocessor": context.preprocessor.name
        if context.mechanism.reads == "preprocessed"
        else "none",
        "items": len(panel.items),
        "candidates": values.shape[1],
        "best": best["candidate"],
        "clean/best_score": best["value"],
        "clean/best_score_low": best["low"],
        "clean/best_score_high": best["high"],
        "clean/best_score_n": best["n"],
        "clean/unscored_texts": int(np.isnan(values).sum()),
    } | {f"score/{row['candidate']}": row["value"] for row in rows}


def _notes(context: Context, panel: Panel, humans: Sequence[str]) -> tuple[str, ...]:
    baseline = f"Human baseline: {', '.join(humans)}." if humans else "There is no human baseline."
    return (*sources(context, panel), baseline)
