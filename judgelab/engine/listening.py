"""Why single verdicts are missing, heard from the LM that was to give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from judgelab.core.judgments import JudgmentTable, Mask
from judgelab.core.lm import ChatRequest, EvaluationLM, LogProbTable, Pairs, Reply, WrappedLM
from judgelab.engine.unscored import grouped

NO_REASON = "no value"
"""Why a verdict is missing of which nothing more is known."""


class Listening(WrappedLM):
    """``lm``, with why its answers hold nothing, by what they are about."""

    def __init__(self, lm: EvaluationLM) -> None:
        super().__init__(lm)
        self._why: dict[tuple[str, ...], str] = {}

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """The LM's."""
        return self.lm.logprob(contexts, targets, pairs)

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        replies = self.lm.chat(requests)
        for request, reply in zip(requests, replies, strict=True):
            if reply.text is None:
                self._note(request, reply.reason or NO_REASON)
        return replies

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """See EvaluationLM."""
        self._note(request, reason)
        super().unread(request, reply, reason)

    def _note(self, request: ChatRequest, reason: str) -> None:
        for names in (request.key[1:3], request.key[1:4]):  # item and agent, and peer
            self._why[names] = grouped(reason)

    def of(self, table: JudgmentTable, missing: Mask) -> dict[str, int]:
        """Reason -> how many verdicts are missing for it.

        Args:
            missing: [units, orders] of the table.
        """
        units = table.units
        counts: Counter[str] = Counter()
        for k, order in np.argwhere(missing):
            item, texts = str(units.item[k]), (str(units.first[k]), str(units.second[k]))
            shown = texts if order == 0 else texts[::-1]
            keys = ((item, *shown), (item, shown[0]), (item, shown[1]))
            counts[next((self._why[key] for key in keys if key in self._why), NO_REASON)] += 1
        return dict(counts.most_common())
