"""Texts that people graded (RoSE, SummEval): our sample, or the Hub's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.panel import Panel
from judgelab.dataset.files import Row, cell_text, each_row, of_frame, row_faults
from judgelab.dataset.provenance import SAMPLES, SourcedDataset, check_keys
from judgelab.dataset.rows import shorten
from judgelab.dataset.table import LabelledTable

COLUMNS = ("id", "agent", "text", "source", "reference")
SYNTHETIC = (
    "excerpts of articles written for this project; human scores and judges are made by a formula"
)
"""What a result must say of a sample: no person scored its texts. A score is a quality for each
way of excerpting plus noise; the judges add noise, one of them errors of its own per system."""


class RatedArticle(BaseModel):
    """A row of the Hub: an article with its summaries and their scores, by system.

    Where systems have no names, the texts are a list, and so is each score.
    """

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    id: str
    source: str
    reference: str | list[str] | None = None
    texts: dict[str, str | None]
    scores: dict[str, dict[str, Any]]

    @model_validator(mode="before")
    @classmethod
    def _name_systems(cls, row: dict[str, Any]) -> dict[str, Any]:
        texts, scores = row.get("texts"), row["scores"]
        if isinstance(texts, list) and isinstance(scores, Mapping):
            names = [f"system_{k:02d}" for k in range(1, len(texts) + 1)]
            even = {k: v for k, v in scores.items() if isinstance(v, list) and len(v) == len(texts)}
            scores = {one: {k: v[j] for k, v in even.items()} for j, one in enumerate(names)}
            row = row | {"texts": dict(zip(names, texts, strict=True)), "scores": scores}
        return row


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
        check_keys(self.fields, RatedArticle.model_fields, "dataset.fields")

    def _panel(self, limit: int | None) -> Panel:
        import pandas as pd

        facts: dict[str, object] = {"dataset": self.name, "source": self.source}
        if self.source == "sample":
            rows, where = pd.read_parquet(SAMPLES / f"{self.name}.parquet"), "the sample"
            frame = rows[rows["dimension"] == self.human].drop(columns="dimension")
            if frame.empty:
                raise ConfigError(f"dataset.human={self.human!r} is not in the sample.")
            facts["synthetic"] = SYNTHETIC
        else:
            origin = self._find(self.name)
            where, facts, texts = origin.where, {**origin.facts}, list[dict[str, Any]]()
            for k, row in enumerate(islice(each_row(origin.files), limit)):
                with row_faults(where, k, row):
                    texts += self._texts(row)
            frame = pd.DataFrame(texts)
        facts["human"] = self.human
        metrics = frame.drop(columns=[*COLUMNS, "human"], errors="ignore")
        table = LabelledTable(
            kind="grade",
            columns={name: name if name in frame else False for name in (*COLUMNS, "human")},
            judges=[str(name) for name, cells in metrics.items() if any(map(cell_text, cells))],
            task_description=self.task_description,
        )
        return table.panel(of_frame(frame), where, facts, limit)

    def _texts(self, row: Row) -> list[dict[str, Any]]:
        """A row for each text of an article, its metrics in columns of their own; ValueError if
        the article is not as it must be."""
        values = {key: row.get(str(field)) for key, field in self.fields.items() if field}
        try:
            article = RatedArticle.model_validate({"scores": row, **values})
        except ValidationError as cause:
            error = cause.errors()[0]
            field = ".".join(map(str, error["loc"]))
            if error["type"] == "missing":
                raise ValueError(f"dataset.fields names no column of {field}") from None
            must = error["msg"].replace("Input should be", "must be")
            raise ValueError(f"{field} {shorten(error['input'])} {must}") from None
        reference = article.reference
        reference = next(iter(reference), None) if isinstance(reference, list) else reference
        head = {"id": article.id, "source": article.source, "reference": reference}
        rows = []
        for system, values in article.scores.items():
            if self.human not in values:
                hint = did_you_mean(self.human, map(str, values))
                raise ValueError(f"no annotation {self.human!r} (dataset.human).{hint}")
            numbers = {k: v for k, v in values.items() if isinstance(v, int | float)}
            names = numbers.keys() - {self.human} if self.metrics is None else self.metrics
            text = {"agent": system, "text": article.texts.get(system)}
            metrics = {name: numbers.get(name) for name in values if name in names}
            rows.append({**head, **text, "human": values[self.human], **metrics})
        return rows
