"""The portable way: every context is encoded once into a cache, its targets run on top in batches.

Needs nothing of a model but ``past_key_values``. Contexts that begin alike share the stretch, by
copying the cache where they part.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from judgelab.scoring.head import Asked, Head
from judgelab.scoring.prefix_tree import ScoringPlan


def score_kv(model: Any, head: Head, plan: ScoringPlan, budget: int) -> NDArray[np.float64]:
    """[tokens] log P of every token of every target, nats, in the order of ``plan.places``.

    Args:
        plan: its bins are not used, as a cache belongs to one context.
        budget: cache entries (batch x length) of one pass over targets.
    """
    result = torch.full((plan.places[-1],), torch.nan, dtype=torch.float64)
    run = _Run(model, head, plan, budget, result)
    on = plan.children()
    open_caches: dict[int, Any] = {}
    with torch.inference_mode():
        for n, node in enumerate(plan.nodes):
            above = plan.path(node.parent)  # depth first: caches off this path are not needed again
            open_caches = {k: cache for k, cache in open_caches.items() if k in above}
            cache = copy.deepcopy(open_caches[node.parent]) if node.parent >= 0 else None
            open_caches[n] = run.context(n, cache, on[n])
            for batch in run.batches(n, on[n]):
                run.targets(n, open_caches[n], batch)
    return np.asarray(result.numpy())


@dataclass(frozen=True)
class _Run:
    """One pass at a time over a plan."""

    model: Any
    head: Head
    plan: ScoringPlan
    budget: int
    result: torch.Tensor

    def context(self, n: int, cache: Any, leaves: list[int]) -> Any:
        """Encode a node on top of its parent's cache; score the first token of its targets."""
        node = self.plan.nodes[n]
        hidden, cache = self._forward([node.tokens], node.start, cache, [len(node.tokens)])
        if leaves:
            firsts = [self.plan.leaves[i].tokens[0] for i in leaves]
            places = [self.plan.places[i] for i in leaves]
            self._add(hidden[0], [len(node.tokens) - 1], [0] * len(leaves), firsts, places)
        return cache

    def batches(self, n: int, leaves: list[int]) -> list[list[int]]:
        """Targets of a node in order of length, as many at a time as the budget holds."""
        result: list[list[int]] = []
        for leaf in leaves:
            length = len(self.plan.leaves[leaf].inputs)
            if not length:
                continue
            width = self.plan.nodes[n].end + length  # targets come sorted: this is the longest
            if not result or (len(result[-1]) + 1) * width > self.budget:
                result.append([])
            result[-1].append(leaf)
        return result

    def targets(self, n: int, cache: Any, leaves: list[int]) -> None:
        """Score all but the first token of some targets of a node."""
        inputs = [self.plan.leaves[i].inputs for i in leaves]
        lengths = [len(ids) for ids in inputs]
        spread = copy.deepcopy(cache)
        spread.batch_repeat_interleave(len(leaves))
        hidden, _ = self._forward(inputs, self.plan.nodes[n].end, spread, lengths)
        width = hidden.shape[1]
        rows = [b * width + t for b, length in enumerate(lengths) for t in range(length)]
        wanted = [token for i in leaves for token in self.plan.leaves[i].tokens[1:]]
        starts = [self.plan.places[i] + 1 for i in leaves]
        places = [p + t for p, n in zip(starts, lengths, strict=True) for t in range(n)]
        self._add(hidden.flatten(0, 1), rows, list(range(len(rows))), wanted, places)

    def _forward(
        self, inputs: list[tuple[int, ...]], start: int, cache: Any, lengths: list[int]
    ) -> tuple[torch.Tensor, Any]:
        """[batch, length, hidden] states; padding stands at the end and is masked."""
        width, device = max(lengths), self.model.device
        ids = torch.zeros(len(inputs), width, dtype=torch.long)
        mask = torch.zeros(len(inputs), start + width, dtype=torch.long)
        for b, tokens in enumerate(inputs):
            ids[b, : len(tokens)] = torch.tensor(tokens)
            mask[b, : start + len(tokens)] = 1
        positions = torch.arange(start, start + width)[None].expand(len(inputs), -1)
        out = self.model.base_model(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),  # without one, restarting positions mean packing
            position_ids=positions.to(device),
            past_key_values=cache,
            use_cache=True,
        )
        return out.last_hidden_state, out.past_key_values

    def _add(self, hidden: torch.Tensor, *asked_for: list[int]) -> None:
        """Log-probabilities asked for by the fields of ``Asked``, put in their place."""
        asked = Asked(*(torch.tensor(v, device=hidden.device) for v in asked_for))
        self.result[asked.place.cpu()] = self.head.logprobs(hidden, asked).double().cpu()
