"""NF4 on a CPU with and without AVX-512 BF16: the same scores, and gradients that arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bitsandbytes.nn.modules as modules
import numpy as np
import pytest
import torch
import transformers
from bitsandbytes.functional import dequantize_4bit

from judgelab.core.errors import ConfigError
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring.load import Form, check_gradients, load_model
from tests.tiny_models import SIZES, tokenizer

WIDTHS = (32, 64)  # below the 64 weights that share a scale in NF4, and as wide
CONTEXTS = ["The council of Lund", "A ferry sank off the coast of Aldby"]
TARGETS = [" voted to close the bridge.", " on Monday."]
PAIRS = [(c, t) for c in range(2) for t in range(2)]


@pytest.fixture(scope="module", params=WIDTHS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Llama whose layers are so wide."""
    sizes = SIZES | {"hidden_size": request.param, "intermediate_size": 2 * request.param}
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**sizes, num_key_value_heads=2, initializer_range=0.15)
    )
    place: Path = tmp_path_factory.mktemp("model")
    model.save_pretrained(place)
    tokenizer().save_pretrained(place)
    return place


def as_if(avx512_bf16: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What bitsandbytes takes this CPU for when it makes a layer."""
    monkeypatch.setattr(modules, "has_avx512bf16", lambda: avx512_bf16)


@pytest.mark.parametrize("backend", ["rows", "tree"])
def test_scores_are_the_same_on_every_cpu(
    folder: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for avx512_bf16 in (True, False):
        as_if(avx512_bf16, monkeypatch)
        lm = Transformers(str(folder), quantization="nf4", backend=backend, dtype="float32")
        found.append(lm.logprob(CONTEXTS, TARGETS, PAIRS).total)
    np.testing.assert_array_equal(*found)
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize("avx512_bf16", [True, False])
def test_gradients_pass_every_layer_after_an_evaluation(
    folder: Path, avx512_bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trainer evaluates before its first step: there the weights were packed for good."""
    as_if(avx512_bf16, monkeypatch)
    model = load_model(folder, Form("float32", "nf4", "cpu"), None)
    with torch.no_grad():
        model(input_ids=torch.tensor([[5, 6, 7, 8]]))
    model.train()
    layers = [m for m in model.modules() if isinstance(m, modules.Linear4bit)]
    assert len(layers) == 14
    for layer in layers:
        x = torch.ones(1, layer.in_features, requires_grad=True)
        (found,) = torch.autograd.grad(layer(x).sum(), x)
        held = dequantize_4bit(layer.weight.data, layer.weight.quant_state)
        torch.testing.assert_close(found[0], held.sum(0), rtol=1e-4, atol=1e-4)


class Cut(modules.Linear4bit):  # type: ignore[misc]
    """A layer whose kernel has no gradient, as bitsandbytes' for AVX-512 BF16."""

    def forward(self, x: Any) -> Any:
        with torch.no_grad():
            return super().forward(x)


def test_layers_that_cut_the_gradient_are_refused_in_one_sentence(folder: Path) -> None:
    for kind in ("int8", "nf4"):
        model = load_model(folder, Form("float32", kind, "cpu"), None)
        check_gradients(model, "study.settings")
    model.model.layers[0].mlp.up_proj.__class__ = Cut
    with pytest.raises(ConfigError, match=r"layers\.0\.mlp.*study\.settings\.quantization=none"):
        check_gradients(model, "study.settings")
