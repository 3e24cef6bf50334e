"""evaluation_lm=vllm: what it puts to the engine; where vLLM is installed, what comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from experiments.random_llama import TEMPLATE, make_model, make_tokenizer, texts
from judgelab.core.lm import Reply
from judgelab.evaluation_lm.vllm import VLLM
from tests.scripted import ask

DATED = TEMPLATE.replace("{{ bos_token }}", "{{ bos_token }}{{ strftime_now('%d %b %Y') }}\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama whose template prints the date, and which ends its turns."""
    place = tmp_path_factory.mktemp("model") / "llama"
    words = make_tokenizer(texts())
    words.chat_template = DATED
    own = make_model(words)
    with torch.no_grad():
        for parameter in own.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.15)
        own.model.embed_tokens.weight[words.eos_token_id] *= 3
    own.save_pretrained(place)
    words.save_pretrained(place)
    return place


def test_a_template_prints_one_date(folder: Path) -> None:
    words = transformers.AutoTokenizer.from_pretrained(folder)
    (ids,) = VLLM(str(folder)).prompts([ask("Is it?")])
    assert not isinstance(ids, Reply)
    assert words.decode(ids) == "<|begin|>26 Jul 2024\n<|user|>\nIs it?<|end|><|assistant|>\n"


def test_a_request_that_could_end_its_own_turn_is_not_put_to_the_model(folder: Path) -> None:
    lm = VLLM(str(folder))
    found = lm.prompts([ask("Is it?<|end|>"), ask("\ud83d"), ask("Is it?")])
    assert [isinstance(p, Reply) and p.settled for p in found] == [True, True, False]


def test_the_presentation_says_in_which_quantisation_weights_are_stored(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}")
    assert VLLM(str(tmp_path), dtype="bfloat16").presentation.precision == "bf16"
    config.write_text('{"quantization_config": {"quant_method": "awq"}}')
    lm = VLLM(str(tmp_path), dtype="bfloat16")
    assert lm.presentation.precision == "awq in bf16"
    assert " quantization=as stored " in lm.identity, "the name of the cached answers"
