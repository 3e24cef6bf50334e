"""Annotated benchmarks: a sample that can be shipped, the Hub, or tables of the user's.

The sample's texts are excerpts of sample articles, and no person scored them: human scores come
from a formula (a quality for each way of excerpting, plus noise), and the two judges are the noisy
estimator of the ranking-confidence paper applied to them, one with errors of its own for each
system. So every step of a study can be run and looked at, and its figures mean nothing.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import sentencex

from judgelab.core.panel import Panel, rng_for
from judgelab.dataset.provenance import HUB, SourcedDataset, check_keys, find_rows, sample_file
from judgelab.dataset.rows import Row, read_rows
from judgelab.dataset.score_table import (
    Rated,
    RatedSource,
    names,
    need,
    rated_panel,
    read_table,
    text_or_none,
)

if TYPE_CHECKING:
    pass

FILES = (("cnn_dailymail", "article", "highlights"), ("xsum", "document", "summary"))
SYNTHETIC = (
    "excerpts of articles written for this project; human scores and judges are made by a formula"
)
"""What a result must say of this sample."""

Excerpt = Callable[[Sequence[str]], Sequence[str]]

SYSTEMS: tuple[tuple[str, float, Excerpt], ...] = (
    ("lead_3", 0.52, lambda s: s[:3]),
    ("lead_2", 0.47, lambda s: s[:2]),
    ("first_and_last", 0.43, lambda s: [s[0], s[-1]]),
    ("lead_1", 0.40, lambda s: s[:1]),
    ("longest", 0.37, lambda s: [max(s, key=len)]),
    ("middle_2", 0.32, lambda s: s[len(s) // 2 : len(s) // 2 + 2]),
    ("last_2", 0.28, lambda s: s[-2:]),
    ("shortest", 0.22, lambda s: [min(s, key=len)]),
)
"""Name, invented quality in [0, 1], and which sentences are taken."""


@dataclass(frozen=True, kw_only=True)
class AnnotatedTexts(SourcedDataset):
    """Articles, summaries by several systems, and what people gave them.

    Args:
        hub: as for other datasets.
        texts: ``path`` of a table of articles and references; null: summaries alone.
        source: the ``sample`` has excerpts of our own articles and *invented* scores.
        path: .csv or .parquet, one row for each summary.
    """

    NAME: ClassVar[str]
    DESCRIPTION: ClassVar[str]
    ITEM: ClassVar[str]
    SYSTEM: ClassVar[str]
    ARTICLE: ClassVar[str]

    hub: Mapping[str, Any]
    texts: Mapping[str, Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self.hub, HUB, "dataset.hub")
        check_keys(self.texts, ("path",), "dataset.texts")

    def _panel(self, limit: int | None) -> Panel:
        facts: dict[str, object] = {"dataset": self.NAME, "source": self.source}
        facts |= {"human": self._human, "task_description": self.DESCRIPTION}
        if self.source == "sample":
            rows: Iterable[Rated] = self._invented()
            texts, where = sample_sources(), "the sample"
            facts["synthetic"] = SYNTHETIC
        elif self.source == "hub":
            found = find_rows(self.NAME, "hub", None, self.hub)
            read = read_rows(found.files, limit)
            rows = [one for row in read for one in self._of_hub(row)]
            texts = dict(self._article(row) for row in read)
            facts, where = {**facts, **found.facts}, found.where
        else:
            rows, where = self._of_table(str(self.path)), repr(self.path)
            texts = self._articles(self.texts.get("path"))
            for name, path in self._files().items():
                if path is not None:
                    content = Path(path).expanduser().read_bytes()
                    facts[name] = {"file": path, "sha256": hashlib.sha256(content).hexdigest()}
        return rated_panel(rows, texts, limit, where, **facts)

    @property
    @abstractmethod
    def _human(self) -> str:
        """The column of human scores."""

    @abstractmethod
    def _invented(self) -> Iterator[Rated]:
        """The sample's rows."""

    @abstractmethod
    def _of_hub(self, row: Row) -> list[Rated]:
        """The texts of one row of the Hub."""

    @abstractmethod
    def _article(self, row: Row) -> tuple[str, RatedSource]:
        """The item of one row of the Hub."""

    @abstractmethod
    def _of_table(self, path: str) -> list[Rated]:
        """The rows of the user's table."""

    def _files(self) -> dict[str, str | None]:
        return {"scores": self.path, "texts": self.texts.get("path")}

    def _articles(self, path: str | None) -> dict[str, RatedSource]:
        """Item -> article and reference, from the table beside the scores; empty without one."""
        if path is None:
            return {}
        table = read_table(path, "dataset.texts.path")
        need(table, (self.ITEM, self.ARTICLE, "reference"), path, "dataset.texts.path")
        texts = zip(table[self.ARTICLE].tolist(), table["reference"].tolist(), strict=True)
        return {
            name: RatedSource(text_or_none(article) or "", text_or_none(summary))
            for name, (article, summary) in zip(names(table, self.ITEM, path), texts, strict=True)
        }


def sample_sources() -> dict[str, RatedSource]:
    """Item -> article and reference."""
    found = {}
    for name, article, summary in FILES:
        for row in read_rows([sample_file(name)[0]]):
            found[str(row["id"])] = RatedSource(row[article], row[summary])
    return found


def sample_rows(key: str, low: float, high: float, step: float) -> Iterator[Rated]:
    """Eight systems on every article, with an invented human score and two invented judges.

    Args:
        key: seeds the scores, with item and system.
        low, high: the human scale.
        step: human scores are multiples of it above ``low``.
    """
    for item, source in sample_sources().items():
        sentences = [one.strip() for one in sentencex.segment("en", source.text) if one.strip()]
        for system, quality, excerpt in SYSTEMS:
            generator = rng_for(0, key, item, system)
            share = float(np.clip(quality + generator.normal(0, 0.2), 0, 1))
            human = low + step * round(share * (high - low) / step)
            own = rng_for(0, key, system).normal(0, 0.06)
            noise = generator.normal(0, 1, size=2)
            judges = {
                "judge_with_bias": 1 + 4 * float(share + own + 0.45 * noise[0]),
                "judge_without_bias": 1 + 4 * float(share + 0.6 * noise[1]),
            }
            yield Rated(item, system, human, judges, " ".join(excerpt(sentences)))
