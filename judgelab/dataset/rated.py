"""Texts that people graded (RoSE, SummEval): our sample, or the Hub's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.panel import Panel
from judgelab.dataset.files import Row, cell_text, each_row, of_frame, row_faults
from judgelab.dataset.provenance import SAMPLES, SourcedDataset, check_keys
from judgelab.dataset.table import LabelledTable

COLUMNS = ("id", "agent", "text", "source", "reference")
FIELDS = ("id", "source", "reference", "texts", "scores")
SYNTHETIC = (
    "excerpts of articles written for this project; human scores and judges are made by a formula"
)
"""What a result must say of a sample: no person scored its texts. A score is a quality for each
way of excerpting plus noise; the judges add noise, one of them errors of its own per system."""


@dataclass(frozen=True, kw_only=True)
class RatedSummaries(SourcedDataset):
    """Articles, summaries by several systems, and what people and metrics gave them."""

    SOURCES: ClassVar[Sequence[str]] = ("sample", "hub")

    name: str
    human: str
    metrics: Sequence[str] | None = None
    hub: Mapping[str, Any]
    fields: Mapping[str, str | None]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self.fields, FIELDS, "dataset.fields")

    def load(self, limit: int | None = None) -> Panel:
        import pandas as pd

        facts: dict[str, object] = {"dataset": self.name, "source": self.source}
        if self.source == "sample":
            rows, where = pd.read_parquet(SAMPLES / f"{self.name}.parquet"), "the sample"
            frame = rows[rows["dimension"] == self.human].drop(columns="dimension")
            if frame.empty:
                raise ConfigError(f"dataset.human={self.human!r} is not in the sample.")
            facts["synthetic"] = SYNTHETIC
        else:
            found = self._find(self.name)
            where, facts, texts = found.where, {**found.facts}, list[dict[str, Any]]()
            for k, row in enumerate(islice(each_row(found.files), limit)):
                with row_faults(where, k, row):
                    texts += self._texts(row)
            frame = pd.DataFrame(texts)
        facts["human"] = self.human
        scored = frame.drop(columns=[*COLUMNS, "human"], errors="ignore")
        table = LabelledTable(
            kind="grade",
            columns={name: name if name in frame else False for name in (*COLUMNS, "human")},
            judges=[str(name) for name in scored if any(cell_text(cell) for cell in scored[name])],
            task_description=self.task_description,
        )
        return table.panel(of_frame(frame), where, facts, limit)

    def _texts(self, row: Row) -> list[dict[str, Any]]:
        """A row for each text of an article, its metrics in columns of their own."""
        article = {key: row[field] for key, field in self.fields.items() if field}
        texts, scores = article["texts"], article.get("scores", row)
        if isinstance(texts, list):  # systems have no names, and each score is a list, too
            names = [f"system_{k:02d}" for k in range(1, len(texts) + 1)]
            even = {k: v for k, v in scores.items() if isinstance(v, list) and len(v) == len(texts)}
            scores = {name: {k: v[j] for k, v in even.items()} for j, name in enumerate(names)}
            texts = dict(zip(names, texts, strict=True))
        reference = article.get("reference")
        reference = next(iter(reference), None) if isinstance(reference, list) else reference
        head = {"id": article["id"], "source": article["source"], "reference": reference}
        rows = []
        for system, given in scores.items():
            if self.human not in given:
                hint = did_you_mean(self.human, map(str, given))
                raise ValueError(f"no annotation {self.human!r} (dataset.human).{hint}")
            numbers = {k: v for k, v in given.items() if isinstance(v, int | float)}
            chosen = numbers.keys() - {self.human} if self.metrics is None else self.metrics
            text = {"agent": system, "text": texts.get(system)}
            metrics = {name: numbers.get(name) for name in given if name in chosen}
            rows.append({**head, **text, "human": given[self.human], **metrics})
        return rows
