"""The judges of several runs: by discernment, and by their response styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, flat_estimate, read_estimate
from judgelab.report.comparison import Comparison, keyed
from judgelab.report.jobs import SweepJob, axes, marked, scorer
from judgelab.report.tables import column, estimates, frame, records
from judgelab.study.common.panels import SCORES

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
NOTE = (
    "D averaged over levels and at its minimum over perturbations, with 95 % intervals over items; "
    "chance: what 5 % of judges reach by chance. Compare within a dataset, on the same "
    "perturbations and as many items. D of each perturbation, and without the weights of the "
    "metrics: judges.csv."
)


def compare(runs: Sequence[SweepJob]) -> list[Comparison]:
    """Judges by discernment, the best of a dataset on top, and, of one dataset, how they use their
    scale (the DHP paper's Figure 6); nothing with fewer than two."""
    keys = [key for key in axes(runs) if key not in ("study", "dataset", "attack")]
    judges = [
        (scorer(job, keys, own), job)
        for job, own in zip(runs, marked(runs), strict=True)
        if AVERAGE in job.summary
    ]
    if len(judges) < 2:
        return []
    board = frame({"rows": [_judge(name, job) for name, job in judges]})
    by = ["dataset", "average_ew"]
    board = board.sort_values(by, ascending=[True, False], kind="stable", ignore_index=True)
    rows, several = records(board), board["dataset"].nunique() > 1
    wide = [keyed(rows, key) for key in (("judge", "dataset") if several else ("judge",))]
    for name, heading in (("average_ew", "D average"), ("minimum_ew", "D minimum")):
        wide.append(estimates(name, [read_estimate(row, name) for row in rows], heading))
        wide.append(keyed(rows, f"{name}_threshold", "chance"))
    wide += [keyed(rows, key) for key in ("n", "unscored")]
    wide.append(column("not_seen", [row["not_seen"] or "" for row in rows]))
    tables = {"Judges by discernment": wide}
    comparisons = [Comparison("judges", board, NOTE, tables, ["discernment_judges"])]
    rated = {name: means for name, job in judges if (means := _ratings(job)) is not None}
    if not several and len(rated) > 1:
        import pandas as pd

        cells = pd.concat([means.assign(judge=name) for name, means in rated.items()])
        cells = cells[["judge", "variant", "item", "rating"]]
        figures = ["judges_response_styles"]
        comparisons.append(Comparison("response_styles", cells, figures=figures))
    return comparisons


def _judge(name: str, job: SweepJob) -> dict[str, Any]:
    summary = job.summary
    row: dict[str, Any] = {"judge": name, "dataset": str(summary.get("dataset") or "")}
    for part in DS:
        d = read_estimate(summary, f"discernment/{part}")
        row |= flat_estimate(part, {p: d[p] for p in ("value", "low", "high", "threshold")})
    counts = {"n": f"{AVERAGE}_n", "unscored": f"{AVERAGE}_unscored"}
    row |= {key: summary.get(place) for key, place in counts.items()}
    row |= {key: summary.get(key) for key in ("items", "not_seen_count", "not_seen")}
    row |= {"weights": summary.get("weighting"), "job": job.number}
    return row | {key: value for key, value in summary.items() if key.startswith(EACH)}


def _ratings(job: SweepJob) -> DataFrame | None:
    """variant, item, rating (averaged over metrics) of the perturbations that changed a text.

    None where the records are not there, or no text was changed.
    """
    import pandas as pd

    if job.run is None or job.result is None or not (job.run / SCORES).is_file():
        return None
    tables = {one["name"]: one["rows"] for one in job.result["tables"]}
    rows = tables.get("discernment", ())
    idle = [row["perturbation"] for row in rows if row["seen"] == "nothing changed"]
    scores = pd.read_parquet(job.run / SCORES).rename(columns={"agent": "variant"})
    scores = scores[~scores["variant"].isin(idle)].rename(columns={"score": "rating"})
    return scores if scores["variant"].nunique() > 1 else None
