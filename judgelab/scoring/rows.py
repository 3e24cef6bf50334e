"""The oracle: one sequence at a time through the model as it comes, nothing shared."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.scoring.prefix_tree import Job

BLOCK = 64  # target positions whose logits are summed up in float64 at once


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
