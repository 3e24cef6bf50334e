"""Train the small Llama behind ``evaluation_lm=tiny_llama`` on the texts shipped with judgelab.

A byte-level BPE tokenizer and a Llama of about one million parameters, trained from scratch for
about a minute on one core; saved in safetensors. It knows some English spelling and the look of the
samples, no more: it exists so that everything that needs a local model can run anywhere.

Run: ``python -m experiments.tiny_llama [--out outputs/models/tiny_llama] [--steps 300]``
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judgelab.errors import require

SAMPLES = Path(__file__).resolve().parents[1] / "judgelab" / "dataset" / "samples"
SEED = 0
VOCABULARY = 2048
BATCH, LENGTH = 8, 128
SPECIAL = ("<|begin|>", "<|end|>", "<|user|>", "<|assistant|>", "<|system|>")
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>\n{{ m.content | trim }}"
    "{{ eos_token }}{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def texts() -> list[str]:
    """Every longer text of the sample files, in file order, each once."""
    found: dict[str, None] = {}
    for file in sorted(SAMPLES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            found.update(dict.fromkeys(s for s in _strings(json.loads(line)) if len(s) > 40))
    return list(found)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def make_tokenizer(corpus: list[str]) -> Any:
    """Byte-level BPE with a chat template."""
    require("tokenizers", extra="local")
    library = require("transformers", extra="local")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
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


def make_model(tokenizer: Any) -> Any:
    """An untrained Llama with grouped-query attention."""
    torch = require("torch", extra="local")
    library = require("transformers", extra="local")
    torch.manual_seed(SEED)
    config = library.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.eos_token_id,
    )
    return library.LlamaForCausalLM(config)


def train(model: Any, tokenizer: Any, corpus: list[str], steps: int) -> float:
    """Next-token loss on random windows of the corpus and of conversations made of it, AdamW.

    Returns:
        Mean loss of the last 20 steps, nats per token.
    """
    torch = require("torch", extra="local")
    chats = [_chat(tokenizer, a, b) for a, b in zip(corpus[::2], corpus[1::2], strict=False)]
    ids = [tokenizer(text)["input_ids"] + [tokenizer.eos_token_id] for text in corpus]
    ids += [tokenizer(text, add_special_tokens=False)["input_ids"] for text in chats]
    stream = torch.tensor([token for part in ids for token in part])
    generator = torch.Generator().manual_seed(SEED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    losses = []
    model.train()
    for _ in range(steps):
        starts = torch.randint(len(stream) - LENGTH, (BATCH, 1), generator=generator)
        batch = stream[starts + torch.arange(LENGTH)]
        loss = model(input_ids=batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    model.eval()
    return sum(losses[-20:]) / len(losses[-20:])


def _chat(tokenizer: Any, question: str, answer: str) -> str:
    messages = [
        {"role": "user", "content": question[:200]},
        {"role": "assistant", "content": answer[:400]},
    ]
    return str(tokenizer.apply_chat_template(messages, tokenize=False))


def main() -> None:
    """Train and save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, default=Path("outputs/models/tiny_llama"))
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    started = time.perf_counter()
    corpus = texts()
    tokenizer = make_tokenizer(corpus)
    model = make_model(tokenizer)
    loss = train(model, tokenizer, corpus, options.steps)
    model.save_pretrained(options.out, safe_serialization=True)
    tokenizer.save_pretrained(options.out)
    seconds = time.perf_counter() - started
    print(f"{options.out}: loss {loss:.2f} nats per token after {seconds:.0f} s")


if __name__ == "__main__":
    main()
