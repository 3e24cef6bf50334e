"""A published run, run again from its call cache alone: no model, no network, no key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from judgelab.core.capability import Capability
from judgelab.core.errors import DataError
from judgelab.core.estimator import RECORDED, Presentation
from judgelab.core.lm import ChatRequest, EvaluationLM, LogProb, LogProbTable, Pairs, Reply
from judgelab.store.cache import CallCache
from judgelab.store.cached_lm import known_replies
from judgelab.store.call_keys import chat_key, logprob_keys

EXCERPT = 60  # characters of a text that a message shows
UNRECORDED = LogProb(math.nan, 0, "not recorded", settled=True)


class CacheReplay(EvaluationLM):
    """Answers what a recorded LM answered, and nothing else.

    Args:
        path: a call cache; it is only read.
        identity: the recorded LM, as the run's manifest.json names it; None where the file holds
            the answers of one only.
        missing: what a question without an answer is. ``refuse`` ends the run and names the first
            one; ``unscored`` counts it, for a run whose own calls did not all succeed.

    Raises:
        DataError: at first use, where the file is no call cache or does not know the LM; later,
            where it holds no answer to a call (``missing=refuse``).
    """

    replayed = True

    def __init__(
        self,
        path: str,
        identity: str | None = None,
        missing: Literal["refuse", "unscored"] = "refuse",
    ) -> None:
        self.path, self.missing = path, missing
        self._identity = identity

    @cached_property
    def _cache(self) -> CallCache:
        if not Path(self.path).is_file():
            raise DataError(
                f"evaluation_lm=cache_replay: there is no call cache at {self.path}: give "
                "evaluation_lm.path=FILE."
            )
        return CallCache(Path(self.path), read_only=True)

    @cached_property
    def identity(self) -> str:
        """The recorded LM's; DataError where it has to be chosen, or is not there."""
        known = sorted({identity for identity, _ in self._cache.lms()})
        if self._identity is None and len(known) == 1:
            return known[0]
        if self._identity is None or (known and self._identity not in known):
            listed = " | ".join(known) or "no LM that it names"
            raise DataError(
                f"{self.path} holds the answers of {listed}: choose with evaluation_lm.identity."
            )
        return self._identity

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The verbs that were recorded."""
        verbs = {verb for identity, verb in self._cache.lms() if identity == self.identity}
        return frozenset(Capability(verb) for verb in verbs)

    @property
    def presentation(self) -> Presentation:
        """That of the recorded LM, whose identity says what is known of it."""
        return Presentation(f"a recorded {self.identity.split()[0]}", RECORDED, RECORDED)

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """As recorded."""
        keys = logprob_keys(self.identity, contexts, targets, pairs)
        known = self._cache.logprobs(keys)
        for key, (c, t) in zip(keys, pairs, strict=True):
            if key not in known:
                self._miss(f"log P({_excerpt(targets[t])} | {_excerpt(contexts[c])})")
        return LogProbTable.of([known.get(key, UNRECORDED) for key in keys])

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """As recorded."""
        keys = [chat_key(self.identity, request) for request in requests]
        known = known_replies(self._cache, keys)
        for key, request in zip(keys, requests, strict=True):
            if key not in known:
                self._miss(" ".join(request.key) or _excerpt(request.messages[-1].content))
        return [known.get(key) or Reply(None, "not recorded", settled=True) for key in keys]

    def close(self) -> None:
        """Close the file."""
        if "_cache" in self.__dict__:
            self._cache.close()

    def _miss(self, what: str) -> None:
        if self.missing == "refuse":
            raise DataError(
                f"{self.path} holds no answer of {self.identity} to the call {what}: the recorded "
                "run was another one (data, prompt, limit or seed), or this call failed in it "
                "(evaluation_lm.missing=unscored leaves such calls out and counts them)."
            )


def _excerpt(text: str) -> str:
    flat = " ".join(text.split())
    return repr(flat if len(flat) <= EXCERPT else flat[:EXCERPT] + "...")
