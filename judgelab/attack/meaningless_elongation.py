"""Meaningless elongation (GEM paper, appendix D.4.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from judgelab.attack.protocol import WritingAttack
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel
from judgelab.core.sentences import Section, sections
from judgelab.core.step import Cell, Place, Written, present, write_texts

SLOT = "{summary}"
SIDES = ("strengths", "weaknesses")
FIELD = re.compile(r"\{(strengths|weaknesses)\}")


@dataclass(frozen=True, kw_only=True)
class MeaninglessElongation(WritingAttack):
    """Begins every section of a review with a statement that fits any review.

    One that ends with a line break stands in a paragraph of its own. With ``by: lm`` its slot
    ``{summary}`` takes a sentence on the strengths and weaknesses that the review names, for which
    the LM is asked twice per text (the prompt's fields are text and side); with ``by: rules`` it
    stays empty. A text with none of these headers gets one opening statement.
    """

    statements: Mapping[str, str]  # header -> what its section opens with
    summary: str  # the sentence for the slot; fields {strengths} and {weaknesses}
    opening: str  # the statement for texts without headers
    name = "meaningless_elongation"
    expects = "no_rise"

    def __post_init__(self) -> None:
        for side in SIDES:
            if f"{{{side}}}" not in self.summary:
                raise ConfigError(f"attack.summary has no {{{side}}}: say where they go.")

    def rule(self, text: str, at: Place) -> str:
        return self.elongate(text)

    def elongate(self, text: str, summary: str = "") -> str:
        """The text with a statement before each of its sections."""
        if not text.strip():
            return text
        parts = self._parts(text)
        if not any(part.name for part in parts):
            return _before(text, self.opening)
        slot, filler = (SLOT, summary) if summary else (f"{SLOT} ", "")
        longer = ""
        for header, name, body in parts:
            statement = self.statements[name or ""].replace(slot, filler) if name else ""
            longer += header + (_before(body, statement, True) if name else body)
        return longer

    def by_lm(self, panel: Panel, lm: EvaluationLM) -> dict[Cell, Written]:
        texts = present(panel)
        requests = {
            (cell, side): self.request_on(panel, cell, side, text=text, side=side)
            for cell, text in texts.items()
            if any(SLOT in self.statements.get(part.name or "", "") for part in self._parts(text))
            for side in SIDES
        }
        replies = write_texts(lm, requests)
        results = {}
        for cell, text in texts.items():
            sides = {side: replies.get((cell, side), Written("")) for side in SIDES}
            failures = [one for one in sides.values() if one.text is None]
            phrases = {
                side: " ".join((w.text or "").split()).rstrip(".") for side, w in sides.items()
            }
            # split, not formatted: what the LM wrote is not interpreted
            summary = "".join(phrases.get(piece, piece) for piece in FIELD.split(self.summary))
            results[cell] = failures[-1] if failures else Written(self.elongate(text, summary))
        return results

    def _parts(self, text: str) -> list[Section]:
        return sections(text, list(self.statements))


def _before(body: str, statement: str, new_line: bool = False) -> str:
    rest = body.lstrip()
    lead = body[: len(body) - len(rest)]
    if new_line and not lead:
        lead = "\n" if not rest else " "
    if not rest:
        return f"{lead}{statement.rstrip()}\n"
    if statement.endswith("\n"):
        return f"{lead}{statement.rstrip()}\n\n{rest}"
    return f"{lead}{statement} {rest}"
