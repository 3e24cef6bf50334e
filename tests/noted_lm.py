"""An LM that answers by a rule and notes, in a file that processes share, who asked it what."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgelab.core.lm import (
    Capability,
    ChatRequest,
    EvaluationLM,
    LogProb,
    LogProbTable,
    Pairs,
    Reply,
    Strings,
)

LABELS = ("[[A]]", "[[B]]", "[[C]]")


def number(*parts: str) -> int:
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:6], "big")


class Noted(EvaluationLM):
    """Every 40th question has no answer.

    Args:
        log: the shared file.
        name: the identity; ``{pid}`` in it is filled in.
        fatal: a file; the process that finds it removes it and dies, once.
    """

    identity = ""
    capabilities = frozenset({Capability.LOGPROB, Capability.CHAT})

    def __init__(self, log: str, name: str = "noted", fatal: str | None = None) -> None:
        self.log, self.fatal = Path(log), fatal
        self.identity = name.format(pid=os.getpid())

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        asked = [(contexts[c], targets[t]) for c, t in pairs]
        self._note([["logprob", *pair] for pair in asked])
        values = [number(*pair) for pair in asked]
        total = [math.nan if v % 40 == 0 else -(v % 1000) / 7 for v in values]
        return LogProbTable([LogProb(v, len(t)) for v, (_, t) in zip(total, asked, strict=True)])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        texts = [request.messages[-1].content for request in requests]
        self._note([["chat", text] for text in texts])
        values = [number(text) for text in texts]
        return [
            Reply(None, "no answer") if v % 40 == 0 else Reply(f"{LABELS[v % 3]} {v}")
            for v in values
        ]

    def _note(self, questions: list[list[str]]) -> None:
        if self.fatal is not None and Path(self.fatal).exists():
            Path(self.fatal).unlink()
            os._exit(1)
        entry = {"pid": os.getpid(), "node": _node(), "asked": questions}
        entry["threads"] = os.environ.get("OMP_NUM_THREADS")
        with self.log.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps(entry) + "\n")


def _node() -> str:
    ray: Any = sys.modules.get("ray")
    known = ray is not None and ray.is_initialized()
    return str(ray.get_runtime_context().get_node_id()) if known else "no cluster"
