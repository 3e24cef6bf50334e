"""Perturbations that an LM writes by steps, each with an offline variant by rules (DHP paper)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import Expectation, WritingAttack
from judgelab.core.bounds import Count
from judgelab.core.panel import Panel

NOUNS = {
    "summarization": "summary",
    "story_completion": "story ending",
    "question_answering": "answer",
    "translation": "translation",
    "peer_review": "review",
}
"""What a text is called in prompts, by task."""

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Perturbation(WritingAttack):
    """Changes ``count`` places of every text, or more of them.

    With ``by: lm`` the LM changes them by the steps of the prompt. The paper asks GPT-4-Turbo,
    which it also judges. With ``by: rules`` English rules do it.

    Args:
        prompt: fields noun, amount ("exactly one", "two or more") and text.
        count: how many places.
        or_more: at least so many; the rules take half of all there are.
    """

    count: Count = 1
    or_more: bool = False
    expects: ClassVar[Expectation] = "fall"

    @property
    def amount(self) -> str:
        """``exactly one``, ``two or more``."""
        number = NUMBERS[self.count] if self.count < len(NUMBERS) else str(self.count)
        return f"{number} or more" if self.or_more else f"exactly {number}"

    def values(self, text: str, panel: Panel) -> dict[str, str]:
        """Noun, amount and text."""
        noun = NOUNS.get(panel.task, "text")
        return {"noun": noun, "amount": self.amount, "text": text}

    def chosen(self, places: int, rng: np.random.Generator) -> list[int]:
        """Which of so many places the rules change, in order."""
        if not places:
            return []
        wanted = max(self.count, math.ceil(places / 2)) if self.or_more else self.count
        drawn = rng.choice(places, size=min(wanted, places), replace=False)
        return sorted(int(place) for place in drawn)
