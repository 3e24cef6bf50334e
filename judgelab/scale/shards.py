"""What a step of a run would ask, cut into pieces that can be answered anywhere, in any order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from judgelab.core.closed_questions import closed_batches, open_questions
from judgelab.core.lm import (
    ChatRequest,
    LogProbTable,
    Pairs,
    Reply,
    WrappedLM,
)
from judgelab.scale.protocol import Ask
from judgelab.store.cached_lm import Cached, table_of

CHATS = 8  # requests in one shard: enough work to be worth sending, little to lose to a kill


@dataclass(frozen=True)
class PairShard:
    """The pairs of one batch (mechanisms ask one batch an item) that nobody has answered yet.

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
    """Looks like ``lm``, gives the answers that are known, and notes the questions that are not.

    Attributes:
        shards: what is missing, in the order in which it was asked; every question once.
    """

    def __init__(self, lm: Cached) -> None:
        self.shards: list[Shard] = []
        super().__init__(lm)
        self._cached, self._seen = lm, set[bytes]()

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """Known pairs; NaN for all others."""
        keys = self._cached.logprob_keys(contexts, targets, pairs)
        known = self._cached.known_logprobs(keys)
        fresh = self._fresh(keys, set(known))
        if fresh:
            wanted = tuple(pairs[index] for index in fresh)
            self.shards.append(PairShard(tuple(contexts), tuple(targets), wanted))
        return table_of([known.get(key, (math.nan, 0)) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Known replies; none for all others."""
        keys = self._cached.chat_keys(requests)
        known = self._cached.known_chats(keys)
        wanted = [requests[index] for index in self._fresh(keys, set(known))]
        rest = open_questions(wanted)
        parts = [rest[start : start + CHATS] for start in range(0, len(rest), CHATS)]
        for part in [*closed_batches(wanted), *parts]:
            self.shards.append(ChatShard(tuple(wanted[index] for index in part)))
        return [known.get(key) or Reply(None, "not asked yet") for key in keys]

    def close(self) -> None:
        """Nothing: the LM goes on."""

    def _fresh(self, keys: Sequence[bytes], known: set[bytes]) -> list[int]:
        """Indices of the questions that are asked here for the first time and not known."""
        first = {key: index for index, key in reversed(list(enumerate(keys)))}
        found = [i for i, key in enumerate(keys) if first[key] == i and key not in known]
        found = [i for i in found if keys[i] not in self._seen]
        self._seen.update(keys)
        return found


def missing(ask: Ask, lm: Cached) -> list[Shard]:
    """The questions of a step that have no answer yet.

    Questions that depend on answers not there yet do not show: they come once those are.
    """
    collector = Collector(lm)
    ask(collector)
    return collector.shards
