"""An LM that fails in every way that calls can fail, by a rule, and keeps its own account of it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from judgelab.core.lm import (
    Capability,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    StreamingLM,
    Strings,
)

UNANSWERED = (  # reason, settled
    ("refused: I would rather not say anything about q", True),
    ("content filter", True),
    ("cut at 20 tokens", True),
    ("empty answer", True),
    ("malformed answer (not a chat completion)", True),
    ("HTTP 400: context too long, request id 7f3a", True),
    ("no answer in 60 s after 6 attempts", False),
)
UNREADABLE = ("", " \n", "Hm.", "\x1b[31mNobody\x07 can tell.")
NO_SUM = (("longer than evaluation_lm.max_length", True), ("no answer in 60 s", False))
LABELS = {"judge": "[[A]]", "judge_no_context": "[[B]]", "tvd_mi": "[[No Gain]]"}
WORDS = {"pairwise": "one", "chat_eval": "two", "self_confidence": "high"}
READ = {*LABELS, *WORDS, "chat_eval_pointwise", "rating", "acu_rating", "lm_examiner"}
"""Mechanisms and exams that read a verdict; whatever else is asked for is a text."""
LISTS = "".join(
    f"<{kind}_claimed_by_the_paper>\n- It sails.\n</{kind}_claimed_by_the_paper>\n"
    for kind in ("strengths", "weaknesses")
)
JUDGMENT = "The reviewer appreciates the idea.\nThe reviewer criticizes the proof."


def number(*parts: str) -> int:
    """A number that depends on the texts alone."""
    return int.from_bytes(hashlib.blake2b("\n".join(parts).encode(), digest_size=4).digest())


class FailingLM(EvaluationLM):
    """Of three calls two or so get an answer.

    Args:
        kind: chat, labels or logprob: what it can do.
        rate: 1 of so many calls fails.

    Attributes:
        asked, lost: what was put to it, and what of that got no usable answer, with the reason.
    """

    def __init__(self, kind: str = "chat", rate: int = 3) -> None:
        self.kind, self.rate = kind, rate
        self.asked: set[object] = set()
        self.lost: dict[object, str] = {}

    @property
    def identity(self) -> str:
        return f"failing {self.kind} 1/{self.rate}"

    @property
    def capabilities(self) -> frozenset[Capability]:
        verbs = {"logprob": "logprob", "chat": "chat", "labels": "chat labels"}[self.kind]
        return frozenset(map(Capability, verbs.split()))

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        return [self._reply(request) for request in requests]

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        return LogProbTable([self._sum(contexts[c], targets[t]) for c, t in pairs])

    def _reply(self, request: ChatRequest) -> Reply:
        key = (request.messages, request.repeat, request.top_logprobs, request.labels)
        self.asked.add(key)
        drawn = number(*(message.content for message in request.messages))
        ways: list[Reply] = [Reply(None, why, settled=settled) for why, settled in UNANSWERED]
        if not request.labels:
            ways += [Reply(text) for text in (UNREADABLE if read(request) else UNREADABLE[:2])]
        if drawn % self.rate == 0:
            reply = ways[drawn // self.rate % len(ways)]
            self.lost[key] = reply.reason or "unreadable"
            return reply
        return _answer(request, drawn)

    def _sum(self, context: str, target: str) -> LogProb:
        self.asked.add((context, target))
        drawn = number(context, target)
        if drawn % self.rate == 0:
            reason, settled = NO_SUM[drawn // self.rate % len(NO_SUM)]
            self.lost[context, target] = reason
            return LogProb(math.nan, 0, reason, settled)
        return LogProb(-float(1 + drawn % 97) / 7, max(len(target.split()), 1))


class FailingEndpoint(FailingLM, StreamingLM):
    """The same, whose answers arrive one by one, the last first, and cost something."""

    @property
    def streaming(self) -> StreamingLM:
        return self

    def keep(self, path: Path) -> None: ...

    def stream_chat(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Reply]]:
        for index in reversed(range(len(requests))):
            yield index, self._reply(requests[index])

    def stream_logprob(
        self, contexts: Strings, targets: Strings, pairs: Pairs
    ) -> Iterator[tuple[int, LogProb]]:
        for index in reversed(range(len(pairs))):
            yield index, self._sum(contexts[pairs[index][0]], targets[pairs[index][1]])


def read(request: ChatRequest) -> bool:
    """Whether a verdict is read in the reply: of a debate, in its last round alone."""
    name = request.key[0]
    debated = name.startswith("chat_eval")
    return name in READ or name.startswith("pointwise") if not debated else request.key[-1] == "2"


def _answer(request: ChatRequest, drawn: int) -> Reply:
    name = request.key[0]
    if request.labels:
        chosen = request.labels[drawn % len(request.labels)]
        nats = tuple((label, -0.2 if label == chosen else -4.0) for label in request.labels)
        return Reply(chosen, label_logprobs=nats)
    if not read(request):
        return Reply(f"{LISTS}{JUDGMENT} In {drawn} words.")
    said = LABELS.get(name) or WORDS.get(name) or str(1 + drawn % 5)
    tokens = (((said, -0.1), ("else", -3.0)),) if request.top_logprobs else ()
    return Reply(said, top_logprobs=tokens)
