"""The judges of several runs: by discernment, and by their response styles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.comparison import Comparison, keyed
from judgelab.report.jobs import SweepJob, axes, marked, scorer
from judgelab.report.tables import column, estimates, frame, records

if TYPE_CHECKING:
    from pandas import DataFrame

HEADLINES = (
    Headline("discernment/average_ew", "Discernment"),
    Headline("best_discernment", "Discernment of the best judge"),
    Headline("discernment/minimum_ew", "Least discernment"),
)
AVERAGE = "discernment/average_ew"
EACH = "d_ew/"
DS = ("average_ew", "average", "minimum_ew", "minimum")
ORIGINAL = "original"
JUDGES_NOTE = (
    "D averaged over levels and at its minimum over perturbations, with 95 % intervals over items; "
    "chance: what 5 % of judges reach by chance. Compare within a dataset, on the same "
    "perturbations and as many items. D of each perturbation, and without the weights of the "
    "metrics: judges.csv."
)
STYLES_NOTE = (
    "Pearson's r of two judges over items, by ratings averaged over metrics, for every variant of "
    "the texts. r says how alike they rank items, not which is right. Every rating: "
    "response_styles.csv."
)


def compare(found: Sequence[SweepJob]) -> list[Comparison]:
    """What these jobs have to say of judges; nothing with fewer than two."""
    made = (judge_table(found), style_table(found))
    return [table for table in made if table is not None]


def named(found: Sequence[SweepJob]) -> list[tuple[SweepJob, str]]:
    """Jobs of study=discernment, and what their judge is called."""
    keys = [key for key in axes(found) if key not in ("study", "dataset", "attack")]
    pairs = zip(found, marked(found), strict=True)
    return [(job, scorer(job, keys, own)) for job, own in pairs if AVERAGE in job.summary]


def judge_table(found: Sequence[SweepJob]) -> Comparison | None:
    """Judges by discernment, the best of a dataset on top; None with fewer than two."""
    made = [_judge(job, name) for job, name in named(found)]
    if len(made) < 2:
        return None
    by = ["dataset", "average_ew"]
    board = frame({"rows": made, "columns": list(made[0])})
    board = board.sort_values(by, ascending=[True, False], kind="stable", ignore_index=True)
    rows = records(board)
    keys = ["judge", "dataset"] if board["dataset"].nunique() > 1 else ["judge"]
    wide = [keyed(rows, key) for key in keys]
    for name, heading in (("average_ew", "D average"), ("minimum_ew", "D minimum")):
        wide.append(estimates(name, [read_estimate(row, name) for row in rows], heading))
        wide.append(keyed(rows, f"{name}_threshold", "chance"))
    wide += [keyed(rows, key) for key in ("n", "unscored")]
    wide.append(column("not_seen", [row["not_seen"] or "" for row in rows]))
    tables = {"Judges by discernment": wide}
    return Comparison("judges", board, JUDGES_NOTE, tables, ["discernment_judges"])


def _judge(job: SweepJob, name: str) -> dict[str, Any]:
    summary = job.summary
    row: dict[str, Any] = {"judge": name, "dataset": str(summary.get("dataset") or "")}
    for part in DS:
        found = read_estimate(summary, f"discernment/{part}")
        row |= flat_estimate(part, {p: found[p] for p in ("value", "low", "high", "threshold")})
    counts = {"n": f"{AVERAGE}_n", "unscored": f"{AVERAGE}_unscored"}
    row |= {key: summary.get(place) for key, place in counts.items()}
    row |= {key: summary.get(key) for key in ("items", "not_seen_count", "not_seen")}
    row |= {"weights": summary.get("weighting"), "job": job.number}
    return row | {key: value for key, value in summary.items() if key.startswith(EACH)}


def style_table(found: Sequence[SweepJob]) -> Comparison | None:
    """How the judges of one dataset use their scale (the DHP paper's Figure 6).

    None with several datasets, or fewer than two judges whose records are there.
    """
    from judgelab.stats.discrimination.correlation import clustered_correlation

    judges: dict[str, DataFrame] = {}
    for job, name in named(found):
        means = _means(job)
        if means is not None:
            judges.setdefault(name, means)
    if len({str(job.summary.get("dataset")) for job, _ in named(found)}) != 1 or len(judges) < 2:
        return None
    cells = [
        {"judge": name, "variant": str(variant), "item": str(item), "rating": float(value)}
        for name, means in judges.items()
        for variant, values in means.items()
        for item, value in values.items()
    ]
    rows: list[dict[str, Any]] = []
    for (first, one), (second, other) in combinations(judges.items(), 2):
        both = one.align(other, join="outer")
        for variant in [name for name in one if name in other]:
            x, y = (half[[variant]].to_numpy(dtype=float) for half in both)
            estimate = clustered_correlation(x, y, "pearson")
            pair = {"first": first, "second": second, "variant": format.words(str(variant))}
            rows.append(pair | estimate.as_dict())
    shown = [keyed(rows, key) for key in ("first", "second", "variant")]
    shown += [estimates("value", rows, "r"), keyed(rows, "n"), keyed(rows, "unscored")]
    tables = {"How alike judges rate the same texts": shown}
    figures = ["judges_response_styles"]
    return Comparison("response_styles", _frame(cells), STYLES_NOTE, tables, figures)


def _means(job: SweepJob) -> DataFrame | None:
    """[item, variant] ratings averaged over metrics; NaN where one is unrated.

    None where the records are not there, or no text was changed.
    """
    import pandas as pd

    if job.run is None or job.result is None:
        return None
    files = [job.run / "records" / f"clean_{kind}.parquet" for kind in ("measurements", "scores")]
    rows = [
        row for one in job.result["tables"] if one["name"] == "discernment" for row in one["rows"]
    ]
    changed = [row["perturbation"] for row in rows if row["seen"] != "nothing changed"]
    if not changed or not all(file.is_file() for file in files):
        return None
    measured, scores = (pd.read_parquet(file) for file in files)
    if "rating" in measured:  # asked several times: their mean
        long = measured.groupby(["item", "agent", "metric"], sort=False)["rating"].mean()
    else:
        long = scores.assign(metric="score").set_index(["item", "agent", "metric"])["score"]
    rated = long.unstack("metric")
    means = rated.mean(axis=1).where(rated.notna().all(axis=1)).unstack("agent")
    return means[[ORIGINAL, *changed]]


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    return frame({"rows": rows, "columns": list(rows[0])})
