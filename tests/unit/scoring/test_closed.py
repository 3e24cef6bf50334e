"""Every closed question that ships, put to a local model: nothing is generated."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.config import build, resolved
from judgelab.core.panel import Agent, Item, Panel
from judgelab.evaluation_lm.transformers import Transformers
from tests.tiny_models import model, tokenizer

CONF = Path(__file__).parents[3] / "conf"
TEXTS = ("The bridge is shut.", "The ferry sails at noon.", "They said so.")
PANEL = Panel(
    tuple(Item(f"i{k}", f"{text} It rained.") for k, text in enumerate(TEXTS[:2])),
    tuple(Agent(f"a{k}") for k in range(3)),
    (TEXTS, TEXTS[::-1]),
    "summarization",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama with room for the prompts."""
    place = tmp_path_factory.mktemp("model") / "llama"
    model("llama_gqa").save_pretrained(place)
    tokenizer().save_pretrained(place)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 4096}))
    return place


NAMES = (
    "tvd_mi judge judge_no_context pairwise pointwise5 pointwise100 rating acu_rating lm_examiner"
)


@pytest.mark.parametrize("name", NAMES.split())
def test_no_closed_question_is_generated_by_a_local_lm(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgelab.scoring.replies.generate", None)  # a call would fail
    with initialize_config_dir(str(CONF), version_base="1.3"):
        node = resolved(compose("config", overrides=[f"mechanism={name}"]))["mechanism"]
    mechanism, lm = build(node, "mechanism"), Transformers(str(folder))
    data = mechanism.measure(PANEL, lm, seed=0)
    agent = mechanism.score(data).agent.values
    assert agent.shape == (2, 3) and not np.isnan(agent).any()
