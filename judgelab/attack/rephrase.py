"""Rephrasing (GEM paper, appendix D.4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from judgelab.attack.protocol import Expectation
from judgelab.attack.words.phrases import CONTRACTIONS, PHRASES
from judgelab.core.capability import Capability
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.prompt import Prompt
from judgelab.core.rewrite import Asking, By, account, needs, present, with_texts, written

_OTHER = PHRASES | CONTRACTIONS
_ANY = re.compile(
    r"(?<![\w./@'’-])(?:"
    + "|".join(re.escape(p).replace("'", "['’]") for p in sorted(_OTHER, key=len, reverse=True))
    + r")(?![\w/@-]|['’]\w|\.\w)",
    re.IGNORECASE,
)
_START = re.compile(r"(?:^|[.?!:;]\s+|\n\s*(?:[-*•]\s*|\d+[.)]\s*)?)$")


def rephrase(text: str) -> str:
    """The text with contractions written out and some phrases exchanged for their synonyms.

    A phrase changes in lower case, or with a capital where a sentence starts: titles, names and
    headers stay as they are.
    """
    return _ANY.sub(_changed, text)


def _changed(match: re.Match[str]) -> str:
    said = match[0].replace("’", "'")
    low, other = (re.sub(r"\bi\b", "I", t) for t in (said.lower(), _OTHER[said.lower()]))
    if said == low:
        return other
    before = match.string[max(0, match.start() - 20) : match.start()]
    if said == low[0].upper() + low[1:] and _START.search(before):
        return other[0].upper() + other[1:]
    return match[0]


@dataclass(frozen=True)
class Rephrase:
    """Says the same in other words: no information goes and none comes.

    With ``by: lm`` the LM rewrites the text (the paper asks GPT-4o and Llama-3.1: choose with
    ``evaluation_lm@writer_lm``); with ``by: rules`` only the surface changes, and less of it.
    Blank texts stay as they are.

    Args:
        prompt: field text.
        by: who writes.
        temperature, max_tokens: of the reply.

    Raises:
        ConfigError: a negative temperature, or max_tokens below 1.
    """

    prompt: Prompt
    by: By = "rules"
    temperature: float = 0.0
    max_tokens: int = 4000
    name: ClassVar[str] = "rephrase"
    expects: ClassVar[Expectation] = "no_rise"

    def __post_init__(self) -> None:
        Asking(self.prompt, self.temperature, self.max_tokens)

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where the LM writes."""
        return needs(self.by)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Rephrase every text, by one batch where the LM writes."""
        texts = present(panel)
        if self.by == "rules":
            facts = account("attack", self, self.name, by=self.by, lm=lm)
            return with_texts(panel, {c: rephrase(t) for c, t in texts.items()}, **facts)
        asking = Asking(self.prompt, self.temperature, self.max_tokens)
        requests = {
            (i, j): asking.request(self.name, panel.items[i].id, panel.agents[j].name, text=text)
            for (i, j), text in texts.items()
            if text.strip()
        }
        replies, reasons = written(lm, requests)
        blank = {cell: text for cell, text in texts.items() if cell not in requests}
        why = reasons.values()
        facts = account("attack", self, self.name, by=self.by, lm=lm, unwritten=why)
        return with_texts(panel, {**blank, **replies}, **facts)
