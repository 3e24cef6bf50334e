"""The interface of the attack axis, and what its rules share."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.step import PanelStep, RuleStep, Step, TextWritingStep

Tag = Literal["constant", "agent", "source"]
"""What a marker is derived from. ``source`` is the released definition: every text of an item
carries the same marker and texts of other items carry another, which tells a critic whether two
texts share a source. ``agent`` marks the writer and ``constant`` is the same everywhere: neither
says anything about the source."""


Expectation = Literal["fall", "no_rise"]
"""What an honest metric does: ``fall`` where information was taken away (a degradation),
``no_rise`` where none was added (a manipulation). GEM paper, sections 4.2 and 4.3."""


@runtime_checkable
class Attack(Step, Protocol):
    """A change of every text of a panel, the human reference included (as released).

    Items, agents and absent texts stay as they are.

    Attributes:
        expects: what an honest metric should do.
    """

    @property
    def expects(self) -> Expectation: ...


class PanelAttack(PanelStep):
    """An attack of ours; a degradation, unless it says otherwise."""

    axis: ClassVar[str] = "attack"
    expects: ClassVar[Expectation] = "fall"


class RuleAttack(PanelAttack, RuleStep):
    """An attack that follows a rule."""


class WritingAttack(PanelAttack, TextWritingStep):
    """An attack whose texts an LM or a rule writes."""


def marker(tag: Tag, item: Item, agent: Agent, length: int) -> str:
    """The first ``length`` hex digits of the md5 of what ``tag`` names."""
    text = {"source": item.source, "agent": agent.name, "constant": ""}[tag]
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()[:length]


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
    """Changes ``count`` places of every text, or more of them (DHP paper).

    With ``by: lm`` the LM changes them by the steps of the prompt. The paper asks GPT-4-Turbo,
    which it also judges. With ``by: rules`` English rules do it.

    Args:
        prompt: fields noun, amount ("exactly one", "two or more") and text.
        count: how many places.
        or_more: at least so many; the rules take half of all there are.
    """

    count: Count = 1
    or_more: bool = False

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
