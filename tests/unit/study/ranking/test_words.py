"""What a ranking opens with: as loud as its intervals."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs

UNKNOWN = Estimate(math.nan)


@pytest.mark.parametrize(
    ("sure", "agreement", "r", "heading", "then"),
    [
        (6, (0.8, 0.51, 0.9), (0.4, 0.3, 0.5), "Orders systems as people do", "Report the ranking"),
        (3, (0.8, 0.5, 0.9), (0.4, 0.3, 0.5), "Not shown to order", "study=plan study.train_run="),
        (0, (0.3, 0.2, 0.4), (-0.4, -0.5, -0.3), "Orders systems against", "another metric"),
        (3, None, (0.4, 0.0, 0.5), "3 of 6 pairs are sure", "not shown to go along"),
        (6, None, None, "All pairs are sure", "Report the ranking"),
        (1, None, None, "1 of 6 pairs are sure", "study=plan study.train_run="),
    ],
)
def test_a_ranking(sure: int, agreement: Any, r: Any, heading: str, then: str) -> None:
    (first, said), (_, next_) = words(sure, 6, agreement, r)
    assert first.startswith(heading) and then in next_
    assert f"{sure} of 6 pairs" in said and "nan" not in said + next_


def test_one_system_or_one_item_is_no_ranking() -> None:
    assert words(0, 0, None, None)[0][0] == "Nothing to rank"


def words(sure: int, pairs: int, agreement: Any, r: Any) -> list[tuple[str, str]]:
    return paragraphs(
        "judgelab.study.ranking",
        "answer.md.j2",
        part="answer",
        sure=sure,
        pairs=pairs,
        items=30,
        confidence=0.95,
        order_of="people",
        name="rating",
        agreement=Estimate(*agreement, 30) if agreement else UNKNOWN,
        judge=SimpleNamespace(r=Estimate(*r, 30) if r else UNKNOWN),
    )
