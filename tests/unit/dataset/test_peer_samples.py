"""The samples with texts by several peers: complete, in the form of their data, and overlapping."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
import yaml

from judgelab.config import build
from judgelab.core.panel import Panel
from judgelab.dataset.provenance import SAMPLES

CONF = Path(__file__).resolve().parents[3] / "conf" / "dataset"
NAMES = ("iclr_reviews", "peer_grading", "yelp")
SHARED_WORDS = 12  # so long a run of words in two texts is boilerplate, or a copy
FORM = [
    "Summary Of The Paper:",
    "Strength And Weaknesses:",
    "Clarity, Quality, Novelty And Reproducibility:",
    "Summary Of The Review:",
]


@cache
def panel(name: str) -> Panel:
    node: dict[str, Any] = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    node.pop("defaults")
    found: Panel = build({**node, **({"seed": 0} if name == "yelp" else {})}, "dataset").load()
    return found


def texts(name: str) -> list[str]:
    return [text for row in panel(name).texts for text in row if text is not None]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_missing(name: str) -> None:
    found = panel(name)
    assert all(text for row in found.texts for text in row)
    assert all(item.synopsis for item in found.items)
    assert len(set(texts(name))) == len(found.texts) * len(found.agents)


@pytest.mark.parametrize("name", NAMES)
def test_no_two_texts_share_a_run_of_words(name: str) -> None:
    owner: dict[tuple[str, ...], int] = {}
    for k, text in enumerate(texts(name)):
        for heading in (*FORM, "Weaknesses of the project/likely roadblocks:"):
            text = text.replace(heading, "|")
        told = words(text)
        for run in zip(*(told[start:] for start in range(SHARED_WORDS)), strict=False):
            assert owner.setdefault(run, k) == k, " ".join(run)


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_tells_the_size_of_the_sample(name: str) -> None:
    found = panel(name)
    told = mean(len(text.split()) for text in texts(name))
    synopsis = mean(len((item.synopsis or "").split()) for item in found.items)
    line = f"| {name} | {len(found.items)} | {len(found.agents)} | {told:.0f} | {synopsis:.0f} |"
    assert line in (SAMPLES / "README.md").read_text(encoding="utf-8")


def test_reviews_of_papers_have_the_four_sections_of_the_form() -> None:
    found = panel("iclr_reviews")
    assert len(found.items) >= 12
    for text in texts("iclr_reviews"):
        assert [line for line in text.split("\n\n") if line in FORM] == FORM
    assert [agent.name for agent in found.agents if not agent.reference] == ["reviewer_2"]
    assert all(item.source and item.synopsis for item in found.items)


def test_reviewers_of_one_paper_share_more_words_than_reviewers_of_two() -> None:
    """What GEM can find: the overlap must lie in the item, not in the form alone."""
    rows = [[set(words(text or "")) for text in row] for row in panel("iclr_reviews").texts]

    def overlap(a: set[str], b: set[str]) -> float:
        return len(a & b) / len(a | b)

    within = [overlap(a, b) for row in rows for a, b in combinations(row, 2)]
    across = [overlap(p[0], q[1]) for p, q in combinations(rows, 2)]
    assert np.mean(within) > 1.2 * np.mean(across)


def test_grades_use_the_whole_scale_and_are_no_matter_of_length_alone() -> None:
    found = panel("peer_grading")
    pairs = [
        (item.human[agent.name], len(words(text or "")))
        for item, row in zip(found.items, found.texts, strict=True)
        for agent, text in zip(found.agents, row, strict=True)
    ]
    grades, lengths = zip(*pairs, strict=True)
    assert set(grades) == {1.0, 2.0, 3.0}
    assert min(grades.count(grade) for grade in (1.0, 2.0, 3.0)) >= 6
    long_and_poor = max(length for grade, length in pairs if grade == 1.0)
    short_and_fair = min(length for grade, length in pairs if grade == 2.0)
    assert long_and_poor > short_and_fair
    assert not any(agent.reference for agent in found.agents)
    assert len(lengths) == 32
