"""An LM that is asked the same once more, so that its replies are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judgelab.core.lm import ChatRequest, EvaluationLM, LogProbTable, Pairs, Reply, WrappedLM


class Again(WrappedLM):
    """An LM that is asked the same once more: its replies are drawn anew.

    Closed questions and log-probabilities have no draws.

    Attributes:
        asked: whether a question had any.
    """

    STEP = 1000  # more than the replies that a mechanism takes to one question

    def __init__(self, lm: EvaluationLM, run: int) -> None:
        super().__init__(lm)
        self.asked, self._run = False, run

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """The LM's."""
        return self.lm.logprob(contexts, targets, pairs)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        self.asked |= any(not one.labels for one in requests)
        return self.lm.chat([self._drawn(one) for one in requests])

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """The LM notes it."""
        super().unread(self._drawn(request), reply, reason)

    def _drawn(self, one: ChatRequest) -> ChatRequest:
        return one if one.labels else replace(one, repeat=one.repeat + self.STEP * self._run)
