"""GRE-bench: who writes the most informative responses? (GEM paper, section 5, appendix A.2)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Panel
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.leaderboard import Ranking, rank_intervals
from judgelab.study.common.panels import score_panels
from judgelab.study.common.tables import about, read_by
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
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    humans: Sequence[str] = ()
    benchmarks: str | None = None
    bootstrap: Count = 2000

    def run(self, context: Context) -> Result:
        """Measure, score and rank.

        Raises:
            ConfigError: there is no candidate, or no such human baseline.
            DataError: the CSV cannot be read.
        """
        others = None if self.benchmarks is None else read_benchmarks(self.benchmarks)
        panel = self._panel(context)
        candidates = self._candidates(panel)
        (clean,) = score_panels(context, {"clean": panel}, self.definition, pairs=True).values()
        values, directed = clean.values[:, candidates], clean.scores.directed
        if np.isnan(values).all():
            raise DataError(
                f"{context.mechanism.name} scored no text of any candidate, so there is nothing to "
                "rank: see the records of the run."
            )
        agents = [panel.agents[k] for k in candidates]
        ranking = rank_intervals(values, level=LEVEL, draws=self.bootstrap, seed=context.seed)
        against = values if directed is None else directed.values[:, candidates]
        rows = self._rows(agents, ranking, against, others)
        note = (
            "Mean score over items with its 90 % interval, rank with its 90 % interval, and in "
            "what share of resamples of the items a candidate came first (no probability of being "
            "best)."
        )
        made = [Table("leaderboard", "Leaderboard", rows, note, LEVEL)]
        if others is not None:
            made.append(others.correlations({str(r["candidate"]): r["value"] for r in rows}))
        return Result(
            summary=self._summary(context, panel, values, rows),
            primary="clean/best_score",
            tables=made,
            figures=["leaderboard", *(["size"] if any("parameters" in r for r in rows) else [])],
            notes=(*sources(context, panel), self._baseline),
            provenance={"clean": clean.origin},
            estimators=estimators(clean.scores),
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
        pairs: Floats,
        others: Benchmarks | None,
    ) -> list[dict[str, Value]]:
        rows: list[dict[str, Value]] = []
        rows_of_each = np.moveaxis(pairs, 1, 0).reshape(len(agents), -1)
        for k in np.argsort(-ranking.value, kind="stable"):  # NaN last
            agent = agents[k]
            row: dict[str, Value] = {
                "candidate": agent.name,
                "kind": "human" if agent.name in self.humans else agent.meta.get("kind", "text"),
                **{one.name: getattr(ranking, one.name)[k].item() for one in fields(ranking)},
            }
            size = None if others is None else others.parameters.get(agent.name)
            if size is not None:
                row["parameters"] = size
            if self.definition != "corrected":
                row["half_width_over_rows"] = _bar(rows_of_each[k])
            rows.append(row)
        return rows

    def _summary(
        self, context: Context, panel: Panel, values: Floats, rows: Sequence[Row]
    ) -> dict[str, Value]:
        best = rows[0]
        summary = about(context, panel, "leaderboard", definition=self.definition)
        summary |= {
            "preprocessor": read_by(context),
            "items": len(panel.items),
            "candidates": values.shape[1],
            "best": best["candidate"],
            "clean/best_score": best["value"],
        }
        summary |= {f"clean/best_score_{part}": best[part] for part in ("low", "high", "n")}
        summary["clean/unscored_texts"] = int(np.isnan(values).sum())
        return summary | {f"score/{row['candidate']}": row["value"] for row in rows}

    @property
    def _baseline(self) -> str:
        if not self.humans:
            return "There is no human baseline."
        return f"Human baseline: {', '.join(self.humans)}."


def _bar(rows: Floats) -> float:
    """Half of the paper's bar: 1.645 standard errors, rows taken as independent."""
    known = rows[~np.isnan(rows)]
    return 1.645 * float(known.std(ddof=1)) / len(known) ** 0.5 if len(known) > 1 else np.nan
