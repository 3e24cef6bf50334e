"""The interface for agents: what produces the responses."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from judgelab.core.capability import Capability
from judgelab.core.lm import ChatRequest, EvaluationLM
from judgelab.core.panel import Panel


class Agents(Protocol):
    """Produces the responses. Derive from it."""

    def with_lms(self, use: Callable[[str, EvaluationLM], EvaluationLM]) -> Self:
        """The same with each LM of its own as ``use`` returns it: cached, metered, counted."""
        return self

    @property
    @abstractmethod
    def requires(self) -> frozenset[Capability]: ...

    @abstractmethod
    def answer(self, panel: Panel, lm: EvaluationLM) -> Panel:
        """The panel's items with agents and their texts (None where an agent gave none)."""
        ...


def written(
    lm: EvaluationLM, requests: Sequence[ChatRequest], part: str, unanswered: Counter[str]
) -> list[str | None]:
    """One batch of replies; a refused, failed or empty one is None and counted by its reason."""
    replies = lm.chat(requests) if requests else []
    texts = [(reply.text or "").strip() or None for reply in replies]
    unanswered.update(
        f"{part}: {reply.reason or 'empty reply'}"
        for reply, text in zip(replies, texts, strict=True)
        if text is None
    )
    return texts
