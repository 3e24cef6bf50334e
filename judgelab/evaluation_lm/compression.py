"""log P(y | x) from a compressor: free, deterministic, and no toy."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib import metadata
from multiprocessing import get_context, get_start_method, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import pyppmd

from judgelab.capability import Capability
from judgelab.errors import CapabilityError, ConfigError
from judgelab.estimator import Presentation
from judgelab.evaluation_lm.protocol import ChatRequest, LogProbTable, Pairs, Reply

NATS_PER_BYTE = 8 * math.log(2)
CHUNK = 100  # texts a worker takes at a time: some 30 ms of work, far above the cost of sending
PARALLEL_FROM = 400  # texts below which starting processes costs more than it saves


def sizes(texts: Sequence[bytes], order: int, memory: int) -> list[int]:
    """Compressed size of each text in bytes, PPMd variant H."""
    result = []
    for text in texts:
        encoder = pyppmd.Ppmd7Encoder(order, memory)
        result.append(len(encoder.encode(text)) + len(encoder.flush()))
    return result


class Compression:
    """A byte-level language model: an adaptive PPM compressor that has read the context.

    log P(y | x) = -(C(xy) - C(x)) * 8 ln 2 nats, where C is the compressed size in bytes. PPM is
    a context-mixing predictor, so this is the log-probability of a real (if weak) language model,
    up to the coder's rounding to whole bytes (5.5 nats a text). A "token" is a byte of UTF-8.

    Args:
        order: longest context of the predictor, in bytes.
        memory: memory of the predictor in bytes; it restarts when that is full.
        priming: a text file that the model reads before every context, or None.
        workers: processes; None means one per available core.

    Raises:
        ConfigError: order or memory out of range, or the priming file cannot be read.
    """

    capabilities = frozenset({Capability.LOGPROB})

    def __init__(
        self,
        order: int = 6,
        memory: int = 1 << 24,
        priming: str | None = None,
        workers: int | None = None,
    ) -> None:
        if not 2 <= order <= 64 or not 1 << 20 <= memory <= 1 << 30:
            raise ConfigError(
                f"evaluation_lm.order={order} must lie in 2..64 and evaluation_lm.memory={memory} "
                "between 1 MiB and 1 GiB: with less memory the model forgets the context."
            )
        self.order, self.memory = order, memory
        if workers is not None and workers < 1:
            raise ConfigError(f"evaluation_lm.workers={workers} must be at least 1, or null.")
        self.workers = workers or len(os.sched_getaffinity(0))
        self._priming = b"" if priming is None else _read(priming)
        self._pool: ProcessPoolExecutor | None = None

    @property
    def identity(self) -> str:
        """Predictor, its settings, and the hash of the priming text."""
        primed = hashlib.sha256(self._priming).hexdigest()[:12] if self._priming else "none"
        version = metadata.version("pyppmd")
        return (
            f"compression pyppmd={version} variant=7 order={self.order} memory={self.memory} "
            f"priming={primed}"
        )

    @property
    def presentation(self) -> Presentation:
        """A compressor knows no template and no end token."""
        return Presentation("compression", "none", "not counted")

    @property
    def facts(self) -> Mapping[str, Any]:
        """Nothing to tell."""
        return {}

    def logprob(
        self, contexts: Sequence[str], targets: Sequence[str], pairs: Pairs
    ) -> LogProbTable:
        """log P(targets[t] | contexts[c]) in nats; tokens are bytes of the target."""
        used = sorted({c for c, _ in pairs})
        before = {c: self._priming + contexts[c].encode() for c in used}
        encoded = [target.encode() for target in targets]
        jobs = [*before.values(), *(before[c] + encoded[t] for c, t in pairs)]
        result = self._sizes(jobs)
        alone = dict(zip(used, result, strict=False))
        joint = result[len(used) :]
        total = [-NATS_PER_BYTE * (xy - alone[c]) for xy, (c, _) in zip(joint, pairs, strict=True)]
        return LogProbTable(
            total=np.array(total, dtype=np.float64),
            tokens=np.array([len(encoded[t]) for _, t in pairs], dtype=np.int64),
        )

    def chat(self, requests: Sequence[ChatRequest]) -> list[Reply]:
        """Refused: a compressor does not answer questions."""
        raise CapabilityError("evaluation_lm=compression cannot chat: choose an LM that can.")

    def close(self) -> None:
        """Stop the worker processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _sizes(self, texts: list[bytes]) -> list[int]:
        if self.workers == 1 or len(texts) < PARALLEL_FROM or _is_worker():
            return sizes(texts, self.order, self.memory)
        if self._pool is None:  # spawn: a fork would copy the locks of W&B's threads
            self._pool = ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"))
        chunks = [texts[i : i + CHUNK] for i in range(0, len(texts), CHUNK)]
        with _interrupts_ignored():  # workers start at the first submit and inherit this
            futures = [self._pool.submit(sizes, chunk, self.order, self.memory) for chunk in chunks]
        return [size for future in futures for size in future.result()]


def _is_worker() -> bool:
    """Whether this process is a job of a parallel sweep: then the cores are taken already."""
    return parent_process() is not None or get_start_method(allow_none=True) == "loky"


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ctrl-C is for the main process, which stops its workers; theirs would only print."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as cause:
        raise ConfigError(
            f"evaluation_lm.priming: cannot read {path!r} ({cause.strerror}): give a text file."
        ) from cause
