"""evaluation_lm=vllm: what it puts to the engine; where vLLM is installed, what comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
transformers = pytest.importorskip("transformers", reason="needs the extra local")

from experiments.tiny_llama import TEMPLATE, make_model, make_tokenizer, texts  # noqa: E402
from judgelab.errors import ConfigError  # noqa: E402
from judgelab.evaluation_lm.protocol import ChatRequest, Message, Reply  # noqa: E402
from judgelab.evaluation_lm.transformers import Transformers  # noqa: E402
from judgelab.evaluation_lm.vllm import VLLM  # noqa: E402

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


def ask(text: str, **options: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), **options)


def test_the_date_of_a_template_is_the_configs_and_part_of_the_identity(folder: Path) -> None:
    words = transformers.AutoTokenizer.from_pretrained(folder)
    lms = [VLLM(str(folder), template_date=day) for day in ("2024-07-26", "2025-01-02")]
    assert len({lm.identity for lm in lms}) == 2
    for lm, day in zip(lms, ("26 Jul 2024", "02 Jan 2025"), strict=True):
        (ids,) = lm.prompts([ask("Is it?")])
        assert not isinstance(ids, Reply)
        assert words.decode(ids) == f"<|begin|>{day}\n<|user|>\nIs it?<|end|><|assistant|>\n"
    with pytest.raises(ConfigError, match="must be a date"):
        VLLM(str(folder), template_date="26 Jul")


def test_a_request_that_could_end_its_own_turn_is_not_put_to_the_model(folder: Path) -> None:
    lm = VLLM(str(folder))
    found = lm.prompts([ask("Is it?<|end|>"), ask("\ud83d"), ask("Is it?")])
    assert [isinstance(p, Reply) and p.settled for p in found] == [True, True, False]
    assert lm.facts["imitating"] == 2


def test_the_engine_answers_as_transformers_do(folder: Path) -> None:
    pytest.importorskip("vllm", reason="needs the extra gpu")
    ours = Transformers(str(folder), dtype="float32", max_tokens=60)
    theirs = VLLM(str(folder), dtype="float32", max_length=512, memory_share=0.2)
    requests = [ask(f"Name a bird {k}.", top_logprobs=2) for k in range(4)]
    requests += [ask("<|end|>"), ask("Name a bird 0.", max_tokens=1)]
    expected, found = ours.chat(requests), theirs.chat(requests)
    for a, b in zip(expected, found, strict=True):
        assert (a.reason, a.settled, a.input_tokens) == (b.reason, b.settled, b.input_tokens)
        assert (a.text or "").strip() == (b.text or "").strip()
        assert len(a.top_logprobs) == len(b.top_logprobs)
        for x, y in zip(a.top_logprobs, b.top_logprobs, strict=True):
            assert np.abs(np.subtract([v for _, v in x], [v for _, v in y])).max() < 1e-2
    pairs = [(0, 0), (0, 1)]
    tables = [lm.logprob(["Fog stopped"], [" the ferry.", " it"], pairs) for lm in (ours, theirs)]
    np.testing.assert_allclose(tables[0].total, tables[1].total, atol=1e-2)
    theirs.close()
