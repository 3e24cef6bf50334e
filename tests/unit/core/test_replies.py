"""Two hundred replies as judges write them: each is read as what it states, or not at all."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml

from judgelab.calls.cache import CallCache
from judgelab.calls.cached import CachedLM
from judgelab.core.reply.grade import stated_grade
from judgelab.core.reply.label import stated_label
from judgelab.mechanism.judge import CHOICES, VERDICTS
from judgelab.mechanism.tvd_mi import GRADES
from tests.hostile_replies import LABELS, hostile, slow
from tests.scripted import ScriptedChat, ask

CORPUS: dict[str, list[tuple[str, object]]] = yaml.safe_load(
    (Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8")
)
SCALES = {"grade_1_5": (1, 5), "grade_0_10": (0, 10), "grade_0_100": (0, 100)}
NAMES = {"verdict_abc": VERDICTS, "verdict_one_two": CHOICES, "label_gain": GRADES}


@pytest.mark.parametrize("kind", CORPUS)
def test_every_reply_is_read_as_what_it_states_or_not_at_all(kind: str) -> None:
    wrong = []
    for text, reading in CORPUS[kind]:
        if kind in SCALES:
            found, wanted = stated_grade(text, *SCALES[kind]), reading
        else:
            found = stated_label(text, NAMES[kind])
            wanted = None if reading is None else NAMES[kind][str(reading).lower()]
        if not (math.isnan(found) if wanted is None else found == wanted):
            wrong.append(f"{text!r} was read as {found}, and states {reading}")
    assert not wrong, "\n".join(wrong)
    assert math.isnan(stated_grade(None, 1, 5))


def test_no_reply_takes_long_to_read() -> None:
    assert not slow(60)


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("words " * 5000 + "\nRating: 4", 4),
        ("Rating: 4\n" + "words " * 5000, 4),
        ("<think>" + "Rating: 2\n" * 5000 + "</think>Rating: 4", 4),
        ("Rating: 2\n" * 5000 + "</think>Rating: 4", 4),
        ("<think>" + "Rating: 2\n" * 5000, None),
        ('{"why": "' + "words " * 5000 + '", "score": 4}', 4),
        ('{"score": 4, "why": "' + "words " * 5000 + '"}', 4),
    ],
)
def test_of_a_long_reply_both_ends_are_read_and_json_whole(text: str, grade: int | None) -> None:
    found = stated_grade(text, 1, 5)
    assert math.isnan(found) if grade is None else found == grade


def test_a_hostile_reply_that_lies_in_the_cache_is_read(tmp_path: Path) -> None:
    request = ask("which?")
    for text in hostile(4):
        for answer in (lambda _, text=text: text, lambda _: "asked again"):
            lm = CachedLM(ScriptedChat(answer), CallCache(tmp_path / "c.sqlite"))
            reply = lm.chat([request])[0]
            lm.close()
        assert reply.text != "asked again"
        stated_label(reply.text, LABELS)
        (tmp_path / "c.sqlite").unlink()
