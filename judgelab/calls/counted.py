"""A stand-in for an LM that counts what would be asked, and asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import known_replies
from judgelab.calls.chat import UNBOUNDED
from judgelab.calls.log import LoggedCall, LoggedLM, chat_key, logprob_keys
from judgelab.calls.sending import estimate
from judgelab.core.lm import (
    NOT_ASKED,
    UNKNOWN,
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Pairs,
    Reply,
)


@dataclass
class StageTally:
    """Different calls of one stage."""

    calls: int = 0
    hits: int = 0  # those the cache can answer
    input_tokens: int = 0  # of the others, estimated
    output_tokens: int = 0  # of the others, at most
    chats: int = 0  # of the others, chat calls whose replies are generated
    closed: int = 0  # of the others, chat calls with labels, of which nothing is generated


class Counted(LoggedLM):
    """``lm`` by name only: known answers come from the cache, all others are absent.

    Attributes:
        cache: where answers may be known; None where there is no cache yet.
        pairs: contexts, targets and pairs of the first batch that the cache does not answer; None
            before there is one.
        requests, questions: the same of chat requests without and with labels.
    """

    def __init__(self, lm: EvaluationLM, cache: CallCache | None = None) -> None:
        super().__init__(lm)
        self.cache = cache
        self.pairs: tuple[Sequence[str], Sequence[str], Pairs] | None = None
        self.requests: list[ChatRequest] = []
        self.questions: list[ChatRequest] = []
        self._stages = [""]

    @property
    def total(self) -> int:
        """Different calls over all stages."""
        return self.log.calls

    @property
    def stages(self) -> dict[str, StageTally]:
        """What would be asked in each stage; a call counts where it is put first."""
        found = {stage: StageTally() for stage in self._stages if stage}
        for row in self.log.rows.values():
            tally = found.setdefault(row.stage, StageTally())
            tally.calls += 1
            tally.hits += row.known
            if not row.known:
                tally.input_tokens += row.input_tokens
                tally.output_tokens += row.output_tokens
                tally.closed += row.labels
                tally.chats += row.verb == "chat" and not row.labels
        return found

    def begin(self, stage: str) -> None:
        """What is asked from now on belongs to this stage."""
        self._stages.append(stage)

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """Known pairs; NaN for all others."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        known = self.cache.logprobs(keys) if self.cache else {}
        for key, (c, t) in zip(keys, pairs, strict=True):
            if key not in self.log.rows:
                size = estimate([contexts[c], targets[t]])
                self._count(key, LoggedCall("", "logprob", (), known=key in known), size, 1)
        unknown = [pair for key, pair in zip(keys, pairs, strict=True) if key not in known]
        if self.pairs is None and unknown:
            self.pairs = (contexts, targets, unknown)
        return LogProbTable.of([known.get(key, UNKNOWN) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Known replies; none for all others."""
        keys = [chat_key(self.identity, request) for request in requests]
        known = known_replies(self.cache, keys) if self.cache else {}
        for key, request in zip(keys, requests, strict=True):
            if key not in self.log.rows:
                row = LoggedCall("", "chat", request.key, known=key in known)
                row.labels = bool(request.labels)
                size = estimate([*(m.content for m in request.messages), *request.labels])
                most = 0 if request.labels else request.max_tokens or UNBOUNDED
                self._count(key, row, size, most)
        new = [request for key, request in zip(keys, requests, strict=True) if key not in known]
        self.requests = self.requests or [request for request in new if not request.labels]
        self.questions = self.questions or [request for request in new if request.labels]
        return [known.get(key) or Reply(None, NOT_ASKED) for key in keys]

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Nothing: this is no run."""

    def about(self, *calls: object) -> None:
        """Nothing either."""

    def close(self) -> None:
        """Close the cache."""
        if self.cache is not None:
            self.cache.close()

    def _count(self, key: bytes, row: LoggedCall, tokens: int, most: int) -> None:
        row.stage, row.input_tokens, row.output_tokens = self._stages[-1], tokens, most
        self.log.rows[key] = row
