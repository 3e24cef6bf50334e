"""d against how far texts compress, over the data sets of a sweep (TVD-MI paper, appendix B.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judgelab.core.result import read_estimate
from judgelab.report.jobs import SweepJob, axes, option, setting
from judgelab.report.study_table import StudyTable, keyed
from judgelab.report.tables import column, estimates, frame

if TYPE_CHECKING:
    from judgelab.stats.discrimination.regression import QuadraticFit

D = "clean/effect_size"
BY = {
    "compression_reference": "characters of the source per character of the reference",
    "compression_response": "characters of the source per character of the agents' texts",
    "effective_rank": "effective rank (participation ratio of the agents' correlations)",
}
"""What d is drawn against: the key in a summary -> how it is called."""

FEWEST = 4
NOTE = (
    "Least squares of d on each quantity, a line against a parabola; F(1, n - 3) and p are of the "
    "quadratic term, n counts data sets. The paper fits |d|, which is the same where every d is "
    "positive; its effective rank is not defined, this one is ours. The errors of the d themselves "
    "are not in the fit. All points: compression.csv."
)


def fit_table(found: Sequence[SweepJob]) -> StudyTable | None:
    """Fits over data sets; None with fewer than four of different compression in every group."""
    points = _points(found)
    fits = [
        {"group": group, "by": by, **asdict(fit)}
        for group in dict.fromkeys(row["group"] for row in points)
        for by in BY
        if (fit := _fit([row for row in points if row["group"] == group], by)) is not None
    ]
    if not fits:
        return None
    d = [{part: row[part] for part in ("value", "low", "high")} for row in points]
    wide = [
        keyed(fits, "group", "what"),
        column("against", [BY[row["by"]] for row in fits]),
        keyed(fits, "n"),
        keyed(fits, "r2_linear", "R² line"),
        keyed(fits, "r2_quadratic", "R² parabola"),
        keyed(fits, "f", "F"),
        *(keyed(fits, key) for key in ("p", "peak", "curvature")),
    ]
    shown = [keyed(points, "group", "what"), *(keyed(points, key) for key in ("dataset", *BY))]
    shown += [estimates("d", d, "d [95 % interval]")]
    return StudyTable(
        name="compression",
        figure="effect_sizes_by_compression",
        note=NOTE,
        rows=frame({"rows": points, "columns": list(points[0])}),
        tables={"Effect size by compression and effective rank": wide, "The data sets": shown},
        narrow=[wide[0], wide[1], *wide[3:5], wide[6]],
    )


def _points(found: Sequence[SweepJob]) -> list[dict[str, Any]]:
    """One row for each group and data set: its d, its ratios and its rank."""
    keys = axes(found)
    names = [key for key in keys if key.partition(".")[0] not in ("attack", "dataset")]
    data = [key for key in keys if key.partition(".")[0] == "dataset"]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for job in (job for job in found if D in job.summary):
        group = " · ".join(option(job, key) for key in names) or str(job.summary["mechanism"])
        dataset = " · ".join(option(job, key) for key in data) or setting(job, "dataset")
        given = {by: job.summary.get(f"clean/{by}") for by in BY}
        row = {"group": group, "dataset": dataset, **given, **read_estimate(job.summary, D)}
        rows.setdefault((group, dataset), row)
    return list(rows.values())


def _fit(points: Sequence[Mapping[str, Any]], by: str) -> QuadraticFit | None:
    """None with fewer than four points of different ``by``."""
    from judgelab.stats.discrimination.regression import quadratic_against_linear

    known = [row for row in points if row[by] is not None and row["value"] is not None]
    if len({row[by] for row in known}) < FEWEST:
        return None
    return quadratic_against_linear([row[by] for row in known], [row["value"] for row in known])
