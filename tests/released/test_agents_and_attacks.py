"""Agents and attacks against the release, whose attacked texts are known by their lengths."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.peer_prediction.release import read_domain
from judgelab.agents.taxonomy import load_taxonomy
from judgelab.attack.case_flip import CaseFlip
from judgelab.attack.format import Format
from judgelab.attack.padding import Padding
from judgelab.attack.pattern import Pattern
from judgelab.attack.repetition import Repetition
from tests.scripted import NOBODY

ATTACKS = {
    "case_flip": CaseFlip(),
    "format": Format(tag="source"),
    "padding": Padding(),
    "pattern": Pattern(tag="source"),
    "repetition": Repetition(),
}


@pytest.mark.parametrize("task,code", [("summarization", "xsum"), ("translation", "opus")])
def test_names_and_categories_of_agents(shared_data: Path, task: str, code: str) -> None:
    released = json.loads((shared_data / "peer_prediction" / "meta.json").read_text())
    ours = [(s.name, s.category, s.category_released) for s in load_taxonomy(task).strategies]
    assert ours == [
        (a["name"], a["category_paper"], a["category_code"]) for a in released["agents"][code]
    ]


@pytest.mark.parametrize("name", ATTACKS)
def test_lengths_of_all_attacked_responses(shared_data: Path, name: str) -> None:
    folder = shared_data / "peer_prediction"
    if not (folder / "matrices" / f"reddit_tifu__{name}.npz").is_file():
        pytest.skip(f"no released run under {name} at hand")
    clean = read_domain(folder, "reddit_tifu").panel()
    attacked = ATTACKS[name].apply(clean, NOBODY, seed=0)
    with np.load(folder / "matrices" / f"reddit_tifu__{name}.npz") as recorded:
        lengths, ids = recorded["response_chars"], recorded["item_ids_tvd"]
    mine = {item.id: row for item, row in zip(attacked.items, attacked.texts, strict=True)}
    ours = np.array([[len(text or "") for text in mine[str(i)]] for i in ids])
    assert ours.shape == (200, 30)
    np.testing.assert_array_equal(ours, lengths)
