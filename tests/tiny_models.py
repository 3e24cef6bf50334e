"""Random-weight models and a small tokenizer: real architectures, seconds to build."""

from __future__ import annotations

import functools
from pathlib import Path
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
ROPE = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "llama": (transformers.LlamaConfig, {"num_key_value_heads": 4}),
    "llama_gqa": (transformers.LlamaConfig, {"num_key_value_heads": 2}),
    "qwen2": (transformers.Qwen2Config, {"num_key_value_heads": 1}),
    "gpt2": (transformers.GPT2Config, {"intermediate_size": None, "pad_token_id": None}),
    "sliding": (transformers.MistralConfig, {"num_key_value_heads": 2, "sliding_window": 8}),
    "softcap": (
        transformers.Gemma2Config,
        {"num_key_value_heads": 2, "head_dim": 8, "final_logit_softcapping": 2.0},
    ),
    "dynamic": (
        transformers.LlamaConfig,
        {"num_key_value_heads": 2, "max_position_embeddings": 32, "rope_parameters": ROPE},
    ),
}


@functools.cache
def model(kind: str) -> Any:
    """A model whose weights are large enough that a wrong mask or position shows."""
    config, changes = KINDS[kind]
    torch.manual_seed(0)
    built = transformers.AutoModelForCausalLM.from_config(config(**SIZES | changes)).eval()
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


WIDE: dict[str, Any] = SIZES | {"hidden_size": 128, "intermediate_size": 256}
"""Every linear layer reads a multiple of 64 numbers, the block that bitsandbytes quantises."""


def save_whole(folder: Path) -> Path:
    """The weights in full precision, with a tokenizer that chats."""
    torch.manual_seed(0)
    own = transformers.LlamaForCausalLM(transformers.LlamaConfig(**WIDE, num_key_value_heads=2))
    with torch.no_grad():
        for parameter in own.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.08)
    own.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def save_quantised(whole: Path, folder: Path, kind: str) -> Path:
    """The same weights in nf4 (doubly quantised, bf16: as unsloth's releases), fp4 or int8."""
    four = {
        "load_in_4bit": True,
        "bnb_4bit_quant_type": kind,
        "bnb_4bit_use_double_quant": True,
        "bnb_4bit_compute_dtype": torch.bfloat16,
    }
    told = {"load_in_8bit": True} if kind == "int8" else four
    model = transformers.AutoModelForCausalLM.from_pretrained(
        whole,
        quantization_config=transformers.BitsAndBytesConfig(**told),
        device_map="cpu",
        dtype=torch.bfloat16,
    )
    model.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def save_encoder(folder: Path) -> Path:
    """A random encoder in a folder, as save_pretrained writes it."""
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        pad_token_id=1,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
