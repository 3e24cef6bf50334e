"""Two hundred replies as judges write them: each is read as what it states, or not at all."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml

from judgelab.core.exchange import CHOICES
from judgelab.core.reply.grade import stated_grade
from judgelab.core.reply.label import stated_label
from judgelab.mechanism.judge import VERDICTS
from judgelab.mechanism.tvd_mi import GRADES

CORPUS: dict[str, list[tuple[str, object]]] = yaml.safe_load(
    (Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8")
)
SCALES = {"grade_1_5": (1, 5), "grade_0_10": (0, 10), "grade_0_100": (0, 100)}
LABELS = {"verdict_abc": VERDICTS, "verdict_one_two": CHOICES, "label_gain": GRADES}


@pytest.mark.parametrize("kind", CORPUS)
def test_every_reply_is_read_as_what_it_states_or_not_at_all(kind: str) -> None:
    wrong = []
    for text, reading in CORPUS[kind]:
        if kind in SCALES:
            found, wanted = stated_grade(text, *SCALES[kind]), reading
        else:
            found = stated_label(text, LABELS[kind])
            wanted = None if reading is None else LABELS[kind][str(reading).lower()]
        if not (math.isnan(found) if wanted is None else found == wanted):
            wrong.append(f"{text!r} was read as {found}, and states {reading}")
    assert not wrong, "\n".join(wrong)
    assert math.isnan(stated_grade(None, 1, 5))
