"""The conditions that a judge must meet to decide on single texts, and what follows from them.

Every condition goes by the ends of the 95 % interval that the page shows: met where the whole
interval lies on the good side of the bar, broken where it lies on the other, else open. A verdict
is one word, one reason, one next step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from judgelab.stats.intervals.arrays import ROUNDING, Floats, average_ranks, divide
from judgelab.stats.intervals.ends import above_p, means_within
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.intervals.means import holm_levels
from judgelab.stats.sequential import sequence_ends
from judgelab.stats.trust.agreement import Sums, Target
from judgelab.stats.trust.biases import position_bias
from judgelab.stats.trust.partial_correlation import partial_correlation
from judgelab.study.audit.held import CLASS, LEVEL, Held

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
    # clusters with a label that it judged; missed: labelled ones it was never asked about
    labelled: int
    missed: int
    asked: int  # asked, lost: verdicts that it was asked for, and those of them that are missing
    lost: int
    agreement: Estimate  # with (the remaining) people
    controls: Mapping[str, float]  # rule -> its agreement on the same items
    # agreement of people with each other, and the judge's with them, on the same items
    people: tuple[Estimate, Estimate] | None
    conditions: Sequence[Condition]  # all that the data allow
    classes: Classes  # classes, kappa, confusion: of categories; see ``Held``
    kappa: Estimate | None
    confusion: Floats | None
    misaligned: bool  # whether rows look as if one file had lost their order
    reversed: bool  # whether it surely says the opposite of people
    verdict: Verdict = UNDECIDED  # what follows

    @property
    def unread(self) -> float:
        """Share of what it was asked that has no verdict."""
        return self.lost / max(self.asked, 1)

    @property
    def best_control(self) -> str:
        """The rule that agrees most, the first by name among equals."""
        return max(sorted(self.controls), key=lambda name: self.controls[name])

    def of(self, name: Name) -> list[Condition]:
        """Its conditions of a kind."""
        return [one for one in self.conditions if one.name == name]


def evidence(held: Held, probes: Mapping[str, Sequence[Condition]] | None = None) -> list[Evidence]:
    """Everything that is known of every judge, and its verdict.

    Args:
        probes: judge -> conditions of manipulations that were tried.
    """
    table, known = held.table, list[Evidence]()
    own = [held.sums(k) for k in range(len(table.names))]
    simple = [held.rules(k) for k in range(len(table.names))]
    pairs = zip(own, simple, strict=True)
    gains = np.array([[sums.adds - x.adds for x in rules.values()] for sums, rules in pairs])
    worst = above_p(gains, -1.0).max(axis=1)
    levels = holm_levels(worst, 1 - LEVEL)
    if held.looks:
        levels = np.full(len(worst), 1 - (1 - LEVEL) / max(len(worst), 1))
    for k, name in enumerate(table.names):
        judged, asked, people = held.judged(k), table.asked[k], None
        agreement = _share(held, own[k])
        controls = {rule: float(each.share) for rule, each in simple[k].items()}
        gain = {x: _share(held, own[k], y, float(levels[k])) for x, y in simple[k].items()}
        conditions = [
            Condition("control", x, gain[x], 0.0, agreement, controls[x]) for x in controls
        ]
        if (both := held.with_people(k)) is not None:
            people = _share(held, both[0]), _share(held, both[1])
            if held.bars.minimum is None:
                gap, bar = _share(held, *both), -held.bars.below_people
                conditions.append(Condition("people", "", gap, bar, people[0], people[1].value))
        if held.bars.minimum is not None:
            conditions.append(Condition("minimum", "", agreement, held.bars.minimum, agreement))
        classes, of_classes = _classes(held, k) if table.kind == "category" else ({}, [])
        of_system, misaligned = _system(held, k)
        conditions += [*of_classes, *of_system, *_position(held, k), *(probes or {}).get(name, ())]
        kappa = held.kappa(k) if table.kind == "category" else None
        opposite = gain["random"].high < 0 and (kappa is None or kappa.high < -ROUNDING)
        one = Evidence(
            name,
            len(np.unique(held.cluster[judged & table.labelled])),
            len(np.unique(held.cluster[table.labelled & ~judged])),
            int(asked.sum()),
            int((asked & np.isnan(table.verdicts[k])).sum()),
            agreement,
            controls,
            people,
            conditions,
            classes,
            kappa,
            held.confusion(k) if table.kind == "category" else None,
            misaligned,
            opposite and len(held.classes) <= 2,
        )
        known.append(replace(one, verdict=_verdict(held, one)))
    return known


def in_turn(held: Held, sums: Sums) -> Floats:
    """[turns] mean credit of the clusters of each turn, in their order; NaN without any.

    A turn is one bet, so that nothing hangs on the order within it.
    """
    each = divide(sums.total, sums.count)
    turn = np.full(len(each), np.inf)
    np.fmin.at(turn, held.cluster, held.table.units.turn)
    order, place = np.unique(turn, return_inverse=True)
    by_turn = means_within(each, place.astype(np.intp), len(order))
    return np.asarray(by_turn[np.isfinite(order)])


def _share(held: Held, sums: Sums, other: Sums | None = None, level: float = LEVEL) -> Estimate:
    """A share, or what it is more than another one on the same items; of turns at every look."""
    if not held.looks:
        return (sums.estimates(level) if other is None else sums.less(other, level)).at()
    each = in_turn(held, sums) - (0.0 if other is None else in_turn(held, other))
    known = ~np.isnan(each)
    mean = each[known].mean() if known.any() else np.nan
    ends = sequence_ends(each, level, (0.0 if other is None else -1.0, 1.0))
    return Estimates.of(mean, ends, known.sum()).at()


def _classes(held: Held, judge: int) -> tuple[Classes, list[Condition]]:
    """Every class with enough labels must be found: as often as you ask, or as people find it."""
    assert isinstance(held.main, Target)
    bars, answers, judged = held.bars, held.answers(judge), held.judged(judge)
    stated = bars.minimum if bars.recall is None else bars.recall
    recall, mine, people = held.main.each(answers, judged), None, None
    if isinstance(held.beside, Target):
        mine = held.beside.each(answers, judged & held.double)
        people = held.beside.each_of_people(judged & held.double)
    classes: Classes = {}
    conditions = []
    for k, level in enumerate(held.table.levels):
        own = _share(held, recall.of(k))
        other = None if people is None else _share(held, people.of(k))
        classes[level] = own, other
        if held.labels_of_class[k] < CLASS:
            continue
        if stated is not None:
            conditions.append(Condition("class", level, own, stated, own))
        elif mine is not None and people is not None and other is not None and other.n >= CLASS:
            gap, beside = _share(held, mine.of(k), people.of(k)), _share(held, mine.of(k))
            bar = -bars.below_people
            conditions.append(Condition("class", level, gap, bar, beside, other.value))
    return classes, conditions


def _system(held: Held, judge: int) -> tuple[list[Condition], bool]:
    """The correlation with people given the system (of pairs the two systems), and an alarm.

    None of a single system, of places that are no systems, and of three classes or more, which
    have no order. The alarm, of grades: systems' means go together while within systems nothing
    does, as where rows of one file lost their order.
    """
    if (numbers := held.as_numbers(judge)) is None:
        return [], False
    values, truth, systems = numbers
    there = ~np.isnan(values) & ~np.isnan(truth)
    names, group = np.unique(systems[there], return_inverse=True)
    sizes = np.bincount(group)
    if len(names) < 2 or (sizes > 1).sum() < 2:
        return [], False
    # ranks first: of grades with few values ranks of residuals would hang on the systems' means
    values, truth = (average_ranks(x[there]) for x in (values, truth))
    cluster = np.unique(held.cluster[there], return_inverse=True)[1]
    places = group.astype(np.intp), cluster.astype(np.intp)
    within = partial_correlation(values, truth, *places)
    if all(np.ptp(values[group == k]) == 0 for k in range(len(names))):
        within = Estimate(0.0, 0.0, 0.0, within.n)  # one grade for each system
        return [Condition("system", "", within, 0.0, within)], False
    nobody = np.zeros_like(places[0])
    whole = partial_correlation(values, truth, nobody, places[1])
    alarm = held.table.kind == "grade" and len(names) >= 3
    if alarm := alarm and within.low <= 0 <= within.high and whole.low > 0:
        means = np.stack([np.bincount(group, x) / sizes for x in (values, truth)])
        spread = float(np.ptp(means, axis=1).min())
        alarm = spread > 0 and float(np.asarray(np.corrcoef(means))[0, 1]) > 0.6
    return [Condition("system", "", within, 0.0, within)], alarm


def _position(held: Held, judge: int) -> list[Condition]:
    """Of judges that saw pairs in both orders: the share of orders won by the text shown first."""
    asked = held.table.asked[judge]
    both = asked.all(axis=1)
    pointwise = held.table.judges[judge].pointwise
    if held.table.kind != "preference" or pointwise or not both.any():
        return []
    verdicts = np.where(both[:, None], held.table.verdicts[judge], np.nan)[None]
    share = position_bias(verdicts, asked[None], held.cluster).at(0)
    averaged = bool((both | ~asked.any(axis=1)).all())  # which cannot tip a verdict
    about = "averaged over both orders" if averaged else ""
    return [Condition("position", about, share, held.bars.position, share)]


def _verdict(held: Held, one: Evidence) -> Verdict:
    """The first that matches."""
    bars, conditions = held.bars, one.conditions
    if one.labelled < bars.labels:
        return Verdict("not known yet", "too few labels", more=bars.labels - one.labelled)
    if one.missed > bars.unread * (one.labelled + one.missed):
        return Verdict("not known yet", "left out")
    if one.unread > bars.unread:
        return Verdict("not known yet", "unread")
    if one.misaligned:
        return Verdict("not known yet", "misaligned")
    if not one.agreement.n or len(held.to_find) == 1:
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
    elif set(held.to_find) - {each.about for each in one.of("class")}:
        return Verdict("not known yet", "class", _shortest(conditions))
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
