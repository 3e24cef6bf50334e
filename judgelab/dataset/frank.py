"""FRANK: factuality of summaries by people, and fifteen metrics beside it."""

from __future__ import annotations

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
NO_SCORE = "the metric has no score of this text"


@dataclass(frozen=True, kw_only=True)
class Frank(LimitedDataset):
    """Pagnoni et al. 2021 (arXiv 2104.13346): 2,246 summaries of 9 systems of two domains.

    An item is an article; summaries of one article are one cluster. Texts do not come along.

    Args:
        path: .parquet or .csv with item (the article), system, dataset (cnndm or bbc), split, the
            human column, and one column for each metric.
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
            raise ConfigError("dataset=frank needs dataset.path=FILE.")

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
        rows = read_table(self.path)
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
