"""One reply at a time, so that none depends on which others were asked for with it."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

from judgelab.errors import require
from judgelab.evaluation_lm.protocol import ChatRequest, Reply


def generate(
    model: Any, tokenizer: Any, prompt: str, request: ChatRequest, max_tokens: int
) -> Reply:
    """The model's reply to a rendered conversation.

    Greedy at temperature 0; otherwise drawn from the full distribution with a seed made of the
    prompt, the temperature and the repeat index, and of nothing else.

    Args:
        max_tokens: upper bound where the request has none.
    """
    library: Any = require("transformers", extra="local")
    ids = tokenizer(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    count = ids.shape[1]
    room = _room(model, count, request.max_tokens or max_tokens)
    if room < 1:
        return Reply(None, reason=f"the prompt's {count} tokens leave the model no room to answer")
    ends = _ends(model, tokenizer)
    config = library.GenerationConfig(
        do_sample=request.temperature > 0,
        temperature=request.temperature or None,
        top_k=0 if request.temperature else None,
        top_p=1.0 if request.temperature else None,
        max_new_tokens=room,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
    )
    with torch.inference_mode(), torch.random.fork_rng():
        torch.manual_seed(_seed(prompt, request))
        out = model.generate(
            ids.to(model.device),
            attention_mask=torch.ones_like(ids).to(model.device),
            generation_config=config,
        )
    new = out[0, count:]
    text = tokenizer.decode(new, skip_special_tokens=True).strip()
    reason = None if text else "the model ended its turn without a word"
    return Reply(text or None, reason, input_tokens=count, output_tokens=len(new))


def _room(model: Any, used: int, wanted: int) -> int:
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    return wanted if longest is None else min(wanted, longest - used)


def _ends(model: Any, tokenizer: Any) -> list[int]:
    """Tokens that end a reply: the model's own list, with the tokenizer's."""
    own = model.generation_config.eos_token_id
    listed = own if isinstance(own, list) else [own]
    return sorted({i for i in [*listed, tokenizer.eos_token_id] if i is not None})


def _seed(prompt: str, request: ChatRequest) -> int:
    text = f"{request.repeat} {request.temperature} {prompt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
