"""evaluation_lm=vllm: what it puts to the engine; where vLLM is installed, what comes back."""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from experiments.random_llama import TEMPLATE
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.evaluation_lm.vllm import VLLM
from tests.scripted import ask
from tests.tiny_models import model, tokenizer

DATED = TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}{{ strftime_now('%d %b %Y') }}\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama whose template prints the date, and which ends its turns."""
    place = tmp_path_factory.mktemp("model") / "llama"
    words, own = copy.deepcopy(tokenizer()), copy.deepcopy(model("llama_gqa"))
    words.chat_template = DATED
    with torch.no_grad():
        own.model.embed_tokens.weight[words.eos_token_id] *= 3
    own.save_pretrained(place)
    words.save_pretrained(place)
    return place


def test_a_template_prints_one_date_and_how_texts_are_put_is_in_the_identity(folder: Path) -> None:
    lms = [VLLM(str(folder), **m) for m in ({}, {"template": "chat"}, {"end_token": True})]
    assert len({lm.identity for lm in lms}) == 3
    text = lms[0]._template.render(ask("Is it?").messages, reply_follows=True)
    assert text == "<|begin|>26 Jul 2024\n<|user|>\nIs it?<|end|><|assistant|>\n"


class Engine:
    """What VLLM uses of vLLM's LLM, with transformers computing: the real one needs a GPU."""

    def __init__(self, model: str, **_: Any) -> None:
        self.lm = transformers.AutoModelForCausalLM.from_pretrained(model).eval()
        self.words = transformers.AutoTokenizer.from_pretrained(model)
        self.llm_engine = SimpleNamespace(model_config=SimpleNamespace(max_model_len=200))

    def get_tokenizer(self) -> Any:
        return self.words

    def generate(self, prompts: list[Any], settings: Any, use_tqdm: bool) -> list[Any]:
        assert settings.prompt_logprobs == 0
        return [SimpleNamespace(prompt_logprobs=self.rows(p["prompt_token_ids"])) for p in prompts]

    def rows(self, ids: list[int]) -> list[Any]:
        with torch.no_grad():
            values = self.lm(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        each = enumerate(ids[1:])
        return [None, *({t: SimpleNamespace(logprob=float(values[i, t]))} for i, t in each)]


@pytest.mark.parametrize(
    "manner",
    [
        {"template": "chat"},
        {"template": "chat", "end_token": False, "system": "Be kind."},
        {"template": "none", "end_token": True},
        {},
    ],
    ids=str,
)
def test_template_and_end_token_are_those_of_the_local_lm(
    folder: Path, manner: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in = SimpleNamespace(LLM=Engine, SamplingParams=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "vllm", stand_in)
    contexts, targets = ["Fog stopped\n", "It <|end|> here "], ["the ferry.", "", "it " * 200]
    pairs = [(c, t) for c in range(2) for t in range(3)]
    lm = VLLM(str(folder), **manner)
    ours = Transformers(str(folder), dtype="float32", **manner).logprob(contexts, targets, pairs)
    theirs = lm.logprob(contexts, targets, pairs)
    fits = [t < 2 for _, t in pairs]
    np.testing.assert_allclose(theirs.total[fits], ours.total[fits], atol=1e-4)
    np.testing.assert_array_equal(theirs.tokens[fits], ours.tokens[fits])
    assert np.isnan(theirs.total[[2, 5]]).all()
    assert np.isnan(theirs.total[fits]).any() == (manner.get("template") == "chat")
    reasons = [row.reason for row in theirs.rows if row.reason]
    assert sum("control tokens" in one for one in reasons) == (3 if "chat" in str(manner) else 0)
