"""The oracle: one sequence at a time, nothing shared; and how far a faster way may be off it.

Floating-point sums depend on the order of their terms, so even one sequence at a time gives other
digits in a batch of another shape. That noise is measured on the model at hand; a faster way may
be off by a small multiple of it. Tokens are compared one by one: a wrong mask, position or token
is far above the noise of a token, while in the sum over a long text it could hide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.core.errors import JudgelabError
from judgelab.scoring.load import positions, quantised
from judgelab.scoring.prefix_tree import Job

BLOCK = 64  # target positions whose logits are summed up in float64 at once

LEAST = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}
"""Noise of a token, nats, that is granted where two batch shapes happen to agree."""

TYPICAL, LARGEST = 2.0, 25.0
"""Multiples of the noise that a faster way may be off: root mean square, and any one token. On
SmolLM2-135M in bf16 sound ways are off by 1.1 and 6, targets that begin one position too late by
2.7 and 19; in fp32 the fault is ten thousand times the noise (docs/howto/gpu.md)."""

SAMPLE, AFTER = 8, 37
"""Sequences on which the noise is measured, and tokens that change the shape of their batch."""


def score_rows(model: Any, jobs: Sequence[Job], after: int = 0) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, job after job.

    What the other ways are measured against: the model's own logits, no cache, no padding, no
    shared prefix; their softmax in float64, as fp32 loses 1e-5 nats a token over a vocabulary of
    50,000. Memory is one target (where the model cannot leave out the logits of its context: one
    sequence) times the vocabulary.

    Args:
        after: so many tokens more behind every target. A causal model cannot see them, so the
            answer is the same in exact arithmetic; how far it moves is what the precision cannot
            tell.
    """
    selects = "logits_to_keep" in signature(model.forward).parameters
    found, fed = [], ([0], 0)
    for context, target in jobs:
        ids = [*context, *target[:-1]]
        ids += ids[:1] * after
        keep = {"logits_to_keep": len(target) + after} if selects else {}
        with torch.inference_mode():
            if (ids, len(target)) != fed:  # labels of one token are read off the same pass
                batch = torch.tensor([ids], device=model.device)
                logits = model(input_ids=batch, use_cache=False, **keep).logits[0]
                fed = (ids, len(target))
            first = len(logits) - len(target) - after
            found.append(_picked(logits[first : first + len(target)], target))
    return np.concatenate(found)


def _picked(logits: torch.Tensor, target: Sequence[int]) -> NDArray[np.float64]:
    """[tokens] log softmax of [tokens, vocab] logits at the target's tokens."""
    wanted = torch.tensor(target, device=logits.device)
    parts = [
        part.double().log_softmax(-1).gather(-1, tokens[:, None])[:, 0]
        for part, tokens in zip(torch.split(logits, BLOCK), torch.split(wanted, BLOCK), strict=True)
    ]
    return np.asarray(torch.cat(parts).cpu().numpy())


class DriftError(JudgelabError):
    """Two ways of computing one log-probability disagree."""


@dataclass(frozen=True)
class Drift:
    """How far a way of scoring is off one sequence at a time, in nats per token.

    Attributes:
        typical, largest: root mean square over tokens; of any token.
        allowed, allowed_largest: what these must not exceed.
    """

    typical: float
    largest: float
    allowed: float
    allowed_largest: float
    tokens: int  # how many were compared

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
    """What the precision cannot tell, root mean square of tokens, nats; ``slow`` by score_rows."""
    picked = range(0, len(jobs), max(1, len(jobs) // SAMPLE))[:SAMPLE]
    starts = np.cumsum([0, *(len(target) for _, target in jobs)])
    once = np.concatenate([slow[starts[k] : starts[k + 1]] for k in picked])
    again = score_rows(model, [jobs[k] for k in picked], after=_room(model, jobs))
    return max(_least(model), rms(again - once))


def _least(model: Any) -> float:
    """Kernels of quantised weights compute in halves, whatever the model's own precision."""
    held = torch.bfloat16 if quantised(model) else model.dtype
    return LEAST.get(held, LEAST[torch.float16])


def _room(model: Any, jobs: Sequence[Job]) -> int:
    """Tokens that fit behind every sequence, at most AFTER."""
    longest = positions(model)
    used = max(len(context) + len(target) for context, target in jobs)
    return AFTER if longest is None else max(0, min(AFTER, longest - used))


def drift(
    fast: NDArray[np.float64], slow: NDArray[np.float64], floor: float, tolerance: float | None
) -> Drift:
    """Compare two ways, token by token.

    Args:
        fast, slow: [tokens] of the way to be checked, and of one sequence at a time.
        floor: the noise, nats per token.
        tolerance: nats per token (root mean square) allowed instead of a multiple of the noise.
    """
    off = np.abs(fast - slow)
    allowed = TYPICAL * floor if tolerance is None else tolerance
    return Drift(rms(off), float(off.max()), allowed, allowed * LARGEST / TYPICAL, len(off))


def rms(values: NDArray[np.float64]) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
