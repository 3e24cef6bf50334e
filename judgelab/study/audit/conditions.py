"""The conditions that a judge must meet to decide on single texts, and the verdict: arithmetic.

Every condition goes by the ends of the 95 % interval that the page shows: met where the whole
interval lies on the good side of the bar, broken where it lies on the other, else open. A verdict
is one word, one reason, one next step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from judgelab.core.judgments import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.credits import Counts, CreditName
from judgelab.study.audit.design import CLASS, Bars, Design

Standing = Literal["met", "broken", "open"]
Name = Literal["control", "people", "minimum", "class", "system", "position", "manipulation"]
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
Classes = dict[str, tuple[Estimate, Estimate | None]]
"""Class -> how often the judge says so where people do; and other people, where that is known."""


NOTHING = Estimate(math.nan)


class Figures(NamedTuple):
    """A ``Credit`` as estimates."""

    name: CreditName
    about: str
    own: Estimate
    other: Estimate = NOTHING
    gap: Estimate = NOTHING  # own minus other


@dataclass(frozen=True)
class Condition:
    """One condition of one judge."""

    name: Name  # which
    about: str  # of a control its name, of a class the class, of a manipulation its name; else ""
    value: Estimate  # what is held against the bar, with its interval
    bar: float  # least value; of position and manipulation the most that it may be off
    own: Estimate  # own, other: for words: the judge's figure, and that of the control or of people
    other: float = math.nan

    @property
    def standing(self) -> Standing:
        """Met, broken or open; of position met, too, where both orders were averaged."""
        low, high, bar = self.value.low, self.value.high, self.bar
        if self.name == "position":
            met = bool(self.about) or (low >= 0.5 - bar and high <= 0.5 + bar)
            broken = high < 0.5 - bar or low > 0.5 + bar
        elif self.name == "manipulation":
            met, broken = high <= bar, low > bar
        else:
            met = low > bar if self.name in ("control", "people", "system") else low >= bar
            broken = high <= bar if self.name in ("control", "system") else high < bar
        return "met" if met else "broken" if broken else "open"

    @property
    def short(self) -> float:
        """How far the value lies on the wrong side of the bar; below 0 on the good side."""
        if self.name == "position":
            return abs(self.value.value - 0.5) - self.bar
        off = self.bar - self.value.value
        return -off if self.name == "manipulation" else off

    @property
    def more(self) -> float:
        """Items more after which it would be met, or broken, if the value stays.

        n grows with the square of how far the end has to come closer; infinite at the bar.
        """
        if self.standing != "open":
            return 0.0
        if not math.isfinite(self.value.low) or abs(self.short) < 1e-9 or self.name == "position":
            return math.inf
        below = (self.short < 0) != (self.name == "manipulation")  # the end that must come closer
        one = self.value
        reach = one.value - one.low if below else one.high - one.value
        return one.n * max((reach / self.short) ** 2 - 1, 0.0)


class Verdict(NamedTuple):
    """May a judge decide on single texts?"""

    word: Word  # use, do not use, or not known yet
    reason: Reason  # why
    # the condition that is broken, or falls shortest; None where none decides
    worst: Condition | None = None
    # items more that would decide, to two digits; infinite where labels alone do not
    more: float = math.inf


UNDECIDED = Verdict("not known yet", "open")


@dataclass(frozen=True)
class Evidence:
    """What is known of one judge."""

    name: str  # the judge's
    counts: Counts
    agreement: Estimate  # with (the remaining) people
    controls: Mapping[str, float]  # rule -> its agreement on the same items
    # agreement of people with each other, and the judge's with them, on the same items
    people: tuple[Estimate, Estimate] | None
    conditions: Sequence[Condition]  # all that the data allow
    classes: Classes  # classes, kappa, confusion: of categories
    kappa: Estimate | None
    confusion: Floats | None  # as of ``Credits``
    misaligned: bool  # whether rows look as if one file had lost their order
    reversed: bool  # whether it surely says the opposite of people
    verdict: Verdict = UNDECIDED  # what follows

    @property
    def best_control(self) -> str:
        """The rule that agrees most, the first by name among equals."""
        return max(sorted(self.controls), key=lambda name: self.controls[name])

    def of(self, name: Name) -> list[Condition]:
        """Its conditions of a kind."""
        return [one for one in self.conditions if one.name == name]


def conditions_of(
    design: Design,
    figures: Sequence[Figures],
    system: Estimate | None,
    position: Estimate | None,
    averaged: bool,
) -> Iterator[Condition]:
    """All that the data allow, but manipulations.

    Args:
        system: correlation with people given the system.
        position: share of the two orders that the text shown first wins.
        averaged: whether both orders of every pair are averaged, so that they tip no verdict.
    """
    bars, counts = design.bars, design.labels_of_class
    recall = bars.minimum if bars.recall is None else bars.recall
    for name, about, own, other, gap in figures:
        if name == "control":
            yield Condition("control", about, gap, 0.0, own, other.value)
        elif name == "agreement" and bars.minimum is not None:
            yield Condition("minimum", "", own, bars.minimum, own)
        elif name == "people" and bars.minimum is None:
            yield Condition("people", "", gap, -bars.below_people, own, other.value)
        elif name == "recall" and recall is not None and counts[about] >= CLASS:
            yield Condition("class", about, own, recall, own)
        elif name == "class" and recall is None and min(counts[about], other.n) >= CLASS:
            yield Condition("class", about, gap, -bars.below_people, own, other.value)
    if system is not None:
        yield Condition("system", "", system, 0.0, system)
    if position is not None:
        about = "averaged over both orders" if averaged else ""
        yield Condition("position", about, position, bars.position, position)


def verdict_of(one: Evidence, bars: Bars, to_find: Sequence[str]) -> Verdict:
    """The first that matches.

    Args:
        to_find: classes that a judge must be shown to find.
    """
    conditions, labelled, missed = one.conditions, one.counts.labelled, one.counts.missed
    if labelled < bars.labels:
        return Verdict("not known yet", "too few labels", more=bars.labels - labelled)
    if missed > bars.unread * (labelled + missed):
        return Verdict("not known yet", "left out")
    if one.counts.unread > bars.unread:
        return Verdict("not known yet", "unread")
    if one.misaligned:
        return Verdict("not known yet", "misaligned")
    if not one.agreement.n or len(to_find) == 1:
        return Verdict("not known yet", "alike")
    broken = [each for each in conditions if each.standing == "broken"]
    broken.sort(key=lambda each: (PRIORITY.index(each.name), -each.short, each.about))
    if one.reversed:
        return Verdict("do not use", "reversed", broken[0] if broken else None)
    people = None if one.people is None or bars.minimum is not None else one.people[1]
    simple = max(one.controls.values())
    if people is not None and people.value <= simple:
        return Verdict("not known yet", "no room", _shortest(conditions))
    if broken:
        return Verdict("do not use", "broken", broken[0])
    if people is not None and people.low <= simple:  # to be as good as they are is no merit yet
        return Verdict("not known yet", "no room", _shortest(conditions))
    left = [each for each in conditions if each.standing == "open"]
    if not (one.of("people") or one.of("minimum")):
        left = [each for each in left if each.name == "control"]
        if not left:
            return Verdict("not known yet", "no bar", _shortest(conditions))
    elif set(to_find) - {each.about for each in one.of("class")}:
        return Verdict("not known yet", "class", _shortest(conditions))
    if left:
        return Verdict("not known yet", "open", _shortest(left), _more(left, labelled))
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
