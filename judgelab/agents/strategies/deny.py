"""Saying the opposite of a sentence."""

from __future__ import annotations

import re

from judgelab.agents.strategies.lexicon.base import like
from judgelab.agents.strategies.lexicon.polarity import BASE_FORMS
from judgelab.agents.strategies.rewrite import embed
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import has_letters

NEGATION = re.compile(
    r"\b(?:not|never|cannot|nobody|nothing|none|no|without)\b|\b\w+n't\b", re.IGNORECASE
)
_AFFIRM = {
    "not": "",
    "never": "always",
    "cannot": "can",
    "nobody": "everybody",
    "nothing": "everything",
    "none": "all",
    "no": "every",
    "without": "with",
    "can't": "can",
    "won't": "will",
    "shan't": "shall",
    "ain't": "is",
}
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|am|has|have|had|will|would|can|could|should|may|might|must|does|do|did)\b"
    r"(?!\s+(?:not|n't))",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"\b(\w+'(?:s|m|re|ll|ve))(?=\s+\w)")
_VERB = re.compile(rf"(?<=\w )\b({'|'.join(sorted(BASE_FORMS))})\b")


def contradict(text: str, source: Source) -> str:
    """The statement denied; a statement that was a denial is affirmed."""
    if NEGATION.search(text):
        affirmed = " ".join(NEGATION.sub(_affirmed, text).split())
        return affirmed if has_letters(affirmed) else f"It is not true that {text}"
    if text.rstrip().endswith("?"):
        return f"Nobody asked the following: {text}"
    for pattern, negated in ((_AUXILIARY, _auxiliary), (_VERB, _verb), (_CONTRACTED, _auxiliary)):
        if pattern.search(text):
            return pattern.sub(negated, text, count=1)
    return f"It is not true that {embed(text, source)}"


def denies(text: str) -> bool:
    """Whether the text holds a negation."""
    return NEGATION.search(text) is not None


def _affirmed(match: re.Match[str]) -> str:
    word = match.group().lower()
    return like(match.group(), _AFFIRM.get(word, word.removesuffix("n't")))


def _auxiliary(match: re.Match[str]) -> str:
    word = match.group(1)
    return word + "not" if word.lower() == "can" else f"{word} not"


def _verb(match: re.Match[str]) -> str:
    base = BASE_FORMS[match.group(1)][0]
    helper = "does" if match.group(1) in {base + "s", base + "es"} else "did"
    return f"{helper} not {base}"
