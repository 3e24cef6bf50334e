"""GRE-bench: who writes the most informative responses? (GEM paper, section 5, appendix A.2)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from judgelab.core.bounds import Count
from judgelab.core.csv_cells import unquoted
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import GIVE_REFERENCES, Agent, Panel
from judgelab.core.resources import conf, own_or_shipped
from judgelab.core.result import Result, Row, Table, Value
from judgelab.engine.context import Context
from judgelab.engine.estimating import estimators
from judgelab.engine.provenance import sources
from judgelab.engine.study import Study
from judgelab.mechanism.protocol import Definition
from judgelab.stats.discrimination.correlation import METHODS
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.ranking.leaderboard import Ranking, agreement, rank_intervals
from judgelab.study.common.calls import call_entries, calls_table, missing_calls
from judgelab.study.common.panels import score_panels
from judgelab.study.common.plain import some
from judgelab.study.common.stopped import Race, race
from judgelab.study.common.stopping import Stop
from judgelab.study.common.tables import about, estimate_table, read_by

LEVEL = 0.90
"""Of the intervals, as in the paper's bars."""

SIZE = "parameters"
NOTE = (
    "Mean score over items with its 90 % interval, rank with its 90 % interval, and in what share "
    "of resamples of the items a candidate came first (no probability of being best). An item's "
    "score is the mean over the references that the text could be held against; pairs counts texts "
    "with each reference."
)
NO_BASELINE = "There is no human baseline."
NAMES = ("model", "candidate")
"""Columns that may name the models; the first that is there does."""


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
            states, panel = run.panels, run.panels["clean"].panel
        else:
            states = score_panels(context, {"clean": panel}, self.definition, pairs=True)
        clean = states["clean"]
        values, directed = clean.values[:, candidates], clean.scores.directed
        if np.isnan(values).all():
            raise DataError(
                f"{context.mechanism.name} scored no text of any candidate, so there is nothing to "
                "rank: see the records of the run."
            )
        agents = [panel.agents[k] for k in candidates]
        if run is None:
            ranking = rank_intervals(values, level=LEVEL, draws=self.bootstrap, seed=context.seed)
        else:
            ranking = run.ranking
        references = [k for k, agent in enumerate(panel.agents) if agent.reference]
        against = values[..., None]
        if directed is not None:
            against = directed.values[:, candidates][:, :, references]
        asked = np.ones(values.shape, np.bool_) if run is None else run.who
        rows = self._rows(agents, ranking, against, asked, others)
        baseline = f"Human baseline: {', '.join(self.humans)}." if self.humans else NO_BASELINE
        note = NOTE if run is None else run.note
        made = [Table("leaderboard", "Leaderboard", rows, note, LEVEL)]
        if run is not None:
            made += run.tables
        if others is not None:
            made.append(others.correlations({str(r["candidate"]): r["value"] for r in rows}))
        if (calls := calls_table(states)) is not None:
            made.append(calls)
        return Result(
            summary=self._summary(context, panel, values, asked, rows)
            | {"clean/unscored_pairs": int((np.isnan(against) & asked[..., None]).sum())}
            | call_entries(states)
            | ({} if run is None else run.summary),
            primary="clean/best_score",
            tables=made,
            figures=["leaderboard", *(["size"] if any("parameters" in r for r in rows) else [])],
            notes=(
                *(() if run is None else run.notes),
                *sources(context, panel),
                *missing_calls(states),
                baseline,
            ),
            provenance={"clean": clean.origin},
            estimators=estimators(clean.scores),
            answer=[standing(rows, context.mechanism.name, self.stop.order or LEVEL)],
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


def standing(rows: Sequence[Row], mechanism: str, level: float = LEVEL) -> tuple[str, str]:
    """(heading, sentences): who is surely first, or who may be, by the intervals of ranks.

    Args:
        rows: of the leaderboard, the best first.
        level: of the intervals of ranks.
    """
    first = str(rows[0]["candidate"])
    if len(rows) == 1:
        return "One candidate", f"{first} is the only one, so there is nothing to rank."
    others = [str(row["candidate"]) for row in rows[1:] if row["rank_low"] == 1]
    known = [row for row in rows if not np.isnan(float(row["rank_low"] or np.nan))]
    if not known:
        return "No order is shown", f"{first} has the highest mean, of too few items to say more."
    if rows[0]["rank_high"] == 1 and not others:
        return (
            f"First: {first}",
            f"{mechanism} scores its responses highest, and by the {level:.0%} intervals of ranks "
            "no other may be first.",
        )
    return (
        "Not decided who is first",
        f"{first} has the highest mean by {mechanism}, but {some(others) or 'others'} may be first "
        f"as well, by the {level:.0%} intervals of ranks. More items narrow them; study=plan "
        "study.train_run=FOLDER_OF_THIS_RUN study.delta=DIFFERENCE says how many.",
    )


def _bar(rows: Floats) -> float:
    """Half of the paper's bar: 1.645 standard errors, rows taken as independent."""
    known = rows[~np.isnan(rows)]
    return 1.645 * float(known.std(ddof=1)) / len(known) ** 0.5 if len(known) > 1 else np.nan


@dataclass(frozen=True)
class Benchmarks:
    """What is known of the candidates elsewhere: sizes, other benchmarks and runs, from a CSV.

    Attributes:
        table: a row per model, indexed by name; numeric columns, NaN where not known.
        left_out: columns that hold other things than numbers.
    """

    table: pd.DataFrame
    left_out: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, float]:
        """Model -> size in billions of parameters, where known."""
        if SIZE not in self.table:
            return {}
        known = self.table[SIZE].dropna()
        return {str(name): float(value) for name, value in known.items()}

    def correlations(self, scores: Mapping[str, Value]) -> Table:
        """Pearson and Spearman of the candidates' scores with every column, each by its name.

        The paper prints Pearson under the name of Spearman (docs/definitions.md).
        """
        ours = np.array([scores.get(str(name)) for name in self.table.index], dtype=np.float64)
        cells = [
            (
                {"with": str(column), "correlation": method},
                agreement(ours, self.table[column], method),
            )
            for column in self.table.columns
            for method in METHODS
        ]
        note = "Over models; n counts those with both numbers. Intervals are over models."
        if self.left_out:
            listed = ", ".join(self.left_out)
            note += f" Left out, as they hold other things than numbers: {listed}."
        return estimate_table("benchmarks", "Correlation with other benchmarks", cells, note)


def read_benchmarks(path: str) -> Benchmarks:
    """Read a CSV with a row for each model: other benchmarks, or another run's leaderboard.

    ``path`` is a file, or a name under conf/benchmarks. The column ``model`` names the models, or
    ``candidate`` as in ``tables/leaderboard.csv`` of a run.

    Raises:
        DataError: it cannot be read, has no such column or no numbers, a name is missing or there
            twice, or a number is infinite.
    """
    where, file = f"study.benchmarks={path!r}", own_or_shipped(path, conf() / "benchmarks")
    try:
        table = pd.read_csv(file, index_col=False)
        # Names as written: else 007 would become 7, and None nothing.
        names = pd.read_csv(file, index_col=False, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as cause:
        said = " ".join(str(cause).split())
        raise DataError(f"{where} cannot be read as CSV: {said}.") from cause
    name = next((name for name in NAMES if name in table), None)
    if name is None:
        raise DataError(f"{where} needs a column 'model' or 'candidate' that names the models.")
    table = table.drop(columns=name).set_axis(
        _checked_names([unquoted(n) for n in names[name]], name, where)
    )
    return _of_numbers(table, where)


def _of_numbers(table: pd.DataFrame, where: str) -> Benchmarks:
    """The columns of numbers, all of them finite or not known."""
    wordy = [
        str(column)
        for column in table
        if not is_numeric_dtype(table[column]) or is_bool_dtype(table[column])
    ]
    table = table.drop(columns=wordy).astype("float64")
    if table.columns.empty:
        raise DataError(f"{where} has no column of numbers: there is nothing to compare.")
    cells = table.to_numpy()
    for row, column in zip(*np.isinf(cells).nonzero(), strict=True):
        raise DataError(
            f"{where}: column {table.columns[column]!r} holds {float(cells[row, column])} for "
            f"{table.index[row]!r}: give a finite number, or leave it empty."
        )
    return Benchmarks(table, tuple(wordy))


def _checked_names(names: list[str], column: str, where: str) -> list[str]:
    """The models' names, each there once."""
    if not names:
        raise DataError(f"{where} has no rows: give one for each model.")
    for row, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{where}, row {row}: there is no name in its column {column!r}.")
        if name in names[: row - 1]:
            raise DataError(f"{where} names {name!r} twice in its column {column!r}: keep one.")
    return names
