"""What studies open with: as loud as their intervals."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from judgelab.core.panel import Agent, Item, Panel
from judgelab.core.result import Row
from judgelab.stats.discrimination.effect_size import verdict
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs
from judgelab.study.qualification.tables import answer as qualified
from judgelab.study.validation.study import _human_correlations

UNKNOWN = Estimate(math.nan)


def row(name: str, low: float, high: float) -> Row:
    return {"candidate": name, "rank_low": low, "rank_high": high}


@pytest.mark.parametrize(
    ("rows", "heading", "words"),
    [
        (
            [row("a", 1, 1), row("b", 2, 3), row("c", 2, 3)],
            "a is first",
            "no other may be first",
        ),
        ([row("a", 1, 2), row("b", 1, 3), row("c", 1, 3)], "Who is first", "b and c may be first"),
        ([row("a", math.nan, math.nan), row("b", math.nan, math.nan)], "No order", "too few items"),
        ([row("a", 1, 1)], "One candidate", "nothing to rank"),
    ],
)
def test_who_is_first(rows: list[Row], heading: str, words: str) -> None:
    given = {"rows": rows, "mechanism": "mi", "level": 0.9}
    ((first, said),) = paragraphs("judgelab.study.leaderboard", "answer.md.j2", **given)
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
    scored: Any = SimpleNamespace(panel=panel, values=values)
    found = _human_correlations(scored, "corrected", 50, 0)
    assert {(one.n, one.unscored) for one in found.values()} == {(3, 0)}


def flat(key: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {key: value, f"{key}_low": low, f"{key}_high": high, f"{key}_n": 30}


@pytest.mark.parametrize(
    ("left", "chosen", "heading", "words"),
    [
        (2, (0.8, 0.7, 0.9), "2 of 4 judges qualify", "nothing shows that the exams help"),
        (2, (0.8, 0.66, 0.9), "2 of 4 judges qualify", "the exams helped"),
        (2, (0.3, 0.2, 0.49), "2 of 4 judges qualify", "the exams hurt"),
        (4, (0.8, 0.7, 0.9), "All judges qualify", "as people do 80 times in 100"),
        (0, (math.nan,) * 3, "No judge qualifies", "None of 4 passes"),
    ],
)
def test_an_exam(left: int, chosen: Any, heading: str, words: str) -> None:
    everybody = (0.6, 0.5, 0.65) if left == 2 and chosen[1] != 0.7 else (0.75, 0.65, 0.85)
    made = {"judges": 4, "pool/judges": left, "pool": "PRE"}
    made |= flat("pool/accuracy", *chosen) | flat("all/accuracy", *everybody)
    (first, said), _ = qualified(made)
    assert first == heading and words in said and "nan" not in said
    assert ("than guessing" in said) == (chosen[1] <= 0.5)


def test_without_exams_nobody_passes_and_without_labels_agreement_is_no_accuracy() -> None:
    nothing = {"judges": 2, "pool/judges": 2, "pool": "all"} | flat("pool/accuracy", 0.5, 0.4, 0.6)
    (first, said), _ = qualified(nothing)
    assert first == "All judges together" and "not shown to be more often than guessing" in said
    made = {"judges": 4, "pool/judges": 4, "pool": "all"} | flat("pool/agreement", 0.8, 0.7, 0.9)
    (_, said), (_, then) = qualified(made)
    assert "80 times in 100" in said and "no accuracy" not in said
    assert "Agreement is not accuracy" in then


@pytest.mark.parametrize(
    ("ends", "heading"),
    [
        ((0.1, 0.3), "Both orders"),
        ((0.0, 0.3), "The orders are not"),
        ((-0.3, -0.1), "The orders contra"),
        ((math.nan, math.nan), "Not known"),
    ],
)
def test_symmetry(ends: tuple[float, float], heading: str) -> None:
    text = Estimate(sum(ends) / 2, *ends, 30)
    (first, said), *_ = paragraphs("judgelab.study", "symmetry.md.j2", text=text, token=UNKNOWN)
    assert first.startswith(heading) and "nan" not in said


@pytest.mark.parametrize(
    ("change", "held", "heading", "words"),
    [
        (Estimate(-0.2, -0.3, -0.1, 9), 9, "It learned", "On 9 held-out papers a token costs 2.8"),
        (Estimate(-0.2, -0.3, 0.0, 9), 9, "Not shown to have learned", "a change of -0.200"),
        (Estimate(0.2, 0.1, 0.3, 9), 9, "It predicts reviews worse", "a change of 0.200"),
        (Estimate(-0.2, n=2), 2, "Not known whether", "too few papers for an interval"),
        (UNKNOWN, 1, "Trained", "the paper that was held out, but no text of them could be scored"),
    ],
)
def test_fine_tuning(change: Estimate, held: int, heading: str, words: str) -> None:
    known = {"before": Estimate(3.0, n=9), "after": Estimate(2.8, n=9), "change": change}
    (first, said), *_ = paragraphs(
        "judgelab.study", "finetune.md.j2", part="answer", papers=30, held=held, **known
    )
    assert first.startswith(heading) and words in said and "nan" not in said


@pytest.mark.parametrize(
    ("sure", "agreement", "r", "heading", "then"),
    [
        (6, (0.8, 0.51, 0.9), (0.4, 0.3, 0.5), "Orders systems as people do", "Report the ranking"),
        (3, (0.8, 0.5, 0.9), (0.4, 0.3, 0.5), "Not shown to order", "study=plan study.train_run="),
        (0, (0.3, 0.2, 0.4), (-0.4, -0.5, -0.3), "Orders systems against", "another metric"),
        (3, None, (0.4, 0.0, 0.5), "3 of 6 pairs are sure", "Nothing shows that"),
        (6, None, None, "All pairs are sure", "Report the ranking"),
        (1, None, None, "1 of 6 pairs are sure", "study=plan study.train_run="),
    ],
)
def test_a_ranking(sure: int, agreement: Any, r: Any, heading: str, then: str) -> None:
    assert ranking_words(0, 0, None, None)[0][0] == "Nothing to rank"
    (first, said), (_, next_) = ranking_words(sure, 6, agreement, r)
    assert first.startswith(heading) and then in next_
    assert f"{sure} of 6 pairs" in said and "nan" not in said + next_


def ranking_words(sure: int, pairs: int, agreement: Any, r: Any) -> list[tuple[str, str]]:
    summary = {"ranking/sure_pairs": sure, "ranking/pairs": pairs, "metric": "rating"}
    return paragraphs(
        "judgelab.study.ranking",
        "answer.md.j2",
        part="answer",
        summary={**summary, "ranking/order_of": "people"},
        items=30,
        confidence=0.95,
        agreement=Estimate(*agreement, 30) if agreement else UNKNOWN,
        judge=SimpleNamespace(r=Estimate(*r, 30) if r else UNKNOWN),
    )
