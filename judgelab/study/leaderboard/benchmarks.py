"""What is known of the candidates elsewhere: sizes, other benchmarks and runs, from a CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.resources import conf
from judgelab.core.result import Table, Value
from judgelab.stats.ranking.leaderboard import agreement
from judgelab.study.common.tables import estimate_table

if TYPE_CHECKING:
    import pandas as pd

SIZE = "parameters"
NAMES = ("model", "candidate")
"""Columns that may name the models; the first that is there does."""


@dataclass(frozen=True)
class Benchmarks:
    """One row per model, numeric columns; NaN where a number is not known.

    Attributes:
        table: indexed by the models' names.
        left_out: columns that hold other things than numbers.
    """

    table: pd.DataFrame
    left_out: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, float]:
        """Model -> size in billions of parameters, where known."""
        if SIZE not in self.table:
            return {}
        known = self.table[SIZE].dropna()
        return {str(name): float(value) for name, value in known.items()}

    def correlations(self, scores: Mapping[str, Value]) -> Table:
        """Pearson and Spearman of the candidates' scores with every column, each by its name.

        The paper prints Pearson under the name of Spearman (docs/definitions.md).
        """
        known = [scores.get(str(name)) for name in self.table.index]
        ours = np.array([np.nan if value is None else value for value in known], dtype=np.float64)
        methods: tuple[Literal["spearman", "pearson"], ...] = ("spearman", "pearson")
        cells = [
            (
                {"with": str(column), "correlation": method},
                agreement(ours, self.table[column], method),
            )
            for column in self.table.columns
            for method in methods
        ]
        note = "Over models; n counts those with both numbers. Intervals resample models."
        if self.left_out:
            listed = ", ".join(self.left_out)
            note += f" Left out, as they hold other things than numbers: {listed}."
        return estimate_table("benchmarks", "Correlation with other benchmarks", cells, note)


def read_benchmarks(path: str) -> Benchmarks:
    """Read a CSV with a row for each model: other benchmarks, or another run's leaderboard.

    ``path`` is a file, or a name under conf/benchmarks. The column ``model`` names the models, or
    ``candidate`` as in ``tables/leaderboard.csv`` of a run.

    Raises:
        DataError: it cannot be read, has no such column or no numbers, a name is missing or there
            twice, or a number is infinite.
    """
    import pandas as pd

    where, file = f"study.benchmarks={path!r}", Path(path).expanduser()
    if not file.is_file() and (shipped := conf() / "benchmarks" / path).is_file():
        file = shipped
    try:
        table = pd.read_csv(file, index_col=False)
        # Names as written: else 007 would become 7, and None nothing.
        names = pd.read_csv(file, index_col=False, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as cause:
        said = " ".join(str(cause).split())
        raise DataError(f"{where} cannot be read as CSV: {said}.") from cause
    name = next((name for name in NAMES if name in table), None)
    if name is None:
        raise DataError(f"{where} needs a column 'model' or 'candidate' that names the models.")
    table = table.drop(columns=name).set_axis(_checked_names(list(names[name]), name, where))
    return _of_numbers(table, where)


def _of_numbers(table: pd.DataFrame, where: str) -> Benchmarks:
    """The columns of numbers, all of them finite or not known."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    wordy = [
        str(column)
        for column in table
        if not is_numeric_dtype(table[column]) or is_bool_dtype(table[column])
    ]
    table = table.drop(columns=wordy).astype("float64")
    if table.columns.empty:
        raise DataError(f"{where} has no column of numbers: there is nothing to compare.")
    cells = table.to_numpy()
    for row, column in zip(*np.isinf(cells).nonzero(), strict=True):
        raise DataError(
            f"{where}: column {table.columns[column]!r} holds {float(cells[row, column])} for "
            f"{table.index[row]!r}: give a finite number, or leave it empty."
        )
    return Benchmarks(table, tuple(wordy))


def _checked_names(names: list[str], column: str, where: str) -> list[str]:
    """The models' names, each there once."""
    if not names:
        raise DataError(f"{where} has no rows: give one for each model.")
    for row, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{where}, row {row}: there is no name in its column {column!r}.")
        if name in names[: row - 1]:
            raise DataError(f"{where} names {name!r} twice in its column {column!r}: keep one.")
    return names
