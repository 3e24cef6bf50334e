"""The oracle: one sequence at a time through the model as it comes, nothing shared."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.scoring.plan import Job


def score_rows(model: Any, jobs: Sequence[Job]) -> NDArray[np.float64]:
    """[jobs] sum of log P(token | all before it) over each target, nats.

    What the other ways are measured against: the model's own logits in fp32, no cache, no
    padding, no shared prefix. Memory is one target (where the model cannot leave out the logits of
    its context: one sequence) times the vocabulary.
    """
    selects = "logits_to_keep" in signature(model.forward).parameters
    totals = np.empty(len(jobs))
    for i, (context, target) in enumerate(jobs):
        ids = torch.tensor([[*context, *target[:-1]]], device=model.device)
        wanted = torch.tensor(target, device=model.device)
        keep = {"logits_to_keep": len(target)} if selects else {}
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False, **keep).logits[0, -len(target) :].float()
            found = logits.log_softmax(-1).gather(-1, wanted[:, None])
        totals[i] = float(found.double().sum())
    return totals
