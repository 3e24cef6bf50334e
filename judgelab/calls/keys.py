"""The keys by which calls are known: all that can change an answer, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from judgelab.core.lm import ChatRequest, Pairs


def logprob_keys(
    identity: str, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
) -> list[bytes]:
    """The cache key of each pair."""
    base = _digest(identity)
    x, y = [_digest(c) for c in contexts], [_digest(t) for t in targets]
    return [_digest(b"logprob" + base + x[c] + y[t]) for c, t in pairs]


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
    return _digest("chat" + json.dumps(parts, sort_keys=True))


def _digest(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    return hashlib.blake2b(data, digest_size=16).digest()
