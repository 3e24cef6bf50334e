"""Several runs: their tables as one, and how much of a score is the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from judgelab.core.result import read_estimate
from judgelab.report import format
from judgelab.report.format import Column, estimates, frame
from judgelab.report.jobs import Comparison, SweepJob, axes, keyed, option, setting
from judgelab.stats.intervals.means import item_change
from judgelab.study.common.panels import SCORES
from judgelab.study.common.templates import sentences

KEY = "prompts"
ENDS = ("value", "low", "high")
NOTE = (
    "The difference of a text's two scores, averaged over texts of an item, then over items, in "
    "the mechanism's unit; 95 % interval over items. Correlation: Spearman's, over all texts."
)


def prompt_effects(jobs: Sequence[SweepJob]) -> list[Comparison]:
    """A row for each two runs that differ in nothing but whose words they ask by.

    Scores are those of the clean panel; a text that either run left unscored is in neither mean,
    and counted.
    """
    rows = []
    others = [key for key in axes(jobs) if key != KEY]
    for one, other in combinations([job for job in jobs if job.run is not None], 2):
        pair = {job.choices.get(KEY, ""): job for job in (one, other)}
        alike = all(option(one, key) == option(other, key) for key in others)
        if pair.keys() == {"ours", "authors"} and alike:
            rows.append(_row(pair["ours"], pair["authors"], others))
    if not rows:
        return []
    words = " ".join(
        f"{row['of']}: the authors' words change a score by "
        f"{format.estimate(row['value'], row['low'], row['high'])} on average; "
        f"texts keep their order with a correlation of {row['correlation']:.2f}."
        for row in rows
    )
    columns = [
        keyed(rows, "of", "scores"),
        estimates("change", [{k: row[k] for k in ENDS} for row in rows], "authors − ours"),
        keyed(rows, "n", "items"),
        keyed(rows, "unscored"),
        keyed(rows, "correlation"),
    ]
    table, answer = pd.DataFrame(rows), [("What the prompt changes", words)]
    return [
        Comparison("prompts", table, NOTE, {"Ours and the authors' prompts": columns}, (), answer)
    ]


def _row(ours: SweepJob, authors: SweepJob, keys: Sequence[str]) -> dict[str, Any]:
    """One pair of runs."""
    files = [job.run / SCORES for job in (ours, authors) if job.run is not None]
    sides = [pd.read_parquet(file).set_index(["item", "agent"])["score"] for file in files]
    both = pd.concat(sides, axis=1, keys=["ours", "authors"]).dropna(how="all")
    complete = both.dropna()
    change = (complete["authors"] - complete["ours"]).groupby("item").mean()
    one = item_change(change.to_numpy(np.float64))
    return {
        "of": " · ".join(option(ours, key) for key in keys) or str(ours.summary["mechanism"]),
        **{part: getattr(one, part) for part in (*ENDS, "n")},
        "unscored": len(both) - len(complete),
        "correlation": float(complete["ours"].corr(complete["authors"], method="spearman")),
    }


def comparison(
    package: str,
    name: str,
    rows: Sequence[dict[str, Any]],
    columns: list[Column],
    figures: Sequence[str] = (),
) -> Comparison:
    """Rows of several runs; heading and note are what ``figures.md.j2`` of the package has for
    ``NAME of runs``."""
    title, note = sentences(package, "figures.md.j2", figure=f"{name} of runs")
    return Comparison(name, frame({"rows": rows}), note, {title: columns}, figures)


def estimate_columns(rows: Sequence[dict[str, Any]], key: str, heading: str) -> list[Column]:
    """A column of estimates, and beside it what a paper prints, where that is known."""
    cells = rows if key == "value" else [read_estimate(row, key) for row in rows]
    in_print = [keyed(rows, f"printed_{key}", "printed")] if f"printed_{key}" in rows[0] else []
    return [estimates(key, cells, heading), *in_print]


def table_rows(
    jobs: Sequence[SweepJob], table: str, name: str = "name", parts: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows of a table of every job, with what the job was in the column ``asked``.

    Args:
        name: the column that names a row.
        parts: columns beside which ``printed_COLUMN`` has what a summary holds under
            ``printed/TABLE/NAME/COLUMN``; absent where that is nowhere.
    """
    rows = []
    for job in jobs:
        own = " · ".join(setting(job, axis).strip("'\"") for axis in axes(jobs))
        for one in (job.result or {}).get("tables", ()):
            for row in one["rows"] if one["name"] == table else ():
                place = f"printed/{table}/{row.get(name)}"
                in_print = {f"printed_{part}": job.summary.get(f"{place}/{part}") for part in parts}
                rows.append({"asked": own, **row, **in_print})
    columns = dict.fromkeys(key for row in rows for key in row)
    printed_columns = [f"printed_{part}" for part in parts]
    absent = {key for key in printed_columns if all(row[key] is None for row in rows)}
    return [{key: row.get(key) for key in columns if key not in absent} for row in rows]
