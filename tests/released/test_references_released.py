"""The paper's selection rules on the real texts: their counts and lengths."""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd
import pytest
import yaml

from judgelab.config import build
from judgelab.core.panel import Item
from judgelab.core.sentences import sentences
from judgelab.dataset.hub import Hub

CONF = Path(__file__).resolve().parents[2] / "conf" / "dataset"


def load(name: str, file: Path, fields: dict[str, Any], **select: Any) -> tuple[Item, ...]:
    node = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    node["select"] |= select
    node |= {"source": "path", "path": str(file), "fields": {**node["fields"], **fields}}
    made: Hub = build(node, "dataset")
    return made.load().items


def test_summeval_references_with_most_sentences(shared_data: Path) -> None:
    """The paper prints 340.4 characters, 58.3 words and 4.0 sentences."""
    folder = shared_data / "summeval"
    columns = {"source": "article", "reference": ["reference", "extra_references"], "id": "doc_id"}
    items = load("summeval", folder / "summeval_100docs.parquet", columns)
    texts = [item.reference or "" for item in items]
    assert len(texts) == 100
    assert mean(map(len, texts)) == pytest.approx(340.4, abs=0.5)
    assert mean(len(text.split()) for text in texts) == pytest.approx(58.3, abs=0.2)
    assert mean(len(sentences(text)) for text in texts) == pytest.approx(4.0, abs=0.1)
    noted = pd.read_parquet(folder / "dhp_inputs" / "summeval_refs_100.parquet")
    same = [a == b.strip() for a, b in zip(texts, noted["reference_most_sentences"], strict=True)]
    assert sum(same) >= 97, "sentences are counted by another splitter"


@pytest.mark.parametrize(("pair", "count"), [("de", 515), ("zh", 224)])
def test_wmt22_references_above_300_characters(shared_data: Path, pair: str, count: int) -> None:
    """German to English has 16 such segments, where the paper draws 100: passages are joined.

    The paper prints 436.8 characters, 71.0 words and 3.8 sentences for what it drew of those.
    """
    file = shared_data / "summeval" / "dhp_inputs" / f"wmt22_{pair}-en_general_test.parquet"
    name, columns = f"wmt22_{pair}_en", {"source": "source", "reference": "ref_A", "id": "seg"}
    items = load(name, file, columns)
    assert len(items) == 100
    assert all(len(item.reference or "") > 300 for item in items)
    texts = [item.reference or "" for item in load(name, file, columns, draw=None)]
    assert len(texts) == count
    if pair == "de":
        assert mean(map(len, texts)) == pytest.approx(368.8, abs=0.1)
        assert mean(len(text.split()) for text in texts) == pytest.approx(64.6, abs=0.1)
        assert mean(len(sentences(text)) for text in texts) == pytest.approx(3.52, abs=0.01)
