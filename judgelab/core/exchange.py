"""Questions put to a chat LM, open and closed, and what its replies say: one that says nothing is
noted with why."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from judgelab.core.lm import ChatRequest, EvaluationLM, Reply
from judgelab.core.reply import ends, named

Key = TypeVar("Key", bound=Hashable)

EMPTY = "empty reply"


@dataclass(frozen=True)
class Exchange(Generic[Key]):
    """Questions and replies. Mechanisms and exams read replies by it alone, so that no reply that
    cannot be read goes without a reason.
    """

    lm: EvaluationLM  # who was asked
    # the questions, by cell; none where the replies follow from a rule
    requests: Mapping[Key, ChatRequest]
    replies: Mapping[Key, Reply]  # what was answered, in the same order

    @classmethod
    def put(cls, lm: EvaluationLM, requests: Mapping[Key, ChatRequest]) -> Exchange[Key]:
        """Ask, in one batch: the cache of calls keeps what was answered before an interruption."""
        answers = lm.chat(list(requests.values())) if requests else []
        return cls(lm, requests, dict(zip(requests, answers, strict=True)))

    def read(
        self, read: Callable[[Key, Reply], float], why: Callable[[Key, str], str]
    ) -> dict[Key, float]:
        """What each reply says; NaN, and noted, where it says none of what was asked.

        Args:
            read: the value of a reply.
            why: of the text of a reply without one; '' where nothing is wrong with it.
        """
        found = {key: read(key, reply) for key, reply in self.replies.items()}
        for key, value in found.items():
            text = self.replies[key].text
            if text is not None and math.isnan(value):
                self.unread(key, why(key, text) if text.strip() else EMPTY)
        return found

    def unread(self, key: Key, reason: str) -> None:
        """Note a reply as unread; without a reason, or of a rule, there is nothing to note."""
        if reason and key in self.requests:
            self.lm.unread(self.requests[key], self.replies[key], reason)


def no_label(text: str, labels: Iterable[str]) -> str:
    """Why a text states none of these labels."""
    known = tuple(dict.fromkeys(labels))
    found = "no single one" if named(ends(text), known) else "none"
    return f"{found} of the labels {', '.join(known)}"


def no_grade(text: str, low: float, high: float) -> str:
    """Why a text states no grade of this scale."""
    given = {float(number) for number in re.findall(r"\d+(?:\.\d+)?", ends(text))}
    several = sum(low <= grade <= high for grade in given) > 1
    return f"{'several numbers, no single' if several else 'no'} grade from {low:g} to {high:g}"
