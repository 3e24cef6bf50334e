"""GRE-bench: who writes the most informative responses? (GEM paper, section 5, appendix A.2)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import GIVE_REFERENCES, Agent, Panel
from judgelab.core.resources import conf, own_or_shipped
from judgelab.core.result import Result, Table, Value, read_estimate
from judgelab.engine.context import Context, estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.report import format, style
from judgelab.report.format import estimates, records
from judgelab.report.jobs import Comparison, SweepJob, axes, keyed, marked, scorer, setting
from judgelab.report.page import unquoted
from judgelab.report.style import Drawn, Mark, Tables
from judgelab.stats.discrimination.correlation import METHODS
from judgelab.stats.ranking.leaderboard import Ranking, agreement, rank_intervals
from judgelab.study.common.panels import ScoredPanel, missing_pairs, pair_entries, score_panels
from judgelab.study.common.stopping import Elimination, Stop
from judgelab.study.common.sweeps import comparison
from judgelab.study.common.tables import about, estimate_rows, read_by
from judgelab.study.common.templates import caption, paragraphs, sentences, table
from judgelab.study.leaderboard.race import race, standing_ranks

LEVEL = 0.90  # of the intervals, as in the paper's bars
SIZE = "parameters"  # column of benchmarks: billions
NAMES = ("model", "candidate")  # columns that may name the models; the first that is there does
PARTS = ("candidate", "kind", "parameters", "value", "low", "high", "n", "unscored", "rank")
PEOPLE = Mark(style.HUES[1], "D")
MACHINE = Mark(style.HUES[0])
BAND: dict[str, Any] = {"color": style.HUES[1], "alpha": 0.12, "lw": 0}


def leaderboard(tables: Tables) -> Drawn:
    """One row per candidate, best on top; a band and a dashed line at the human baseline."""
    frame = tables["leaderboard"]
    figure, side = style.single(0.9 + 0.3 * len(frame))
    heights = style.name_rows(side, frame["candidate"])
    for y, row in zip(heights, records(frame), strict=True):
        person = row["kind"] == "human"
        if style.interval(side, y, row, PEOPLE if person else MACHINE) and person:
            style.reference_line(side, row["value"])
            side.axvspan(row["low"], row["high"], **BAND)
        style.aside(side, y, f"rank {row['rank_low']:.0f}–{row['rank_high']:.0f}")
    side.set_xlabel("Mean score, 90 % interval")
    return caption(__package__, "leaderboard", figure, frame, people="human" in set(frame["kind"]))


def boards(tables: Tables) -> Drawn:
    """A panel for each metric: score against size, and people (GEM paper, figures 4 and 5)."""
    frame = tables["boards"]
    parts = {str(metric): part for metric, part in frame.groupby("metric", sort=False)}
    figure, axes = style.multiples(list(parts), 0.3, 3.0)
    for side, (metric, whole) in zip(axes.flat, parts.items(), strict=False):
        for row in records(whole[whole["kind"] == "human"].dropna(subset=["value"])):
            side.axhline(row["value"], **style.DASHED)
            side.axhspan(row["low"], row["high"], **BAND)
        for row in records(whole.dropna(subset=["parameters", "value"])):
            style.interval(side, row["parameters"], row, MACHINE, upright=True)
        side.set(xscale="log", xlabel="Parameters, billions")
        side.xaxis.set_major_formatter(style.TICKS)
        side.xaxis.set_minor_formatter("")
        side.grid(axis="y")
        side.margins(x=0.15)
        side.set_title(format.shorten(metric, 40), fontsize=9)
    axes[0, 0].set_ylabel("Mean score, 90 % interval")
    for side, whole in zip(axes.flat, parts.values(), strict=False):
        spots = whole.dropna(subset=["parameters", "value"])[["parameters", "value", "candidate"]]
        style.label_points(figure, side, list(spots.itertuples(index=False)), 24)
    return caption(__package__, "boards", figure, people="human" in set(frame["kind"]))


@dataclass(frozen=True)
class Leaderboard(Study):
    """Mean score of every candidate against the references, with its rank.

    Args:
        references: agents to be held against; null: those the data marks, or the items' own
            references. A mechanism that scores each text by itself needs none.
        benchmarks: a CSV with a column model, and columns of numbers: parameters (billions) for
            the plot, any others to correlate with.
    """

    definition: Definition = "corrected"
    references: Sequence[str] | None = None
    humans: Sequence[str] = ()
    benchmarks: str | None = None
    bootstrap: Count = 2000
    stop: Stop = field(default_factory=Stop)
    drawings: ClassVar[Mapping[str, Any]] = {"leaderboard": leaderboard, "boards_by_size": boards}

    @classmethod
    def compare(cls, runs: Sequence[SweepJob]) -> Sequence[Comparison]:
        """Every candidate by every metric, drawn where sizes are known (Figures 4 and 5)."""
        keys = [key for key in axes(runs) if key not in ("study", "dataset", "attack")]
        if len({setting(job, "dataset") for job in runs}) > 1:
            keys = list(dict.fromkeys(["mechanism", "dataset", *keys]))
        rows, leaders, boards = list[dict[str, Any]](), Counter[str](), 0
        for job, own in zip(runs, marked(runs), strict=True):
            for one in (job.result or {}).get("tables", ()):
                if one["name"] == "leaderboard":
                    boards += 1
                    leaders[one["rows"][0]["candidate"]] += 1
                    metric = scorer(job, keys, own)
                    rows += [
                        {"metric": metric, **{part: row.get(part) for part in PARTS}}
                        | {"printed": job.summary.get(f"printed/score/{row['candidate']}")}
                        for row in one["rows"]
                    ]
        if not rows:
            return []
        sized = any(row["parameters"] is not None for row in rows)
        score = estimates("value", [read_estimate(row, "value") | row for row in rows], "score")
        beside = ["printed"] if any(row["printed"] is not None for row in rows) else []
        rest = [keyed(rows, key) for key in (*beside, "kind", "parameters", "n", "unscored")]
        wide = [keyed(rows, "metric"), keyed(rows, "candidate"), score, *rest]
        figures = ["boards_by_size"] if sized else []
        board = comparison(__package__, "boards", rows, wide, figures)
        # who leads how many: scores of two metrics have units of their own
        words = ", ".join(f"{name} leads {n} of {boards}" for name, n in leaders.most_common())
        words += " leaderboards. Whether a lead is sure, each says itself."
        answer = [("Leaders", words)] if boards > 1 else []
        return [replace(board, answer=answer, tables=board.tables if sized else {})]

    def run(self, context: Context) -> Result:
        """Measure, score and rank.

        Raises:
            ConfigError: there is no candidate, or no such human baseline.
            DataError: the CSV cannot be read.
        """
        numbers = None if self.benchmarks is None else read_benchmarks(self.benchmarks)
        panel, mechanism = self._panel(context), context.mechanism
        candidates = self._candidates(panel, needs=mechanism.subject != "text")
        elimination: Elimination | None = None
        if self.stop.on:
            clean, elimination = race(context, panel, candidates, self.stop, self.definition, LEVEL)
        else:
            clean = score_panels(context, {"clean": panel}, self.definition)["clean"]
        values = clean.values[:, candidates]
        if np.isnan(values).all():
            raise DataError(
                f"{mechanism.name} scored no text of any candidate, so there is nothing to rank: "
                "see the records of the run."
            )
        ranking = (
            rank_intervals(values, LEVEL, self.bootstrap, context.seed, mechanism.bounds)
            if elimination is None
            else standing_ranks(values, elimination, LEVEL, mechanism.bounds)
        )
        sizes = {} if numbers is None or SIZE not in numbers else numbers[SIZE].dropna().to_dict()
        rows = self._rows([clean.panel.agents[k] for k in candidates], ranking, sizes)
        board = table(__package__, "leaderboard", rows, early=elimination is not None)
        tables = [replace(board, level=LEVEL)]
        if numbers is not None:
            tables.append(correlations(numbers, {str(r["candidate"]): r["value"] for r in rows}))
        level = self.stop.order or LEVEL
        return Result(
            summary=self._summary(context, clean, rows, elimination),
            primary="clean/best_score",
            tables=tables,
            figures=["leaderboard"],
            notes=sentences(
                __package__,
                "notes.md.j2",
                elimination=elimination,
                sources=sources(context, clean.panel),
                missing=missing_pairs({"clean": clean}),
                humans=self.humans,
            ),
            provenance={"clean": clean.origin},
            estimators=estimators(clean.scores),
            answer=paragraphs(
                __package__, "answer.md.j2", rows=rows, mechanism=mechanism.name, level=level
            ),
        )

    def _rows(
        self, candidates: Sequence[Agent], ranking: Ranking, sizes: Mapping[Any, float]
    ) -> list[dict[str, Value]]:
        """One for each candidate, the best first; those without a rank last."""
        rows = list[dict[str, Value]]()
        for k in np.lexsort((-ranking.value, ranking.rank)):  # NaN last
            agent = candidates[k]
            human = agent.name in self.humans
            row: dict[str, Value] = {
                "candidate": agent.name,
                "kind": "human" if human else agent.meta.get("kind", "text"),
                **{one.name: getattr(ranking, one.name)[k].item() for one in fields(ranking)},
            }
            rows.append(row | ({"parameters": sizes[agent.name]} if agent.name in sizes else {}))
        return rows

    def _summary(
        self,
        context: Context,
        clean: ScoredPanel,
        rows: Sequence[Mapping[str, Any]],
        elimination: Elimination | None,
    ) -> dict[str, Value]:
        best, stop = rows[0], dict[str, Value]()
        if elimination is not None:
            stop["stop/items_asked"], stop["stop/items"] = elimination.items
            stop["stop/asked_share"] = 1 - elimination.share_saved
            stop["stop/open_pairs"] = len(elimination.open)
        return about(context, clean.panel, "leaderboard", definition=self.definition) | {
            "preprocessor": read_by(context),
            "items": len(clean.panel.items),
            "candidates": len(rows),
            "best": best["candidate"],
            "clean/best_score": best["value"],
            **{f"clean/best_score_{part}": best[part] for part in ("low", "high", "n")},
            "clean/unscored_texts": sum(row["unscored"] for row in rows),
            **{f"score/{row['candidate']}": row["value"] for row in rows},
            **pair_entries({"clean": clean}),
            **stop,
        }

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
        places = [k for k, agent in enumerate(panel.agents) if not agent.reference]
        if not places or (needs and len(places) == len(panel.agents)):
            own = f"{GIVE_REFERENCES}, or " if places else ""
            raise ConfigError(
                f"study=leaderboard holds candidates against references, but {len(places)} of "
                f"{len(panel.agents)} agents are candidates: {own}use agents=candidates, data with "
                "more texts, or study.references=[NAMES]."
            )
        unknown = set(self.humans) - {panel.agents[k].name for k in places}
        if unknown:
            raise ConfigError(f"study.humans: no candidate is called {sorted(unknown)[0]!r}.")
        return places


def read_benchmarks(path: str) -> pd.DataFrame:
    """Read a CSV with a row for each model: other benchmarks, or another run's leaderboard.

    ``path`` is a file, or a name under conf/benchmarks. The column ``model`` names the models, or
    ``candidate`` as in ``tables/leaderboard.csv`` of a run.

    Returns:
        A row per model, indexed by name; the columns of numbers, NaN where not known.

    Raises:
        DataError: it cannot be read, has no such column or no finite numbers, or a name is missing
            or there twice.
    """
    where, file = f"study.benchmarks={path!r}", own_or_shipped(path, conf() / "benchmarks")
    try:
        # names as written: else 007 would become 7, and None nothing
        frame = pd.read_csv(file, index_col=False, converters=dict.fromkeys(NAMES, unquoted))
    except (OSError, ValueError) as cause:
        reason = " ".join(str(cause).split())
        raise DataError(f"{where} cannot be read as CSV: {reason}.") from cause
    column = next((name for name in NAMES if name in frame), None)
    if column is None:
        raise DataError(f"{where} needs a column 'model' or 'candidate' that names the models.")
    names = frame[column]
    for name in names[names.duplicated() | (names.str.strip() == "")]:
        raise DataError(f"{where} has {name!r} in its column {column!r}: give each model once.")
    numbers = frame.set_index(column).select_dtypes("number").astype("float64")
    if numbers.size == 0 or np.isinf(numbers.to_numpy()).any():
        raise DataError(f"{where} needs a row for each model and a column of finite numbers.")
    return numbers


def correlations(numbers: pd.DataFrame, scores: Mapping[str, Value]) -> Table:
    """Pearson and Spearman of the candidates' scores with every column, each by its name.

    The paper prints Pearson under the name of Spearman (docs/definitions.md).
    """
    ours = np.array([scores.get(str(name)) for name in numbers.index], dtype=np.float64)
    cells = [
        ({"with": str(column), "correlation": method}, agreement(ours, numbers[column], method))
        for column in numbers.columns
        for method in METHODS
    ]
    return table(__package__, "benchmarks", estimate_rows(cells))
