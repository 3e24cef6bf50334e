"""Does a faster way compute the same log-probabilities, as far as the precision can tell?

Floating-point sums depend on the order of their terms, so even one sequence at a time gives other
digits in a batch of another shape. That noise is measured on the model at hand; a faster way may
be off by a small multiple of it. Tokens are compared one by one: a wrong mask, position or token
is far above the noise of a token, while in the sum over a long text it could hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.core.errors import JudgelabError
from judgelab.scoring.prefix_tree import Job
from judgelab.scoring.rows import score_rows

LEAST = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}
"""Noise of a token, nats, that is granted where two batch shapes happen to agree."""

TYPICAL, LARGEST = 2.0, 25.0
"""Multiples of the noise that a faster way may be off: root mean square, and any one token. On
SmolLM2-135M in bf16 sound ways are off by 1.1 and 6, targets that begin one position too late by
2.7 and 19; in fp32 the fault is ten thousand times the noise (docs/evaluation_lms.md)."""

SAMPLE, AFTER = 8, 37
"""Sequences on which the noise is measured, and tokens that change the shape of their batch."""


class DriftError(JudgelabError):
    """Two ways of computing one log-probability disagree."""


@dataclass(frozen=True)
class Drift:
    """How far a way of scoring is off one sequence at a time, in nats per token.

    Attributes:
        typical: root mean square over tokens.
        largest: of any token.
        allowed: what ``typical`` must not exceed.
        allowed_largest: what ``largest`` must not exceed.
        tokens: how many were compared.
    """

    typical: float
    largest: float
    allowed: float
    allowed_largest: float
    tokens: int

    @property
    def small(self) -> bool:
        """Whether the way is as good as one sequence at a time (False where it gives NaN)."""
        return self.typical <= self.allowed and self.largest <= self.allowed_largest

    def __str__(self) -> str:
        """The comparison in one clause."""
        return (
            f"{self.typical:.2g} nats per token (largest {self.largest:.2g}; allowed "
            f"{self.allowed:.2g} and {self.allowed_largest:.2g}) on {self.tokens} tokens"
        )


def noise(model: Any, jobs: Sequence[Job], slow: NDArray[np.float64]) -> float:
    """What the precision cannot tell: root mean square over tokens, nats.

    Args:
        slow: [tokens] ``score_rows`` of the jobs.
    """
    picked = range(0, len(jobs), max(1, len(jobs) // SAMPLE))[:SAMPLE]
    starts = np.cumsum([0, *(len(target) for _, target in jobs)])
    once = np.concatenate([slow[starts[k] : starts[k + 1]] for k in picked])
    again = score_rows(model, [jobs[k] for k in picked], after=_room(model, jobs))
    return max(_least(model), rms(again - once))


def _least(model: Any) -> float:
    """Kernels of quantised weights compute in halves, whatever the model's own precision."""
    held = torch.bfloat16 if getattr(model.config, "quantization_config", None) else model.dtype
    return LEAST.get(held, LEAST[torch.float16])


def _room(model: Any, jobs: Sequence[Job]) -> int:
    """Tokens that fit behind every sequence, at most AFTER."""
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    used = max(len(context) + len(target) for context, target in jobs)
    return AFTER if longest is None else max(0, min(AFTER, longest - used))


def drift(
    fast: NDArray[np.float64], slow: NDArray[np.float64], floor: float, tolerance: float | None
) -> Drift:
    """Compare two ways, token by token.

    Args:
        fast: [tokens] of the way to be checked.
        slow: [tokens] one sequence at a time.
        floor: the noise, nats per token.
        tolerance: nats per token (root mean square) allowed instead of a multiple of the noise.
    """
    off = np.abs(fast - slow)
    allowed = TYPICAL * floor if tolerance is None else tolerance
    return Drift(rms(off), float(off.max()), allowed, allowed * LARGEST / TYPICAL, len(off))


def rms(values: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
