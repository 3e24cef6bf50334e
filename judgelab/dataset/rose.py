"""RoSE: summaries of 12 (CNN/DailyMail) or 8 (XSum, SAMSum) systems with content-unit scores."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgelab.core.errors import DataError, did_you_mean
from judgelab.dataset.annotated import AnnotatedTexts, sample_rows
from judgelab.dataset.rows import Row
from judgelab.dataset.score_table import (
    Rated,
    RatedSource,
    by_row,
    need,
    number_or_nan,
    rated_rows,
    read_table,
    text_or_none,
)

NUMBERS_OF_ITEMS = ("count_id",)  # columns of numbers that are no scores


@dataclass(frozen=True, kw_only=True)
class Rose(AnnotatedTexts):
    """Liu et al. 2023, "Revisiting the Gold Standard": the data of the ranking-confidence paper.

    A score is the share of a reference's atomic content units (ACU) that a summary has. The paper
    uses the plain share (``acu``), not the one normalised by length (docs/definitions.md). On the
    Hub, Salesforce/rose has one row per article; the config chooses cnndm_test, cnndm_validation,
    xsum or samsum. A file has example_id, system, summary and columns of scores, and its texts
    example_id, source and reference.

    Args:
        human: which score is the human one.
        metrics: columns of ``path`` that are metrics; null: every other column of numbers. On the
            Hub these are the other annotations.
    """

    NAME, DESCRIPTION = "rose", "Summarise a text"
    ITEM, SYSTEM, ARTICLE = "example_id", "system", "source"

    human: str = "acu"
    metrics: Sequence[str] | None = None

    @property
    def _human(self) -> str:
        return self.human

    def _invented(self) -> Iterator[Rated]:
        return sample_rows("rose", 0.0, 1.0, 0.125)

    def _article(self, row: Row) -> tuple[str, RatedSource]:
        return str(row[self.ITEM]), RatedSource(str(row["source"]), str(row["reference"]))

    def _of_table(self, path: str) -> list[Rated]:
        import pandas as pd

        table = read_table(path)
        need(table, (self.ITEM, self.SYSTEM), path, "dataset.path")
        need(table, (self.human,), path, "dataset.human")
        metrics = self.metrics
        if metrics is None:
            scored = [c for c in table if pd.api.types.is_numeric_dtype(table[c])]
            metrics = [str(c) for c in scored if c not in (self.human, *NUMBERS_OF_ITEMS)]
        need(table, metrics, path, "dataset.metrics")
        scores = by_row(table, metrics, path)
        return rated_rows(table, path, (self.ITEM, self.SYSTEM), self.human, scores)

    def _of_hub(self, row: Row) -> list[Rated]:
        """Annotations and outputs by system."""
        where = f"{self.hub['id']}, article {row.get(self.ITEM)!r}"
        annotations, outputs = row.get("annotations"), row.get("system_outputs")
        if not isinstance(annotations, Mapping) or not isinstance(outputs, Mapping):
            raise DataError(f"{where}: annotations and system_outputs by system are expected.")
        rated = []
        for system, given in annotations.items():
            if self.human not in given:
                hint = did_you_mean(self.human, [str(key) for key in given])
                raise DataError(f"{where}: no annotation {self.human!r} (dataset.human).{hint}")
            scores = {
                str(name): number_or_nan(value, f"{where}, {name!r}")
                for name, value in given.items()
                if isinstance(value, int | float) or name == self.human
            }
            human = scores.pop(self.human)
            if self.metrics is not None:
                scores = {name: scores.get(name, math.nan) for name in self.metrics}
            text = text_or_none(outputs.get(system))
            rated.append(Rated(str(row[self.ITEM]), str(system), human, scores, text))
        return rated
