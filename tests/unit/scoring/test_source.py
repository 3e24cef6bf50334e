"""A model that is stored in 4 or 8 bits loads, scores and says so in its name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("bitsandbytes", reason="needs the extra local")

from judgelab.core.errors import ConfigError  # noqa: E402
from judgelab.evaluation_lm.transformers import Transformers  # noqa: E402
from judgelab.scoring.load import Form, load_model, quantised  # noqa: E402
from judgelab.scoring.source import stored_quantization  # noqa: E402
from tests.stored_models import save_quantised, save_whole  # noqa: E402

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
def test_a_stored_quantisation_is_what_scores(
    stored: dict[str, Path], whole: Path, kind: str
) -> None:
    assert stored_quantization(stored[kind]) == kind and stored_quantization(whole) == "none"
    at_load = scores(whole, "none" if kind == "fp4" else kind)
    np.testing.assert_allclose(scores(stored[kind]), at_load, atol=0.8 if kind == "fp4" else 0.2)
    assert np.abs(scores(stored[kind]) - scores(whole)).max() > 1e-3  # rounded to few bits


@pytest.mark.parametrize("kind", KINDS)
def test_the_name_of_the_lm_says_the_stored_quantisation(
    stored: dict[str, Path], kind: str
) -> None:
    name = Transformers(str(stored[kind])).identity
    assert f" quantization={kind} " in name
    if kind != "fp4":  # cannot be asked for
        assert Transformers(str(stored[kind]), quantization=kind).identity == name
        np.testing.assert_array_equal(scores(stored[kind], kind), scores(stored[kind]))


def test_names_of_whole_models_are_what_they_were(whole: Path) -> None:
    for asked in ("none", "nf4", "int8"):
        name = Transformers(str(whole), quantization=asked).identity
        assert f" quantization={asked} " in name and "stored" not in name


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
