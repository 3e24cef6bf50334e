"""The portable way: every context is encoded once into a cache, its targets run on top in batches.

Needs nothing of a model but ``past_key_values``. Contexts that begin alike share the stretch, by
copying the cache where they part.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.scoring.head import Asked, Head
from judgelab.scoring.prefix_tree import Ids, ScoringPlan


def score_kv(model: Any, head: Head, plan: ScoringPlan, budget: int) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, in the order of ``plan.places``.

    Args:
        plan: its bins are not used, as a cache belongs to one context.
        budget: cache entries (batch x length) of one pass over targets.
    """
    result = torch.full((plan.places[-1],), torch.nan, dtype=torch.float64)

    def read(hidden: torch.Tensor, *fields: list[int]) -> None:
        """Put the log-probabilities asked for by the fields of ``Asked`` in their place."""
        asked = Asked(*(torch.tensor(values, device=hidden.device) for values in fields))
        result[asked.place.cpu()] = head.logprobs(hidden, asked).double().cpu()

    caches: dict[int, Any] = {}
    with torch.inference_mode():
        for n, node in enumerate(plan.nodes):
            above = plan.path(node.parent)  # depth first: caches off this path are not needed again
            caches = {k: cache for k, cache in caches.items() if k in above}
            cache = copy.deepcopy(caches[node.parent]) if node.parent >= 0 else None
            hidden, caches[n] = _forward(model, [node.tokens], node.start, cache)
            leaves = plan.children[n]
            if leaves:  # the last state predicts the first token of every target
                firsts = [plan.leaves[i].tokens[0] for i in leaves]
                places = [plan.places[i] for i in leaves]
                read(hidden[0], [len(node.tokens) - 1], [0] * len(leaves), firsts, places)
            for batch in _batches(plan, n, budget):
                inputs = [plan.leaves[i].inputs for i in batch]
                spread = copy.deepcopy(caches[n])
                spread.batch_repeat_interleave(len(batch))
                hidden, _ = _forward(model, inputs, node.end, spread)
                width = hidden.shape[1]
                steps = [(b, t) for b, ids in enumerate(inputs) for t in range(len(ids))]
                rows = [b * width + t for b, t in steps]
                wanted = [plan.leaves[batch[b]].tokens[t + 1] for b, t in steps]
                places = [plan.places[batch[b]] + t + 1 for b, t in steps]
                read(hidden.flatten(0, 1), rows, list(range(len(rows))), wanted, places)
    return np.asarray(result.numpy())


def _batches(plan: ScoringPlan, n: int, budget: int) -> Iterator[list[int]]:
    """Targets of a node in order of length, as many at a time as the budget holds."""
    batch: list[int] = []
    for leaf in plan.children[n]:
        length = len(plan.leaves[leaf].inputs)
        width = plan.nodes[n].end + length  # targets come sorted: this is the longest
        if batch and (len(batch) + 1) * width > budget:
            yield batch
            batch = []
        if length:
            batch.append(leaf)
    if batch:
        yield batch


def _forward(model: Any, inputs: list[Ids], start: int, cache: Any) -> tuple[torch.Tensor, Any]:
    """[batch, length, hidden] states and the cache; padding stands at the end and is masked."""
    width, device = max(map(len, inputs)), model.device
    ids = torch.zeros(len(inputs), width, dtype=torch.long)
    mask = torch.zeros(len(inputs), start + width, dtype=torch.long)
    for b, tokens in enumerate(inputs):
        ids[b, : len(tokens)] = torch.tensor(tokens)
        mask[b, : start + len(tokens)] = 1
    positions = torch.arange(start, start + width)[None].expand(len(inputs), -1)
    out = model.base_model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),  # without one, restarting positions mean packing
        position_ids=positions.to(device),
        past_key_values=cache,
        use_cache=True,
    )
    return out.last_hidden_state, out.past_key_values
