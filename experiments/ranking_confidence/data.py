"""Every judge with human scores that lies below one folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.core.panel import Panel
from judgelab.dataset.rose import Rose
from judgelab.dataset.score_table import ScoreTable, need, read_table
from judgelab.dataset.summeval_ratings import DIMENSIONS, SummEval
from judgelab.stats.ranking.system_bias import fit_judge, system_moments

Array = NDArray[np.float64]
PLACE = ("item", "system", "human")
FEWEST = 3  # systems; two are predicted from the others
NO_METRICS = ("normalized_acu", "src_rouge2_p")
"""Columns of RoSE that are left out: another form of the human score, and a share of copied
bigrams, which is no measure of quality."""


@dataclass(frozen=True)
class Cell:
    """One judge on one data set.

    Attributes:
        data: which data.
        judge: which judge or metric.
        group: what its calibration is pooled with.
        systems: names.
        human, metric: [items, systems].
    """

    data: str
    judge: str
    group: str
    systems: tuple[str, ...]
    human: Array
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
    file = str(rose_file(folder))
    table = read_table(file, "--data")
    need(table, ("example_id", "system", "acu", "normalized_acu"), file, "--data")
    return table


def cells(folder: Path) -> list[Cell]:
    """RoSE's metrics, SummEval's judges and whatever score tables lie in the folder itself.

    Raises:
        DataError: a file is not what its name says.
    """
    return [*_rose(folder), *_summeval(folder), *_tables(folder)]


def experts(folder: Path) -> pd.DataFrame | None:
    """SummEval's grades with a column for each expert; None where they are not at hand."""
    for file in sorted((folder / "summeval").glob("*human*.parquet")):
        table = pd.read_parquet(file)
        if f"{DIMENSIONS[0]}_expert1" in table:
            return table
    return None


def _rose(folder: Path) -> Iterator[Cell]:
    panel = Rose(hub={}, texts={}, source="path", path=str(rose_file(folder))).load()
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
        made = SummEval(
            hub={},
            texts={},
            judges={"path": str(judges[0])},
            dimension=dimension,
            source="path",
            path=str(human[0]),
        )
        for cell in _cells(made.load(), f"SummEval {dimension}"):
            yield Cell(
                cell.data, cell.judge, "SummEval, LM judges", cell.systems, cell.human, cell.metric
            )


def _tables(folder: Path) -> Iterator[Cell]:
    """Tables with item, system, human and columns of numbers; what is left out is said."""
    for file in sorted([*folder.glob("*.csv"), *folder.glob("*.parquet")]):
        table = read_table(str(file), "--data")
        lacking = [name for name in PLACE if name not in table]
        given = [c for c in table.columns if c not in PLACE and _mostly_numbers(table[c])]
        if lacking or not given:
            what = f"columns {', '.join(lacking)}" if lacking else "a column of numbers"
            print(f"{file} is left out: it lacks {what}.", file=sys.stderr)
            continue
        panel = ScoreTable(path=str(file), metrics=[str(c) for c in given]).load()
        for cell in _cells(panel, file.stem):
            fit = fit_judge(system_moments(cell.human, cell.metric))
            if fit.systems > FEWEST and not np.isnan(fit.r):
                yield cell
            else:
                print(
                    f"{file}, {cell.judge}, is left out: it needs scores that vary, of more than "
                    f"{FEWEST} systems.",
                    file=sys.stderr,
                )


def _mostly_numbers(column: pd.Series[Any]) -> bool:
    """Whether most cells are numbers: then a cell that is none is a mistake, which is refused."""
    if pd.api.types.is_bool_dtype(column):
        return False
    return bool(pd.to_numeric(column, errors="coerce").notna().mean() > 0.5)


def _cells(panel: Panel, data: str) -> Iterator[Cell]:
    systems = tuple(agent.name for agent in panel.agents)
    human = _array([[item.human.get(name, np.nan) for name in systems] for item in panel.items])
    judges = dict.fromkeys(name for item in panel.items for name in item.scores)
    for judge in judges:
        metric = [[i.scores.get(judge, {}).get(s, np.nan) for s in systems] for i in panel.items]
        yield Cell(data, judge, data, systems, human, _array(metric))


def _array(rows: list[list[float]]) -> Array:
    return np.array(rows, dtype=np.float64)
