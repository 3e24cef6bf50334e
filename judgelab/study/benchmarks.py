"""What is known of the candidates elsewhere: sizes and other benchmarks, from a CSV."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from judgelab.errors import DataError
from judgelab.result import Row, Table, Value
from judgelab.stats.agreement import agreement

if TYPE_CHECKING:
    import pandas as pd

SIZE = "parameters"


@dataclass(frozen=True)
class Benchmarks:
    """One row per model, numeric columns; NaN where a number is not known."""

    table: pd.DataFrame

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
        rows: list[Row] = []
        ours = [np.nan if (v := scores.get(str(name))) is None else v for name in self.table.index]
        for column in self.table.columns:
            for method in ("spearman", "pearson"):
                found = agreement(np.asarray(ours, dtype=np.float64), self.table[column], method)
                rows.append({"with": str(column), "correlation": method, **found.as_dict()})
        note = "Over models; n counts those with both numbers. Intervals resample models."
        return Table("benchmarks", "Correlation with other benchmarks", rows, note)


def read_benchmarks(path: str) -> Benchmarks:
    """Read a CSV with a column ``model`` and columns of numbers.

    Raises:
        DataError: it cannot be read, has no such column, repeats a model, or holds words.
    """
    import pandas as pd

    try:
        table = pd.read_csv(Path(path).expanduser())
    except (OSError, ValueError) as cause:
        raise DataError(f"study.benchmarks={path!r} cannot be read as CSV: {cause}.") from cause
    if "model" not in table or table["model"].duplicated().any():
        raise DataError(
            f"study.benchmarks={path!r} needs a column 'model' that names every model once."
        )
    table = table.set_index(table["model"].astype(str)).drop(columns="model")
    wordy = [str(name) for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    if wordy:
        raise DataError(f"study.benchmarks={path!r}: column {wordy[0]!r} must hold numbers only.")
    return Benchmarks(table)
