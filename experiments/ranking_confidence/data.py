"""Every judge with human scores that lies below one folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.config import build, resolved
from judgelab.config.composing import composed
from judgelab.core.errors import DataError
from judgelab.core.panel import Panel

Array = NDArray[np.float64]
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
NO_METRICS = ("normalized_acu", "src_rouge2_p")
"""Columns of RoSE that are left out: another form of the human score, and a share of copied
bigrams, which is no measure of quality."""


@dataclass(frozen=True)
class Cell:
    """One judge on one data set."""

    data: str  # which data
    judge: str  # which judge or metric
    group: str  # what its calibration is pooled with
    systems: tuple[str, ...]  # names
    human: Array  # human, metric: [items, systems]
    metric: Array


def rose_file(folder: Path) -> Path:
    """The table of RoSE scores.

    Raises:
        DataError: there is none.
    """
    found = sorted((folder / "rose").glob("*systems*.parquet"))
    if not found:
        raise DataError(f"{folder} holds no rose/*systems*.parquet: scores of systems on articles.")
    return found[0]


def rose_scores(folder: Path) -> pd.DataFrame:
    """The table itself: example_id, system, acu, normalized_acu, ...

    Raises:
        DataError: there is none, or it lacks one of these.
    """
    file = rose_file(folder)
    table = pd.read_parquet(file)
    for column in ("example_id", "system", "acu", "normalized_acu"):
        if column not in table:
            raise DataError(f"{str(file)!r} has no column {column!r}: is it RoSE's?")
    return table


def cells(folder: Path) -> list[Cell]:
    """RoSE's metrics and SummEval's judges.

    Raises:
        DataError: a file is not what its name says.
    """
    return [*_rose(folder), *_summeval(folder)]


def _rose(folder: Path) -> Iterator[Cell]:
    panel = _panel("rose", rose_file(folder))
    for cell in _cells(panel, "RoSE"):
        if cell.judge in NO_METRICS:
            continue
        people = cell.judge in ("prior", "ref_free", "ref_based")
        group = "RoSE, other human protocols" if people else "RoSE, overlap and length"
        yield Cell(cell.data, cell.judge, group, cell.systems, cell.human, cell.metric)


def _summeval(folder: Path) -> Iterator[Cell]:
    human = sorted((folder / "summeval").glob("*human*.parquet"))
    judges = sorted((folder / "summeval").glob("*judge*.parquet"))
    if not human or not judges:
        return
    for dimension in DIMENSIONS:
        panel = _panel(
            "summeval_ratings",
            human[0],
            f"dataset.human={dimension}",
            f"dataset.judges.path='{judges[0]}'",
        )
        for cell in _cells(panel, f"SummEval {dimension}"):
            yield Cell(
                cell.data, cell.judge, "SummEval, LM judges", cell.systems, cell.human, cell.metric
            )


def _panel(name: str, file: Path, *words: str) -> Panel:
    """A dataset of the config, from a file at hand."""
    said = [f"dataset={name}", "dataset.source=path", f"dataset.path='{file}'", *words]
    panel: Panel = build(resolved(composed(said))["dataset"], "dataset").load()
    return panel


def _cells(panel: Panel, data: str) -> Iterator[Cell]:
    systems = tuple(agent.name for agent in panel.agents)
    human = _array([[item.human.get(name, np.nan) for name in systems] for item in panel.items])
    judges = dict.fromkeys(name for item in panel.items for name in item.scores)
    for judge in judges:
        metric = [[i.scores.get(judge, {}).get(s, np.nan) for s in systems] for i in panel.items]
        yield Cell(data, judge, data, systems, human, _array(metric))


def _array(rows: list[list[float]]) -> Array:
    return np.array(rows, dtype=np.float64)
