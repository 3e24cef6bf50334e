"""Local paths on a pretrained chat LM that nobody here trained: SmolLM2-135M-Instruct."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.evaluation_lm.transformers import Transformers
from tests.real_lm import SMOLLM2, loaded_once, needs_smollm2

CONTEXTS = ["Summaries:\n", "Summaries:\nHarnby's swing bridge is shut for two weeks.\n"]
TARGETS = ["The bridge in Harnby is closed for a fortnight.", "Lisbon won the cup on penalties."]
PAIRS = [(c, t) for c in range(2) for t in range(2)]


@pytest.fixture(scope="module", autouse=True)
def _loaded_once() -> Iterator[None]:
    with loaded_once():
        yield


@needs_smollm2
@pytest.mark.parametrize("template", ["none", "chat"])
def test_a_text_on_the_same_source_is_worth_more_than_one_on_another(template: str) -> None:
    lm = Transformers(str(SMOLLM2), template=template)  # type: ignore[arg-type]
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
        for way in [{}, *ways]
    )
    assert 1e-3 < np.abs(tree - whole).max() < {"nf4": 0.6, "int8": 0.2}[form], "nats per token"
    # int8 rounds states by what stands beside them
    assert np.abs(tree - rows).max() < {"nf4": 0.01, "int8": 0.15}[form]
