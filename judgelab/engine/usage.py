"""What the answers of an LM took: questions and tokens, whether asked now or known before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.core.lm import (
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Pairs,
    Reply,
    WrappedLM,
)
from judgelab.endpoint.sending import estimate
from judgelab.store.call_keys import chat_key, logprob_keys


class UsageCount(WrappedLM):
    """``lm``, with an account of its answers.

    Answers from the cache count as if they were asked for now, so that a cost is the same however
    often a run is repeated. A question that is put twice counts once, as it is paid once; one that
    got no answer does not count. Tokens are those that the LM reports, else estimated.
    """

    def __init__(self, lm: EvaluationLM) -> None:
        super().__init__(lm)
        self._seen = dict[bytes, tuple[int, int]]()

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """The LM's."""
        table = self.lm.logprob(contexts, targets, pairs)
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        for key, (c, t), nats in zip(keys, pairs, table.total, strict=True):
            if np.isfinite(nats):
                self._note(key, estimate([contexts[c], targets[t]]), 0)
        return table

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        replies = self.lm.chat(requests)
        for request, reply in zip(requests, replies, strict=True):
            if reply.text is None and not reply.settled:
                continue
            read, written = reply.input_tokens, reply.output_tokens
            if read is None:
                read = estimate([message.content for message in request.messages])
            if written is None:
                written = estimate([reply.text or ""])
            self._note(chat_key(self.identity, request), read, written)
        return replies

    def _note(self, key: bytes, read: int, written: int) -> None:
        self._seen.setdefault(key, (read, written))

    @property
    def calls(self) -> int:
        """Different questions answered."""
        return len(self._seen)

    @property
    def input_tokens(self) -> int:
        """Of these questions."""
        return sum(read for read, _ in self._seen.values())

    @property
    def output_tokens(self) -> int:
        """Of their answers."""
        return sum(written for _, written in self._seen.values())

    def beyond(self, other: UsageCount) -> UsageCount:
        """The account of those questions alone that ``other`` was not put."""
        found = UsageCount(self.lm)
        found._seen = {key: each for key, each in self._seen.items() if key not in other._seen}
        return found
