"""SummEval: summaries with expert grades for coherence, consistency, fluency and relevance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.annotated import AnnotatedTexts, sample_rows
from judgelab.dataset.provenance import check_keys
from judgelab.dataset.rows import Row
from judgelab.dataset.score_table import (
    Rated,
    RatedSource,
    names,
    need,
    numbers,
    places,
    rated_rows,
    read_table,
    text_or_none,
)

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
JUDGES = ("evaluator", "prompt", "dimension", "score")


@dataclass(frozen=True, kw_only=True)
class SummEval(AnnotatedTexts):
    """Fabbri et al. 2021: expert grades from 1 to 5, the mean of three.

    On the Hub (mteb/summeval) systems come without names and are numbered. A file has doc_id,
    system_id, summary and the four dimensions, and its texts doc_id, article and reference.

    Args:
        dimension: which of the four grades is the human score.
        judges: ``path`` of a long table of scores by LM judges (doc_id, system_id, evaluator,
            prompt, dimension, score); each evaluator/prompt becomes a metric of this dimension.
    """

    NAME, DESCRIPTION = "summeval", "Summarise a news article"
    ITEM, SYSTEM, ARTICLE = "doc_id", "system_id", "article"

    judges: Mapping[str, Any]
    dimension: str = "coherence"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension not in DIMENSIONS:
            raise ConfigError(f"dataset.dimension={self.dimension!r} must be one of {DIMENSIONS}.")
        check_keys(self.judges, ("path",), "dataset.judges")

    @property
    def _human(self) -> str:
        return self.dimension

    def _files(self) -> dict[str, str | None]:
        return {**super()._files(), "judges": self.judges.get("path")}

    def _invented(self) -> Iterator[Rated]:
        return sample_rows(f"summeval {self.dimension}", 1.0, 5.0, 1 / 3)

    def _article(self, row: Row) -> tuple[str, RatedSource]:
        """The first of the human summaries is the reference of the article."""
        people = row.get("human_summaries")
        first = people[0] if isinstance(people, Sequence) and people else None
        return str(row["id"]), RatedSource(str(row["text"]), text_or_none(first))

    def _of_table(self, path: str) -> list[Rated]:
        table = read_table(path)
        need(table, (self.ITEM, self.SYSTEM, self.dimension), path, "dataset.path")
        judged = self._judged()
        scores = (judged.get(p, {}) for p in places(table, self.ITEM, self.SYSTEM, path))
        return rated_rows(table, path, (self.ITEM, self.SYSTEM), self.dimension, scores)

    def _judged(self) -> dict[tuple[str, str], dict[str, float]]:
        """(article, system) -> evaluator/prompt -> score of this dimension."""
        path, setting = self.judges.get("path"), "dataset.judges.path"
        if path is None:
            return {}
        table = read_table(path, setting)
        need(table, (self.ITEM, self.SYSTEM, *JUDGES), path, setting)
        table = table[table["dimension"] == self.dimension]
        columns = [names(table, name, path) for name in (self.ITEM, self.SYSTEM, *JUDGES[:2])]
        found: dict[tuple[str, str], dict[str, float]] = {}
        for *place, score in zip(*columns, numbers(table, "score", path), strict=True):
            item, system, evaluator, prompt = place
            scores, judge = found.setdefault((item, system), {}), f"{evaluator}/{prompt}"
            if judge in scores:
                raise DataError(
                    f"{path!r}: {judge} rates system {system!r} on {item!r} twice: keep one row."
                )
            scores[judge] = score
        return found

    def _of_hub(self, row: Row) -> list[Rated]:
        """Lists in the order of the systems."""
        where = f"{self.hub['id']}, article {row.get('id')!r}"
        summaries, grades = row.get("machine_summaries"), row.get(self.dimension)
        if not _lists(summaries, grades):
            raise DataError(f"{where}: machine_summaries and {self.dimension} must be equal lists.")
        assert isinstance(summaries, Sequence) and isinstance(grades, Sequence)
        return [
            Rated(str(row["id"]), f"system_{k:02d}", float(grade), {}, text_or_none(text))
            for k, (text, grade) in enumerate(zip(summaries, grades, strict=True), start=1)
        ]


def _lists(*values: object) -> bool:
    lengths = {len(v) for v in values if isinstance(v, Sequence) and not isinstance(v, str)}
    return len(lengths) == 1 and all(isinstance(v, Sequence) for v in values)
