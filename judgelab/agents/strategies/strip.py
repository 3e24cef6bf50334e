"""Taking out of a sentence what would explain it."""

from __future__ import annotations

import re

from judgelab.agents.strategies.lexicon.common import CALENDAR, NUMBER_WORDS
from judgelab.agents.strategies.source import Source
from judgelab.agents.strategies.text import has_letters

_REASON = re.compile(
    r",?\s\b(?:because|since|so that|in order to|due to|owing to|as a result of|thanks to|following"
    r"|after|before|until|while|when|although|despite|unless|which|whose|where|given that)\b"
    r"[^,.;]*",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r",\s+(?:which|whose|who|where)\b[^,.;]*,")
_BEFORE = r"(?:\b(?:in|on|at|by|from|since|until|about|around|roughly|almost|nearly)\s+)*"
_CLOCK = re.compile(rf"{_BEFORE}\b\d{{1,2}}[:.]\d\d\b(?:\s?[ap]\.?m\b\.?)?")
_YEAR = re.compile(rf"{_BEFORE}\b(?:1[5-9]|20)\d\d(?:-\d\d)?\b")
_MONEY = re.compile(r"[£$€]\s?\d[\d.,]*(?:\s?(?:million|billion|m|bn|k)\b)?")
_COMPOUND = re.compile(r"\b\d[\d.,]*(?:-[^\W\d_]+)+")
_NUMERAL = re.compile(r"\w*\d(?:[\w.,/:]*\w)?(?:\s?%)?")
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_SOME = re.compile(r"\b(?:a |an |the )?some(?:,? some)+\b")
_DATE = re.compile(
    r"(?:\b(?:in|on|at|by|from|since|until|last|next|every|late|early|this)\s+)*"
    rf"\b(?:{'|'.join(sorted(CALENDAR - {'may', 'march', 'sun', 'sat', 'spring', 'fall'}))}"
    r"|(?-i:May|March))\b(?:\s+(?:night|morning|evening|afternoon))?",
    re.IGNORECASE,
)
_REMOVALS = (
    *((_CLOCK, ""), (_DATE, ""), (_YEAR, ""), (_MONEY, "some money"), (_COMPOUND, "")),
    *((_NUMERAL, "some"), (_NUMBER_WORD, "some"), (_SOME, "some")),
    (re.compile(r"\b[Ss]omebody(?:(?:,| and) somebody)+"), "some people"),
)
_PLACED = r"(?:in|at|on|of|from|to|near|through|around|outside|across)\s+(?:the\s+)?"


def without_context(text: str, source: Source) -> str:
    """The bare event: no reasons, dates, amounts or places, and nobody by name."""
    bare = _RELATIVE.sub("", text)
    shorter = _REASON.sub("", bare)
    bare = shorter if len(shorter.split()) >= 5 else bare
    for name in sorted(source.names, key=lambda name: (-len(name), name)):
        if name in bare:
            bare = _unname(bare, name, "somebody" if name in source.people else "something")
    for pattern, replacement in _REMOVALS:
        bare = pattern.sub(replacement, bare)
    bare = " ".join(bare.split())
    return bare if has_letters(bare) else "Something happens"


def _unname(text: str, name: str, instead: str) -> str:
    """Places and modifiers go; other names lose what they name."""
    escaped = rf"(?<!\w){re.escape(name)}(?!\w)"
    text = re.sub(rf"\b{_PLACED}{escaped}(?:'s)?", "", text)
    text = re.sub(rf"\b([Tt]he|[Aa]n?)\s+{escaped}(?:'s)?(?=\s+[a-z])", r"\1", text)
    return re.sub(escaped, instead, text)
