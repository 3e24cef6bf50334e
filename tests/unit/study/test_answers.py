"""What validation and leaderboard open with: as loud as their intervals."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.result import Row
from judgelab.stats.discrimination.standardized import verdict
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs
from judgelab.study.validation.study import _human_correlations


def row(name: str, low: float, high: float) -> Row:
    return {"candidate": name, "rank_low": low, "rank_high": high}


@pytest.mark.parametrize(
    ("rows", "heading", "words"),
    [
        (
            [row("a", 1, 1), row("b", 2, 3), row("c", 2, 3)],
            "Decided who is first",
            "no other may be first",
        ),
        ([row("a", 1, 2), row("b", 1, 2), row("c", 3, 3)], "Not decided who is first", "but b may"),
        ([row("a", 1, 2), row("b", 1, 3), row("c", 1, 3)], "Not decided", "b and c may be first"),
        ([row("a", math.nan, math.nan), row("b", math.nan, math.nan)], "No order", "too few items"),
        ([row("a", 1, 1)], "One candidate", "nothing to rank"),
    ],
)
def test_who_is_first(rows: list[Row], heading: str, words: str) -> None:
    others = [one["candidate"] for one in rows[1:] if one["rank_low"] == 1]
    ((first, said),) = paragraphs(
        "judgelab.study.leaderboard",
        "answer.md.j2",
        rows=rows,
        first="a",
        others=others,
        mechanism="mi",
        level=0.9,
    )
    assert first.startswith(heading) and words in said and "nan" not in said


def test_every_verdict_has_a_heading_and_what_to_do() -> None:
    ends: list[tuple[Any, Any]] = [(-1, -0.5), (-0.01, 0.01), (0.5, 1), (-1, 1)]
    found = {
        verdict(expects, Estimate(sum(e) / 2, *e, 90, clusters=30))
        for expects in ("fall", "no_rise")
        for e in ends
    }
    assert found == {"falls", "does not fall", "does not rise", "rises", "undecided"}
    for word in found:
        ((heading, said),) = validated(verdict=word, change=Estimate(0.1, 0.0, 0.2))
        assert heading.endswith(" padding") and said.count(".") > 4
    assert validated(unchanged=True)[0][0] == "Nothing was changed"


def validated(spearman: Estimate | None = None, **given: Any) -> list[tuple[str, str]]:
    known = {"mechanism": "gem", "attack": "padding", "expects": "fall", "unchanged": False}
    known |= {"change": None, "verdict": "", "interval": "95 %", "margin": 0.1}
    return paragraphs(
        "judgelab.study.validation", "answer.md.j2", spearman=spearman, **known | given
    )


@pytest.mark.parametrize(
    ("ends", "heading"),
    [((0.1, 0.3), "Goes along"), ((-0.1, 0.3), "Not shown"), ((-0.3, -0.1), "Goes against")],
)
def test_with_people(ends: tuple[float, float], heading: str) -> None:
    ((said, _),) = validated(Estimate(sum(ends) / 2, *ends, 30))
    assert said.startswith(heading)
    assert validated() == []


def test_a_reference_that_nobody_graded_is_no_text_without_a_grade() -> None:
    agents = (Agent("a"), Agent("b"), Agent("gold", reference=True))
    items = tuple(Item(f"i{k}", "s", human={"a": k, "b": -k}) for k in range(3))
    panel = Panel(items, agents, tuple(("x", "y", "z") for _ in items))
    values = np.arange(9.0).reshape(3, 3)
    found = _human_correlations(
        SimpleNamespace(panel=panel, values=values),  # type: ignore[arg-type]
        "corrected",
        50,
        0,
    )
    assert {one.unscored for one in found.values()} == {0}
    assert {one.n for one in found.values()} == {3}
