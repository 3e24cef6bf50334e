"""A stand-in for an LM that counts what would be asked, and asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.core.lm import (
    NOT_ASKED,
    UNKNOWN,
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Pairs,
    Reply,
    WrappedLM,
)
from judgelab.endpoint.chat import UNBOUNDED
from judgelab.endpoint.sending import estimate
from judgelab.store.cache import CallCache
from judgelab.store.cached_lm import known_replies
from judgelab.store.call_keys import chat_key, logprob_keys


@dataclass
class StageTally:
    """Different calls of one stage."""

    calls: int = 0
    hits: int = 0  # those the cache can answer
    input_tokens: int = 0  # of the others, estimated
    output_tokens: int = 0  # of the others, at most
    chats: int = 0  # of the others, chat calls whose replies are generated
    closed: int = 0  # of the others, chat calls with labels, of which nothing is generated


class Counted(WrappedLM):
    """``lm`` by name only: known answers come from the cache, all others are absent.

    Attributes:
        cache: where answers may be known; None where there is no cache yet.
        stages: what was counted, by stage.
        pairs: contexts, targets and pairs of the first batch that the cache does not answer; None
            before there is one.
        requests, questions: the same of chat requests without and with labels.
    """

    def __init__(self, lm: EvaluationLM, cache: CallCache | None = None) -> None:
        super().__init__(lm)
        self.cache = cache
        self.stages: dict[str, StageTally] = {}
        self.pairs: tuple[Sequence[str], Sequence[str], Pairs] | None = None
        self.requests: list[ChatRequest] = []
        self.questions: list[ChatRequest] = []
        self._stage, self._seen = StageTally(), set[bytes]()

    @property
    def total(self) -> int:
        """Different calls over all stages."""
        return len(self._seen)

    def begin(self, stage: str) -> None:
        """What is asked from now on belongs to this stage."""
        self._stage = self.stages.setdefault(stage, StageTally())

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """Known pairs; NaN for all others."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        known = self.cache.logprobs(keys) if self.cache else {}
        for key, (c, t) in zip(keys, pairs, strict=True):
            self._note(key, key in known, [contexts[c], targets[t]])
        unknown = [pair for key, pair in zip(keys, pairs, strict=True) if key not in known]
        if self.pairs is None and unknown:
            self.pairs = (contexts, targets, unknown)
        return LogProbTable.of([known.get(key, UNKNOWN) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Known replies; none for all others."""
        keys = [chat_key(self.identity, request) for request in requests]
        known = known_replies(self.cache, keys) if self.cache else {}
        for key, request in zip(keys, requests, strict=True):
            texts = [*(m.content for m in request.messages), *request.labels]
            self._note(key, key in known, texts, request)
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

    def _note(
        self, key: bytes, hit: bool, texts: list[str], request: ChatRequest | None = None
    ) -> None:
        if key in self._seen:
            return
        self._seen.add(key)
        stage = self._stage
        stage.calls += 1
        stage.hits += hit
        if not hit:
            stage.input_tokens += estimate(texts)
            if request is None:
                stage.output_tokens += 1
            elif request.labels:
                stage.closed += 1
            else:
                stage.output_tokens += request.max_tokens or UNBOUNDED
                stage.chats += 1
