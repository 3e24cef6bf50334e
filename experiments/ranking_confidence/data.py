"""Every judge with human scores that lies below one folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.dataset.table import LabelledTable

Array = NDArray[np.float64]
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
NO_METRICS = ("count_id", "normalized_acu", "src_rouge2_p")
"""Columns of RoSE that are left out: a running number, another form of the human score, and a share
of copied bigrams, which is no measure of quality."""


@dataclass(frozen=True)
class Cell:
    """One judge on one data set."""

    data: str  # which data
    judge: str  # which judge or metric
    group: str  # what its calibration is pooled with
    systems: tuple[str, ...]  # names
    human: Array  # human, metric: [items, systems]
    metric: Array


def rose_scores(folder: Path) -> pd.DataFrame:
    """The table of RoSE scores: example_id, system, acu, normalized_acu, ...

    Raises:
        DataError: there is none, or it lacks one of these.
    """
    files = sorted((folder / "rose").glob("*systems*.parquet"))
    if not files:
        raise DataError(f"{folder} holds no rose/*systems*.parquet: scores of systems on articles.")
    table = pd.read_parquet(files[0])
    for column in ("example_id", "system", "acu", "normalized_acu"):
        if column not in table:
            raise DataError(f"{str(files[0])!r} has no column {column!r}: is it RoSE's?")
    return table


def cells(folder: Path) -> list[Cell]:
    """RoSE's metrics and SummEval's judges.

    Raises:
        DataError: a file is not what its name says.
    """
    return [*_rose(folder), *_summeval(folder)]


def _rose(folder: Path) -> Iterator[Cell]:
    rows = rose_scores(folder)
    rows = rows.rename(columns={"example_id": "id", "system": "agent", "acu": "human"})
    figures = [str(name) for name in rows.select_dtypes("number") if name != "human"]
    for cell in _cells(rows[["id", "agent", "human", *figures]], "RoSE"):
        if cell.judge in NO_METRICS:
            continue
        people = cell.judge in ("prior", "ref_free", "ref_based")
        group = "RoSE, other human protocols" if people else "RoSE, overlap and length"
        yield replace(cell, group=group)


def _summeval(folder: Path) -> Iterator[Cell]:
    for dimension in DIMENSIONS if any((folder / "summeval").glob("*judge*.parquet")) else ():
        for cell in _cells(summeval_table(folder, dimension), f"SummEval {dimension}"):
            yield replace(cell, group="SummEval, LM judges")


def summeval_table(folder: Path, dimension: str) -> pd.DataFrame:
    """A row for each summary: id, agent, human, and a column for each judge (evaluator/prompt)."""
    people, judges = (
        pd.read_parquet(next((folder / "summeval").glob(f"*{whose}*.parquet"))).rename(
            columns={"doc_id": "id", "system_id": "agent", dimension: "human"}
        )
        for whose in ("human", "judge")
    )
    own = judges[judges["dimension"] == dimension]
    own = own.assign(judge=own["evaluator"].astype(str) + "/" + own["prompt"].astype(str))
    wide = own.pivot(index=["id", "agent"], columns="judge", values="score")[own["judge"].unique()]
    return people[["id", "agent", "human"]].merge(wide.reset_index(), how="left")


def _cells(rows: pd.DataFrame, data: str) -> Iterator[Cell]:
    """Of a table whose columns but the first three are judges; in its own order, as resamples are
    drawn by place."""
    panel = LabelledTable(kind="grade", judges=[str(name) for name in rows][3:]).of(rows)
    systems = tuple(str(name) for name in rows["agent"].unique())
    by_id = {item.id: item for item in panel.items}
    items = [by_id[str(name)] for name in rows["id"].unique()]
    human = _array([[item.human.get(name, np.nan) for name in systems] for item in items])
    judges = dict.fromkeys(name for item in items for name in item.scores)
    for judge in judges:
        metric = [[i.scores.get(judge, {}).get(s, np.nan) for s in systems] for i in items]
        yield Cell(data, judge, data, systems, human, _array(metric))


def _array(rows: list[list[float]]) -> Array:
    return np.array(rows, dtype=np.float64)
