"""The log of calls: a row for each different question, from which everybody reads who counts.

Attempts at paid calls, several of which a call may take, are in ``calls.meter``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from judgelab.calls.sending import BYTES_PER_TOKEN, estimate
from judgelab.core.exchange import shares
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

MOST_TEXT = 50_000_000  # characters of replies that a log keeps, and of prompts


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
    output_tokens: int = 0
    model: str | None = None  # what answered, as its server calls it
    probabilities: str = ""  # of the labels that it could have said, in words
    prompt: str | None = None  # what the LM was shown, where that is kept
    known: bool = False  # of a dry run: the cache holds the answer
    stage: str = ""  # of a dry run: the step that asked
    labels: bool = False  # whether it was a closed question


class CallLog:
    """Calls by the key of their question: each counts once, however often it is put.

    Attributes:
        rows: key -> the call.
        questions: (what was asked about, which repeat of it) -> the key; two questions about
            different things may be the same call.
    """

    def __init__(self) -> None:
        self.rows: dict[bytes, LoggedCall] = {}
        self.questions: dict[tuple[About, int], bytes] = {}

    def note(self, key: bytes, row: LoggedCall, repeat: int = 0) -> None:
        """A question was put; what is known of the call, but for its subject, is replaced."""
        self.questions[row.about, repeat] = key
        if (before := self.rows.get(key)) is not None:
            row.about = before.about
            if before.reason and before.reply is not None and row.reason is None:
                row.reason, row.reply = before.reason, before.reply  # it could not be read
        self.rows[key] = row

    def forget(self) -> None:
        """Begin anew."""
        self.rows.clear()
        self.questions.clear()

    def beyond(self, other: CallLog) -> CallLog:
        """The calls that ``other`` does not have."""
        rest = CallLog()
        rest.rows = {key: row for key, row in self.rows.items() if key not in other.rows}
        return rest

    @property
    def calls(self) -> int:
        """Different questions put."""
        return len(self.rows)

    @property
    def by_key(self) -> dict[bytes, LoggedCall]:
        """All without a usable result, in an order that does not depend on when they ended."""
        return {key: row for key, row in sorted(self.rows.items()) if row.reason is not None}

    @property
    def unscored(self) -> list[LoggedCall]:
        """The same without their keys."""
        return list(self.by_key.values())

    @property
    def unsettled(self) -> list[LoggedCall]:
        """Those of them that the same command asks again."""
        return [row for row in self.unscored if not row.settled]

    @property
    def abouts(self) -> Iterable[About]:
        """What each of them is about."""
        return (row.about for row in self.rows.values())

    @property
    def answered(self) -> int:
        """Different questions answered, now or when the answer was kept: what a judge is billed."""
        return sum(row.answered for row in self.rows.values())

    @property
    def input_tokens(self) -> int:
        """Of the questions answered."""
        return sum(row.input_tokens for row in self.rows.values() if row.answered)

    @property
    def output_tokens(self) -> int:
        """Of their answers."""
        return sum(row.output_tokens for row in self.rows.values() if row.answered)


class LoggedLM(WrappedLM):
    """``lm``, with each of its calls in a log.

    Answers from the cache count as if they were asked for now, so that a bill is the same however
    often a run is repeated.

    Args:
        log: None: one of its own.
        texts: whether replies and prompts are kept, up to ``MOST_TEXT`` characters of each.
    """

    def __init__(
        self,
        lm: EvaluationLM,
        log: CallLog | None = None,
        role: str = "evaluation_lm",
        texts: bool = False,
    ) -> None:
        super().__init__(lm)
        self.log, self._role = CallLog() if log is None else log, role
        self._room = [MOST_TEXT, MOST_TEXT] if texts else [0, 0]
        # of a run: an LM here gives the same again, so only a call over a network can be open
        self._local = log is not None and lm.unwrapped.streaming is None

    @property
    def models(self) -> Counter[str]:
        """What answered, as servers call it, now or when an answer was kept -> different calls."""
        own = (row for row in self.log.rows.values() if row.role == self._role)
        return Counter(row.model for row in own if row.model)

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """The LM's."""
        table = self.lm.logprob(contexts, targets, pairs)
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        self._note_pairs(keys, contexts, targets, pairs, table.rows)
        return table

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """The LM's."""
        replies = self.lm.chat(requests)
        keys = [chat_key(self.identity, request) for request in requests]
        self._note_requests(keys, requests, replies)
        return replies

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Note that nothing could be read in the reply."""
        key = chat_key(self.identity, request)
        row = self.log.rows.get(key) or LoggedCall(self._role, "chat", request.key)
        self.log.rows[key] = replace(row, reason=reason, reply=reply.text, settled=True)
        super().unread(request, reply, reason)

    def about(
        self,
        contexts: Strings,
        targets: Strings,
        pairs: Pairs,
        abouts: Sequence[About],
    ) -> None:
        """Note what log-probabilities are about."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        for key, about in zip(keys, abouts, strict=True):
            if (row := self.log.rows.get(key)) is not None:
                self.log.questions.pop((row.about, 0), None)
                row.about = about
                self.log.questions[about, 0] = key
        super().about(contexts, targets, pairs, abouts)

    def _note_pairs(
        self,
        keys: Sequence[bytes],
        contexts: Strings,
        targets: Strings,
        pairs: Pairs,
        rows: Sequence[LogProb],
    ) -> None:
        x, y = (
            [len(text.encode(errors="surrogatepass")) for text in t] for t in (contexts, targets)
        )
        for key, (c, t), row in zip(keys, pairs, rows, strict=True):
            call = LoggedCall(self._role, "logprob", (targets[t],))
            call.input_tokens = 1 + (x[c] + y[t]) // BYTES_PER_TOKEN
            if math.isnan(row.total):
                call.reason, call.answered = row.reason or "no reason given", False
                call.settled = row.settled or self._local
            self.log.note(key, call)

    def _note_requests(
        self, keys: Sequence[bytes], requests: Sequence[ChatRequest], replies: Sequence[Reply]
    ) -> None:
        for key, request, reply in zip(keys, requests, replies, strict=True):
            call = LoggedCall(self._role, "chat", request.key, model=reply.model)
            call.labels = bool(request.labels)
            call.prompt = self._fitting(1, shown(request))
            if reply.text is None:
                call.reason = reply.reason or "no reason given"
                call.settled = reply.settled or self._local
                call.answered = reply.settled
            else:
                call.reply = self._fitting(0, reply.text)
                told = shares(reply, {label: label for label in request.labels})
                call.probabilities = ", ".join(f"{label} {p:.2f}" for label, p in told.items())
            read, written = reply.input_tokens, reply.output_tokens
            texts = [message.content for message in request.messages]
            call.input_tokens = estimate(texts) if read is None else read
            call.output_tokens = estimate([reply.text or ""]) if written is None else written
            self.log.note(key, call, request.repeat)

    def _fitting(self, which: int, text: str) -> str | None:
        self._room[which] -= len(text)
        return text if self._room[which] >= 0 else None


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

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
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


def shown(request: ChatRequest) -> str:
    """What an LM reads of a request; of several messages, each under who says it."""
    if len(request.messages) == 1:
        return request.messages[0].content
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in request.messages)


def logprob_keys(identity: str, contexts: Strings, targets: Strings, pairs: Pairs) -> list[bytes]:
    """The cache key of each pair."""
    base = digest(identity)
    x, y = [digest(c) for c in contexts], [digest(t) for t in targets]
    return [digest(b"logprob" + base + x[c] + y[t]) for c, t in pairs]


def chat_key(identity: str, request: ChatRequest) -> bytes:
    """The cache key of a request."""
    parts: dict[str, object] = {
        "identity": identity,
        "messages": [[m.role, m.content] for m in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "repeat": request.repeat,
    }
    if request.top_logprobs:
        parts["top_logprobs"] = request.top_logprobs
    if request.labels:
        parts["labels"] = list(request.labels)
    if request.schema:
        parts["schema"] = request.schema
    return digest("chat" + json.dumps(parts, sort_keys=True))


def digest(text: str | bytes) -> bytes:
    """The hash that keys of the call cache are."""
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()
