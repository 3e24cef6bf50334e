"""What is known of the candidates elsewhere: sizes, other benchmarks and runs, from a CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judgelab.core.errors import DataError
from judgelab.core.resources import conf, own_or_shipped
from judgelab.core.result import Table, Value
from judgelab.core.terminal import unquoted
from judgelab.stats.discrimination.correlation import METHODS
from judgelab.stats.ranking.leaderboard import agreement
from judgelab.study.common.tables import estimate_rows
from judgelab.study.common.templates import table

SIZE = "parameters"
NAMES = ("model", "candidate")
"""Columns that may name the models; the first that is there does."""


@dataclass(frozen=True)
class Benchmarks:
    """Numbers of models.

    Attributes:
        table: a row per model, indexed by name; numeric columns, NaN where not known.
        left_out: columns that hold other things than numbers.
    """

    table: pd.DataFrame
    left_out: tuple[str, ...] = ()

    @property
    def parameters(self) -> Mapping[str, float]:
        """Model -> size in billions of parameters, where known."""
        sizes = self.table.get(SIZE, pd.Series(dtype=float)).dropna()
        return {str(name): float(size) for name, size in sizes.items()}

    def correlations(self, scores: Mapping[str, Value]) -> Table:
        """Pearson and Spearman of the candidates' scores with every column, each by its name.

        The paper prints Pearson under the name of Spearman (docs/definitions.md).
        """
        ours = np.array([scores.get(str(name)) for name in self.table.index], dtype=np.float64)
        cells = [
            (
                {"with": str(column), "correlation": method},
                agreement(ours, self.table[column], method),
            )
            for column in self.table.columns
            for method in METHODS
        ]
        return table(__package__, "benchmarks", estimate_rows(cells), left_out=self.left_out)


def read_benchmarks(path: str) -> Benchmarks:
    """Read a CSV with a row for each model: other benchmarks, or another run's leaderboard.

    ``path`` is a file, or a name under conf/benchmarks. The column ``model`` names the models, or
    ``candidate`` as in ``tables/leaderboard.csv`` of a run.

    Raises:
        DataError: it cannot be read, has no such column or no finite numbers, or a name is missing
            or there twice.
    """
    where, file = f"study.benchmarks={path!r}", own_or_shipped(path, conf() / "benchmarks")
    try:
        read = pd.read_csv(file, index_col=False)
        # names as written: else 007 would become 7, and None nothing
        written = pd.read_csv(file, index_col=False, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as cause:
        raise DataError(
            f"{where} cannot be read as CSV: {' '.join(str(cause).split())}."
        ) from cause
    column = next((name for name in NAMES if name in read), None)
    if column is None:
        raise DataError(f"{where} needs a column 'model' or 'candidate' that names the models.")
    names = written[column].map(unquoted)
    for name, wrong in zip(names, names.duplicated() | (names.str.strip() == ""), strict=True):
        if wrong:
            raise DataError(f"{where} has {name!r} in its column {column!r}: give each model once.")
    read = read.drop(columns=column).set_axis(names)
    numbers = read.select_dtypes("number").astype("float64")
    if numbers.size == 0 or np.isinf(numbers.to_numpy()).any():
        raise DataError(f"{where} needs a row for each model and a column of finite numbers.")
    return Benchmarks(numbers, tuple(str(c) for c in read if c not in numbers))
