"""SummEval: summaries with expert grades for coherence, consistency, fluency and relevance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.dataset.rated.files import (
    check_keys,
    check_source,
    file_facts,
    hub_rows,
    source_texts,
)
from judgelab.dataset.rated.panel import Rated, RatedSource, rated_panel
from judgelab.dataset.rated.sample import SYNTHETIC, sample_rows, sample_sources
from judgelab.dataset.rated.table import names, need, numbers, read_table, text_or_none
from judgelab.dataset.rows import Row, at_least_one

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
ITEM, SYSTEM, TEXT = "doc_id", "system_id", "summary"
JUDGES = ("evaluator", "prompt", "dimension", "score")


class SummEval:
    """Fabbri et al. 2021: expert grades from 1 to 5, the mean of three.

    Args:
        dimension: which of the four grades is the human score.
        source: ``sample`` (excerpts of our own articles with *invented* scores), ``hub``
            (mteb/summeval: systems come without names and are numbered), or ``path``.
        path: .csv or .parquet with doc_id, system_id, summary and the four dimensions.
        texts: ``path`` of a table of doc_id, article and reference; null: summaries alone.
        judges: ``path`` of a long table of scores by LM judges (doc_id, system_id, evaluator,
            prompt, dimension, score); each evaluator/prompt becomes a metric of this dimension.
        hub: as for other datasets.
        limit: the first so many articles; ``load`` may override it.

    Raises:
        ConfigError: an unknown dimension, source or key, a path that does not fit, or a limit
            below 1.
    """

    def __init__(
        self,
        *,
        hub: Mapping[str, Any],
        texts: Mapping[str, Any],
        judges: Mapping[str, Any],
        dimension: str = "coherence",
        source: str = "sample",
        path: str | None = None,
        limit: int | None = None,
    ) -> None:
        if dimension not in DIMENSIONS:
            raise ConfigError(f"dataset.dimension={dimension!r} must be one of {DIMENSIONS}.")
        self.source, self.path = check_source(source, path), path
        known = ("id", "config", "revision", "split", "data_files")
        self.hub = check_keys(hub, known, "dataset.hub")
        self.texts = check_keys(texts, ("path",), "dataset.texts")["path"]
        self.judges = check_keys(judges, ("path",), "dataset.judges")["path"]
        self.dimension, self.limit = dimension, at_least_one(limit)

    def load(self, limit: int | None = None) -> Panel:
        """Articles, systems, summaries, human grades and judges.

        Raises:
            ConfigError: the limit is below 1.
            DataError: the data cannot be had or are not as described.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        facts: dict[str, object] = {"dataset": "summeval", "source": self.source}
        facts |= {"human": self.dimension, "task_description": "Summarise a news article"}
        if self.source == "sample":
            rows: Iterable[Rated] = sample_rows(f"summeval {self.dimension}", 1.0, 5.0, 1 / 3)
            texts, where = sample_sources(), "the sample"
            facts["synthetic"] = SYNTHETIC
        elif self.source == "hub":
            found, origin = hub_rows(self.hub, limit)
            rows = [one for row in found for one in self._numbered(row)]
            texts = {str(row["id"]): _article(row) for row in found}
            facts, where = {**facts, **origin}, str(self.hub["id"])
        else:
            rows, where = self._table(str(self.path)), repr(self.path)
            texts = source_texts(self.texts, ITEM, "article", "reference", "dataset.texts.path")
            facts |= file_facts(scores=self.path, texts=self.texts, judges=self.judges)
        return rated_panel(rows, texts, limit, where, **facts)

    def _table(self, path: str) -> list[Rated]:
        table = read_table(path)
        need(table, (ITEM, SYSTEM, self.dimension), path, "dataset.path")
        human = numbers(table, self.dimension, path)
        texts = table[TEXT].tolist() if TEXT in table else [None] * len(table)
        places = list(zip(names(table, ITEM, path), names(table, SYSTEM, path), strict=True))
        judged = self._judged()
        return [
            Rated(item, system, human[k], judged.get((item, system), {}), text_or_none(texts[k]))
            for k, (item, system) in enumerate(places)
        ]

    def _judged(self) -> dict[tuple[str, str], dict[str, float]]:
        """(article, system) -> evaluator/prompt -> score of this dimension."""
        if self.judges is None:
            return {}
        path, setting = str(self.judges), "dataset.judges.path"
        table = read_table(path, setting)
        need(table, (ITEM, SYSTEM, *JUDGES), path, setting)
        table = table[table["dimension"] == self.dimension]
        columns = [names(table, name, path) for name in (ITEM, SYSTEM, *JUDGES[:2])]
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

    def _numbered(self, row: Row) -> list[Rated]:
        """One row of the Hub: lists in the order of the systems."""
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


def _article(row: Row) -> RatedSource:
    """The first of the human summaries is the reference of the article."""
    people = row.get("human_summaries")
    first = people[0] if isinstance(people, Sequence) and people else None
    return RatedSource(str(row["text"]), text_or_none(first))
