"""Names, order and categories of the taxonomies against the authors' release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgelab.agents.taxonomy import load_taxonomy


@pytest.mark.parametrize("task,code", [("summarization", "xsum"), ("translation", "opus")])
def test_names_and_categories_equal_the_release(shared_data: Path, task: str, code: str) -> None:
    released = json.loads((shared_data / "peer_prediction" / "meta.json").read_text())
    ours = [(s.name, s.category, s.category_released) for s in load_taxonomy(task).strategies]
    assert ours == [
        (a["name"], a["category_paper"], a["category_code"]) for a in released["agents"][code]
    ]
