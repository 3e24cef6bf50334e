"""A user's own scores: a CSV or parquet table, no texts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from judgelab.core.errors import ConfigError
from judgelab.core.panel import Panel
from judgelab.dataset.rated.panel import Rated, rated_panel
from judgelab.dataset.rated.table import names, need, numbers, read_table
from judgelab.dataset.rows import at_least_one


class ScoreTable:
    """One row per item and system, with what people and metrics gave the system's text.

    A cell may be empty: that text is unscored. ``mechanism=recorded_scores`` takes the metrics.

    Args:
        path: .csv (UTF-8, header line) or .parquet.
        item, system: columns that say which text it is.
        human: column of human scores; null: there are none.
        metrics: columns of metric scores.
        task: a word for the record.
        limit: the first so many items; ``load`` may override it.

    Raises:
        ConfigError: no path, no metric, or a limit below 1.
    """

    def __init__(
        self,
        *,
        path: str,
        item: str = "item",
        system: str = "system",
        human: str | None = "human",
        metrics: Sequence[str] = ("metric",),
        task: str = "summarization",
        limit: int | None = None,
    ) -> None:
        if not path:
            raise ConfigError("dataset=score_table needs dataset.path=FILE.")
        if not metrics:
            raise ConfigError("dataset.metrics must name at least one column of scores.")
        self.path, self.item, self.system, self.human = path, item, system, human
        self.metrics, self.task, self.limit = list(metrics), task, at_least_one(limit)

    def load(self, limit: int | None = None) -> Panel:
        """Items and systems without texts, with human scores and metrics.

        Raises:
            ConfigError: the limit is below 1.
            DataError: the file, a column or a cell is not as described, or a text is rated twice.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        table = read_table(self.path)
        for setting, columns in (
            ("dataset.item", [self.item]),
            ("dataset.system", [self.system]),
            ("dataset.human; null where there are none", [self.human] if self.human else []),
            ("dataset.metrics", self.metrics),
        ):
            need(table, columns, self.path, setting)
        human = numbers(table, self.human, self.path) if self.human else [float("nan")] * len(table)
        scores = {name: numbers(table, name, self.path) for name in self.metrics}
        places = zip(
            names(table, self.item, self.path), names(table, self.system, self.path), strict=True
        )
        rows = (
            Rated(item, system, human[k], {name: given[k] for name, given in scores.items()})
            for k, (item, system) in enumerate(places)
        )
        file = Path(self.path).expanduser()
        panel = rated_panel(
            rows,
            {},
            limit,
            repr(self.path),
            dataset=file.stem,
            source="path",
            file=self.path,
            sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
            human=self.human,
        )
        return replace(panel, task=self.task)
