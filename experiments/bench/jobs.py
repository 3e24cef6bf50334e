"""The jobs that the benchmark of scoring runs, and the arithmetic that they cannot do without."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SEED = 0


@dataclass(frozen=True)
class Shape:
    """Sizes of a Llama that its arithmetic depends on; ``keys`` is the width of keys and values."""

    vocabulary: int
    hidden: int
    inner: int
    layers: int
    keys: int

    @classmethod
    def of(cls, folder: Path) -> Shape:
        """Of a model folder's config.json."""
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        head = read.get("head_dim") or read["hidden_size"] // read["num_attention_heads"]
        return cls(
            vocabulary=read["vocab_size"],
            hidden=read["hidden_size"],
            inner=read["intermediate_size"],
            layers=read["num_hidden_layers"],
            keys=head * read["num_key_value_heads"],
        )


@dataclass(frozen=True)
class Job:
    """Sizes in tokens; ``part`` pairs are given to the slow sides, ``batch`` rows to lm-eval.

    ``response`` is 0 (the only context is the prefix) or ``target``: the targets also follow the
    prefix, as contexts. ``goal`` is the ratio to lm-eval that is aimed at.
    """

    prefix: int
    response: int
    contexts: int
    target: int
    targets: int
    part: int
    batch: int
    goal: float

    def texts(self, words: Sequence[str]) -> tuple[list[str], list[str], list[tuple[int, int]]]:
        """Contexts, targets (which begin with a space) and pairs.

        Args:
            words: each one token, at the beginning of a text and after a space.
        """
        choice = random.Random(SEED)

        def draw(n: int) -> list[str]:
            return [words[choice.randrange(len(words))] for _ in range(n)]

        prefix, responses = draw(self.prefix), [draw(self.target) for _ in range(self.targets)]
        contexts_of = [[], *responses[: self.contexts]] if self.response else [[]]
        contexts = [" ".join([*prefix, *words]) for words in contexts_of]
        targets = [" " + " ".join(words) for words in responses]
        pairs = [(c, t) for c in range(len(contexts)) for t in range(len(targets)) if c != t + 1]
        return contexts, targets, pairs


JOBS = {
    "gem": Job(300, 100, 30, 100, 30, part=64, batch=8, goal=7.0),
    "long": Job(1024, 0, 1, 64, 32, part=16, batch=8, goal=14.0),
    "paper": Job(4096, 0, 1, 64, 32, part=4, batch=1, goal=28.0),
}


def useful_flops(job: Job, shape: Shape) -> float:
    """Multiplications and additions of linear layers, attention and head, each shared one once."""
    a, keys = shape.hidden, shape.keys
    linear = 2 * shape.layers * (2 * a * a + 2 * a * keys + 3 * a * shape.inner)
    head = 2 * a * shape.vocabulary

    def through(start: int, length: int) -> float:
        seen = length * start + length * (length + 1) / 2
        return length * linear + 4 * a * shape.layers * seen

    total = through(0, job.prefix)
    contexts, _, pairs = job.texts(["w"])
    ends = [job.prefix + (job.response if c else 0) for c in range(len(contexts))]
    total += sum(through(job.prefix, end - job.prefix) for end in ends) + head * len(contexts)
    fed = job.target - 1
    return total + sum(through(ends[c], fed) + head * fed for c, _ in pairs)


def law(job: Job) -> float:
    """Tokens of all rows one by one, over tokens with every shared one once."""
    contexts, _, pairs = job.texts(["w"])
    ends = [job.prefix + (job.response if c else 0) for c in range(len(contexts))]
    alone = sum(ends[c] + job.target for c, _ in pairs)
    return alone / (job.prefix + job.response * (len(contexts) - 1) + job.target * len(pairs))


def one_token_words(folder: Path) -> list[str]:
    """Words that are one token of a tokenizer, with and without a space before them."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = sorted({t.lstrip("\u0120") for t in tokenizer.get_vocab()})
    plain = [w for w in own if w.isascii() and w.isalnum() and w.islower()]
    counts = (
        tokenizer([first + w for w in plain], add_special_tokens=False)["input_ids"]
        for first in ("", " ")
    )
    return [w for w, *ids in zip(plain, *counts, strict=True) if all(len(i) == 1 for i in ids)]
