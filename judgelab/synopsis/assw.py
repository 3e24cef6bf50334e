"""Abstract and author-stated strengths and weaknesses (GEM paper, section 3.2, appendix C.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from judgelab.core.bounds import Count
from judgelab.core.panel import Item
from judgelab.core.resources import words
from judgelab.core.step import Written
from judgelab.synopsis.writing import NO_SOURCE, SynopsisStep, outline

TAGS = ("strengths_claimed_by_the_paper", "weaknesses_claimed_by_the_paper")
HEADINGS = ("Strengths that the authors claim:", "Weaknesses that the authors concede:")

_CUES = words("synopsis/words/claims.yaml")
CONCEDED_UNDER = re.compile(_CUES["conceded_under"], re.IGNORECASE)
CONCEDED = re.compile(rf"\b(?:{'|'.join(_CUES['conceded'])})\b", re.IGNORECASE)
CLAIMED = re.compile(rf"\b(?:{'|'.join(_CUES['claimed'])})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Assw(SynopsisStep):
    """The recorded synopsis (the abstract) and two lists of what the authors say themselves.

    ``by=lm`` is the paper's: an LM reads the source and lists claims between tags; a reply
    without both pairs of tags, or with nothing between them, is no synopsis. ``by=rules`` is an
    offline stand-in, which finds phrases, not claims, and cannot tell the authors' method from a
    baseline. An item without an abstract or a source has no synopsis; the provenance counts them.
    The prompt's field is source.
    """

    most: Count = 8
    name: ClassVar[str] = "assw"

    def rule(self, item: Item) -> Written:
        if not item.source.strip():
            return NO_SOURCE
        claimed, conceded = claims(item.source)
        return _compose(item, claimed[: self.most], conceded[: self.most])

    def read(self, item: Item, reply: str) -> Written:
        lists = [_between(tag, reply) for tag in TAGS]
        if None in lists:
            return Written(None, "the reply does not hold both lists in their tags")
        return _compose(item, *(claimed for claimed in lists if claimed is not None))


def claims(source: str) -> tuple[list[str], list[str]]:
    """Sentences in which authors praise, and in which they concede; by cue words."""
    claimed, conceded = list[str](), list[str]()
    for heading, sentence in outline(source):
        if CONCEDED_UNDER.search(heading) or CONCEDED.search(sentence):
            conceded.append(sentence)
        elif CLAIMED.search(sentence):
            claimed.append(sentence)
    return claimed, conceded


def _between(tag: str, reply: str) -> list[str] | None:
    """The lines between the tags; None unless the tags occur exactly once."""
    inside = re.findall(f"<{tag}>(.*)</{tag}>", reply, re.DOTALL)
    if not inside or reply.count(f"<{tag}>") + reply.count(f"</{tag}>") != 2:
        return None
    return [line.strip() for line in inside[0].splitlines() if line.strip()]


def _compose(item: Item, claimed: list[str], conceded: list[str]) -> Written:
    if not item.synopsis or not item.synopsis.strip():
        return Written(None, "the item has no abstract")
    if not claimed and not conceded:
        return Written(None, "no claim was found")
    lists = zip(HEADINGS, (claimed, conceded), strict=True)
    parts = ("\n".join([heading, *(lines or ["None."])]) for heading, lines in lists)
    return Written("\n\n".join([item.synopsis.strip(), *parts]))
