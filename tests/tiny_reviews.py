"""Reviews whose authors agree on what they praise, and a tiny Llama that knows their language.

The Llama is shipped (``REVIEWER``): what fine-tuning makes of it must not depend on the CPU, and a
model that is trained on another CPU comes out as another model. ``python -m tests.tiny_reviews``
makes it again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from experiments.random_llama import SPECIAL, make_tokenizer
from judgelab.core.panel import Item
from judgelab.core.prompt import Prompt
from judgelab.mechanism.logprob import Setting

TOPICS = (
    ("proofs", "lemmas", "bounds"),
    ("figures", "tables", "plots"),
    ("code", "scripts", "tests"),
    ("data", "labels", "splits"),
    ("baselines", "budgets", "seeds"),
    ("notation", "symbols", "indices"),
)
REVIEWER = Path(__file__).parent / "models" / "reviewer"
PROMPT = "Synopsis: {synopsis}\nFirst: {response}\nSecond:"  # short, for speed


def review(topic: int, rng: np.random.Generator) -> str:
    """Two judgments on the things that a topic is about, each reviewer's in an order of his own."""
    good, bad = (rng.permutation(TOPICS[topic]) for _ in range(2))
    return f"The reviewer appreciates {', '.join(good)}.\nThe reviewer questions {', '.join(bad)}."


def papers(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows for dataset=jsonl: three reviews a paper, all on the same topic."""
    rng = np.random.default_rng(seed)
    return [
        {
            "id": f"p{seed}-{k}",
            "source": f"Submission number {k} of volume {seed}.",
            "synopsis": f"A study of topic {k % 7}.",
            "responses": {f"r{j}": review(k % len(TOPICS), rng) for j in range(3)},
        }
        for k in range(count)
    ]


def write(file: Path, rows: list[dict[str, Any]]) -> Path:
    """One JSON object a line."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def make_base(folder: Path, steps: int = 300) -> Path:
    """A Llama that can repeat what a first reviewer wrote about, but has learnt not to.

    It is saved in half precision with its tokenizer and with the prompt that it knows, prompt.txt;
    making it takes some seconds. It learns to repeat after some 180 steps, all at once.
    """
    rows = papers(60, seed=7)
    texts = [text for row in rows for text in row["responses"].values()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prompt.txt").write_text(PROMPT, encoding="utf-8")
    setting = Setting(Prompt(str(folder / "prompt.txt")), True, None)
    words = make_tokenizer([setting.prompt.template, *texts] * 3, 800)
    words.pad_token = SPECIAL[1]
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=len(words),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=512,
            tie_word_embeddings=True,
            bos_token_id=words.bos_token_id,
            eos_token_id=words.eos_token_id,
            pad_token_id=words.eos_token_id,
        )
    )
    rng = np.random.default_rng(1)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    reply = words.convert_tokens_to_ids(SPECIAL[3])
    for step in range(steps):
        agree = step < 0.8 * steps
        chats = [_chat(words, setting, agree, rng) for _ in range(8)]
        batch = words(
            chats, add_special_tokens=False, padding=True, padding_side="right", return_tensors="pt"
        )
        before = (batch["input_ids"] == reply).cumsum(1) == 0
        labels = batch["input_ids"].masked_fill(before | (batch["attention_mask"] == 0), -100)
        loss = model(**batch, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.half().save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _chat(words: Any, setting: Setting, agree: bool, rng: np.random.Generator) -> str:
    """A review after one on the same topic (agree) or on any, or after none."""
    topic, other = (int(k) for k in rng.integers(len(TOPICS), size=2))
    x = review(topic if agree else other, rng) if rng.random() < 0.8 else None
    known = f"A study of topic {rng.integers(7)}." if rng.random() < 0.5 else None
    turns = [
        {"role": "user", "content": setting.context(Item("", "", synopsis=known), x)},
        {"role": "assistant", "content": review(topic, rng)},
    ]
    return str(words.apply_chat_template(turns, tokenize=False))


if __name__ == "__main__":
    torch.set_num_threads(1)
    make_base(REVIEWER)
