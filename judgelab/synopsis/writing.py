"""Panel -> Panel steps that give every item its synopsis: recorded with the data, or written."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import sentencex

from judgelab.core.bounds import Count
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Item, Panel
from judgelab.core.step import Unchanged, WritingStep, Written, write_texts

NO_SOURCE = Written(None, "the item has no source text")

_MARKED = re.compile(r"#{1,6}\s+(.+)")
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*|[IVX]+)\.?\s+(\S[^.!?]{0,80})")


class RecordedSynopsis(Unchanged):
    """Leaves ``Item.synopsis`` as the dataset filled it (abstract, categories, keywords)."""

    axis: ClassVar[str] = "synopsis"
    name: ClassVar[str] = "recorded"


class SynopsisStep(WritingStep[int]):
    """Every item gets a new synopsis; the LM is asked about items that have a source."""

    axis: ClassVar[str] = "synopsis"

    @abstractmethod
    def rule(self, item: Item) -> Written: ...

    @abstractmethod
    def read(self, item: Item, reply: str) -> Written:
        """The synopsis in an LM's reply."""

    def by_rules(self, panel: Panel, seed: int) -> dict[int, Written]:
        return {i: self.rule(item) for i, item in enumerate(panel.items)}

    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[int, Written]:
        requests = {
            i: self.request(item.id, source=item.source)
            for i, item in enumerate(panel.items)
            if item.source.strip()
        }
        synopses = write_texts(lm, requests, lambda i, text: self.read(panel.items[i], text))
        return dict.fromkeys(range(len(panel.items)), NO_SOURCE) | synopses

    def panel_of(self, panel: Panel, texts: Mapping[int, Written], **facts: object) -> Panel:
        items = tuple(replace(item, synopsis=texts[i].text) for i, item in enumerate(panel.items))
        return replace(panel, items=items, provenance={**panel.provenance, **facts})


@dataclass(frozen=True)
class Abstract(SynopsisStep):
    """Every item gets a new synopsis, an abstract of its source.

    ``by=lm`` is the paper's, for student proposals (it does not print its prompt). ``by=rules``
    is an offline stand-in: the first sentences of the source. The prompt's field is source.
    """

    sentences: Count = 3
    name: ClassVar[str] = "abstract"

    def rule(self, item: Item) -> Written:
        first = (sentence for _, sentence in outline(item.source))
        text = " ".join(islice(first, self.sentences))
        return Written(text) if text else NO_SOURCE

    def read(self, item: Item, reply: str) -> Written:
        return Written(reply)


def outline(text: str) -> Iterator[tuple[str, str]]:
    """(heading, sentence) in order; the heading is empty before the first one.

    A line is a heading where it opens with ``#``, or is short, numbered and without a full stop.
    """
    heading = ""
    for line in text.splitlines():
        line = line.strip()
        title = _MARKED.fullmatch(line) or _NUMBERED.fullmatch(line)
        if title is not None:
            heading = title.group(1).strip()
            continue
        for sentence in sentencex.segment("en", line) if line else ():
            if any(map(str.isalpha, sentence)):
                yield heading, " ".join(sentence.split())
