"""A wrapper that keeps the account of calls without a usable result."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from judgelab.core.lm import (
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    WrappedLM,
)
from judgelab.core.outcomes import About, CallOutcomes, Unscored, Verb
from judgelab.store.call_keys import chat_key, logprob_keys


class NotedLM(WrappedLM):
    """``lm``, with each of its calls in the account of a run.

    Args:
        outcomes: where calls without a usable result are noted, by this role of the LM.
    """

    def __init__(
        self,
        lm: EvaluationLM,
        outcomes: CallOutcomes | None = None,
        role: str = "evaluation_lm",
    ) -> None:
        super().__init__(lm)
        self.outcomes, self._role = outcomes or CallOutcomes(), role
        self._models: dict[bytes, str] = {}

    @property
    def models(self) -> Counter[str]:
        """What answered, as servers call it, now or when an answer was kept -> different calls."""
        return Counter(self._models.values())

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """The LM's."""
        table = self.lm.logprob(contexts, targets, pairs)
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        self._note_pairs(keys, targets, pairs, dict(zip(keys, table.rows, strict=True)))
        return table

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        replies = self.lm.chat(requests)
        keys = [chat_key(self.identity, request) for request in requests]
        self._note_requests(keys, requests, dict(zip(keys, replies, strict=True)))
        return replies

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Note it among the outcomes."""
        what = Unscored(self._role, "chat", request.key, reason, reply.text)
        self.outcomes.note(chat_key(self.identity, request), what)

    def about(
        self,
        contexts: Sequence[str],
        targets: Sequence[str],
        pairs: Pairs,
        abouts: Sequence[About],
    ) -> None:
        """Note it among the outcomes."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        self.outcomes.about(dict(zip(keys, abouts, strict=True)))

    def _note_pairs(
        self,
        keys: Sequence[bytes],
        targets: Sequence[str],
        pairs: Pairs,
        known: Mapping[bytes, LogProb],
    ) -> None:
        abouts = {key: (targets[t],) for key, (_, t) in zip(keys, pairs, strict=True)}
        self._note("logprob", abouts, known)

    def _note_requests(
        self, keys: Sequence[bytes], requests: Sequence[ChatRequest], known: Mapping[bytes, Reply]
    ) -> None:
        self._models |= {key: reply.model for key, reply in known.items() if reply.model}
        self._note("chat", dict(zip(keys, (one.key for one in requests), strict=True)), known)

    def _note(
        self, verb: Verb, asked: Mapping[bytes, About], known: Mapping[bytes, LogProb | Reply]
    ) -> None:
        self.outcomes.asked(asked)
        for key, about in asked.items():
            if without_result(answer := known[key]):
                reason = answer.reason or "no reason given"
                # an LM that runs here gives the same again: only a call over a network can be open
                settled = answer.settled or self.lm.streaming is None
                what = Unscored(self._role, verb, about, reason, None, settled)
                self.outcomes.note(key, what)


def without_result(answer: LogProb | Reply) -> bool:
    """Whether a call gave no text, or no sum."""
    return answer.text is None if isinstance(answer, Reply) else math.isnan(answer.total)
