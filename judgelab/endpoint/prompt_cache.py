"""Scored prompts that no answer could be made of yet, or that other answers will need again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from judgelab.core.errors import DataError
from judgelab.endpoint.logprobs import ScoredPrompt
from judgelab.store.cache import CallCache


class KeptPrompts:
    """Prompts with their log-probabilities, in a call cache beside the answers.

    A pair that takes two prompts is not an answer until both are there: what came of one is kept,
    so that a later run pays for the other alone. The file is opened by the thread that uses it.

    Args:
        path: of the call cache.
        name: of the LM and of how it is asked.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._cache: CallCache | None = None

    def get(self, text: str) -> ScoredPrompt | None:
        """What is known of this prompt.

        Raises:
            DataError: what is kept cannot be read.
        """
        found = self._open().chats([self._key(text)]).values()
        try:
            for stored in found:
                values = json.loads(stored)
                return ScoredPrompt(tuple(values["tokens"]), tuple(values["logprobs"]))
        except (ValueError, TypeError, KeyError) as cause:
            raise DataError(
                f"A prompt in the call cache {self._path} cannot be read: the file is damaged; "
                "move it away, or give another with paths.cache=FILE."
            ) from cause
        return None

    def put(self, text: str, scored: ScoredPrompt) -> None:
        """Keep it."""
        values = {"tokens": scored.tokens, "logprobs": scored.logprobs}
        self._open().add_chats({self._key(text): json.dumps(values)})

    def close(self) -> None:
        """Close the file."""
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def _open(self) -> CallCache:
        if self._cache is None:
            self._cache = CallCache(self._path)
        return self._cache

    def _key(self, text: str) -> bytes:
        whole = json.dumps(["prompt", self._name, text])
        return hashlib.blake2b(whole.encode(), digest_size=16).digest()
