"""Questions put to a chat LM, and what its replies say: one that says nothing is noted with why."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.reply.choice import NUMBER, named
from judgelab.core.reply.text import ends

Key = TypeVar("Key", bound=Hashable)
Why = Callable[[str], str]
"""Says of a reply's text why nothing was read in it; '' where nothing is wrong with it."""

EMPTY = "empty reply"


@dataclass(frozen=True)
class Exchange(Generic[Key]):
    """Questions and replies. Mechanisms and exams read replies by it alone, so that no reply that
    cannot be read goes without a reason.

    Attributes:
        lm: who was asked.
        requests: the questions, by cell; none where the replies follow from a rule.
        replies: what was answered, in the same order.
    """

    lm: EvaluationLM
    requests: Mapping[Key, ChatRequest]
    replies: Mapping[Key, Reply]

    @classmethod
    def put(cls, lm: EvaluationLM, *batches: Mapping[Key, ChatRequest]) -> Exchange[Key]:
        """Ask, one batch after the other: what was answered survives an interruption."""
        requests: dict[Key, ChatRequest] = {}
        replies: dict[Key, Reply] = {}
        for batch in batches:
            requests |= batch
            answers = lm.chat(list(batch.values())) if batch else []
            replies |= zip(batch, answers, strict=True)
        return cls(lm, requests, replies)

    @property
    def answered(self) -> list[bool]:
        """Whether there was a reply at all."""
        return [reply.text is not None for reply in self.replies.values()]

    def read(
        self, read: Callable[[Key, Reply], float], why: Callable[[Key], Why]
    ) -> dict[Key, float]:
        """What each reply says; NaN, and noted, where it says none of what was asked."""
        found = {key: read(key, reply) for key, reply in self.replies.items()}
        for key, value in found.items():
            text = self.replies[key].text
            if text is not None and math.isnan(value):
                self.unread(key, why(key)(text) if text.strip() else EMPTY)
        return found

    def unread(self, key: Key, reason: str) -> None:
        """Note a reply as unread; without a reason, or of a rule, there is nothing to note."""
        if reason and key in self.requests:
            self.lm.unread(self.requests[key], self.replies[key], reason)


def no_label(labels: Iterable[str]) -> Why:
    """Why a text states none of these labels."""
    known = tuple(dict.fromkeys(labels))
    listed = ", ".join(known)

    def why(text: str) -> str:
        return f"{'no single one' if named(ends(text), known) else 'none'} of the labels {listed}"

    return why


def no_grade(low: float, high: float) -> Why:
    """Why a text states no grade of this scale."""

    def why(text: str) -> str:
        given = {float(number.replace(",", "")) for number in NUMBER.findall(ends(text))}
        several = len([grade for grade in given if low <= grade <= high]) > 1
        return f"{'several numbers, no single' if several else 'no'} grade from {low:g} to {high:g}"

    return why
