"""What studies open with: as loud as their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from judgelab.core.panel import Agent, Item, Panel
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs
from judgelab.study.validation.study import _human_correlations
from tests.snapshots import same

UNKNOWN = Estimate(math.nan)
NOT_KNOWN = (math.nan, math.nan)
Answer = Iterable[tuple[str, str]]


def between(low: float, high: float, n: int = 30) -> Estimate:
    return Estimate((low + high) / 2, low, high, n)


def leaderboard(**ends: tuple[float, float]) -> Answer:
    rows = [{"candidate": k, "rank_low": low, "rank_high": high} for k, (low, high) in ends.items()]
    given = {"rows": rows, "mechanism": "mi", "level": 0.9}
    return paragraphs("judgelab.study.leaderboard", "answer.md.j2", **given)


def validated(spearman: Estimate | None = None, **more: Any) -> Answer:
    base = {"mechanism": "gem", "attack": "padding", "expects": "fall", "unchanged": False}
    base |= {"change": None, "verdict": "", "interval": "95 %", "margin": 0.1}
    return paragraphs("judgelab.study.validation", "answer.md.j2", spearman=spearman, **base | more)


def flat(key: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {key: value, f"{key}_low": low, f"{key}_high": high, f"{key}_n": 30}


def qualified(summary: dict[str, Any]) -> Answer:
    return paragraphs("judgelab.study.qualification", "answer.md.j2", summary=summary)


def exams(left: int, chosen: Any, everybody: Any, pool: str = "PRE") -> Answer:
    made = {"judges": 4, "pool/judges": left, "pool": pool}
    return qualified(made | flat("pool/accuracy", *chosen) | flat("all/accuracy", *everybody))


def unlabelled() -> Answer:
    made = {"judges": 4, "pool/judges": 4, "pool": "all"}
    return qualified(made | flat("pool/agreement", 0.8, 0.7, 0.9))


def symmetry(text: Estimate) -> Answer:
    return paragraphs("judgelab.study", "symmetry.md.j2", text=text, token=UNKNOWN)


def tuned(change: Estimate, held_out: int) -> Answer:
    known = {"before": Estimate(3.0, n=9), "after": Estimate(2.8, n=9), "change": change}
    given = {"part": "answer", "papers": 30, "held_out": held_out, **known}
    return paragraphs("judgelab.study", "finetune.md.j2", **given)


def ranking(sure: int, pairs: int, agreement: Estimate, r: Estimate) -> Answer:
    facts: dict[str, Any] = {"ranking/sure_pairs": sure, "ranking/pairs": pairs, "metric": "rating"}
    facts |= flat("ranking/agreement", agreement.value, agreement.low, agreement.high)
    facts["ranking/order_of"] = "people"
    given = {"part": "answer", "summary": facts, "items": 30, "confidence": 0.95}
    given |= {"judge": SimpleNamespace(r=r)}
    return paragraphs("judgelab.study.ranking", "answer.md.j2", **given)


LESS, MORE = (0.6, 0.5, 0.65), (0.75, 0.65, 0.85)


def answers() -> Iterator[tuple[str, Answer]]:
    """On each edge."""
    yield "leaderboard, decided", leaderboard(a=(1, 1), b=(2, 3), c=(2, 3))
    yield "leaderboard, not decided", leaderboard(a=(1, 2), b=(1, 3), c=(1, 3))
    yield "leaderboard, no order", leaderboard(a=NOT_KNOWN, b=NOT_KNOWN)
    yield "leaderboard, one candidate", leaderboard(a=(1, 1))
    for word in sorted(VERDICTS):
        yield f"attacked, {word}", validated(verdict=word, change=Estimate(0.1, 0.0, 0.2))
    yield "attacked, nothing changed", validated(unchanged=True)
    yield "people, with", validated(between(0.1, 0.3))
    yield "people, not shown", validated(between(-0.1, 0.3))
    yield "people, against", validated(between(-0.3, -0.1))
    yield "people, nobody", validated()
    yield "exams, no help shown", exams(2, (0.8, 0.7, 0.9), MORE)
    yield "exams, helped", exams(2, (0.8, 0.66, 0.9), LESS)
    yield "exams, hurt", exams(2, (0.3, 0.2, 0.49), LESS)
    yield "exams, all qualify", exams(4, (0.8, 0.7, 0.9), MORE)
    yield "exams, nobody qualifies", exams(0, (math.nan,) * 3, MORE)
    yield "no exams", exams(4, (0.5, 0.4, 0.6), (0.5, 0.4, 0.6), "all")
    yield "no labels", unlabelled()
    yield "orders, both", symmetry(between(0.1, 0.3))
    yield "orders, not shown", symmetry(between(0.0, 0.3))
    yield "orders, against", symmetry(between(-0.3, -0.1))
    yield "orders, not known", symmetry(UNKNOWN)
    yield "tuned, learned", tuned(Estimate(-0.2, -0.3, -0.1, 9), 9)
    yield "tuned, not shown", tuned(Estimate(-0.2, -0.3, 0.0, 9), 9)
    yield "tuned, worse", tuned(Estimate(0.2, 0.1, 0.3, 9), 9)
    yield "tuned, few", tuned(Estimate(-0.2, n=2), 2)
    yield "tuned, unscored", tuned(UNKNOWN, 1)
    yield "ranking, as people", ranking(6, 6, between(0.51, 0.9), between(0.3, 0.5))
    yield "ranking, not shown", ranking(3, 6, between(0.5, 0.9), between(0.3, 0.5))
    yield "ranking, against", ranking(0, 6, between(0.2, 0.4), between(-0.5, -0.3))
    yield "ranking, with texts alone", ranking(3, 6, UNKNOWN, between(0.0, 0.5))
    yield "ranking, all sure", ranking(6, 6, UNKNOWN, UNKNOWN)
    yield "ranking, one sure", ranking(1, 6, UNKNOWN, UNKNOWN)
    yield "ranking, nothing", ranking(0, 0, UNKNOWN, UNKNOWN)


VERDICTS = {"falls", "does not fall", "does not rise", "rises", "undecided"}


def test_what_studies_say_on_each_edge() -> None:
    same(Path(__file__).with_name("answers.txt"), answers())


def test_a_reference_that_nobody_graded_is_no_text_without_a_grade() -> None:
    agents = (Agent("a"), Agent("b"), Agent("gold", reference=True))
    items = tuple(Item(f"i{k}", "s", human={"a": k, "b": -k}) for k in range(3))
    panel = Panel(items, agents, tuple(("x", "y", "z") for _ in items))
    values = np.arange(9.0).reshape(3, 3)
    scored: Any = SimpleNamespace(panel=panel, values=values)
    found = _human_correlations(scored, "corrected", 50, 0)
    assert {(one.n, one.unscored) for one in found.values()} == {(3, 0)}
