"""Judges by discernment: the discernment jobs of a sweep as a leaderboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgelab.report import format
from judgelab.report.jobs import SweepJob, axes, marked, setting
from judgelab.report.tables import Column

if TYPE_CHECKING:
    from pandas import DataFrame

KEY = "discernment/average_ew"
TITLE = "Judges by discernment"
NOTE = (
    "D with expert weights (EW) and without, averaged over levels and at its minimum over "
    "perturbations, with 95 % intervals over items; chance: what 5 % of judges reach that see "
    "nothing. Compare within a dataset, on the same perturbations and as many items. With every "
    "perturbation by itself: judges.csv."
)
CELLS_TITLE = "D of each judge on each perturbation, expert weights"
EACH = "d_ew/"
FIGURES = {
    "average_ew": "D EW\naverage",
    "average": "D\naverage",
    "minimum_ew": "D EW\nminimum",
    "minimum": "D\nminimum",
}


def judges(found: Sequence[SweepJob]) -> DataFrame:
    """One row per judge and dataset, the best of a dataset on top; empty with fewer than two."""
    import pandas as pd

    each = zip(found, marked(found), strict=True)
    rows = [_row(job, axes(found), own) for job, own in each if KEY in job.summary]
    made = pd.DataFrame(rows if len(rows) > 1 else [])
    if not len(made):
        return made
    for key in (key for key in made if str(key).startswith((*FIGURES, EACH))):
        made[key] = pd.to_numeric(made[key])
    by = ["dataset", "average_ew"]
    return made.sort_values(by, ascending=[True, False], kind="stable").reset_index(drop=True)


def shown(board: DataFrame) -> list[Column]:
    """Judges down; each D with its interval and what chance reaches, and what is not seen."""
    rows = board.to_dict("records")
    made = _named(board, rows)
    for name, heading in FIGURES.items():
        cells = tuple(
            format.estimate(*(row[f"{name}{p}"] for p in ("", "_low", "_high"))) for row in rows
        )
        made.append(Column(name, heading, True, cells, _known(rows, name)))
        made.append(_number(rows, f"{name}_threshold", "chance"))
    made += [_number(rows, key, key) for key in ("n", "unscored")]
    return [*made, _words(rows, "not_seen", "not seen")]


def listed(board: DataFrame) -> list[Column]:
    """The same, as much of it as fits any terminal."""
    rows = board.to_dict("records")
    d = _number(rows, "average_ew", "D EW")
    bar = _number(rows, "average_ew_threshold", "chance")
    plain = _number(rows, "average", "D")
    return [*_named(board, rows), d, bar, plain, _words(rows, "not_seen", "not seen")]


def cells(board: DataFrame) -> list[Column]:
    """Judges down, perturbations across."""
    rows = board.to_dict("records")
    made = _named(board, rows)
    for key in (key for key in board.columns if str(key).startswith(EACH)):
        name = str(key).removeprefix(EACH)
        texts = tuple(_cell(row, name) for row in rows)
        heading = format.words(name).replace(" ", "\n")
        made.append(Column(str(key), heading, True, texts, _known(rows, key)))
    return made


def _row(job: SweepJob, varying: Sequence[str], own: str) -> dict[str, Any]:
    """``own``: what its estimator has and others of its name have not."""
    summary = job.summary
    names = [key for key in varying if key not in ("study", "dataset", "attack")]
    said = " · ".join(_setting(job, key) for key in names)
    row: dict[str, Any] = {
        "judge": (said or str(summary["mechanism"])) + (f" ({own})" if own else ""),
        "dataset": str(summary.get("dataset") or ""),
    }
    for name in FIGURES:
        parts = ("", "_low", "_high", "_threshold")
        row |= {f"{name}{part}": summary.get(f"discernment/{name}{part}") for part in parts}
    row |= {part: summary.get(f"{KEY}_{part}") for part in ("n", "unscored")}
    row |= {key: summary.get(key) for key in ("items", "not_seen_count", "not_seen")}
    return row | {key: value for key, value in summary.items() if key.startswith(EACH)}


def _setting(job: SweepJob, key: str) -> str:
    value = setting(job, key)
    return value if key in job.choices else f"{key}={value}"


def _named(board: DataFrame, rows: Sequence[Mapping[Any, Any]]) -> list[Column]:
    several = board["dataset"].nunique() > 1
    keys = ["judge", "dataset"] if several else ["judge"]
    return [_words(rows, key, key) for key in keys]


def _words(rows: Sequence[Mapping[Any, Any]], key: str, heading: str) -> Column:
    texts = tuple(format.text(row[key] or "") for row in rows)
    return Column(key, heading, False, texts, texts)


def _number(rows: Sequence[Mapping[Any, Any]], key: str, heading: str) -> Column:
    values = _known(rows, key)
    return Column(key, heading, True, tuple(format.number(value) for value in values), values)


def _known(rows: Sequence[Mapping[Any, Any]], key: str) -> tuple[Any, ...]:
    """The values of a column, None for those that are not known: they go last."""
    return tuple(None if row[key] != row[key] else row[key] for row in rows)


def _cell(row: Mapping[Any, Any], name: str) -> str:
    unseen = name in str(row["not_seen"] or "").split(", ")
    return format.number(row[f"{EACH}{name}"]) + ("\nnot seen" if unseen else "")
