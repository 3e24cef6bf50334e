"""Closed questions on a real chat LM: the verdicts are those of its own greedy replies."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.evaluation_lm.protocol import ChatRequest, Reply  # noqa: E402
from judgelab.evaluation_lm.transformers import Transformers  # noqa: E402
from judgelab.mechanism.judge import Judge  # noqa: E402
from judgelab.mechanism.lm_examiner import LmExaminer  # noqa: E402
from judgelab.mechanism.pairwise import Pairwise  # noqa: E402
from judgelab.mechanism.pointwise import Pointwise  # noqa: E402
from judgelab.mechanism.rating import Rating  # noqa: E402
from judgelab.mechanism.tvd_mi import TvdMi  # noqa: E402
from judgelab.panel import Agent, Item, Panel  # noqa: E402
from judgelab.prompt import Prompt  # noqa: E402
from tests.real_lm import SMOLLM2, needs_smollm2  # noqa: E402

SAMPLES = Path(__file__).parents[2] / "judgelab" / "dataset" / "samples"
MECHANISMS: dict[str, Any] = {
    "pairwise": Pairwise(Prompt("pairwise.txt")),
    "pointwise5": Pointwise("pointwise5", Prompt("pointwise5.txt")),
    "pointwise100": Pointwise("pointwise100", Prompt("pointwise100.txt"), 0.0, 100.0),
    "judge": Judge(Prompt("judge.txt"), prompt_labels=Prompt("judge_label.txt")),
    "tvd_mi": TvdMi(Prompt("tvd_mi.txt"), prompt_labels=Prompt("tvd_mi_label.txt")),
    "lm_examiner": LmExaminer(
        Prompt("lm_examiner.txt"), prompt_labels=Prompt("lm_examiner_label.txt")
    ),
    "rating": Rating(Prompt("rating.txt"), "story_completion", ["fluency"]),
}
BEGUN = 6  # tokens of a generated reply: more than any label has


@cache
def lm(backend: str = "tree") -> Transformers:
    return Transformers(str(SMOLLM2), backend=backend, device_map="cpu")


def panel(items: int) -> Panel:
    """Shipped stories of four sentences, with the two endings of each."""
    lines = (SAMPLES / "story_cloze.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[:items]]
    return Panel(
        tuple(
            Item(row["story_id"], " ".join(row[f"input_sentence_{k}"] for k in range(1, 5)))
            for row in rows
        ),
        (Agent("first"), Agent("second")),
        tuple((row["sentence_quiz1"], row["sentence_quiz2"]) for row in rows),
        "story_completion",
        {"task_description": "End the story with one sentence"},
    )


class Listening:
    """The LM, and every closed question that it was put."""

    def __init__(self, inner: Transformers) -> None:
        self.inner, self.heard = inner, list[tuple[ChatRequest, Reply]]()
        self.identity, self.capabilities = inner.identity, inner.capabilities
        self.facts: dict[str, Any] = {}

    def chat(self, requests: list[ChatRequest]) -> list[Reply]:
        replies = self.inner.chat(requests)
        self.heard += zip(requests, replies, strict=True)
        return replies


def greedy(request: ChatRequest) -> str:
    """How transformers' own greedy decoding begins its reply."""
    model, words = lm()._ready().model, lm()._tokenizer
    prompt = lm()._template.render(request.messages, reply_follows=True)
    ids = words(prompt, add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        out = model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=BEGUN
        )
    return str(words.decode(out[0, ids.shape[1] :], skip_special_tokens=True))


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
    assert data.attrs["reply"] == "labels" and listening.heard
    agreed, other = 0, []
    for request, reply in listening.heard:
        assert reply.text in request.labels
        said = greedy(request)
        label = label_first(said, request.labels)
        if label is None:
            other.append(said)
        else:
            assert reply.text == label, said
            agreed += 1
    print(f"{name}: {agreed} of {len(listening.heard)} replies begin with a label; else {other}")
