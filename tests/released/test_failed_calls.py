"""Best and worst case of failed calls, against every possible case."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from experiments.peer_prediction.failed_calls import decided, effect_size_bounds
from judgelab.config import build
from judgelab.core.panel import Item
from judgelab.core.sentences import sentences
from judgelab.dataset.hub import Hub


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0)])
def test_no_other_decision_moves_the_sum_further(low: float, high: float) -> None:
    rng = np.random.default_rng(3)
    cells = rng.choice([0.0, 0.5, 1.0], (4, 3, 3), p=[0.6, 0.1, 0.3])
    cells[:, range(3), range(3)] = np.nan
    hidden, effect = np.array([0, 1, 2, 2]), rng.normal(size=(3, 3))
    made = decided(cells, hidden, effect, low, high)
    assert np.array_equal(made[0], cells[0], equal_nan=True)
    assert ((made != cells) & ~np.isnan(cells)).sum(axis=(1, 2)).max() <= 2
    for k, count in enumerate(hidden):
        zeros = np.argwhere(cells[k] == 0)
        sums = []
        for chosen in combinations(range(len(zeros)), int(count)):
            for values in product((low, 0.0, high), repeat=int(count)):
                other = cells[k].copy()
                for place, value in zip(chosen, values, strict=True):
                    other[tuple(zeros[place])] = value
                sums.append(np.nansum(effect * other))
        assert np.nansum(effect * made[k]) == pytest.approx(max(sums))


@pytest.mark.parametrize("shift", [0.3, 0.0, -0.3])
def test_bounds_of_d_against_a_grid_of_all_cases(shift: float) -> None:
    rng = np.random.default_rng(1)
    low = rng.normal(shift, 0.2, 4)
    high = low + rng.uniform(0, 0.3, 4)
    sides = [np.linspace(a, b, 12) for a, b in zip(low, high, strict=True)]
    grid = np.array(list(product(*sides)))
    every = grid.mean(axis=1) / grid.std(axis=1, ddof=1)
    least, most = effect_size_bounds(low, high)
    assert least <= every.min() + 1e-9 and every.max() <= most + 0.001 * abs(most)
    assert least == pytest.approx(every.min(), abs=0.05)
    assert most == pytest.approx(every.max(), rel=0.1)


def test_items_that_may_be_alike_leave_d_unbounded() -> None:
    least, most = effect_size_bounds([0.1, 0.2, 0.15], [0.5, 0.6, 0.7])
    assert most == np.inf and 0 < least < 2
    least, most = effect_size_bounds([-0.5, -0.6, -0.7], [-0.1, -0.2, -0.15])
    assert least == -np.inf and -2 < most < 0


def test_bounds_of_known_differences_are_d() -> None:
    known = np.array([0.2, 0.5, np.nan, 0.1])
    d = np.nanmean(known) / np.nanstd(known, ddof=1)
    assert effect_size_bounds(known, known) == pytest.approx((d, d))
    assert np.isnan(effect_size_bounds([0.1], [0.2])).all()


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
