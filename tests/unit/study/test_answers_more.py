"""What rankings, exams of judges, symmetry and fine-tuning open with: as loud as intervals."""

from __future__ import annotations

import math
from typing import Any

import pytest

from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.common.templates import paragraphs
from judgelab.study.qualification.words import answer as qualified

UNKNOWN = Estimate(math.nan)


def flat(key: str, value: float, low: float, high: float) -> dict[str, Any]:
    return {key: value, f"{key}_low": low, f"{key}_high": high, f"{key}_n": 30}


@pytest.mark.parametrize(
    ("left", "chosen", "heading", "words"),
    [
        (2, (0.8, 0.7, 0.9), "2 of 4 judges qualify", "that the exams help is not shown"),
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


def test_nobody_is_said_to_pass_where_nothing_was_asked() -> None:
    made = {"judges": 2, "pool/judges": 2, "pool": "all"} | flat("pool/accuracy", 0.5, 0.4, 0.6)
    (first, said), _ = qualified(made)
    assert first == "All judges together" and "not shown to be more often than guessing" in said


def test_an_exam_without_labels_says_that_agreement_is_no_accuracy() -> None:
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
    ],
)
def test_symmetry(ends: tuple[float, float], heading: str) -> None:
    text = Estimate(sum(ends) / 2, *ends, 30)
    words = [
        paragraphs("judgelab.study", "symmetry.md.j2", text=text, token=UNKNOWN)
        for text in (text, UNKNOWN)
    ]
    assert words[0][0][0].startswith(heading) and "nan" not in words[0][0][1]
    assert words[1][0][0] == "Not known"


@pytest.mark.parametrize(
    ("change", "held", "heading", "words"),
    [
        (Estimate(-0.2, -0.3, -0.1, 9), 9, "It learned", "On 9 held-out papers a token costs 2.8"),
        (Estimate(-0.2, -0.3, 0.0, 9), 9, "Not shown to have learned", "a change of -0.200"),
        (Estimate(0.2, 0.1, 0.3, 9), 9, "It predicts reviews worse", "a change of 0.200"),
        (Estimate(-0.2, n=2), 2, "Not known whether", "too few papers for an interval"),
        (UNKNOWN, 0, "Trained", "no paper was held out (study.held_out=0)"),
        (UNKNOWN, 1, "Trained", "the paper that was held out, but no text of them could be scored"),
    ],
)
def test_fine_tuning(change: Estimate, held: int, heading: str, words: str) -> None:
    known = {"before": Estimate(3.0, n=9), "after": Estimate(2.8, n=9), "change": change}
    (first, said), *_ = paragraphs(
        "judgelab.study", "finetune.md.j2", part="answer", papers=30, held=held, **known
    )
    assert first.startswith(heading) and words in said and "nan" not in said
