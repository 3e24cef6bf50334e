"""Chat template and end token of endpoints: a real model behind a real server, against itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.random_llama import make_tokenizer, texts
from judgelab.calls.pace import Limits
from judgelab.calls.prompts import MISREAD
from judgelab.core.errors import CapabilityError, ConfigError
from judgelab.evaluation_lm.openai import OpenAI
from judgelab.evaluation_lm.transformers import Transformers
from tests.real_lm import SMOLLM2, loaded_once, needs_smollm2
from tests.servers.real_lm import real_lms

QUICK = Limits(timeout=60.0, backoff=0.05, longest_wait=0.2, retries=1, concurrency=2)
CONTEXTS = [
    "Say what stopped the ferry.\n",
    "Öl und 日本語 🥐 ",
    "A text that says <|end|> itself.",
]
TARGETS = ["Fog, they said.", "", "Über die Brücke, 日本!", "Two\nlines <|end|> here"]
PAIRS = list(product(range(len(CONTEXTS)), range(len(TARGETS))))
MANNERS: list[dict[str, Any]] = [
    {"template": "chat"},
    {"template": "chat", "end_token": False},
    {"template": "chat", "system": "Be kind.", "end_token": True},
    {"template": "none", "end_token": True},
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with real_lms() as url:
        yield url


def endpoint(url: str, folder: Path | str, **options: Any) -> OpenAI:
    return OpenAI(str(folder), f"{url}/v1", QUICK, **{"logprobs": "prompt", **options})


def same(
    lm: OpenAI, local: Transformers, contexts: list[str], targets: list[str], within: float = 1e-4
) -> None:
    pairs = list(product(range(len(contexts)), range(len(targets))))
    ours, theirs = (one.logprob(contexts, targets, pairs) for one in (local, lm))
    lm.close()
    assert not np.isnan(ours.total).all()
    np.testing.assert_allclose(theirs.total, ours.total, atol=within)
    np.testing.assert_array_equal(theirs.tokens, ours.tokens)
    assert [row.reason for row in theirs.rows] == [row.reason for row in ours.rows]


@pytest.mark.parametrize("mode", ["prompt", "echo"])
@pytest.mark.parametrize("manner", MANNERS, ids=str)
def test_a_server_gives_what_the_local_lm_gives(
    server: str, folder: Path, mode: str, manner: dict[str, Any]
) -> None:
    lm = endpoint(server, folder, logprobs=mode, **manner)
    same(lm, Transformers(str(folder), dtype="float32", **manner), CONTEXTS, TARGETS)
    refused = np.isnan(Transformers(str(folder), **manner).logprob(CONTEXTS, TARGETS, PAIRS).total)
    assert refused.sum() == (6 if manner["template"] == "chat" else 0)


def test_a_server_that_takes_text_alone_is_refused(server: str, folder: Path) -> None:
    lm = endpoint(f"{server}/text", folder, logprobs="echo", template="chat")
    with pytest.raises(CapabilityError, match="does it take tokens"):
        lm.logprob(["Say it: "], ["Fog"], [(0, 0)])
    lm.close()


def test_a_prompt_that_the_server_cut_is_unscored(server: str, folder: Path) -> None:
    lm = endpoint(f"{server}/keeps60", folder, template="chat")
    table = lm.logprob(["Say it: ", "Long. " * 60], ["Fog"], [(0, 0), (1, 0)])
    lm.close()
    assert np.isnan(table.total).tolist() == [False, True]
    assert [row.reason for row in table.rows[:2]] == [None, MISREAD]


def test_another_models_tokenizer_is_refused(server: str, folder: Path, tmp_path: Path) -> None:
    make_tokenizer(texts()[:30]).save_pretrained(tmp_path)
    lm = endpoint(server, folder, template="chat", tokenizer=str(tmp_path))
    with pytest.raises(CapabilityError, match="reads other tokens than the model's tokenizer"):
        lm.logprob(["Say it: "], ["Fog"], [(0, 0)])
    lm.close()


def test_how_texts_are_put_is_part_of_the_identity(folder: Path) -> None:
    manners = [{}, *MANNERS]
    found = [endpoint("http://127.0.0.1:1", folder, **manner).identity for manner in manners]
    assert len(set(found)) == len(found)
    named = OpenAI("served", "http://h/v1", QUICK, logprobs="echo", end_token=True)
    with pytest.raises(ConfigError, match=r"set evaluation_lm\.tokenizer to a folder"):
        named.identity  # noqa: B018
    with pytest.raises(ConfigError, match=r"evaluation_lm\.template=chat.*logprobs=none"):
        endpoint("http://h", folder, logprobs="none", template="chat")
    by_folder = OpenAI(
        "served", "http://h/v1", QUICK, logprobs="echo", end_token=True, tokenizer=str(folder)
    )
    assert "tokenizer=sha256:" in by_folder.identity


@needs_smollm2
def test_a_served_smollm2_gives_what_the_local_one_gives(server: str) -> None:
    """Its tokenizer adds no first token, so that a list of prompt_logprobs names none either."""
    contexts = [f"Write a one-sentence summary.\n{text}" for text in ("Fog stopped the ferry.", "")]
    targets = ["The ferry did not sail because of fog.", "日本 was not mentioned."]
    chat: dict[str, Any] = {"template": "chat", "end_token": True}
    with loaded_once():
        one, other = (contexts[:1], targets[:1]), (contexts[1:], targets)
        for mode, asked, manner in (("prompt", one, {}), ("echo", other, chat)):
            lm = endpoint(server, SMOLLM2, logprobs=mode, **manner)
            local = Transformers(str(SMOLLM2), dtype="float32", backend="rows", **manner)
            same(lm, local, *asked, within=5e-4)
