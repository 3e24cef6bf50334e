"""A wrapper that asks every question once."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from judgelab.capability import Capability
from judgelab.evaluation_lm.protocol import (
    ChatRequest,
    EvaluationLM,
    LogProbTable,
    Pairs,
    Reply,
)
from judgelab.store.cache import CallCache


@dataclass
class CallCount:
    """How many answers were asked for, and how many of them had to be computed."""

    asked: int = 0
    computed: int = 0


class Cached:
    """``lm`` behind a call cache; identical questions in one batch are asked once too.

    A key is the hash of the LM's identity and of the texts, messages, sampling settings and
    repeat index: all that can change an answer, and nothing else. Unscored answers are not
    stored, so a later run asks again.
    """

    def __init__(self, lm: EvaluationLM, cache: CallCache) -> None:
        self.lm, self.cache = lm, cache
        self.count = CallCount()

    @property
    def identity(self) -> str:
        """The wrapped LM's: a cache changes no answer."""
        return self.lm.identity

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The wrapped LM's."""
        return self.lm.capabilities

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """As the wrapped LM; only pairs never seen before reach it."""
        base = _digest(self.identity)
        x, y = [_digest(c) for c in contexts], [_digest(t) for t in targets]
        keys = [_digest_bytes(b"logprob" + base + x[c] + y[t]) for c, t in pairs]
        known = self.cache.logprobs(list(dict.fromkeys(keys)))
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        self.count.asked += len(keys)
        if missing:
            fresh = self.lm.logprob(contexts, targets, list(missing.values()))
            rows = {
                key: (float(total), int(tokens))
                for key, total, tokens in zip(missing, fresh.total, fresh.tokens, strict=True)
            }
            self.cache.add_logprobs({k: v for k, v in rows.items() if not math.isnan(v[0])})
            known |= rows
            self.count.computed += len(rows)
        return LogProbTable(
            total=np.array([known[key][0] for key in keys], dtype=np.float64),
            tokens=np.array([known[key][1] for key in keys], dtype=np.int64),
        )

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """As the wrapped LM; only questions never answered before reach it."""
        keys = [self._chat_key(request) for request in requests]
        stored = self.cache.chats(list(dict.fromkeys(keys)))
        known = {key: Reply(**json.loads(value)) for key, value in stored.items()}
        missing = {k: r for k, r in zip(keys, requests, strict=True) if k not in known}
        self.count.asked += len(keys)
        if missing:
            replies = dict(zip(missing, self.lm.chat(list(missing.values())), strict=True))
            answered = {k: r for k, r in replies.items() if r.text is not None}
            self.cache.add_chats({k: json.dumps(asdict(r)) for k, r in answered.items()})
            known |= replies
            self.count.computed += len(missing)
        return [known[key] for key in keys]

    def close(self) -> None:
        """Close the LM and the cache."""
        self.lm.close()
        self.cache.close()

    def _chat_key(self, request: ChatRequest) -> bytes:
        parts = {
            "identity": self.identity,
            "messages": [[m.role, m.content] for m in request.messages],
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "repeat": request.repeat,
        }
        return _digest("chat" + json.dumps(parts, sort_keys=True))


def _digest(text: str) -> bytes:
    return _digest_bytes(text.encode())


def _digest_bytes(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()
