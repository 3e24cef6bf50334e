"""Sentence deletion (GEM paper, appendix D.3.1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from judgelab.attack.protocol import RuleAttack
from judgelab.core.sentences import HEADERS, heading, label, sections
from judgelab.core.step import Place

Gap = Callable[[], str]  # what stands where a sentence was

Deletion = Literal["corrected", "released"]

_STOP = re.compile(
    r"(?<!\bal)(?<!\bcf)(?<!\bvs)(?<!\be\.g)(?<!\bi\.e)(?<!\bFig)(?<!\bEq)[.?!][\"'”’)\]*_`]*(?=\s)"
)
_END = re.compile(r"(?<=[.?!\n])")


def line_sentences(line: str) -> list[str]:
    """The sentences of one line, each with the stop (``.``, ``?``, ``!``) that ends it before white
    space or the end of the line, and not after ``et al`` or ``i.e``. What holds no letter is no
    sentence: a list number belongs to the sentence after it, and a rule has none.
    """
    pieces: list[str] = []
    start, pending = 0, 0
    ends = [match.end() for match in _STOP.finditer(line)]
    for end in [*ends, len(line)]:
        if any(c.isalpha() for c in line[pending:end]):
            pieces.append(line[start:end].strip())
            start = end
        pending = end
    if pieces and line[start:].strip():
        pieces[-1] = f"{pieces[-1]} {line[start:].strip()}"
    return pieces


def thin(text: str, gap: Gap | None = None) -> str:
    """The text less the 2nd, 4th, ... sentence of every section; its layout stays. ``gap`` gives
    what to put where each sentence was; None closes the gap.

    Headings inside a section are no sentences: ``**Weakness**`` stays and is not counted, and of
    ``**Clarity:** The text is clear.`` only the sentence goes.
    """
    return "".join(part.header + _thin(part.body, gap) for part in sections(text))


def _thin(body: str, gap: Gap | None) -> str:
    lines: list[str] = []
    position = 0
    for line in body.split("\n"):
        lead, rest = label(line)
        pieces = [] if heading(line) else line_sentences(rest)
        places = range(position + 1, position + len(pieces) + 1)
        position += len(pieces)
        if all(place % 2 for place in places):
            lines.append(line)  # as it is: blank, a rule, or one sentence that stays
            continue
        rest_of_line = []
        for place, piece in zip(places, pieces, strict=True):
            if place % 2:
                rest_of_line.append(piece)
            elif gap is not None:
                rest_of_line.append(gap())
        if rest_of_line or lead:
            indent = lead or line[: len(line) - len(line.lstrip())]
            lines.append((indent + " ".join(rest_of_line)).rstrip())
            continue
        while lines and not lines[-1].strip():  # the first sentence stays, so this stops there
            lines.pop()
    return "\n".join(lines)


def thin_as_released(text: str, gap: Gap | None = None, *, bold: bool = False) -> str:
    """The authors' program as far as its description goes: every stop ends a sentence wherever it
    stands (``3.5`` is two), a list number is a sentence, what follows the last stop or line break
    is lost, and a space joins what is left. With ``bold`` a piece with ``**`` in it counts as a
    header (deletion and completion only)."""
    pieces: list[str] = []
    position = 0
    for piece in (piece.strip() for piece in _END.split(text)[:-1]):
        if not piece:
            continue
        if piece.removesuffix(":") in HEADERS or (bold and "**" in piece):
            position = 0
            pieces.append(piece)
            continue
        position += 1
        if position % 2:
            pieces.append(piece)
        elif gap is not None:
            pieces.append(gap())
    return " ".join(pieces)


@dataclass(frozen=True)
class SentenceDeletion(RuleAttack):
    """Deletes every other sentence of every section: half the information is gone."""

    definition: Deletion = "corrected"  # or released (``thin_as_released``)
    name = "sentence_deletion"

    def rule(self, text: str, at: Place) -> str:
        return thin(text) if self.definition == "corrected" else thin_as_released(text)
