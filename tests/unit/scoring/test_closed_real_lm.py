"""Closed questions on a real chat LM: the verdicts are those of its own greedy decoding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from judgelab.core.lm import ChatRequest, Reply, WrappedLM
from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.prompt import Prompt
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.mechanism.judge import Judge
from judgelab.mechanism.pairwise import Pairwise
from judgelab.mechanism.pointwise import Pointwise
from tests.real_lm import SMOLLM2, needs_smollm2, oracle_that_remembers

SAMPLES = Path(__file__).parents[3] / "judgelab" / "dataset" / "samples"
MECHANISMS: dict[str, Any] = {  # words, marks, and numbers of which one begins another
    "pairwise": Pairwise(Prompt("pairwise.txt")),
    "judge": Judge(Prompt("judge.txt"), prompt_labels=Prompt("judge_label.txt")),
    "pointwise100": Pointwise(Prompt("pointwise100.txt"), name="pointwise100", low=0.0, high=100.0),
}
BEGUN = 6  # tokens of a generated reply: more than any label has


@pytest.fixture(scope="module", autouse=True)
def _the_oracle_answers_once() -> Iterator[None]:
    with oracle_that_remembers():
        yield


@cache
def lm() -> Transformers:
    """The LM; the weights are loaded once."""
    return Transformers(str(SMOLLM2), backend="tree", device_map="cpu")


def panel(items: int) -> Panel:
    """Shipped stories of four sentences, with the two endings of each."""
    rows = pd.read_json(SAMPLES / "story_cloze.jsonl", lines=True).head(items)
    stories = rows[[f"input_sentence_{k}" for k in range(1, 5)]].agg(" ".join, axis=1)
    return Panel(
        tuple(Item(name, text) for name, text in zip(rows["story_id"], stories, strict=True)),
        (Agent("first"), Agent("second")),
        tuple(zip(rows["sentence_quiz1"], rows["sentence_quiz2"], strict=True)),
        "story_completion",
        {"task_description": "End the story with one sentence"},
    )


class Listening(WrappedLM):
    """The LM, and every closed question that it was put."""

    def __init__(self, inner: Transformers) -> None:
        super().__init__(inner)
        self.heard = list[tuple[ChatRequest, Reply]]()

    def chat(self, requests: list[ChatRequest]) -> list[Reply]:
        replies = self.lm.chat(requests)
        self.heard += zip(requests, replies, strict=True)
        return replies


def greedy(request: ChatRequest) -> str:
    """How transformers' own greedy decoding begins a reply that may only spell out labels.

    Behind a label that may go on it is free.
    """
    model, words = lm()._ready().model, lm()._tokenizer
    prompt = lm()._template.render(request.messages, reply_follows=True)
    ids = words(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    labels = [words(label, add_special_tokens=False)["input_ids"] for label in request.labels]
    every = list(range(model.config.vocab_size))

    def allowed(_: int, whole: Any) -> list[int]:
        said = whole[ids.shape[1] :].tolist()
        longer = [i for i in labels if len(i) > len(said) and i[: len(said)] == said]
        return every if said in labels or not longer else [i[len(said)] for i in longer]

    with torch.inference_mode():
        bound = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=BEGUN,
            prefix_allowed_tokens_fn=allowed,
        )[0, ids.shape[1] :]
    return str(words.decode(bound, skip_special_tokens=True))


@needs_smollm2
@pytest.mark.parametrize("name", MECHANISMS)
def test_verdicts_are_those_of_greedy_decoding(name: str) -> None:
    listening = Listening(lm())
    data = MECHANISMS[name].measure(panel(1), listening, seed=0)
    assert data.attrs["reply"] == "labels" and len(listening.heard) >= 2
    for request, reply in listening.heard:
        said = greedy(request)
        assert reply.text == max((x for x in request.labels if said.startswith(x)), key=len)
