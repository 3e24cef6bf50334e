"""GRE-bench: who writes the most informative responses? (GEM paper, section 5, appendix A.2)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import GIVE_REFERENCES, Agent, Panel
from judgelab.core.result import Result, Row, Value, read_estimate
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report.comparison import Comparison, keyed
from judgelab.report.jobs import SweepJob, axes, marked, scorer, setting
from judgelab.report.tables import estimates, frame
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.ranking.leaderboard import Ranking, rank_intervals
from judgelab.study.common.calls import call_entries, missing_calls
from judgelab.study.common.panels import ScoredPanel, score_panels
from judgelab.study.common.stopping import Stop
from judgelab.study.common.tables import about, read_by
from judgelab.study.common.templates import paragraphs, table
from judgelab.study.leaderboard.benchmarks import Benchmarks, read_benchmarks
from judgelab.study.leaderboard.figures import DRAWINGS
from judgelab.study.leaderboard.race import Race, race

LEVEL = 0.90
"""Of the intervals, as in the paper's bars."""
NO_BASELINE = "There is no human baseline."
PARTS = ("candidate", "kind", "parameters", "value", "low", "high", "n", "unscored", "rank")
BOARDS_NOTE = (
    "Mean score of each candidate by each metric, 90 % interval over items; parameters in "
    "billions. Metrics have units of their own: compare within one. All parts: boards.csv."
)


@dataclass(frozen=True)
class Leaderboard(Study):
    """Mean score of every candidate against the references, with its rank.

    Candidates are the agents that are not references: models that write (agents=candidates), or
    texts already written. Intervals (90 %, as in the paper) are over items, those of ranks from
    all candidates' differences on the same items (stats.ranking). The paper's bars take every row
    as independent (mean +- 1.645 sd / sqrt(rows)); other definitions show those beside ours.

    Args:
        definition: corrected: intervals over items; paper, released: also those over rows.
        references: agents to be held against; null: those the data marks, or the items' own
            references. A mechanism that scores each text by itself needs none.
        humans: candidates that are people, the human baseline.
        benchmarks: a CSV with a column model, and columns of numbers: parameters (billions) for
            the plot, any others to correlate with.
        bootstrap: resamples of the items.
        stop: when enough is asked; by default everything is.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    humans: Sequence[str] = ()
    benchmarks: str | None = None
    bootstrap: Count = 2000
    stop: Stop = field(default_factory=Stop)
    drawings: ClassVar[Mapping[str, Any]] = DRAWINGS

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """Every candidate by every metric, drawn where sizes are known (Figures 4 and 5)."""
        keys = [key for key in axes(runs) if key not in ("study", "dataset", "attack")]
        if len({setting(job, "dataset") for job in runs}) > 1:
            keys = list(dict.fromkeys(["mechanism", "dataset", *keys]))
        rows: list[dict[str, Any]] = [
            {"metric": scorer(job, keys, own), **{part: row.get(part) for part in PARTS}}
            for job, own in zip(runs, marked(runs), strict=True)
            for row in _board(job)
        ]
        if not rows:
            return []
        sized = any(row["parameters"] is not None for row in rows)
        score = estimates("value", [read_estimate(row, "value") | row for row in rows], "score")
        named = [keyed(rows, key) for key in ("metric", "candidate")]
        rest = [keyed(rows, key) for key in ("kind", "parameters", "n", "unscored")]
        made = Comparison(
            name="boards",
            rows=frame({"rows": rows, "columns": list(rows[0])}),
            note=BOARDS_NOTE,
            tables={"Scores beside sizes": [*named, score, *rest]} if sized else {},
            figures=["boards_by_size"] if sized else [],
            answer=_leaders(runs),
        )
        return [made]

    def run(self, context: Context) -> Result:
        """Measure, score and rank.

        Raises:
            ConfigError: there is no candidate, or no such human baseline.
            DataError: the CSV cannot be read.
        """
        others = None if self.benchmarks is None else read_benchmarks(self.benchmarks)
        panel = self._panel(context)
        candidates = self._candidates(panel, needs=context.mechanism.subject != "text")
        run: Race | None = None
        if self.stop.on:
            run = race(context, panel, candidates, self.stop, self.definition, LEVEL)
            states = run.panels
        else:
            states = score_panels(context, {"clean": panel}, self.definition, pairs=True)
        clean = states["clean"]
        values = clean.values[:, candidates]
        if np.isnan(values).all():
            raise DataError(
                f"{context.mechanism.name} scored no text of any candidate, so there is nothing to "
                "rank: see the records of the run."
            )
        if run is None:
            bounds = context.mechanism.bounds
            ranking = rank_intervals(values, LEVEL, self.bootstrap, context.seed, bounds)
        else:
            ranking = run.ranking
        asked = np.ones(values.shape, np.bool_) if run is None else run.who
        against = _against(clean, candidates)
        agents = [panel.agents[k] for k in candidates]
        rows = self._rows(agents, ranking, against, asked, others)
        board = table(__package__, "leaderboard", rows, stopped=run is not None)
        made = [replace(board, level=LEVEL), *([] if run is None else [run.pairs])]
        if others is not None:
            made.append(others.correlations({str(r["candidate"]): r["value"] for r in rows}))
        return Result(
            summary=self._summary(context, clean.panel, values, asked, rows)
            | {"clean/unscored_pairs": int((np.isnan(against) & asked[..., None]).sum())}
            | call_entries(states)
            | ({} if run is None else run.summary),
            primary="clean/best_score",
            tables=made,
            figures=["leaderboard", *(["size"] if any("parameters" in r for r in rows) else [])],
            notes=(
                *(() if run is None else run.notes),
                *sources(context, clean.panel),
                *missing_calls(states),
                f"Human baseline: {', '.join(self.humans)}." if self.humans else NO_BASELINE,
            ),
            provenance={"clean": clean.origin},
            estimators=estimators(clean.scores),
            answer=paragraphs(
                __package__,
                "answer.md.j2",
                rows=rows,
                mechanism=context.mechanism.name,
                level=self.stop.order or LEVEL,
            ),
        )

    def ask(self, context: Context) -> None:
        """See Study."""
        panel = self._panel(context)
        context.measure(context.read(panel) if self.stop.on else panel)

    def _panel(self, context: Context) -> Panel:
        """The texts as the mechanism reads them; as written where they are read batch by batch."""
        context.no_attack("leaderboard")
        raw = self.stop.on
        return context.panels(self.references, item_references=True, raw=raw)["clean"]

    def _candidates(self, panel: Panel, needs: bool) -> list[int]:
        """Columns of the candidates; ``needs``: whether references have to stand beside them."""
        found = [k for k, agent in enumerate(panel.agents) if not agent.reference]
        if not found or (needs and len(found) == len(panel.agents)):
            own = f"{GIVE_REFERENCES}, or " if found else ""
            raise ConfigError(
                f"study=leaderboard holds candidates against references, but {len(found)} of "
                f"{len(panel.agents)} agents are candidates: {own}use agents=candidates, data with "
                "more texts, or study.references=[NAMES]."
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
        asked: Mask,
        others: Benchmarks | None,
    ) -> list[dict[str, Value]]:
        rows: list[dict[str, Value]] = []
        rows_of_each = np.moveaxis(pairs, 1, 0).reshape(len(agents), -1)
        for k in np.lexsort((-ranking.value, ranking.rank)):  # NaN last
            agent = agents[k]
            row: dict[str, Value] = {
                "candidate": agent.name,
                "kind": "human" if agent.name in self.humans else agent.meta.get("kind", "text"),
                **{one.name: getattr(ranking, one.name)[k].item() for one in fields(ranking)},
            }
            row["pairs"] = int(pairs[asked[:, k], k].size)
            row["pairs_unscored"] = int(np.isnan(pairs[asked[:, k], k]).sum())
            size = None if others is None else others.parameters.get(agent.name)
            if size is not None:
                row["parameters"] = size
            if self.definition != "corrected":
                row["half_width_over_rows"] = _bar(rows_of_each[k])
            rows.append(row)
        return rows

    def _summary(
        self, context: Context, panel: Panel, values: Floats, asked: Mask, rows: Sequence[Row]
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
        summary["clean/unscored_texts"] = int((np.isnan(values) & asked).sum())
        return summary | {f"score/{row['candidate']}": row["value"] for row in rows}


def _against(clean: ScoredPanel, candidates: Sequence[int]) -> Floats:
    """[items, candidates, references] scores; alone in its row where no reference is looked at."""
    if clean.scores.directed is None:
        return clean.values[:, candidates, None]
    references = [k for k, agent in enumerate(clean.panel.agents) if agent.reference]
    found: Floats = clean.scores.directed.values[:, candidates][:, :, references]
    return found


def _bar(rows: Floats) -> float:
    """Half of the paper's bar: 1.645 standard errors, rows taken as independent."""
    known = rows[~np.isnan(rows)]
    return 1.645 * float(known.std(ddof=1)) / len(known) ** 0.5 if len(known) > 1 else np.nan


def _leaders(runs: Sequence[SweepJob]) -> list[tuple[str, str]]:
    """Who leads how many of them; their scores have units of their own."""
    first = [rows[0]["candidate"] for job in runs if (rows := _board(job))]
    if len(first) < 2:
        return []
    said = (f"{name} leads {n} of {len(first)}" for name, n in Counter(first).most_common())
    words = f"{', '.join(said)} leaderboards. Whether a lead is sure, each says itself."
    return [("Leaders", words)]


def _board(job: SweepJob) -> Sequence[dict[str, Any]]:
    tables = (job.result or {}).get("tables", ())
    return next((one["rows"] for one in tables if one["name"] == "leaderboard"), ())
