"""A small Llama with random weights, and a tokenizer of the texts shipped with judgelab.

For tests and benchmarks of code that must run on any machine: it measures nothing. The smallest LM
that does is ``evaluation_lm=smollm2``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judgelab.core.errors import require

SAMPLES = Path(__file__).resolve().parents[1] / "judgelab" / "dataset" / "samples"
SEED = 0
VOCABULARY = 2048
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "8b": {
        "vocab_size": 128256,
        "hidden_size": 4096,
        "intermediate_size": 14336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "max_position_embeddings": 131072,
    },
    "60m": {
        "vocab_size": 32_000,
        "hidden_size": 512,
        "intermediate_size": 1536,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "max_position_embeddings": 8192,
    },
    "tiny": {
        "vocab_size": VOCABULARY,
        "hidden_size": 256,  # bitsandbytes' CPU paths want multiples of 64
        "intermediate_size": 512,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
    },
}
"""Of a Llama 3.1 8B, of what a CPU scores in a benchmark, and of what any runs in a minute."""
SPECIAL = ("<|begin|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>")
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content | trim }}"
    "{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def texts() -> list[str]:
    """Every longer text of the sample files, in file order, each once."""
    unique: dict[str, None] = {}
    for file in sorted(SAMPLES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            unique.update(dict.fromkeys(s for s in _strings(json.loads(line)) if len(s) > 40))
    return list(unique)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def make_tokenizer(corpus: list[str], vocabulary: int = VOCABULARY) -> Any:
    """Byte-level BPE with a chat template."""
    require("tokenizers", extra="local")
    library = require("transformers", extra="local")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=list(SPECIAL),
        initial_alphabet=alphabet,
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus, trainer)
    first = tokenizer.token_to_id(SPECIAL[0])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[0]} $A", special_tokens=[(SPECIAL[0], first)]
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=SPECIAL[0],
        eos_token=SPECIAL[1],
        additional_special_tokens=list(SPECIAL[2:]),
        chat_template=TEMPLATE,
    )


def save_model(folder: Path, shape: Mapping[str, Any]) -> None:
    """Random weights of one of ``SHAPES`` in bf16, with the samples' tokenizer."""
    torch, library = require("torch", extra="local"), require("transformers", extra="local")
    words = make_tokenizer(texts())
    ends = {"bos_token_id": words.bos_token_id, "eos_token_id": words.eos_token_id}
    config = library.LlamaConfig(**shape, **ends, pad_token_id=words.eos_token_id)
    torch.manual_seed(SEED)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        torch.set_default_dtype(torch.bfloat16)
        model = library.LlamaForCausalLM(config)
        torch.set_default_dtype(torch.float32)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
