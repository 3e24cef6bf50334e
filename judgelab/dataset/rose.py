"""RoSE: summaries of 12 (CNN/DailyMail) or 8 (XSum, SAMSum) systems with content-unit scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgelab.core.errors import DataError, did_you_mean
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
from judgelab.dataset.rated.table import (
    names,
    need,
    number_or_nan,
    numbers,
    numeric_columns,
    read_table,
    text_or_none,
)
from judgelab.dataset.rows import Row, at_least_one

ITEM, SYSTEM, TEXT = "example_id", "system", "summary"
NUMBERS_OF_ITEMS = ("count_id",)  # columns of numbers that are no scores


class Rose:
    """Liu et al. 2023, "Revisiting the Gold Standard": the data of the ranking-confidence paper.

    A score is the share of a reference's atomic content units (ACU) that a summary has. The paper
    uses the plain share (``acu``), not the one normalised by length (docs/definitions.md).

    Args:
        source: ``sample`` (excerpts of our own articles with *invented* scores), ``hub``
            (Salesforce/rose, one row per article), or ``path``.
        path: .csv or .parquet with example_id, system, summary and columns of scores.
        texts: ``path`` of a table of example_id, source and reference; null: summaries alone.
        human: which score is the human one.
        metrics: columns of ``path`` that are metrics; null: every other column of numbers. On the
            Hub these are the other annotations.
        hub: as for other datasets; the config chooses cnndm_test, cnndm_validation, xsum, samsum.
        limit: the first so many articles; ``load`` may override it.

    Raises:
        ConfigError: an unknown source or key, a path that does not fit, or a limit below 1.
    """

    def __init__(
        self,
        *,
        hub: Mapping[str, Any],
        texts: Mapping[str, Any],
        source: str = "sample",
        path: str | None = None,
        human: str = "acu",
        metrics: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> None:
        self.source, self.path = check_source(source, path), path
        known = ("id", "config", "revision", "split", "data_files")
        self.hub = check_keys(hub, known, "dataset.hub")
        self.texts = check_keys(texts, ("path",), "dataset.texts")["path"]
        self.human, self.metrics, self.limit = human, metrics, at_least_one(limit)

    def load(self, limit: int | None = None) -> Panel:
        """Articles, systems, summaries, human scores and metrics.

        Raises:
            ConfigError: the limit is below 1.
            DataError: the data cannot be had or are not as described.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        facts: dict[str, object] = {"dataset": "rose", "source": self.source, "human": self.human}
        facts["task_description"] = "Summarise a text"
        if self.source == "sample":
            rows: Iterable[Rated] = sample_rows("rose", 0.0, 1.0, 0.125)
            texts, where = sample_sources(), "the sample"
            facts["synthetic"] = SYNTHETIC
        elif self.source == "hub":
            found, origin = hub_rows(self.hub, limit)
            rows = [one for row in found for one in self._annotated(row)]
            texts = {
                str(r[ITEM]): RatedSource(str(r["source"]), str(r["reference"])) for r in found
            }
            facts, where = {**facts, **origin}, str(self.hub["id"])
        else:
            rows, where = self._table(str(self.path)), repr(self.path)
            texts = source_texts(self.texts, ITEM, "source", "reference", "dataset.texts.path")
            facts |= file_facts(scores=self.path, texts=self.texts)
        return replace(rated_panel(rows, texts, limit, where, **facts), task="summarization")

    def _table(self, path: str) -> list[Rated]:
        table = read_table(path)
        need(table, (ITEM, SYSTEM), path, "dataset.path")
        need(table, (self.human,), path, "dataset.human")
        chosen = self.metrics
        if chosen is None:
            chosen = numeric_columns(table, (self.human, *NUMBERS_OF_ITEMS))
        need(table, chosen, path, "dataset.metrics")
        human = numbers(table, self.human, path)
        scores = {name: numbers(table, name, path) for name in chosen}
        texts = table[TEXT].tolist() if TEXT in table else [None] * len(table)
        places = zip(names(table, ITEM, path), names(table, SYSTEM, path), strict=True)
        return [
            Rated(
                item, system, human[k], {n: s[k] for n, s in scores.items()}, text_or_none(texts[k])
            )
            for k, (item, system) in enumerate(places)
        ]

    def _annotated(self, row: Row) -> list[Rated]:
        """One row of the Hub: annotations and outputs by system."""
        where = f"{self.hub['id']}, article {row.get(ITEM)!r}"
        annotations, outputs = row.get("annotations"), row.get("system_outputs")
        if not isinstance(annotations, Mapping) or not isinstance(outputs, Mapping):
            raise DataError(f"{where}: annotations and system_outputs by system are expected.")
        rated = []
        for system, given in annotations.items():
            if self.human not in given:
                hint = did_you_mean(self.human, [str(key) for key in given])
                raise DataError(f"{where}: no annotation {self.human!r} (dataset.human).{hint}")
            others = {
                str(name): number_or_nan(given, str(name), where)
                for name, value in given.items()
                if name != self.human and isinstance(value, int | float)
            }
            chosen = others if self.metrics is None else self._chosen(others)
            human = number_or_nan(given, self.human, where)
            text = text_or_none(outputs.get(system))
            rated.append(Rated(str(row[ITEM]), str(system), human, chosen, text))
        return rated

    def _chosen(self, others: Mapping[str, float]) -> dict[str, float]:
        return {name: others.get(name, math.nan) for name in self.metrics or ()}
