"""What loads: whole weights and adapters, nothing drawn unseen; stored in 4 or 8 bits, too."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import accelerate
import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from judgelab.core.errors import ConfigError
from judgelab.evaluation_lm.transformers import Transformers
from judgelab.scoring.engine import Engine, tree_refusal
from judgelab.scoring.load import Form, load_model, quantised
from judgelab.scoring.source import stored_quantization
from tests.tiny_models import SIZES, model, save_quantised, save_whole

FULL = Form("float32", "none", "cpu")
Weights = dict[str, Any]


def changed(folder: Path, to: Path, change: Callable[[Weights], object], file: str) -> Path:
    """A copy of the folder whose weights were changed."""
    copy = shutil.copytree(folder, to)
    weights = load_file(copy / file)
    change(weights)
    save_file(weights, copy / file, metadata={"format": "pt"})
    return copy


UP = "model.layers.1.mlp.up_proj.weight"
LORA = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"


def renamed(weights: Weights) -> None:
    for name in list(weights):
        weights[name.replace("model.layers", "decoder.layers")] = weights.pop(name)


@pytest.mark.parametrize("form", ["none", "nf4"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda w: w.pop(UP), rf"lacks {UP}\. Download"),
        (lambda w: w.pop("lm_head.weight"), r"lacks lm_head\.weight"),
        (lambda w: [w.pop(n) for n in list(w) if "layers.1" in n], r"lacks .* and 6 more"),
        (
            lambda w: w.update({"model.norm.weight": torch.ones(7)}),
            r"has in another shape model\.norm\.weight\.",
        ),
    ],
)
def test_weights_that_lack_or_misshape_a_tensor_are_refused(
    folder: Path, tmp_path: Path, form: str, change: Callable[[Weights], object], words: str
) -> None:
    copy = changed(folder, tmp_path / "copy", change, "model.safetensors")
    with pytest.raises(ConfigError, match=words):
        load_model(copy, Form("float32", form, "cpu"), None)


@pytest.mark.parametrize("form", ["none", "nf4"])
def test_tied_weights_are_not_missing(tmp_path: Path, form: str) -> None:
    config = transformers.LlamaConfig(**SIZES, num_key_value_heads=2, tie_word_embeddings=True)
    own = transformers.LlamaForCausalLM(config)
    own.save_pretrained(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    found = load_model(tmp_path, Form("float32", form, "cpu"), None)
    torch.testing.assert_close(found.get_output_embeddings().weight, own.lm_head.weight)


def adapter(to: Path, **options: Any) -> Path:
    """An adapter of the model as peft saves it, with weights that change something."""
    peft = pytest.importorskip("peft", reason="needs the extra local")
    own = transformers.LlamaForCausalLM(model("llama_gqa").config)
    wanted: dict[str, Any] = {"r": 2, "target_modules": ["q_proj", "v_proj"]}
    wrapped = peft.get_peft_model(own, peft.LoraConfig(**wanted | options))
    wrapped.save_pretrained(to)
    return to


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # from peft
@pytest.mark.parametrize("options", [{}, {"modules_to_save": ["lm_head"]}, {"use_dora": True}])
def test_adapters_of_every_kind_load(folder: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    load_model(folder, FULL, adapter(tmp_path / "adapter", **options))


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")  # from peft
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (renamed, r"lacks .*layers.* and 5 more\. Give the model"),
        (lambda w: w.pop(LORA), r"lacks base_model.*layers\.0.*lora_A"),
        (
            lambda w: w.update({LORA.replace("s.0", "s.9"): torch.ones(2, 32)}),
            r"does not know: base_model.*layers\.9",
        ),
        (lambda w: w.update({LORA: torch.ones(2, 16)}), "holds no usable adapter"),
    ],
)
def test_an_adapter_of_another_model_is_refused(
    folder: Path, tmp_path: Path, change: Callable[[Weights], object], words: str
) -> None:
    good = adapter(tmp_path / "good")
    bad = changed(good, tmp_path / "bad", change, "adapter_model.safetensors")
    with pytest.raises(ConfigError, match=words):
        load_model(folder, FULL, bad)


KINDS = ("nf4", "fp4", "int8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_whole(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def stored(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("stored")
    return {kind: save_quantised(whole, place / kind, kind) for kind in KINDS}


def scores(folder: Path, quantization: str = "none") -> np.ndarray:
    lm = Transformers(str(folder), quantization=quantization, dtype="float32", device_map="cpu")
    return lm.logprob(["The cat"], [" sat on the mat.", " was a dog"], [(0, 0), (0, 1)]).total


@pytest.mark.parametrize("kind", KINDS)
def test_a_stored_quantisation_is_what_scores_and_the_name_of_the_lm_says_it(
    stored: dict[str, Path], whole: Path, kind: str
) -> None:
    assert stored_quantization(stored[kind]) == kind and stored_quantization(whole) == "none"
    at_load = scores(whole, "none" if kind == "fp4" else kind)
    np.testing.assert_allclose(scores(stored[kind]), at_load, atol=0.8 if kind == "fp4" else 0.2)
    assert np.abs(scores(stored[kind]) - scores(whole)).max() > 1e-3  # rounded to few bits
    name = Transformers(str(stored[kind])).identity
    assert f" quantization={kind} " in name
    if kind != "fp4":  # cannot be asked for
        assert Transformers(str(stored[kind]), quantization=kind).identity == name
        np.testing.assert_array_equal(scores(stored[kind], kind), scores(stored[kind]))
        assert f" quantization={kind} " in Transformers(str(whole), quantization=kind).identity


def test_another_quantisation_than_the_stored_one_is_refused(stored: dict[str, Path]) -> None:
    for kind, asked in (("int8", "nf4"), ("nf4", "int8"), ("fp4", "nf4")):
        said = rf"quantization={asked}: .* stored in {kind}.*set quantization=none"
        with pytest.raises(ConfigError, match=said):
            _ = Transformers(str(stored[kind]), quantization=asked).identity
        with pytest.raises(ConfigError, match=said):
            load_model(stored[kind], Form("float32", asked, "cpu"), None)


def test_it_computes_in_the_dtype_that_was_asked_for(stored: dict[str, Path]) -> None:
    config = json.loads((stored["nf4"] / "config.json").read_text())["quantization_config"]
    assert config["bnb_4bit_compute_dtype"] == "bfloat16"
    model = load_model(stored["nf4"], Form("float32", "none", "cpu"), None)
    layer = model.model.layers[0].mlp.up_proj
    assert layer.compute_dtype == torch.float32 and layer.weight.dtype == torch.uint8
    assert quantised(model)


JOBS = [((5, 6, 7), (8, 9)), ((5, 6, 7), (10,)), ((5, 6, 11, 12), (8, 9, 13))]


def test_a_model_with_an_offloaded_part_scores_the_same(tmp_path: Any) -> None:
    whole = model("llama")
    expected = Engine(whole, "rows").score(JOBS)
    parts = {"model.embed_tokens": "cpu", "model.layers.0": "cpu", "model.norm": "disk"}
    rest = {f"model.layers.{k}": "disk" for k in range(1, whole.config.num_hidden_layers)}
    places = parts | rest | {"model.rotary_emb": "cpu", "lm_head": "disk"}
    split = accelerate.dispatch_model(
        copy.deepcopy(whole), places, main_device="cpu", offload_dir=str(tmp_path)
    )
    engine = Engine(split)
    assert np.allclose(engine.score(JOBS), expected, atol=1e-4)
    assert engine.backend != "tree"


@pytest.mark.parametrize(("version", "refused"), [((7, 5), True), ((7, 0), True), ((8, 0), False)])
def test_old_gpus_do_without_flash_attention(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int], refused: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: version)
    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace())
    half = SimpleNamespace(
        device=torch.device("cuda:0"),
        dtype=torch.float16,
        config=config,
        _supports_attention_backend=True,
    )
    assert ("flash" in (tree_refusal(half) or "")) is refused
    half.dtype = torch.float32
    assert tree_refusal(half) is None
