"""Closed questions on a real chat LM: the verdicts are those of its own greedy replies."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.core.lm import ChatRequest, Reply, WrappedLM  # noqa: E402
from judgelab.core.panel import Agent, Item, Panel  # noqa: E402
from judgelab.core.prompt import Prompt  # noqa: E402
from judgelab.evaluation_lm.transformers import Transformers  # noqa: E402
from judgelab.mechanism.judge import Judge  # noqa: E402
from judgelab.mechanism.lm_examiner import LmExaminer  # noqa: E402
from judgelab.mechanism.pairwise import Pairwise  # noqa: E402
from judgelab.mechanism.pointwise import Pointwise  # noqa: E402
from judgelab.mechanism.rating import Rating  # noqa: E402
from judgelab.mechanism.tvd_mi import TvdMi  # noqa: E402
from tests.real_lm import SMOLLM2, needs_smollm2, oracle_that_remembers  # noqa: E402

SAMPLES = Path(__file__).parents[3] / "judgelab" / "dataset" / "samples"
MECHANISMS: dict[str, Any] = {
    "pairwise": Pairwise(Prompt("pairwise.txt")),
    "pointwise5": Pointwise(Prompt("pointwise5.txt")),
    "pointwise100": Pointwise(Prompt("pointwise100.txt"), name="pointwise100", low=0.0, high=100.0),
    "judge": Judge(Prompt("judge.txt"), prompt_labels=Prompt("judge_label.txt")),
    "tvd_mi": TvdMi(Prompt("tvd_mi.txt"), prompt_labels=Prompt("tvd_mi_label.txt")),
    "lm_examiner": LmExaminer(
        Prompt("lm_examiner.txt"), prompt_labels=Prompt("lm_examiner_label.txt")
    ),
    "rating": Rating(Prompt("rating.txt"), criteria="story_completion", metrics=["fluency"]),
}
BEGUN = 6  # tokens of a generated reply: more than any label has
FOLLOWED = ("pointwise5",)  # prompts that this small LM does reply to with a label


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


def greedy(request: ChatRequest) -> tuple[str, str]:
    """How transformers' own greedy decoding begins its reply, free and constrained.

    Constrained, it may only spell out labels; behind one that may go on it is free.
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
        read = model(ids[:, :-1], use_cache=True, logits_to_keep=1).past_key_values
        free, bound = (
            model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                past_key_values=copy.deepcopy(read),
                do_sample=False,
                max_new_tokens=BEGUN,
                prefix_allowed_tokens_fn=rule,
            )[0, ids.shape[1] :]
            for rule in (None, allowed)
        )
    return tuple(words.decode(one, skip_special_tokens=True) for one in (free, bound))  # type: ignore[return-value]


def label_first(text: str, labels: tuple[str, ...]) -> str | None:
    """The label that a text begins with, the longest of them; None where a number goes on."""
    found = [label for label in labels if text.startswith(label)]
    if not found:
        return None
    label = max(found, key=len)
    rest = text[len(label) :]
    return None if label[-1].isalnum() and rest[:1].isalnum() else label


@needs_smollm2
@pytest.mark.parametrize("name", MECHANISMS)
def test_verdicts_are_those_of_greedy_replies_that_begin_with_a_label(name: str) -> None:
    listening = Listening(lm())
    data = MECHANISMS[name].measure(panel(2), listening, seed=0)
    assert data.attrs["reply"] == "labels" and len(listening.heard) >= 4
    begun = 0
    for request, reply in listening.heard[:: max(2, len(listening.heard) // 4)]:
        assert reply.text in request.labels
        free, bound = greedy(request)
        assert reply.text == max((x for x in request.labels if bound.startswith(x)), key=len)
        label = label_first(free, request.labels)
        assert label in (None, reply.text), free
        begun += label is not None
        print(f"{name}: {free!r} -> {reply.text}")
    assert begun or name not in FOLLOWED
