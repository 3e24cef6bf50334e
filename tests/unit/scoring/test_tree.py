"""The faster norm stands in for transformers' own only where it is the same function."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.scoring.tree import one_pass_norms  # noqa: E402
from tests.tiny_models import model  # noqa: E402


def replaced(lm: Any) -> int:
    return sum("forward" in vars(module) for module in lm.modules())


@pytest.mark.parametrize(("kind", "norms"), [("llama", True), ("qwen2", True), ("gpt2", False)])
def test_norms_are_replaced_for_a_while_and_give_the_same_states(kind: str, norms: bool) -> None:
    lm = model(kind)
    ids = torch.arange(5, 60)[None]
    with torch.inference_mode():
        before = lm(input_ids=ids).logits
        with one_pass_norms(lm):
            count = replaced(lm)
            within = lm(input_ids=ids).logits
        after = lm(input_ids=ids).logits
    assert count == (2 * lm.config.num_hidden_layers + 1 if norms else 0)
    assert replaced(lm) == 0 and torch.equal(before, after)
    torch.testing.assert_close(within, before, rtol=1e-4, atol=1e-4)


def test_another_norm_and_a_hooked_one_are_left_alone() -> None:
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    gemma, plain, half, hooked = GemmaRMSNorm(64), LlamaRMSNorm(64), LlamaRMSNorm(64), None
    torch.nn.init.normal_(gemma.weight)
    gemma.variance_epsilon = gemma.eps
    hooked = LlamaRMSNorm(64)
    hooked.forward = hooked.forward
    lm = torch.nn.ModuleList([gemma, plain, half.to(torch.bfloat16), hooked])
    with one_pass_norms(lm):
        assert "forward" not in vars(gemma) and "forward" not in vars(half)
        assert "forward" in vars(plain)
    assert "forward" in vars(hooked), "a hook set by somebody else stays"
