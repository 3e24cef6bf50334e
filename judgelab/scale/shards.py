"""Questions that have no answer yet, in shards, and how a worker answers one."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from judgelab.calls.cached import Cached
from judgelab.calls.log import chat_key, logprob_keys
from judgelab.config import build
from judgelab.config.targets import trusting
from judgelab.core.errors import ConfigError
from judgelab.core.exchange import closed_batches, open_questions
from judgelab.core.lm import (
    NOT_YET,
    UNKNOWN,
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Pairs,
    Reply,
    WrappedLM,
)
from judgelab.scale.local import Ask
from judgelab.store.fingerprint import code_digest

CHATS = 8  # requests in one shard: enough work to be worth sending, little to lose to a kill


@dataclass(frozen=True)
class PairShard:
    """The pairs of one batch (mechanisms ask one batch an item) that have no answer yet.

    A batch is never cut: an LM may share work inside one, and gets the very call that it would
    get in one process. The answers are then the same to the last bit.
    """

    contexts: tuple[str, ...]
    targets: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ChatShard:
    """Some requests of one batch: open ones, which LMs answer each for itself, or all closed
    questions about an item, of which the same holds as of pairs.
    """

    requests: tuple[ChatRequest, ...]


Shard = PairShard | ChatShard
Answers = LogProbTable | list[Reply]


class Collector(WrappedLM):
    """Looks like ``lm``, gives known answers, and notes in ``shards`` every other question once."""

    def __init__(self, lm: Cached) -> None:
        self.shards: list[Shard] = []
        super().__init__(lm)
        self._cached, self._seen = lm, set[bytes]()

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """Known pairs; NaN for all others."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        known = self._cached.known_logprobs(keys)
        fresh = self._fresh(keys, set(known))
        if fresh:
            wanted = tuple(pairs[index] for index in fresh)
            self.shards.append(PairShard(tuple(contexts), tuple(targets), wanted))
        return LogProbTable.of([known.get(key, UNKNOWN) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Known replies; none for all others."""
        keys = [chat_key(self.identity, request) for request in requests]
        known = self._cached.known_chats(keys)
        wanted = [requests[index] for index in self._fresh(keys, set(known))]
        rest = open_questions(wanted)
        parts = [rest[start : start + CHATS] for start in range(0, len(rest), CHATS)]
        for part in [*closed_batches(wanted), *parts]:
            self.shards.append(ChatShard(tuple(wanted[index] for index in part)))
        return [known.get(key) or Reply(None, NOT_YET) for key in keys]

    def unread(self, request: ChatRequest, reply: Reply, reason: str) -> None:
        """Nothing: this is no run."""

    def about(self, *calls: object) -> None:
        """Nothing either."""

    def close(self) -> None:
        """Nothing: the LM goes on."""

    def _fresh(self, keys: Sequence[bytes], known: set[bytes]) -> list[int]:
        """Indices of the questions that are asked here for the first time and not known."""
        found = []
        for index, key in enumerate(keys):
            if key not in known and key not in self._seen:
                found.append(index)
            self._seen.add(key)
        return found


def missing(ask: Ask, lm: Cached) -> list[Shard]:
    """The questions of a step that have no answer yet; what depends on these comes later."""
    collector = Collector(lm)
    ask(collector)
    return collector.shards


@dataclass(frozen=True)
class Model:
    """The LM that a worker has to be: its config node (JSON), and the run's own LM's identity."""

    config: str
    identity: str
    code: str  # digest of the run's judgelab sources
    folder: str  # the run's working directory, for relative paths in the config
    trusted: tuple[str, ...] = ()  # packages whose classes the config may name


@dataclass(frozen=True)
class Answered:
    """A shard's answers, in its order, and what the worker's LM says of its work so far."""

    answers: Answers
    worker: str
    facts: dict[str, Any]


def answer(model: Model, shard: Shard) -> Answered:
    """Answer a shard; ConfigError where this machine has other code or other model files."""
    lm = _lm(model)
    answers: Answers
    if isinstance(shard, PairShard):
        answers = lm.logprob(shard.contexts, shard.targets, shard.pairs)
    else:
        answers = lm.chat(shard.requests)
    return Answered(answers, f"{platform.node()}:{os.getpid()}", dict(lm.facts))


@lru_cache(maxsize=1)  # loading a model takes longer than a shard: a process keeps the last one
def _lm(model: Model) -> EvaluationLM:
    if Path(model.folder).is_dir():
        os.chdir(model.folder)
    if code_digest() != model.code:
        raise ConfigError(
            f"A worker on {platform.node()} runs other judgelab code than this run: install the "
            "same version on every machine."
        )
    with trusting(model.trusted):
        lm: EvaluationLM = build(json.loads(model.config), "evaluation_lm")
    if lm.identity != model.identity:
        raise ConfigError(
            f"A worker on {platform.node()} would answer as {lm.identity!r}, but the run asks "
            f"{model.identity!r}: give every machine the same model files."
        )
    return lm
