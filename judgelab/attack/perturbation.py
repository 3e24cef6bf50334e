"""Perturbations that an LM writes by steps, each with an offline variant by rules (DHP paper)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgelab.attack.protocol import Expectation
from judgelab.core.capability import Capability
from judgelab.core.errors import ConfigError
from judgelab.core.lm import EvaluationLM
from judgelab.core.panel import Panel, rng_for
from judgelab.core.prompt import Prompt
from judgelab.core.rewrite import Asking, By, account, needs, present, with_texts, written

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
class Perturbation(ABC):
    """Changes ``count`` places of every text, or more of them.

    With ``by: lm`` the LM changes them by the steps of the prompt. The paper asks GPT-4-Turbo,
    which it also judges: choose a writer that is no judge with ``evaluation_lm@writer_lm``. With
    ``by: rules`` English rules do it anywhere, and the provenance says so.

    Args:
        prompt: fields noun, amount ("exactly one", "two or more") and text.
        by: who writes.
        count: how many places.
        or_more: at least so many; the rules take half of all there are.
        temperature, max_tokens: of the reply.

    Raises:
        ConfigError: count below 1, a negative temperature, or max_tokens below 1.
    """

    prompt: Prompt
    by: By = "rules"
    count: int = 1
    or_more: bool = False
    temperature: float = 0.0
    max_tokens: int = 4000
    expects: ClassVar[Expectation] = "fall"

    def __post_init__(self) -> None:
        Asking(self.prompt, self.temperature, self.max_tokens)
        if self.count < 1:
            raise ConfigError(f"attack.count={self.count} must be at least 1.")

    @property
    @abstractmethod
    def name(self) -> str:
        """As on the command line."""

    @abstractmethod
    def rule(self, text: str, rng: np.random.Generator) -> str:
        """The offline variant; a text without a place to change stays as it is."""

    @property
    def requires(self) -> frozenset[Capability]:
        """Chat, where the LM writes."""
        return needs(self.by)

    @property
    def amount(self) -> str:
        """``exactly one``, ``two or more``."""
        number = NUMBERS[self.count] if self.count < len(NUMBERS) else str(self.count)
        return f"{number} or more" if self.or_more else f"exactly {number}"

    def share(self, places: int) -> int:
        """How many of so many places the rules change."""
        wanted = max(self.count, math.ceil(places / 2)) if self.or_more else self.count
        return min(wanted, places)

    def chosen(self, places: int, rng: np.random.Generator) -> list[int]:
        """Which of so many places the rules change, in order."""
        if not places:
            return []
        drawn = rng.choice(places, size=self.share(places), replace=False)
        return sorted(int(place) for place in drawn)

    def apply(self, panel: Panel, lm: EvaluationLM, *, seed: int) -> Panel:
        """Perturb every text, by one batch where the LM writes."""
        texts = present(panel)
        names = {(i, j): (panel.items[i].id, panel.agents[j].name) for i, j in texts}
        if self.by == "rules":
            made = {
                cell: self.rule(text, rng_for(seed, self.name, *names[cell]))
                for cell, text in texts.items()
            }
            facts = account("attack", self, self.name, by=self.by, lm=lm)
            return with_texts(panel, made, **facts)
        asking = Asking(self.prompt, self.temperature, self.max_tokens)
        noun = NOUNS.get(panel.task, "text")
        requests = {
            cell: asking.request(self.name, *names[cell], noun=noun, amount=self.amount, text=text)
            for cell, text in texts.items()
            if text.strip()
        }
        replies, reasons = written(lm, requests)
        blank = {cell: text for cell, text in texts.items() if cell not in requests}
        why = reasons.values()
        facts = account("attack", self, self.name, by=self.by, lm=lm, unwritten=why)
        return with_texts(panel, {**blank, **replies}, **facts)
