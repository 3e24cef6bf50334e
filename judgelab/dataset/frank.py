"""FRANK: factuality of summaries by people, and fifteen metrics beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.files import cell_text, need, of_frame, read_frame
from judgelab.dataset.table import LabelledTable

if TYPE_CHECKING:
    from pandas import DataFrame

KEYS = ("item", "system", "dataset")
FILES = ("human_annotations.json", "baseline_factuality_metrics_outputs.json")
NO_SCORE = "the metric has no score of this text"


@dataclass(frozen=True, kw_only=True)
class Frank(LimitedDataset):
    """Pagnoni et al. 2021 (arXiv 2104.13346): 2,246 summaries of 9 systems of two domains.

    An item is an article; summaries of one article are one cluster. Texts do not come along.

    Args:
        path: a clone of the authors' repository (artidoro/frank); or .parquet or .csv with item
            (the article), system, dataset (cnndm or bbc), split, the human column, and after them
            one column for each metric.
        domain: whose summaries; null: both, each a stratum. No system wrote for both.
        split: of the authors: valid, test; null: both.
        human: which human score.
        metrics: names of columns; null: all after the column ``split``.

    Raises:
        ConfigError: no path.
        DataError: the file cannot be read, lacks a column, or holds nothing of what was chosen.
    """

    path: str
    domain: Literal["cnndm", "bbc"] | None = None
    split: Literal["valid", "test"] | None = None
    human: str = "Factuality"
    metrics: Sequence[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise ConfigError("dataset=frank needs dataset.path, a clone of artidoro/frank.")

    def _panel(self, limit: int | None) -> Panel:
        rows = self._rows()
        metrics = self.metrics
        if metrics is None:
            columns = [str(name) for name in rows.columns]
            metrics = columns[columns.index("split") + 1 :]
        need(rows, metrics, self.path, "dataset.metrics")
        names = {"item": "id", "system": "agent", "dataset": "stratum", self.human: "human"}
        kept = rows[[*names, *metrics]].rename(columns=names)
        # a row for each score, since a metric without one is unscored, and not left out
        long = kept.melt([*names.values()], var_name="judge", value_name="score")
        long["reason"] = [NO_SCORE if cell_text(one) == "" else "" for one in long["score"]]
        apart = None if self.domain is None else False
        table = LabelledTable(kind="grade", columns={"stratum": apart})
        facts = {"dataset": "frank", "file": self.path, "human": self.human}
        return table.panel(of_frame(long), repr(self.path), facts, limit)

    def _rows(self) -> DataFrame:
        folder = Path(self.path).expanduser()
        rows = _clone(folder) if folder.is_dir() else read_frame(self.path)
        need(rows, (*KEYS, "split", self.human), self.path, "dataset.human")
        for column, wanted in (("dataset", self.domain), ("split", self.split)):
            rows = rows if wanted is None else rows[rows[column] == wanted]
        if rows.empty:
            raise DataError(f"{self.path!r} has no summary of {self.domain} ({self.split}).")
        return rows


def _clone(folder: Path) -> DataFrame:
    """The table of a clone: people's scores, then the split, then metrics.

    Raises:
        DataError: a file is missing, is no JSON, or the two are not of the same summaries.
    """
    import pandas as pd

    try:
        people, metrics = (
            pd.DataFrame(json.loads((folder / "data" / name).read_text(encoding="utf-8")))
            for name in FILES
        )
        same = ["hash", "model_name", "dataset", "split"]
        rows = people.merge(metrics, on=same, validate="one_to_one")
    except (OSError, ValueError, KeyError) as cause:
        said = " ".join(str(cause).split())[:200]
        raise DataError(
            f"{str(folder)!r} is no clone of artidoro/frank: {said} (data/{FILES[0]}, {FILES[1]})."
        ) from cause
    if not len(rows) == len(people) == len(metrics):
        raise DataError(
            f"{str(folder)!r}: {FILES[0]} and {FILES[1]} are not of the same summaries."
        )
    given = [name for name in people.columns if name not in same]
    rest = [name for name in metrics.columns if name not in same]
    rows = rows[["hash", "model_name", "dataset", *given, "split", *rest]]
    return rows.rename(columns={"hash": "item", "model_name": "system"})
