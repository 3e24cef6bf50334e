"""May a judge decide on single texts? One word, one reason, one next step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judgelab.core.judgments import Kind
from judgelab.study.audit.bars import Bars
from judgelab.study.audit.conditions import Condition, Evidence

Word = Literal["use", "not known yet", "do not use"]
WORDS: tuple[Word, ...] = ("use", "not known yet", "do not use")
Reason = Literal[
    "holds", "broken", "reversed", "alike", "too few labels", "left out", "unread", "misaligned",
    "no room", "no bar", "class", "open",
]  # fmt: skip

PRIORITY = ("control", "class", "manipulation", "people", "minimum", "position", "system")
"""Which broken condition is named: what makes all others idle first."""
FEWEST = 10
"""Labels below which no number is named: the pilot knows it no better."""
TIMES = 10
"""More labels than so many times those at hand are no advice."""


@dataclass(frozen=True)
class Verdict:
    """About one judge.

    Attributes:
        word: use, do not use, or not known yet.
        reason: why.
        worst: the condition that is broken, or falls shortest; None where none decides.
        more: items more that would decide, to two digits; infinite where labels alone do not.
    """

    word: Word
    reason: Reason
    worst: Condition | None = None
    more: float = math.inf


def verdict_of(one: Evidence, rules: Bars, kind: Kind, classes: Sequence[str]) -> Verdict:
    """The first that matches.

    Args:
        classes: categories that must be found: of two both, of more those with enough labels;
            one where people gave no other.
    """
    if one.labelled < rules.labels:
        return Verdict("not known yet", "too few labels", more=rules.labels - one.labelled)
    if one.missed > rules.unread * (one.labelled + one.missed):
        return Verdict("not known yet", "left out")
    if one.unread > rules.unread:
        return Verdict("not known yet", "unread")
    if one.misaligned:
        return Verdict("not known yet", "misaligned")
    if not one.agreement.n or len(classes) == 1:
        return Verdict("not known yet", "alike")
    broken = [each for each in one.conditions if each.standing == "broken"]
    worst = min(
        broken,
        key=lambda each: (PRIORITY.index(each.name), -each.short, each.about),
        default=None,
    )
    if one.reversed:
        return Verdict("do not use", "reversed", worst)
    people = None if one.people is None or rules.minimum is not None else one.people[1]
    simple = max(one.controls.values())
    if people is not None and people.value <= simple:
        return Verdict("not known yet", "no room", _shortest(one.conditions))
    if worst is not None:
        return Verdict("do not use", "broken", worst)
    if people is not None and people.low <= simple:  # to be as good as they are is no merit yet
        return Verdict("not known yet", "no room", _shortest(one.conditions))
    left = [each for each in one.conditions if each.standing == "open"]
    if not (one.of("people") or one.of("minimum")):
        left = [each for each in left if each.name == "control"]
        if not left:
            return Verdict("not known yet", "no bar", _shortest(one.conditions))
    elif kind == "category" and set(classes) - {each.about for each in one.of("class")}:
        return Verdict("not known yet", "class", _shortest(one.conditions))
    if left:
        return Verdict("not known yet", "open", _shortest(left), _more(left, one.labelled))
    return Verdict("use", "holds")


def _shortest(conditions: Sequence[Condition]) -> Condition | None:
    """The condition that falls shortest of its bar."""
    left = [one for one in conditions if one.standing != "met"]
    known = [one for one in left if one.short == one.short] or left  # without an interval
    return max(known, key=lambda one: (one.short, one.name, one.about), default=None)


def _more(conditions: Sequence[Condition], labelled: int) -> float:
    """Items more until all are met or, where one falls short, until that is sure."""
    short = [one for one in conditions if one.short > 0]
    needed = [
        one.more * labelled / max(one.value.n, 1)  # of a class each label takes several items
        for one in short or conditions
    ]
    more = min(needed) if short else max(needed)
    return max(two_digits(more), FEWEST) if more <= TIMES * labelled else math.inf


def two_digits(n: float) -> int:
    """Rounded up to two digits, at least one."""
    whole = max(math.ceil(n - 1e-9), 1)
    step = int(10 ** max(len(str(whole)) - 2, 0))
    return -(-whole // step) * step
