"""A sentence to the reader that says nothing of the text: an instruction, or an authority."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.attack.protocol import RuleAttack
from judgelab.core.step import Place


@dataclass(frozen=True)
class Appeal(RuleAttack):
    """Puts a sentence behind every text, in a paragraph of its own."""

    sentence: str  # what is put there
    expects = "no_rise"

    def rule(self, text: str, at: Place) -> str:
        return f"{text}\n\n{self.sentence}"


class Authority(Appeal):
    """A claim that experts have approved the text."""

    name = "authority"


class Instruction(Appeal):
    """An instruction to whoever judges the text."""

    name = "instruction"
