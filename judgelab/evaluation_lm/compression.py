"""log P(y | x) from a compressor: free, deterministic, and no toy."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from itertools import chain
from multiprocessing import get_start_method, parent_process
from typing import Annotated

from pydantic import Field

from judgelab.core.bounds import Count
from judgelab.core.errors import ConfigError
from judgelab.core.estimator import Presentation
from judgelab.core.lm import Capability, EvaluationLM, LogProb, LogProbTable, Pairs, Strings
from judgelab.scoring.ppm import WorkerLost, Workers, sizes
from judgelab.store.fingerprint import version_of

NATS_PER_BYTE = 8 * math.log(2)
OWN = 400  # texts of an LM that this process compresses itself; a process then costs less


class Compression(EvaluationLM):
    """A byte-level language model: an adaptive PPM compressor that has read the context.

    log P(y | x) = -(C(xy) - C(x)) * 8 ln 2 nats, where C is the compressed size in bytes. PPM is
    a context-mixing predictor, so this is the log-probability of a real (if weak) language model,
    up to the coder's rounding to whole bytes (5.5 nats a text). A "token" is a byte of UTF-8.
    """

    capabilities = frozenset({Capability.LOGPROB})
    at_hand = True

    def __init__(
        self,
        order: Annotated[int, Field(ge=2, le=64)] = 6,
        memory: Annotated[int, Field(ge=1 << 20, le=1 << 30)] = 1 << 24,
        workers: Count | None = None,
    ) -> None:
        self.order, self.memory = order, memory
        self.workers = workers or len(os.sched_getaffinity(0))
        self._own = OWN
        self._pool = Workers(1 if _is_worker() else self.workers, order, memory)

    @property
    def identity(self) -> str:
        """Predictor and its settings."""
        version = version_of("pyppmd")
        return f"compression pyppmd={version} variant=7 order={self.order} memory={self.memory}"

    @property
    def presentation(self) -> Presentation:
        """A compressor knows no template and no end token."""
        return Presentation("compression", "none", "not counted")

    def logprob(self, contexts: Strings, targets: Strings, pairs: Pairs) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats; tokens are bytes of the target."""
        needed_contexts = sorted({c for c, _ in pairs})
        before = {c: contexts[c].encode() for c in needed_contexts}
        encoded = [target.encode() for target in targets]
        joint_texts = (before[c] + encoded[t] for c, t in pairs)  # made as they are needed
        result = self._sizes(chain(before.values(), joint_texts), len(needed_contexts) + len(pairs))
        alone = dict(zip(needed_contexts, result, strict=False))
        return LogProbTable(
            [
                LogProb(-NATS_PER_BYTE * (xy - alone[c]), len(encoded[t]))
                for xy, (c, t) in zip(result[len(needed_contexts) :], pairs, strict=True)
            ]
        )

    def close(self) -> None:
        """Stop the worker processes."""
        self._pool.close()

    def _sizes(self, texts: Iterable[bytes], count: int) -> list[int]:
        """Sizes of ``count`` texts: here at first, where little memory is lost by that."""
        if count <= self._own:
            self._own -= count
            return sizes(texts, self.order, self.memory)
        try:
            return self._pool.sizes(texts)
        except WorkerLost as cause:
            raise ConfigError(
                "A process that compresses texts for evaluation_lm=compression ended early, most "
                "likely for lack of memory: set evaluation_lm.workers to fewer processes."
            ) from cause


def _is_worker() -> bool:
    """Whether this process is a job of a parallel sweep: then the cores are taken already."""
    return parent_process() is not None or get_start_method(allow_none=True) == "loky"
