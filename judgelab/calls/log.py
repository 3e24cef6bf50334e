"""The log of calls: a row for each different question, from which everybody reads who counts.

Attempts at paid calls, several of which a call may take, are in ``calls.meter``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from judgelab.calls.batch import (
    About,
    Batch,
    BatchLM,
    ChatBatch,
    LoggedCall,
    PairBatch,
    chat_key,
    is_missing,
)
from judgelab.calls.sending import estimate
from judgelab.core.lm import ChatRequest, EvaluationLM, Keys, Pairs, Reply, Strings

MOST_TEXT = 50_000_000  # characters of replies that a log keeps, and of prompts


class CallLog:
    """Calls by the key of their question: each counts once, however often it is put."""

    def __init__(self) -> None:
        self.rows: dict[bytes, LoggedCall] = {}
        # (about what, which repeat of it) -> key; questions about two things may be one call
        self.questions: dict[tuple[About, int], bytes] = {}

    def note(self, key: bytes, row: LoggedCall) -> None:
        """A question was put; what is known of the call, but for its subject, is replaced."""
        self.questions[row.about, row.repeat] = key
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
    def unscored_by_key(self) -> dict[bytes, LoggedCall]:
        """All without a usable result, in an order that does not depend on when they ended."""
        return {key: row for key, row in sorted(self.rows.items()) if row.reason is not None}

    @property
    def unscored(self) -> list[LoggedCall]:
        """The same without their keys."""
        return list(self.unscored_by_key.values())

    @property
    def abouts(self) -> Iterable[About]:
        """What each of them is about."""
        return (row.about for row in self.rows.values())

    @property
    def bill(self) -> tuple[int, int, int]:
        """Questions answered, now or when the answer was kept; their tokens; those of answers."""
        own = [row for row in self.rows.values() if row.answered]
        return len(own), sum(r.input_tokens for r in own), sum(r.output_tokens for r in own)


class LoggedLM(BatchLM):
    """``lm``, with each of its calls in a log.

    Answers from the cache count as if they were asked for now, so that a bill is the same however
    often a run is repeated. With ``texts`` up to ``MOST_TEXT`` characters of replies, and as many
    of prompts, are kept.
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

    def answers(self, batch: Batch) -> Sequence[Any]:
        """The LM's."""
        answers = super().answers(batch)
        self._note(batch, batch.keys(self.identity), answers)
        return answers

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Note that nothing could be read in the reply."""
        key = chat_key(self.identity, request)
        row = self.log.rows.get(key) or LoggedCall(self._role, "chat", request.key)
        self.log.rows[key] = replace(row, reason=reason, reply=reply.text, settled=True)
        super().unread(request, reply, reason)

    def about(self, contexts: Strings, targets: Strings, pairs: Pairs, abouts: Keys) -> None:
        """Note what log-probabilities are about."""
        keys = PairBatch(contexts, targets, pairs).keys(self.identity)
        for key, about in zip(keys, abouts, strict=True):
            if (row := self.log.rows.get(key)) is not None:
                self.log.questions.pop((row.about, 0), None)
                row.about = about
                self.log.questions[about, 0] = key
        super().about(contexts, targets, pairs, abouts)

    def _note(self, batch: Batch, keys: Sequence[bytes], answers: Sequence[Any]) -> None:
        for k, (key, answer) in enumerate(zip(keys, answers, strict=True)):
            call = batch.call(k, self._role)
            if isinstance(batch, ChatBatch):
                self._note_reply(call, batch.questions[k], answer)
            else:
                call.output_tokens = 0
            if is_missing(answer):
                call.reason = answer.reason or "no reason given"
                call.answered = answer.settled and batch.verb == "chat"
                call.settled = answer.settled or self._local
            self.log.note(key, call)

    def _note_reply(self, call: LoggedCall, request: ChatRequest, reply: Reply) -> None:
        call.model, call.prompt = reply.model, self._fitting(1, request_text(request))
        if reply.text is not None:
            call.reply = self._fitting(0, reply.text)
            likely = shares(reply, {label: label for label in request.labels})
            call.probabilities = ", ".join(f"{label} {p:.2f}" for label, p in likely.items())
        if reply.input_tokens is not None:
            call.input_tokens = reply.input_tokens
        tokens = reply.output_tokens
        call.output_tokens = estimate([reply.text or ""]) if tokens is None else tokens

    def _fitting(self, which: int, text: str) -> str | None:
        self._room[which] -= len(text)
        return text if self._room[which] >= 0 else None


class Again(BatchLM):
    """An LM that is asked the same once more: its replies are drawn anew.

    Closed questions and log-probabilities have no draws; ``asked``: whether a question had any.
    """

    STEP = 1000  # more than the replies that a mechanism takes to one question

    def __init__(self, lm: EvaluationLM, run: int) -> None:
        super().__init__(lm)
        self.asked, self._run = False, run

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Its replies to draws of their own."""
        self.asked |= any(not one.labels for one in requests)
        return self.lm.chat([self._redraw(one) for one in requests])

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """The LM notes it."""
        super().unread(self._redraw(request), reply, reason)

    def _redraw(self, one: ChatRequest) -> ChatRequest:
        return one if one.labels else replace(one, repeat=one.repeat + self.STEP * self._run)


def shares(reply: Reply, labels: Mapping[str, str]) -> dict[str, float]:
    """What a reply may say -> its probability; they add up to 1. Empty without probabilities.

    Labels that the request did not put to the LM are not there.
    """
    pairs = [(labels[text], nats) for text, nats in reply.label_logprobs if text in labels]
    top = max((nats for _, nats in pairs), default=0.0)
    weights: dict[str, float] = {}
    for name, nats in pairs:
        weights[name] = weights.get(name, 0.0) + math.exp(nats - top)
    total = math.fsum(weights.values())
    return {name: value / total for name, value in weights.items()}


def request_text(request: ChatRequest) -> str:
    """What an LM reads of a request; of several messages, each under who says it."""
    if len(request.messages) == 1:
        return request.messages[0].content
    return "\n\n".join(f"[{one.role}]\n{one.content}" for one in request.messages)
