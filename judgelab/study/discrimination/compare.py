"""Several mechanisms, clean and attacked; d against compression (TVD-MI paper, appendix B.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from judgelab.core.result import Headline, read_estimate
from judgelab.report import format
from judgelab.report.jobs import Comparison, SweepJob, axes, option, setting, variant
from judgelab.report.sweep import name_of
from judgelab.report.tables import columns, frame
from judgelab.study.common.prompts import prompt_effects

if TYPE_CHECKING:
    from pandas import DataFrame

    from judgelab.stats.discrimination.structure import QuadraticFit

HEADLINES = (
    Headline(
        "clean/human_within",
        "Agreement with people",
        0.5,
        gain="clean/human_within_gain",
        people=True,
    ),
    Headline("clean/auc", "AUC, good against bad responses", 0.5, gain="clean/auc_gain"),
    Headline("clean/pair_auc", "AUC of pairs", 0.5),
    Headline("clean/effect_size", "Effect size"),
)
D = "clean/effect_size"
BY = {
    "compression_reference": "characters of the source per character of the reference",
    "compression_response": "characters of the source per character of the agents' texts",
    "effective_rank": "effective rank (participation ratio of the agents' correlations)",
}
"""What d is drawn against: the key in a summary -> how it is called."""

FEWEST = 4  # data sets behind a parabola
NOTE = (
    "Least squares of d on each quantity, a line against a parabola; F(1, n - 3) and p are of the "
    "quadratic term, n counts data sets. The paper fits |d|, which is the same where every d is "
    "positive; its effective rank is not defined, this one is ours. The errors of the d themselves "
    "are not in the fit. All points: compression.csv."
)


def compare(jobs: Sequence[SweepJob]) -> list[Comparison]:
    """Points of every mechanism under every attack, and fits over data sets where there are any."""
    made, drawn, fits = prompt_effects(jobs), points(jobs), fit_table(jobs)
    if fits is not None:
        made.insert(0, fits)
    if not drawn.empty:
        figures = ["effect_sizes_by_mechanism", "auc_under_attack"]
        made.insert(0, Comparison("points", drawn, figures=figures, answer=_under_attack(jobs)))
    return made


def points(jobs: Sequence[SweepJob]) -> DataFrame:
    """Rows for the figures: one clean point a group, one for each attack."""
    varying = axes(jobs)
    names = [key for key in varying if key.partition(".")[0] != "attack"]
    facet = "dataset" if "dataset" in names and len(names) > 1 else None
    named = ("facet", "group", "attack", "statistic")
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for job in (job for job in jobs if "clean/auc" in job.summary):
        group = " · ".join(option(job, key) for key in names if key != facet)
        place = (setting(job, facet) if facet else "", group or setting(job, "mechanism"))
        attacks = {"clean": "none", "attacked": variant(job, setting(job, "attack"), varying)}
        for panel, attack in attacks.items():
            for statistic in ("effect_size", "auc"):
                key = f"{panel}/{statistic}"
                spot = (*place, attack, statistic)
                if key in job.summary and spot not in rows:
                    keys = dict(zip(named, spot, strict=True))
                    rows[spot] = keys | read_estimate(job.summary, key)
    return frame({"rows": list(rows.values())})


def _under_attack(jobs: Sequence[SweepJob]) -> list[tuple[str, str]]:
    falls = {
        f"{name_of(job, jobs, ('attack',))} under {job.summary['attack']}": one
        for job in jobs
        if (one := read_estimate(job.summary, "change/auc"))["high"] is not None
    }
    if not falls:
        return []
    sure = {name: one for name, one in falls.items() if one["high"] < 0}
    if not sure:
        return [("Under attack", "In no run is the AUC surely lower.")]
    worst = min(sure, key=lambda name: float(sure[name]["value"]))
    ends = format.estimate(*(sure[worst][part] for part in ("value", "low", "high")))
    said = f"In {len(sure)} of {format.counted(len(falls), 'run')} the AUC is surely lower"
    return [("Under attack", f"{said}; most of all {worst}, by {ends}.")]


def fit_table(jobs: Sequence[SweepJob]) -> Comparison | None:
    """Fits over data sets; None with fewer than four of different compression in every group."""
    points = _points(jobs)
    fits = [
        {"group": group, "by": by, **asdict(fit)}
        for group in dict.fromkeys(row["group"] for row in points)
        for by in BY
        if (fit := _fit([row for row in points if row["group"] == group], by)) is not None
    ]
    if not fits:
        return None
    shown = columns([{**fit, "by": BY[str(fit["by"])]} for fit in fits])
    return Comparison(
        name="compression",
        figures=["effect_sizes_by_compression"],
        note=NOTE,
        rows=frame({"rows": points}),
        tables={"Effect size by compression and effective rank": shown},
    )


def _points(jobs: Sequence[SweepJob]) -> list[dict[str, Any]]:
    keys = axes(jobs)
    names = [key for key in keys if key.partition(".")[0] not in ("attack", "dataset")]
    data = [key for key in keys if key.partition(".")[0] == "dataset"]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for job in (job for job in jobs if D in job.summary):
        group = " · ".join(option(job, key) for key in names) or str(job.summary["mechanism"])
        dataset = " · ".join(option(job, key) for key in data) or setting(job, "dataset")
        given = {by: job.summary.get(f"clean/{by}") for by in BY}
        row = {"group": group, "dataset": dataset, **given, **read_estimate(job.summary, D)}
        rows.setdefault((group, dataset), row)
    return list(rows.values())


def _fit(points: Sequence[Mapping[str, Any]], by: str) -> QuadraticFit | None:
    """None with fewer than four points of different ``by``."""
    from judgelab.stats.discrimination.structure import quadratic_against_linear

    known = [row for row in points if row[by] is not None and row["value"] is not None]
    if len({row[by] for row in known}) < FEWEST:
        return None
    return quadratic_against_linear([row[by] for row in known], [row["value"] for row in known])
