"""One reply at a time, so that none depends on which others were asked for with it."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

from judgelab.core.errors import require
from judgelab.core.lm import ChatRequest, Reply
from judgelab.scoring.load import positions


def generate(
    model: Any, tokenizer: Any, prompt: str, request: ChatRequest, max_tokens: int
) -> Reply:
    """The model's reply to a rendered conversation.

    Greedy at temperature 0; otherwise drawn from the full distribution with a seed made of the
    prompt, the temperature and the repeat index, and of nothing else. ``top_logprobs`` are those of
    the model itself, before the temperature; that of the token which ends the reply is not listed.
    A reply that reaches its bound (``max_tokens`` where the request has none) before its end, or
    has no word, is unscored.
    """
    library: Any = require("transformers", extra="local")
    ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    count = ids.shape[1]
    room, longest = request.max_tokens or max_tokens, positions(model)
    if longest is not None:
        room = min(room, longest - count)
    if room < 1:
        return Reply(None, reason=f"the prompt's {count} tokens leave the model no room to answer")
    ends = end_tokens(model, tokenizer)
    config = library.GenerationConfig(
        do_sample=request.temperature > 0,
        temperature=request.temperature or None,
        top_k=0 if request.temperature else None,
        top_p=1.0 if request.temperature else None,
        max_new_tokens=room,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
    )
    alternatives = _Alternatives(tokenizer, request.top_logprobs)
    with torch.inference_mode(), torch.random.fork_rng():
        drawn = f"{request.repeat} {request.temperature} {prompt}".encode()
        seed = int.from_bytes(hashlib.blake2b(drawn, digest_size=8).digest(), "big") >> 1
        torch.manual_seed(seed)
        out = model.generate(
            ids.to(model.device),
            attention_mask=torch.ones_like(ids).to(model.device),
            generation_config=config,
            logits_processor=[alternatives] if request.top_logprobs else [],
        )
    new = out[0, count:].tolist()
    if new[-1] not in ends:
        return Reply(None, f"cut at {room} tokens", count, len(new), settled=True)
    text = tokenizer.decode(new, skip_special_tokens=True).strip()
    reason = None if text else "the model ended its turn without a word"
    found = tuple(alternatives.found[:-1]) if text else ()
    return Reply(text or None, reason, count, len(new), not text, found)


class _Alternatives:
    """Looks at each step's logits, and leaves them as they are."""

    def __init__(self, tokenizer: Any, width: int) -> None:
        self._tokenizer, self._width = tokenizer, width
        self.found: list[tuple[tuple[str, float], ...]] = []

    def __call__(self, ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
        top = logits[0].float().log_softmax(-1).topk(self._width)
        texts = [self._tokenizer.decode([i]) for i in top.indices.tolist()]
        self.found.append(tuple(zip(texts, top.values.tolist(), strict=True)))
        return logits


def end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """Tokens that end a reply: the model's own list, with the tokenizer's."""
    own = model.generation_config.eos_token_id
    listed = own if isinstance(own, list) else [own]
    return sorted({i for i in [*listed, tokenizer.eos_token_id] if i is not None})
