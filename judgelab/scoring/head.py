"""The LM head where it is asked for: log P of given tokens, without ``[batch, length, vocab]``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

LOW = -1e3  # a first logit below it, as of a masked token, would cost the difference its precision
PROBE = 1e-2  # nats; a head that is another function of the states is off by far more


Reading = tuple[int, int, int]
"""A log-probability to read off a pass: after which of its positions, of which token, and where in
the result of a plan it goes."""


class Head:
    """log softmax of the LM head at chosen positions, blocked over rows and vocabulary.

    Logits are products in fp32 of whatever precision states and weights have, the target's as well
    as those of the sum: were only one of them rounded, P of a likely token could exceed 1. A block
    of logits (``rows`` positions, ``columns`` vocabulary entries) lives in one buffer, which stays
    near the processor, where the exponentials are summed.

    The output embedding is ``weight`` [vocab, hidden] and ``bias`` [vocab] or None.
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, rows: int = 1024, columns: int = 4096
    ) -> None:
        self.rows, self.columns = rows, min(columns, len(weight))
        self._weight = weight.detach()
        self._bias = None if bias is None else bias.detach()

    @cached_property
    def _buffer(self) -> Tensor:
        size = self.rows * self.columns
        return torch.empty(size, dtype=torch.float32, device=self._weight.device)

    def read(self, hidden: Tensor, readings: Sequence[Reading], result: Tensor) -> None:
        """Put the log-probabilities asked for, nats, in their places of ``result``.

        ``hidden`` are the last states of a pass [positions, hidden size].
        """
        rows, tokens, places = torch.tensor(readings).unbind(1)
        result[places] = self.logprobs(hidden, rows, tokens).double().cpu()

    def logprobs(self, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
        """[asked] log P of ``tokens`` after the positions ``rows``, both [asked]; nats, fp32."""
        device = self._weight.device  # of a model on several GPUs not where its last layer is
        distinct, at = torch.unique(rows.to(device), return_inverse=True)
        states = hidden.to(device).index_select(0, distinct)
        normaliser = torch.cat([self._logsumexp(block) for block in torch.split(states, self.rows)])
        parts = (torch.split(one, self.rows) for one in (at, tokens.to(device)))
        logits = torch.cat([self._logits(states, *part) for part in zip(*parts, strict=True)])
        return logits - normaliser.index_select(0, at)

    def _logits(self, states: Tensor, at: Tensor, tokens: Tensor) -> Tensor:
        """[asked] logit of each asked token: one dot product each."""
        weight = self._weight.index_select(0, tokens).float()
        dots = (states.index_select(0, at).float() * weight).sum(-1)
        return dots if self._bias is None else dots + self._bias.index_select(0, tokens).float()

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
        if block.is_cuda and block.dtype == weight.dtype != torch.float32:
            # halves, as the GPU sums them: not rounded to halves
            logits = torch.mm(block, weight.t(), out_dtype=torch.float32)
        else:
            size = len(block) * len(weight)
            logits = self._buffer[:size].view(len(block), len(weight))
            torch.mm(block.float(), weight.float().t(), out=logits)
        if self._bias is not None:
            logits += self._bias[start : start + self.columns]
        return logits


def head_of(model: Any) -> Head | None:
    """The LM head on last hidden states; None where logits are another function of them."""
    embedding = model.get_output_embeddings()
    plain = isinstance(embedding, torch.nn.Linear) and embedding.weight.is_floating_point()
    if not plain or model.base_model is model or embedding.weight.is_meta:  # meta: offloaded
        return None
    columns = 4096 if embedding.weight.device.type == "cpu" else 1 << 20
    head = Head(embedding.weight, embedding.bias, columns=columns)
    return head if _agrees(model, head) else None


def _agrees(model: Any, head: Head) -> bool:
    """Compare with the model's own logits on a few tokens (finds soft caps and scales)."""
    count = min(8, model.config.get_text_config().vocab_size)
    places = torch.arange(count, device=model.device)
    ids = places[None]
    with torch.inference_mode():
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        ours = head.logprobs(states, places, places)
        logits = model(input_ids=ids, use_cache=False).logits[0].float().to(ours.device)
        own = logits.log_softmax(-1).gather(-1, places[:, None].to(ours.device))[:, 0]
    single = model.get_output_embeddings().weight.dtype == torch.float32
    slack = PROBE if single else 0.1 + 0.02 * float(own.abs().max())
    return bool((ours - own).abs().max() <= slack)
