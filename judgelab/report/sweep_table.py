"""The jobs of a sweep as a table to read, a table to compute with, and points to draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, estimators, marked, setting
from judgelab.report.tables import Column

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
PARTS = ("", "_low", "_high", "_threshold", "_n", "_unscored", "_p")

Estimate = Callable[[object, object, object], str]


def shown(found: Sequence[SweepJob], estimate: Estimate) -> list[Column]:
    """One row per job: what varies, items, the figures of its study, texts without a score.

    Args:
        found: the jobs.
        estimate: writes value, low and high into a cell.
    """
    made = []
    for key in axes(found):
        cells = tuple(format.text(setting(job, key)) for job in found)
        made.append(Column(key, key, False, cells, cells))
    if any(differs := marked(found)):
        cells = tuple(mark or format.NOTHING for mark in differs)
        made.append(Column("estimator", "estimator", False, cells, tuple(differs)))
    if any("items" in job.summary for job in found):
        made.append(_counts("items", found, [job.summary.get("items") for job in found]))
    for key, heading in metrics(found).items():
        cells = tuple(_cell(job, key, estimate) for job in found)
        values = tuple(job.summary.get(key) for job in found)
        made.append(Column(key, heading, True, cells, values))
    first = len(made) - len(metrics(found))
    if first < len(made):
        made[first] = _with_failures(made[first], found)
    made.append(_counts("unscored", found, [unscored(job) for job in found]))
    return made


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
            row |= {f"{key}{part}": job.summary.get(f"{key}{part}") for part in PARTS}
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
    """Texts without a score, clean and attacked together; None where nobody counted."""
    counts = [v for k, v in job.summary.items() if k.endswith("unscored_texts") and v is not None]
    return sum(counts) if counts else None


def points(found: Sequence[SweepJob]) -> DataFrame:
    """Rows for judgelab.report.figures.sweeps: one clean point a group, one for each attack."""
    import pandas as pd

    done = [job for job in found if job.result is not None and "clean/auc" in job.summary]
    varying = axes(found)
    names = [key for key in varying if key.partition(".")[0] != "attack"]
    facet = "dataset" if "dataset" in names and len(names) > 1 else None
    rows: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for job in done:
        place = setting(job, facet) if facet else ""
        group = " · ".join(_said(job, key) for key in names if key != facet)
        for panel, attack in (("clean", "none"), ("attacked", _attack(job, varying))):
            for row in _point(job, panel):
                spot = (place, group or setting(job, "mechanism"), attack, row["statistic"])
                keys = dict(zip(("facet", "group", "attack"), spot, strict=False))
                rows.setdefault(spot, {**keys, **row})
    return pd.DataFrame(list(rows.values()))


def _point(job: SweepJob, panel: str) -> Iterator[dict[str, Any]]:
    for statistic in ("effect_size", "auc"):
        key = f"{panel}/{statistic}"
        if key in job.summary:
            parts = ("low", "high", "n", "unscored")
            rest = {part: _real(job.summary.get(f"{key}_{part}")) for part in parts}
            yield {"statistic": statistic, "value": _real(job.summary[key]), **rest}


def _attack(job: SweepJob, varying: Sequence[str]) -> str:
    """``padding count=20``: the option, and its values where they vary."""
    inner = [key for key in varying if key.startswith("attack.")]
    values = [f"{key.partition('.')[2]}={setting(job, key)}" for key in inner]
    return " ".join([setting(job, "attack"), *values])


def _said(job: SweepJob, key: str) -> str:
    """Options speak for themselves; of a number one has to know whose it is."""
    value = setting(job, key)
    return value if key in job.choices else f"{key}={value}"


def _cell(job: SweepJob, key: str, estimate: Estimate) -> str:
    value = job.summary.get(key)
    return estimate(value, job.summary.get(f"{key}_low"), job.summary.get(f"{key}_high"))


def _with_failures(column: Column, found: Sequence[SweepJob]) -> Column:
    cells = tuple(
        "failed" if job.error is not None else cell
        for job, cell in zip(found, column.cells, strict=True)
    )
    return Column(column.key, column.heading, column.numeric, cells, column.sort)


def _counts(name: str, found: Sequence[SweepJob], values: Sequence[Any]) -> Column:
    return Column(name, name, True, tuple(format.number(v) for v in values), tuple(values))


def _real(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
