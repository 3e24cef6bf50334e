"""FRANK: factuality of summaries by people, and fifteen metrics beside it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.score_table import need, numbers, read_table

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
        items = list(dict.fromkeys(rows["item"].astype(str)))[:limit]
        rows = rows[rows["item"].astype(str).isin(items)].reset_index(drop=True)
        table = self._table(rows)
        systems = list(dict.fromkeys(table.units.first))
        return Panel(
            tuple(Item(name, "") for name in items),
            tuple(Agent(name) for name in systems),
            tuple((None,) * len(systems) for _ in items),
            provenance={
                "dataset": "frank",
                "file": self.path,
                "rows": len(items),
                "human": self.human,
                "task_description": "Summarise a text",
            },
            judgments=table,
        )

    def _rows(self) -> DataFrame:
        folder = Path(self.path).expanduser()
        rows = _clone(folder) if folder.is_dir() else read_table(self.path)
        need(rows, (*KEYS, "split", self.human), self.path, "dataset.human")
        for column, wanted in (("dataset", self.domain), ("split", self.split)):
            rows = rows if wanted is None else rows[rows[column] == wanted]
        if rows.empty:
            raise DataError(f"{self.path!r} has no summary of {self.domain} ({self.split}).")
        return rows.reset_index(drop=True)

    def _table(self, rows: DataFrame) -> JudgmentTable:
        metrics = self.metrics
        if metrics is None:
            columns = [str(name) for name in rows.columns]
            metrics = columns[columns.index("split") + 1 :]
        need(rows, metrics, self.path, "dataset.metrics")
        human = np.array(numbers(rows, self.human, self.path))
        scores = np.array([numbers(rows, name, self.path) for name in metrics])[:, :, None]
        lost = {
            name: {NO_SCORE: int(n)}
            for name, n in zip(metrics, np.isnan(scores).sum(axis=(1, 2)), strict=True)
            if n
        }
        return JudgmentTable(
            "grade",
            Units.of(
                rows["item"].astype(str).tolist(),
                rows["system"].astype(str).tolist(),
                stratum=rows["dataset"].astype(str).tolist() if self.domain is None else None,
                chance=np.ones(len(rows)),
            ),
            ("people",),
            human[:, None],
            tuple(JudgeFacts(name, pointwise=True) for name in metrics),
            scores,
            np.ones(scores.shape, np.bool_),
            lost,
            facts={"file": Path(self.path).name},
        )


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
