"""The conditions that a judge must meet to decide on single texts, and how far it meets each.

Every condition goes by the ends of the 95 % interval that the page shows: met where the whole
interval lies on the good side of the bar, broken where it lies on the other, else open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgelab.stats.intervals.arrays import ROUNDING, Floats, average_ranks, divide
from judgelab.stats.intervals.ends import means_within
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.intervals.means import holm_levels
from judgelab.stats.sequential import sequence_ends
from judgelab.stats.trust.agreement import Sums, Target, gain_p
from judgelab.stats.trust.biases import position_bias
from judgelab.stats.trust.partial_correlation import partial_correlations
from judgelab.study.audit.bars import CLASS, LEVEL, Bars
from judgelab.study.audit.held import Held

Standing = Literal["met", "broken", "open"]
Name = Literal["control", "people", "minimum", "class", "system", "position", "manipulation"]
Classes = dict[str, tuple[Estimate, Estimate | None]]
"""Class -> how often the judge says so where people do; and other people, where that is known."""


@dataclass(frozen=True)
class Condition:
    """One condition of one judge.

    Attributes:
        name: which.
        about: of a control its name, of a class the class, of a manipulation its name; else "".
        value: what is held against the bar, with its interval.
        bar: least value; of position and manipulation the most that it may be off.
        standing: met, broken or open.
        own, other: for words: the judge's figure, and that of the control or of people.
    """

    name: Name
    about: str
    value: Estimate
    bar: float
    standing: Standing
    own: Estimate
    other: float = math.nan

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


def above(
    name: Name, about: str, value: Estimate, bar: float, own: Estimate, other: float = math.nan
) -> Condition:
    """A condition that wants a value above (at the least at) a bar."""
    strict = name in ("control", "people", "system")
    met = value.low > bar if strict else value.low >= bar
    broken = value.high <= bar if name in ("control", "system") else value.high < bar
    standing: Standing = "met" if met else "broken" if broken else "open"
    return Condition(name, about, value, bar, standing, own, other)


@dataclass(frozen=True)
class Evidence:
    """What is known of one judge.

    Attributes:
        name: the judge's.
        labelled: clusters with a label that it judged; missed: labelled ones it was never asked
            about.
        asked, lost: verdicts that it was asked for, and those of them that are missing.
        agreement: with (the remaining) people.
        controls: rule -> its agreement on the same items.
        people: agreement of people with each other, and the judge's with them, on the same items.
        conditions: all that the data allow.
        classes, kappa, confusion: of categories; see ``Held``.
        misaligned: whether rows look as if one file had lost their order.
        reversed: whether it surely says the opposite of people.
    """

    name: str
    labelled: int
    missed: int
    asked: int
    lost: int
    agreement: Estimate
    controls: Mapping[str, float]
    people: tuple[Estimate, Estimate] | None
    conditions: Sequence[Condition]
    classes: Classes
    kappa: Estimate | None
    confusion: Floats | None
    misaligned: bool
    reversed: bool

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


def evidence(held: Held, rules: Bars, probes: Mapping[str, Sequence[Condition]]) -> list[Evidence]:
    """Everything that is known of every judge.

    Args:
        probes: judge -> conditions of manipulations that were tried.
    """
    names = held.table.names
    own = [held.sums(k) for k in range(len(names))]
    simple = [held.rules(k) for k in range(len(names))]
    gains = [
        [sums.adds - each.adds for each in of_rules.values()]
        for sums, of_rules in zip(own, simple, strict=True)
    ]
    worst = gain_p(np.array(gains)).max(axis=1)
    together = 1 - (1 - LEVEL) / max(len(worst), 1)
    levels = [together] * len(worst) if held.looks else holm_levels(worst, 1 - LEVEL).tolist()
    return [
        _of_judge(held, rules, k, own[k], simple[k], levels[k], probes.get(name, ()))
        for k, name in enumerate(names)
    ]


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
    found = sums.estimates(level) if other is None else sums.less(other, level)
    if not held.looks:
        return found.at()
    each = in_turn(held, sums) - (0.0 if other is None else in_turn(held, other))
    known = ~np.isnan(each)
    mean = each[known].mean() if known.any() else np.nan
    ends = sequence_ends(each, level, (0.0 if other is None else -1.0, 1.0))
    return Estimates.of(mean, ends, known.sum()).at()


def _of_judge(
    held: Held,
    rules: Bars,
    judge: int,
    sums: Sums,
    simple: Mapping[str, Sums],
    level: float,
    probes: Sequence[Condition],
) -> Evidence:
    table, judged = held.table, held.judged(judge)
    agreement = _share(held, sums)
    controls = {name: float(each.share) for name, each in simple.items()}
    conditions = [
        above("control", name, _share(held, sums, each, level), 0.0, agreement, controls[name])
        for name, each in simple.items()
    ]
    guess = next(one.value for one in conditions if one.about == "random")
    people = None
    if (both := held.with_people(judge)) is not None:
        own, other = both
        people = _share(held, own), _share(held, other)
        if rules.minimum is None:
            gap, bar = _share(held, own, other), -rules.below_people
            conditions.append(above("people", "", gap, bar, people[0], people[1].value))
    if rules.minimum is not None:
        conditions.append(above("minimum", "", agreement, rules.minimum, agreement))
    classes: Classes = {}
    kappa, confusion, misaligned = None, None, False
    if table.kind == "category":
        classes, found = _classes(held, rules, judge)
        conditions += found
        kappa, confusion = held.kappa(judge), held.confusion(judge)
    if (within := _system(held, judge)) is not None:
        correlation, misaligned = within
        conditions.append(above("system", "", correlation, 0.0, correlation))
    if table.kind == "preference":
        conditions += _position(held, rules, judge)
    opposite = guess.high < 0 and (kappa is None or kappa.high < -ROUNDING)
    return Evidence(
        table.names[judge],
        len(np.unique(held.cluster[judged & table.labelled])),
        len(np.unique(held.cluster[table.labelled & ~judged])),
        int(table.asked[judge].sum()),
        int((table.asked[judge] & np.isnan(table.verdicts[judge])).sum()),
        agreement,
        controls,
        people,
        [*conditions, *probes],
        classes,
        kappa,
        confusion,
        misaligned,
        opposite and len(held.classes) <= 2,
    )


def _classes(held: Held, rules: Bars, judge: int) -> tuple[Classes, list[Condition]]:
    """Every class with enough labels must be found: as often as you ask, or as people find it."""
    assert isinstance(held.main, Target)
    answers, judged = held.answers(judge), held.judged(judge)
    stated = rules.minimum if rules.recall is None else rules.recall
    recall = held.main.each(answers, judged)
    mine = people = None
    if isinstance(held.beside, Target):
        mine = held.beside.each(answers, judged & held.double)
        people = held.beside.each_of_people(judged & held.double)
    classes: Classes = {}
    conditions = []
    for k, level in enumerate(held.table.levels):
        own, other = _share(held, recall.of(k)), None
        if people is not None:
            other = _share(held, people.of(k))
        classes[level] = own, other
        if held.labels_of_class[k] < CLASS:
            continue
        if stated is not None:
            conditions.append(above("class", level, own, stated, own))
        elif mine is not None and people is not None and other is not None and other.n >= CLASS:
            gap, beside = _share(held, mine.of(k), people.of(k)), _share(held, mine.of(k))
            bar = -rules.below_people
            conditions.append(above("class", level, gap, bar, beside, other.value))
    return classes, conditions


def _system(held: Held, judge: int) -> tuple[Estimate, bool] | None:
    """The correlation with people given the system (of pairs the two systems), and an alarm.

    None of a single system, of places that are no systems, and of three classes or more, which
    have no order. The alarm, of grades: systems' means go together while within systems nothing
    does, as where rows of one file lost their order.
    """
    numbers = held.as_numbers(judge)
    if numbers is None:
        return None
    values, truth, systems = numbers
    there = ~np.isnan(values) & ~np.isnan(truth)
    names, group = np.unique(systems[there], return_inverse=True)
    sizes = np.bincount(group)
    if len(names) < 2 or (sizes > 1).sum() < 2:
        return None
    # ranks first: of grades with few values ranks of residuals would hang on the systems' means
    values, truth = (average_ranks(x[there]) for x in (values, truth))
    cluster = np.unique(held.cluster[there], return_inverse=True)[1]
    places = group.astype(np.intp), cluster.astype(np.intp)
    within = partial_correlations(values[None], truth, *places)[0]
    if all(np.ptp(values[group == k]) == 0 for k in range(len(names))):
        return Estimate(0.0, 0.0, 0.0, within.n), False  # one grade for each system
    nobody = np.zeros_like(places[0])
    whole = partial_correlations(values[None], truth, nobody, places[1])[0]
    open_ = within.low <= 0 <= within.high
    if held.table.kind != "grade" or len(names) < 3 or not open_ or not whole.low > 0:
        return within, False
    means = np.stack([np.bincount(group, x) / sizes for x in (values, truth)])
    spread = float(np.ptp(means, axis=1).min())
    together = spread > 0 and float(np.asarray(np.corrcoef(means))[0, 1]) > 0.6
    return within, together


def _position(held: Held, rules: Bars, judge: int) -> list[Condition]:
    """Of judges that saw pairs in both orders: the share of orders won by the text shown first."""
    asked = held.table.asked[judge]
    both = asked.all(axis=1)
    if held.table.judges[judge].pointwise or not both.any():
        return []
    verdicts = np.where(both[:, None], held.table.verdicts[judge], np.nan)[None]
    share = position_bias(verdicts, asked[None], held.cluster).at(0)
    low, high = 0.5 - rules.position, 0.5 + rules.position
    averaged = bool((both | ~asked.any(axis=1)).all())
    standing: Standing = "open"
    if averaged or (share.low >= low and share.high <= high):
        standing = "met"  # what is averaged cannot tip a verdict
    elif share.high < low or share.low > high:
        standing = "broken"
    about = "averaged over both orders" if averaged else ""
    return [Condition("position", about, share, rules.position, standing, share)]
