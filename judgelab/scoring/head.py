"""The LM head where it is asked for: log P of given tokens, without ``[batch, length, vocab]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LOW = -1e3  # a first logit below it, as of a masked token, would cost the difference its precision
PROBE = 1e-2  # nats; a head that is another function of the states is off by far more


@dataclass(frozen=True)
class Asked:
    """Which log-probabilities to read off the hidden states of one pass."""

    rows: Tensor  # [distinct rows] positions in the pass whose next token matters
    at: Tensor  # [asked] index into ``rows``
    tokens: Tensor  # [asked] token whose log-probability is asked for
    place: Tensor  # [asked] where in the result of a plan the log-probability goes


class Head:
    """log softmax of the LM head at chosen positions, blocked over rows and vocabulary.

    Logits are products in fp32 of whatever precision states and weights have, the target's as well
    as those of the sum: were only one of them rounded, P of a likely token could exceed 1. A block
    of logits lives in one buffer that is used again and again; it is small enough to stay near the
    processor, where the exponentials are summed.

    Args:
        weight, bias: [vocab, hidden] the output embedding; [vocab], or None.
        rows, columns: positions and vocabulary entries in a block.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, rows: int = 1024, columns: int = 4096
    ) -> None:
        self.rows, self.columns = rows, columns
        self._weight = weight.detach()
        self._bias = None if bias is None else bias.detach()
        self._buffer: Tensor | None = None

    def logprobs(self, hidden: Tensor, asked: Asked) -> Tensor:
        """[asked] log P of each asked token, nats, fp32, from [positions, hidden] last states."""
        states = hidden.index_select(0, asked.rows)
        normaliser = torch.empty(len(states), dtype=torch.float32, device=states.device)
        for start in range(0, len(states), self.rows):
            block = states[start : start + self.rows]
            normaliser[start : start + self.rows] = self._logsumexp(block)
        return self._logits(states, asked) - normaliser.index_select(0, asked.at)

    def _logits(self, states: Tensor, asked: Asked) -> Tensor:
        """[asked] logit of each asked token: one dot product each."""
        result = torch.empty(len(asked.tokens), dtype=torch.float32, device=states.device)
        for start in range(0, len(result), self.rows):
            part = slice(start, start + self.rows)
            tokens = asked.tokens[part]
            left = states.index_select(0, asked.at[part]).float()
            dots = (left * self._weight.index_select(0, tokens).float()).sum(-1)
            if self._bias is not None:
                dots += self._bias.index_select(0, tokens).float()
            result[part] = dots
        return result

    def _logsumexp(self, block: Tensor) -> Tensor:
        """[rows] log-sum-exp of the logits, over column blocks.

        On a CPU, torch's log-softmax reads a row once where its log-sum-exp makes several passes;
        what it took off the first logit is the normaliser of these columns.
        """
        total: Tensor | None = None
        for start in range(0, len(self._weight), self.columns):
            logits = self._block(block, start)
            first = logits[:, 0].clone()
            if logits.is_cuda or not first.min() > LOW:  # also where it is no number
                part = logits.logsumexp(-1)
            else:
                part = first - torch.log_softmax(logits, -1, out=logits)[:, 0]
            total = part if total is None else torch.logaddexp(total, part)
        assert total is not None  # a vocabulary is not empty
        return total

    def _block(self, block: Tensor, start: int) -> Tensor:
        """[rows, columns] fp32 logits, in the shared buffer where the product can be put there."""
        weight = self._weight[start : start + self.columns]
        logits = _wide(block, weight)
        if logits is None:
            size = len(block) * len(weight)
            logits = self._room(size, block.device).view(len(block), len(weight))
            torch.mm(block.float(), weight.float().t(), out=logits)
        if self._bias is not None:
            logits += self._bias[start : start + self.columns]
        return logits

    def _room(self, size: int, device: torch.device) -> Tensor:
        """So many fp32 of the shared buffer."""
        if self._buffer is None or len(self._buffer) < size or self._buffer.device != device:
            most = max(size, self.rows * min(self.columns, len(self._weight)))
            self._buffer = torch.empty(most, dtype=torch.float32, device=device)
        return self._buffer[:size]


def _wide(block: Tensor, weight: Tensor) -> Tensor | None:
    """The product of halves as the GPU sums it, not rounded to halves; None where it cannot."""
    if not block.is_cuda or block.dtype == torch.float32 or block.dtype != weight.dtype:
        return None
    try:
        return torch.mm(block, weight.t(), out_dtype=torch.float32)
    except TypeError:  # torch before 2.8
        return None


def head_of(model: Any) -> Head | None:
    """The LM head on last hidden states; None where logits are another function of them."""
    embedding = model.get_output_embeddings()
    plain = isinstance(embedding, torch.nn.Linear) and embedding.weight.is_floating_point()
    if not plain or model.base_model is model:
        return None
    rows, columns = (1024, 4096) if model.device.type == "cpu" else (1024, 1 << 20)
    head = Head(embedding.weight, embedding.bias, rows, columns)
    return head if _agrees(model, head) else None


def _agrees(model: Any, head: Head) -> bool:
    """Compare with the model's own logits on a few tokens (finds soft caps and scales)."""
    device = model.device
    count = min(8, model.config.get_text_config().vocab_size)
    ids = torch.arange(count, device=device)[None]
    places = torch.arange(count, device=device)
    with torch.inference_mode():
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        found = head.logprobs(states, Asked(places, places, ids[0], places))
        logits = model(input_ids=ids, use_cache=False).logits[0].float()
        own = logits.log_softmax(-1).gather(-1, ids[0][:, None])[:, 0]
    single = model.get_output_embeddings().weight.dtype == torch.float32
    slack = PROBE if single else 0.1 + 0.02 * float(own.abs().max())
    return bool((found - own).abs().max() <= slack)
