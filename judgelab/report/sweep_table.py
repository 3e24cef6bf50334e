"""The jobs of a sweep as a table to read, a table to compute with, and points to draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgelab.core.result import flat_estimate, read_estimate
from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, estimators, marked, option, setting, variant
from judgelab.report.tables import Column, Write, column, estimates, frame

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = {
    "clean/effect_size": "d\nclean",
    "clean/auc": "AUC\nclean",
    "clean/pair_auc": "pair AUC\nclean",
    "attacked/effect_size": "d\nattacked",
    "attacked/auc": "AUC\nattacked",
    "change/auc": "AUC\nchange",
    "change/smd": "d\nchange",
    "clean/human_spearman": "rho\nhuman",
    "discernment/average_ew": "D EW\naverage",
    "discernment/minimum_ew": "D EW\nminimum",
    "discernment/average": "D\naverage",
    "discernment/minimum": "D\nminimum",
}
LEGEND = "d: effect size; 95 % intervals over items; unscored counts texts without a score."


def shown(found: Sequence[SweepJob], write: Write = format.estimate) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score."""
    made = [column(key, [setting(job, key) for job in found], key) for key in axes(found)]
    if any(differs := marked(found)):
        made.append(column("estimator", [mark or None for mark in differs]))
    if any("items" in job.summary for job in found):
        made.append(column("items", [job.summary.get("items") for job in found]))
    first = len(made)
    for key, heading in metrics(found).items():
        made.append(
            estimates(key, [read_estimate(job.summary, key) for job in found], heading, write)
        )
    if first < len(made):
        pairs = zip(found, made[first].cells, strict=True)
        cells = tuple("failed" if job.error is not None else cell for job, cell in pairs)
        made[first] = replace(made[first], cells=cells)
    return [*made, column("unscored", [unscored(job) for job in found])]


def table(found: Sequence[SweepJob]) -> DataFrame:
    """The same as numbers: every part of every estimate in a column of its own."""
    import pandas as pd

    rows = []
    for job, one, differs in zip(found, estimators(found), marked(found), strict=True):
        row: dict[str, Any] = {"job": job.number}
        row |= {key: setting(job, key) for key in axes(found)}
        row["estimator_differs"] = differs or None
        row["estimator"] = None if one is None else one.line
        row["status"] = "done" if job.error is None else f"failed: {job.error}"
        row["items"] = job.summary.get("items")
        for key in metrics(found):
            row |= flat_estimate(key, read_estimate(job.summary, key))
        row["unscored_texts"] = unscored(job)
        row["run"] = None if job.run is None else job.run.name
        rows.append(row)
    return pd.DataFrame(rows).dropna(axis="columns", how="all")


def metrics(found: Sequence[SweepJob]) -> dict[str, str]:
    """Summary key -> heading of what the studies of this sweep have to show."""
    known = [key for key in METRICS if any(job.summary.get(key) is not None for job in found)]
    own = [str(job.result["primary"]) for job in found if job.result is not None]
    return {key: METRICS.get(key, format.words(key)) for key in dict.fromkeys([*known, *own])}


def unscored(job: SweepJob) -> int | None:
    """Texts without a score, clean and attacked together; None where they were not counted."""
    counts = [v for k, v in job.summary.items() if k.endswith("unscored_texts") and v is not None]
    return sum(counts) if counts else None


def points(found: Sequence[SweepJob]) -> DataFrame:
    """Rows for judgelab.report.figures.sweeps: one clean point a group, one for each attack."""
    varying = axes(found)
    names = [key for key in varying if key.partition(".")[0] != "attack"]
    facet = "dataset" if "dataset" in names and len(names) > 1 else None
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for job in (job for job in found if "clean/auc" in job.summary):
        group = " · ".join(option(job, key) for key in names if key != facet)
        place = (setting(job, facet) if facet else "", group or setting(job, "mechanism"))
        attacks = {"clean": "none", "attacked": variant(job, setting(job, "attack"), varying)}
        for panel, attack in attacks.items():
            for statistic in ("effect_size", "auc"):
                key = f"{panel}/{statistic}"
                spot = (*place, attack, statistic)
                if key in job.summary and spot not in rows:
                    keys = dict(zip(("facet", "group", "attack", "statistic"), spot, strict=True))
                    rows[spot] = keys | read_estimate(job.summary, key)
    return frame({"rows": list(rows.values())})
