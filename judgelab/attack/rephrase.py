"""Rephrasing (GEM paper, appendix D.4.1)."""

from __future__ import annotations

import re

from judgelab.attack.protocol import WritingAttack
from judgelab.core.resources import words
from judgelab.core.step import Place

_TABLES: dict[str, dict[str, str]] = words("attack/words/phrases.yaml")
_OTHER = _TABLES["phrases"] | _TABLES["contractions"]
_ANY = re.compile(
    r"(?<![\w./@'’-])(?:"
    + "|".join(re.escape(p).replace("'", "['’]") for p in sorted(_OTHER, key=len, reverse=True))
    + r")(?![\w/@-]|['’]\w|\.\w)",
    re.IGNORECASE,
)
_START = re.compile(r"(?:^|[.?!:;]\s+|\n\s*(?:[-*•]\s*|\d+[.)]\s*)?)$")


def _in_case(match: re.Match[str]) -> str:
    phrase = match[0].replace("’", "'")
    low, other = (re.sub(r"\bi\b", "I", t) for t in (phrase.lower(), _OTHER[phrase.lower()]))
    if phrase == low:
        return other
    before = match.string[max(0, match.start() - 20) : match.start()]
    if phrase == low[0].upper() + low[1:] and _START.search(before):
        return other[0].upper() + other[1:]
    return match[0]


class Rephrase(WritingAttack):
    """Says the same in other words: no information goes and none comes.

    With ``by: lm`` the LM rewrites the text (the paper asks GPT-4o and Llama-3.1); with
    ``by: rules`` only the surface changes, and less of it. Blank texts stay as they are. The
    prompt's field is text.
    """

    name = "rephrase"
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        """The text with contractions written out and some phrases exchanged for their synonyms.

        A phrase changes in lower case, or with a capital where a sentence starts: titles, names and
        headers stay as they are.
        """
        return _ANY.sub(_in_case, text)
