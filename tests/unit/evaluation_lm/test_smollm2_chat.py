"""Local paths on a pretrained chat LM that nobody here trained: SmolLM2-135M-Instruct."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

pytest.importorskip("torch", reason="needs the extra local")
pytest.importorskip("transformers", reason="needs the extra local")

from judgelab.agents.prompted import Prompted
from judgelab.core.panel import Agent, Item, Panel
from judgelab.evaluation_lm.transformers import Transformers
from tests.real_lm import SMOLLM2, loaded_once, needs_smollm2

ROOT = Path(__file__).resolve().parents[3]
SOURCE = (
    "The council of Harnby has closed the old swing bridge for two weeks. Engineers found a crack "
    "in one of its bearings on Tuesday. Buses will go round by the mill, and the ferry will run "
    "every half hour until the repair is done."
)
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
        Transformers(str(SMOLLM2), **way).logprob(CONTEXTS, TARGETS, PAIRS).per_token
        for way in [{}, *ways]
    )
    assert 1e-3 < np.abs(tree - whole).max() < {"nf4": 0.6, "int8": 0.2}[form], "nats per token"
    # int8 rounds states by what stands beside them
    assert np.abs(tree - rows).max() < {"nf4": 0.01, "int8": 0.15}[form]


@needs_smollm2
@pytest.mark.slow
def test_prompted_agents_answer_in_two_stages(tmp_path: Path) -> None:
    taxonomy = yaml.safe_load((ROOT / "conf/taxonomy/summarization.yaml").read_text())
    kept = ("Reference", "Faithful", "Fact Manipulation")  # the last one reads first
    taxonomy["agents"] = [one for one in taxonomy["agents"] if one["name"] in kept]
    assert sum("reading" in one for one in taxonomy["agents"]) == 1
    (tmp_path / "few.yaml").write_text(yaml.safe_dump(taxonomy), encoding="utf-8")
    panel = Panel(
        items=(Item("bridge", SOURCE, reference=TARGETS[0]),),
        agents=(Agent("nobody"),),
        texts=((None,),),
        task="summarization",
    )
    agents = Prompted(str(tmp_path / "few.yaml"), temperature=0.0, max_tokens=80)
    made = agents.answer(panel, Transformers(str(SMOLLM2)))
    texts = dict(zip((agent.name for agent in made.agents), made.texts[0], strict=True))
    assert texts["Reference"] == TARGETS[0]
    reasons = json.dumps(made.provenance["agents_unanswered"])
    answered = [text for name, text in texts.items() if name != "Reference" and text]
    lost = sum(int(n) for n in re.findall(r": (\d+)", reasons))
    assert answered and len(answered) + lost == 2, "every text is there, or counted with a reason"
    assert any("bridge" in text.lower() for text in answered), "it read the source"
