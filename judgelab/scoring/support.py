"""Which way of scoring a model allows, and if not, why: said once, before anything is scored."""

from __future__ import annotations

from typing import Any

import torch

from judgelab.scoring.head import Asked, Head

PROBE = 1e-2  # nats; a head that is another function of the states is off by far more


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
    slack = PROBE if head.dtype == torch.float32 else 0.1 + 0.02 * float(own.abs().max())
    return bool((found - own).abs().max() <= slack)


def cache_refusal(model: Any) -> str | None:
    """Why a context must not be encoded once for all its targets; None if it may."""
    config = model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [rope, *(value for value in rope.values() if isinstance(value, dict))]
    for kind in kinds:
        if kind.get("rope_type") in ("dynamic", "longrope"):
            return f"its position encoding ({kind['rope_type']}) depends on the whole length"
    if getattr(model, "_is_stateful", False):
        return "it is recurrent: its state cannot be shared"
    return None


def tree_refusal(model: Any) -> str | None:
    """Why targets must not be packed on a tree; None if they may.

    What a configuration does not tell (soft caps, sinks) the attention itself refuses.
    """
    config = model.config.get_text_config()
    kinds = set(getattr(config, "layer_types", None) or []) - {"full_attention"}
    if kinds:
        return f"it has layers of another kind ({', '.join(sorted(kinds))})"
    uses_window = getattr(config, "use_sliding_window", True)
    if uses_window and getattr(config, "sliding_window", None):
        return "its attention has a sliding window"
    if not getattr(model, "_supports_attention_backend", False):
        return "its attention cannot be exchanged"
    return cache_refusal(model)
