"""A short abstract of the source, for data without one (GEM paper, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from judgelab.core.bounds import Count
from judgelab.core.panel import Item
from judgelab.core.step import Written
from judgelab.synopsis import NO_SOURCE, SynopsisStep, outline


@dataclass(frozen=True)
class Abstract(SynopsisStep):
    """Every item gets a new synopsis, an abstract of its source.

    ``by=lm`` is the paper's, for student proposals (it does not print its prompt). ``by=rules``
    is an offline stand-in: the first sentences of the source.

    Args:
        prompt: field source.
        sentences: rules: how many.
    """

    sentences: Count = 3
    name: ClassVar[str] = "abstract"

    def rule(self, item: Item) -> Written:
        """The first sentences."""
        first = (sentence for _, sentence in outline(item.source))
        text = " ".join(islice(first, self.sentences))
        return Written(text) if text else NO_SOURCE

    def read(self, item: Item, reply: str) -> Written:
        """The reply as it is."""
        return Written(reply)
