"""How texts become vectors, as a folder of sentence-transformers says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from judgelab.core.errors import ConfigError
from judgelab.scoring.embed import Embedder
from judgelab.scoring.source import digest
from tests.tiny_models import save_encoder

SHORT, LONG = "a short text", "another, rather longer one that goes on"
POOLING = {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}
Write = Callable[[dict[str, object]], Path]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def write(encoder: Path, tmp_path: Path) -> Write:
    """A copy of the encoder with the files that sentence-transformers adds: name -> JSON."""

    def call(files: dict[str, object]) -> Path:
        folder = tmp_path / "encoder"
        shutil.copytree(encoder, folder, dirs_exist_ok=True)
        for name, held in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(json.dumps(held))
        return folder

    return call


def states(encoder: Path, text: str, **cut: Any) -> torch.Tensor:
    """[tokens, dimensions] of the text alone, by transformers itself."""
    tokens, model = AutoTokenizer.from_pretrained(encoder), AutoModel.from_pretrained(encoder)
    with torch.inference_mode():
        ids = tokens(text, return_tensors="pt", truncation=True, **cut)["input_ids"]
        found: torch.Tensor = model(input_ids=ids).last_hidden_state[0].double()
    return found


def unit(vector: torch.Tensor) -> Any:
    return (vector / vector.norm()).numpy()


def test_a_folder_says_its_pooling(write: Write, encoder: Path) -> None:
    """The vector by hand is the embedder's."""
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}, POOLING]
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    folder = write({"modules.json": modules})
    before = digest(folder)
    write({"1_Pooling/config.json": pooling})
    assert digest(folder) != before, "the pooling is part of the encoder's name"
    found = Embedder(str(folder), None, 4).embed([SHORT, LONG])
    np.testing.assert_allclose(found[0], unit(states(encoder, SHORT)[0]), atol=1e-6)
    write({"1_Pooling/config.json": {"pooling_mode": "lasttoken"}})
    found = Embedder(str(folder), None, 4).embed([SHORT, LONG])
    np.testing.assert_allclose(found[0], unit(states(encoder, SHORT)[-1]), atol=1e-6)
    dense = {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    write({"modules.json": [*modules, dense]})
    with pytest.raises(ConfigError, match="its module Dense cannot be used here"):
        Embedder(str(folder), None, 4)
    write({"modules.json": modules})
    for config in ({"pooling_mode": "max"}, {"pooling_mode": "mean", "include_prompt": False}):
        write({"1_Pooling/config.json": config})
        with pytest.raises(ConfigError, match="its pooling m.* cannot be used"):
            Embedder(str(folder), None, 4)


def test_a_folder_says_where_texts_are_cut_and_whether_they_are_lower_case(
    write: Write, encoder: Path
) -> None:
    folder = write({"sentence_bert_config.json": {"max_seq_length": 5, "do_lower_case": True}})
    found = Embedder(str(folder), None, 4)
    cut = states(encoder, LONG.lower(), max_length=5)
    assert len(cut) == 5
    np.testing.assert_allclose(found.embed([LONG.upper()])[0], unit(cut.mean(0)), atol=1e-6)
    [(tokens, _)] = found.tokens([LONG])
    assert len(tokens) == 5
    assert len(Embedder(str(encoder), None, 4).tokens([LONG])[0][0]) > 5
