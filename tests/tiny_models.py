"""Random-weight models and a small tokenizer: real architectures, seconds to build."""

from __future__ import annotations

import functools
from typing import Any

import torch
import transformers

from experiments.random_llama import TEMPLATE, make_tokenizer, texts

VOCABULARY = 2048
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 512,
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 1,
}
GPT2: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 512,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
KINDS: dict[str, tuple[Any, Any]] = {
    "llama": (
        transformers.LlamaForCausalLM,
        lambda: transformers.LlamaConfig(**SIZES, num_key_value_heads=4),
    ),
    "llama_gqa": (
        transformers.LlamaForCausalLM,
        lambda: transformers.LlamaConfig(**SIZES, num_key_value_heads=2),
    ),
    "qwen2": (
        transformers.Qwen2ForCausalLM,
        lambda: transformers.Qwen2Config(**SIZES, num_key_value_heads=1),
    ),
    "gpt2": (transformers.GPT2LMHeadModel, lambda: transformers.GPT2Config(**GPT2)),
    "sliding": (
        transformers.MistralForCausalLM,
        lambda: transformers.MistralConfig(**SIZES, num_key_value_heads=2, sliding_window=8),
    ),
    "softcap": (
        transformers.Gemma2ForCausalLM,
        lambda: transformers.Gemma2Config(
            **SIZES, num_key_value_heads=2, head_dim=8, final_logit_softcapping=2.0
        ),
    ),
    "dynamic": (
        transformers.LlamaForCausalLM,
        lambda: transformers.LlamaConfig(
            **{**SIZES, "max_position_embeddings": 32},
            num_key_value_heads=2,
            rope_parameters={"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0},
        ),
    ),
}


@functools.cache
def model(kind: str) -> Any:
    """A model whose weights are large enough that a wrong mask or position shows."""
    cls, config = KINDS[kind]
    torch.manual_seed(0)
    built = cls(config()).eval()
    with torch.no_grad():
        for parameter in built.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.15)
    return built


@functools.cache
def tokenizer() -> Any:
    """Byte-level BPE of the samples, with control tokens and a chat template."""
    found = make_tokenizer(texts())
    assert found.chat_template == TEMPLATE
    return found
