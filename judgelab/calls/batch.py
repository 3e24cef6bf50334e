"""Questions that are put to an LM at once: log-probabilities of pairs, or messages to reply to.

What treats both alike (the cache, the log, a dry run, workers) asks for batches alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from judgelab.calls.sending import UNBOUNDED, estimate
from judgelab.core.lm import (
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    Strings,
    WrappedLM,
)

Verb = Literal["chat", "logprob"]
About = tuple[str, ...]
"""Mechanism or step, item, agent, peer or others, as far as there are any."""
Answer = LogProb | Reply

ABOUT = 2  # parts of a request's key that name the mechanism and the item
SLICE = 8  # requests put to a local LM at once, to begin with
WORTH = 30.0  # seconds of a local LM's answers that a kill may cost, about


@dataclass(slots=True)
class LoggedCall:
    """One question and what came of it."""

    role: str  # of the LM in the run: evaluation_lm, writer_lm, study.judges.NAME, ...
    verb: Verb
    about: About  # ``ChatRequest.key``; of a pair what the mechanism said of it, else its target
    reason: str | None = None  # why there is no usable result; None where there is one
    settled: bool = True  # no: the same command asks it again (docs/faults.md)
    reply: str | None = None  # where it could not be read or replies are kept
    answered: bool = True  # even by a refusal or by what cannot be read
    input_tokens: int = 0  # as the LM counted them, else estimated
    output_tokens: int = 0  # of a dry run: at most
    model: str | None = None  # what answered, as its server calls it
    probabilities: str = ""  # of the labels that it could have said, in words
    prompt: str | None = None  # what the LM was shown, where that is kept
    kind: str = "pair"  # a log-probability; else chat (a generated reply) or closed
    repeat: int = 0  # which of several replies to the same question it is


def is_missing(answer: Answer) -> bool:
    """Whether an answer has no result."""
    return answer.text is None if isinstance(answer, Reply) else math.isnan(answer.total)


@dataclass(frozen=True)
class PairBatch:
    """log P(target | context) of pairs; mechanisms ask one batch an item, which is never cut."""

    contexts: Strings
    targets: Strings
    questions: Pairs
    verb: ClassVar[Verb] = "logprob"

    def keys(self, identity: str) -> list[bytes]:
        """The cache key of each question to the LM of this identity."""
        base = digest(identity)
        x, y = ([digest(text) for text in texts] for texts in (self.contexts, self.targets))
        return [digest(b"logprob" + base + x[c] + y[t]) for c, t in self.questions]

    def at(self, places: Iterable[int]) -> PairBatch:
        """The chosen questions alone."""
        return replace(self, questions=tuple(self.questions[k] for k in places))

    def texts(self, k: int) -> list[str]:
        """What the LM reads of a question."""
        c, t = self.questions[k]
        return [self.contexts[c], self.targets[t]]

    def call(self, k: int, role: str) -> LoggedCall:
        """A question as a row of the log, with the tokens that it may take."""
        texts = self.texts(k)
        tokens = estimate(texts)
        return LoggedCall(role, self.verb, (texts[1],), input_tokens=tokens, output_tokens=1)

    def absent(self, reason: str, settled: bool = False) -> LogProb:
        """An answer without a result."""
        return LogProb(math.nan, 0, reason, settled)

    def ask(self, lm: EvaluationLM) -> Sequence[LogProb]:
        """All answers, in order."""
        return lm.logprob(self.contexts, self.targets, self.questions).rows

    def parts(self, lm: EvaluationLM) -> Iterator[dict[int, LogProb]]:
        """Answers by index: one by one as they come, or a local LM's, all at once."""
        if lm.streaming is None:
            yield dict(enumerate(self.ask(lm)))
        else:
            arrays = self.contexts, self.targets, self.questions
            yield from ({k: one} for k, one in lm.streaming.stream_logprob(*arrays))

    def shards(self, size: int) -> list[PairBatch]:
        """What a worker answers at a time: ``size`` questions, where an LM shares no work."""
        return [self]


@dataclass(frozen=True)
class ChatBatch:
    """Messages to reply to; verbs as of pairs.

    An LM encodes what closed questions of an item share once. They are neither cut nor mixed, so
    that they are the same call in one process and in workers, and have the same sums to the last
    bit; a kill costs the item under way.
    """

    questions: Sequence[ChatRequest]
    verb: ClassVar[Verb] = "chat"

    def keys(self, identity: str) -> list[bytes]:
        """Of each request."""
        return [chat_key(identity, request) for request in self.questions]

    def at(self, places: Iterable[int]) -> ChatBatch:
        """The chosen requests alone."""
        return ChatBatch([self.questions[k] for k in places])

    def texts(self, k: int) -> list[str]:
        """The messages."""
        return [message.content for message in self.questions[k].messages]

    def call(self, k: int, role: str) -> LoggedCall:
        """About what the request's key says; nothing is generated of a closed question."""
        request = self.questions[k]
        call = LoggedCall(role, self.verb, request.key, repeat=request.repeat)
        call.kind = "closed" if request.labels else "chat"
        call.input_tokens = estimate([*self.texts(k), *request.labels])
        call.output_tokens = 0 if request.labels else request.max_tokens or UNBOUNDED
        return call

    def absent(self, reason: str, settled: bool = False) -> Reply:
        """A reply without a text."""
        return Reply(None, reason, settled=settled)

    def ask(self, lm: EvaluationLM) -> Sequence[Reply]:
        """All replies, in order."""
        return lm.chat(self.questions)

    def parts(self, lm: EvaluationLM) -> Iterator[dict[int, Reply]]:
        """One by one as they come; of a local LM an item's closed questions, or some open ones."""
        if lm.streaming is not None:
            yield from ({k: one} for k, one in lm.streaming.stream_chat(self.questions))
            return
        closed, rest = self._kinds
        for part in closed:
            yield dict(zip(part, self.at(part).ask(lm), strict=True))
        size = SLICE
        while rest:
            begun, part, rest = time.monotonic(), rest[:size], rest[size:]
            yield dict(zip(part, self.at(part).ask(lm), strict=True))
            took = max(time.monotonic() - begun, 1e-3)
            size = max(1, min(2 * size, int(len(part) * WORTH / took)))

    def shards(self, size: int) -> list[ChatBatch]:
        """An item's closed questions, or ``size`` open ones, at a time."""
        closed, rest = self._kinds
        parts = [rest[start : start + size] for start in range(0, len(rest), size)]
        return [self.at(part) for part in (*closed, *parts)]

    @property
    def _kinds(self) -> tuple[list[list[int]], list[int]]:
        """Indices of closed questions, those about one item together; and those of all others."""
        closed = dict[About, list[int]]()
        for k, request in enumerate(self.questions):
            if request.labels:
                closed.setdefault(request.key[:ABOUT], []).append(k)
        return list(closed.values()), [k for k, one in enumerate(self.questions) if not one.labels]


Batch = PairBatch | ChatBatch


class BatchLM(WrappedLM):
    """A wrapper whose one verb answers batches of either kind."""

    def answers(self, batch: Batch) -> Sequence[Any]:
        """One for each question, in order; by default the wrapped LM's."""
        return batch.ask(self.lm)

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """The pairs as a batch."""
        return LogProbTable(self.answers(PairBatch(contexts, targets, pairs)))

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The requests as a batch."""
        return list(self.answers(ChatBatch(requests)))


def chat_key(identity: str, request: ChatRequest) -> bytes:
    """The cache key of a request."""
    parts: dict[str, object] = {
        "identity": identity,
        "messages": [[m.role, m.content] for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "repeat": request.repeat,
    }
    for name in ("top_logprobs", "labels", "schema"):  # absent where nothing is asked for
        parts |= {name: value} if (value := getattr(request, name)) else {}
    return digest("chat" + json.dumps(parts, sort_keys=True))


def digest(text: str | bytes) -> bytes:
    """The hash that keys of the call cache are."""
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()
