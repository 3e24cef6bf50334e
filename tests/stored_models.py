"""Small models in folders: an encoder, and Llamas quantised as releases in 4 and 8 bits are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from tests.tiny_models import SIZES, VOCABULARY, tokenizer

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
