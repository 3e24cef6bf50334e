"""What is known of each judge: estimates; the conditions that it must meet; and a verdict.

Every condition goes by the ends of the 95 % interval that the page shows: met where the whole
interval lies on the good side of the bar, broken where it lies on the other, else open. A verdict
is one word, one reason, one next step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from judgelab.core.judgments import Floats
from judgelab.stats.intervals.arrays import ROUNDING
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.trust.agreement import Shares, Target, cohens_kappa
from judgelab.stats.trust.biases import crossed_orders, position_bias
from judgelab.stats.trust.partial_correlation import given_system
from judgelab.study.audit.design import (
    CLASS,
    Design,
    answers_of,
    rules_of,
    shares_of_people,
    systems_of,
)

Standing = Literal["met", "broken", "open"]
Name = Literal["control", "people", "minimum", "class", "system", "position", "manipulation"]
Word = Literal["use", "not known yet", "do not use"]
WORDS: tuple[Word, ...] = ("use", "not known yet", "do not use")
Reason = Literal[
    "holds", "broken", "reversed", "alike", "too few labels", "left out", "unread", "misaligned",
    "crossed", "no room", "no bar", "class", "open",
]  # fmt: skip
PRIORITY = ("control", "class", "manipulation", "people", "minimum", "position", "system")
"""Which broken condition is named: what makes all others idle first."""
FEWEST = 10  # labels below which no number is named: the pilot knows it no better
TIMES = 10  # more labels than so many times those at hand are no advice
Sides = Sequence[Estimate]
"""The judge's share, that of people on the same units, and the difference."""


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
    def beyond(self) -> tuple[float, float, float]:
        """The value and both ends: how far they lie on the good side of the bar, below 0 beyond."""
        value, low, high = self.value.value, self.value.low, self.value.high
        if self.name == "position":  # either side of .5 is off
            least, most = 0.5 - self.bar, 0.5 + self.bar
            sides = (value, value), (low, high), (high, low)
            value, low, high = (min(a - least, most - b) for a, b in sides)
            return value, low, high
        if self.name == "manipulation":
            return self.bar - value, self.bar - high, self.bar - low
        return value - self.bar, low - self.bar, high - self.bar

    @property
    def standing(self) -> Standing:
        """Met, broken or open; of position met, too, where both orders were averaged."""
        _, low, high = self.beyond
        if self.name == "position" and self.about:
            return "met"
        if low > 0 or (low == 0 and self.name not in ("control", "people", "system")):
            return "met"
        broken = high < 0 or (high == 0 and self.name in ("control", "system"))
        return "broken" if broken else "open"

    @property
    def more(self) -> float:
        """Items more after which it would be met, or broken, if the value stays.

        n grows with the square of how far the end has to come closer; infinite at the bar.
        """
        value, low, high = self.beyond
        if self.standing != "open":
            return 0.0
        if not math.isfinite(low) or abs(value) < 1e-9 or self.name == "position":
            return math.inf
        reach = value - low if value > 0 else high - value
        return self.value.n * max((reach / value) ** 2 - 1, 0.0)


class Verdict(NamedTuple):
    """May a judge decide on single texts?"""

    word: Word  # use, do not use, or not known yet
    reason: Reason  # why
    worst: Condition | None = None  # is broken, or falls shortest; None where none decides
    more: float = math.inf  # items more that would decide, to two digits; infinite: no number would


@dataclass(frozen=True)
class Evidence:
    """What is known of one judge, and what follows."""

    design: Design
    name: str  # the judge's
    labelled: int  # items with a label that it was asked about
    missed: int  # units with a label that it was never asked about
    questions: int  # verdicts that it was asked for
    without_verdict: int  # those of them that are missing
    agreement: Estimate  # with (the remaining) people
    controls: Mapping[str, float]  # rule -> its agreement on the same items
    room: Mapping[str, float]  # the same beside people; empty where too few items have two
    gains: Mapping[str, Estimate]  # rule -> what the judge agrees more, adjusted for all judges
    people: Sides  # agreement beside people; empty where too few items have two
    recall: Mapping[str, Estimate]  # class -> how often it is found
    recall_beside: Mapping[str, Sides]  # the same beside people, where some items have two
    system: Estimate | None  # correlation with people given the system
    position: Estimate | None  # share of the two orders that the text shown first wins
    averaged: bool  # whether both orders of every pair are averaged, so that they tip no verdict
    kappa: Estimate | None  # kappa, confusion: of categories
    # units by what people and the judge say [levels, levels + 1]; the last column: no verdict
    confusion: Floats | None
    misaligned: bool  # whether rows look as if one file had lost their order
    crossed: bool  # whether its two orders contradict each other as where numbers are misread
    probes: Sequence[Condition]  # of manipulations that were tried

    @property
    def unread(self) -> float:
        """Share of what was asked that has no verdict."""
        return self.without_verdict / max(self.questions, 1)

    @property
    def reversed(self) -> bool:
        """Whether it surely says the opposite of people."""
        kappa = self.kappa is None or self.kappa.high < -ROUNDING
        return self.gains["random"].high < 0 and kappa and len(self.design.classes) <= 2

    @property
    def best_control(self) -> str:
        """The rule that agrees most, the first by name among equals."""
        return max(sorted(self.controls), key=lambda name: self.controls[name])

    @property
    def best_beside(self) -> str:
        """The same of the items on which people are held against each other."""
        return max(sorted(self.room), key=lambda name: self.room[name])

    def of(self, name: Name) -> list[Condition]:
        """Its conditions of a kind."""
        return [one for one in self.conditions if one.name == name]

    @cached_property
    def conditions(self) -> list[Condition]:
        """All that the data allow."""
        bars, counts = self.design.bars, self.design.labels_of_class
        checks = [
            Condition("control", rule, gain, 0.0, self.agreement, self.controls[rule])
            for rule, gain in self.gains.items()
        ]
        if bars.minimum is not None:
            checks.append(Condition("minimum", "", self.agreement, bars.minimum, self.agreement))
        elif self.people:
            own, other, gap = self.people
            checks.append(Condition("people", "", gap, -bars.below_people, own, other.value))
        recall = bars.minimum if bars.recall is None else bars.recall
        if recall is not None:
            some = {level: own for level, own in self.recall.items() if counts[level] >= CLASS}
            checks += [Condition("class", level, own, recall, own) for level, own in some.items()]
        else:
            checks += [
                Condition("class", level, gap, -bars.below_people, own, other.value)
                for level, (own, other, gap) in self.recall_beside.items()
                if min(counts[level], other.n) >= CLASS
            ]
        if self.system is not None:
            checks.append(Condition("system", "", self.system, 0.0, self.system))
        if self.position is not None:
            about = "averaged over both orders" if self.averaged else ""
            checks.append(Condition("position", about, self.position, bars.position, self.position))
        return [*checks, *self.probes]

    @cached_property
    def verdict(self) -> Verdict:
        """The first that matches."""
        bars, to_find = self.design.bars, self.design.to_find
        labelled_units = int(self.design.table.labelled.sum())
        if self.labelled < bars.labels:
            return Verdict("not known yet", "too few labels", more=bars.labels - self.labelled)
        if self.missed > bars.unread * labelled_units:
            return Verdict("not known yet", "left out")
        if self.unread > bars.unread:
            return Verdict("not known yet", "unread")
        if self.misaligned:
            return Verdict("not known yet", "misaligned")
        if self.crossed:
            return Verdict("not known yet", "crossed")
        if not self.agreement.n or len(self.design.classes) == 1:
            return Verdict("not known yet", "alike")
        broken = [one for one in self.conditions if one.standing == "broken"]
        broken.sort(key=lambda one: (PRIORITY.index(one.name), one.beyond[0], one.about))
        if self.reversed:
            return Verdict("do not use", "reversed", broken[0] if broken else None)
        people = self.people[1] if self.people and bars.minimum is None else None
        simple = self.room[self.best_beside] if people is not None else math.nan
        if people is not None and people.value <= simple:
            return Verdict("not known yet", "no room", _shortest(self.conditions))
        if broken:
            return Verdict("do not use", "broken", broken[0])
        if people is not None and people.low <= simple:  # to be as good as they are is no merit yet
            return Verdict("not known yet", "no room", _shortest(self.conditions))
        undecided = [one for one in self.conditions if one.standing == "open"]
        if not (self.of("people") or self.of("minimum")):
            undecided = [one for one in undecided if one.name == "control"]
            if not undecided:
                return Verdict("not known yet", "no bar", _shortest(self.conditions))
        elif len(to_find) == 1 or set(to_find) - {one.about for one in self.of("class")}:
            return Verdict("not known yet", "class", _shortest(self.conditions))
        if undecided:
            more = _more(undecided, self.labelled)
            return Verdict("not known yet", "open", _shortest(undecided), more)
        return Verdict("use", "holds")


def evidence(
    design: Design, probes: Mapping[str, Sequence[Condition]] | None = None
) -> list[Evidence]:
    """Everything that is known of every judge; ``probes``: judge -> conditions of manipulations."""
    table, target, beside, cluster = design.table, design.target, design.beside, design.cluster
    answers, labels, systems = answers_of(table), shares_of_people(table), systems_of(design)
    judged, in_both = design.judged, np.asarray(table.asked.all(axis=2))
    both = judged & design.double

    own = target.shares(answers, judged)
    rules = rules_of(table)
    simple = {rule: target.shares(x, judged) for rule, x in rules.items()}
    agreement, gains = own.estimates(), own.gains(list(simple.values()))
    people, classes = list[Estimates](), list[Estimates]()
    recall = position = None
    kappas, confusions = dict[int, Estimate](), dict[int, Floats]()
    crossed, beside_people = np.zeros(len(table.judges), np.bool_), dict[str, Shares]()
    if isinstance(target, Target) and table.levels:
        recall = target.shares(answers, judged, each=True).estimates()
        for k, x in enumerate(judged & table.labelled):
            kappas[k] = cohens_kappa(labels[x], answers[k, x], design.weights[x], cluster[x])
            verdicts = np.column_stack([answers[k], 1 - answers[k].sum(axis=1)])
            confusions[k] = np.nan_to_num(labels)[judged[k]].T @ verdicts[judged[k]]
    if beside is not None:
        of_people = beside.of_people(both)
        people += beside.shares(answers, both).against(of_people)
        beside_people = {rule: beside.shares(x, both) for rule, x in rules.items()}
    if isinstance(beside, Target) and table.levels:
        by_class = beside.of_people(both, each=True)
        classes += beside.shares(answers, both, each=True).against(by_class)
    if table.kind == "preference":
        position = position_bias(table.verdicts, table.asked, cluster)
        crossed = crossed_orders(table.verdicts, table.labels)

    judges, levels = list[Evidence](), list(enumerate(table.levels))
    for k, who in enumerate(table.judges):
        system, misaligned = None, False
        if systems is not None:
            system, misaligned = given_system(systems[0][k], *systems[1:], cluster)
        twice = in_both[k].any() and not who.pointwise
        enough = beside is not None and of_people.clusters[k] >= design.bars.labels
        one = Evidence(
            design,
            who.name,
            labelled=design.labelled_items(judged[k]),
            missed=int((table.labelled & ~judged[k]).sum()),
            questions=int(table.asked[k].sum()),
            without_verdict=int((table.asked[k] & np.isnan(table.verdicts[k])).sum()),
            agreement=agreement.at(k),
            controls={rule: float(x.value[k]) for rule, x in simple.items()},
            room={rule: float(x.value[k]) for rule, x in beside_people.items() if enough},
            gains={rule: gains.at(j, k) for j, rule in enumerate(simple)},
            people=[x.at(k) for x in people if enough],
            recall={level: recall.at(k, j) for j, level in levels if recall},
            recall_beside={level: [x.at(k, j) for x in classes] for j, level in levels if classes},
            system=system,
            position=position.at(k) if position and twice else None,
            averaged=bool((in_both[k] == judged[k]).all()),
            kappa=kappas.get(k),
            confusion=confusions.get(k),
            misaligned=misaligned and table.kind == "grade",
            crossed=bool(crossed[k]),
            probes=(probes or {}).get(who.name, ()),
        )
        judges.append(one)
    return judges


def _shortest(conditions: Sequence[Condition]) -> Condition | None:
    """The condition that falls shortest of its bar."""
    unmet = [one for one in conditions if one.standing != "met"]
    with_interval = [one for one in unmet if not math.isnan(one.beyond[0])] or unmet
    return max(with_interval, key=lambda one: (-one.beyond[0], one.name, one.about), default=None)


def _more(conditions: Sequence[Condition], labelled: int) -> float:
    """Items more until all are met or, where one falls short, until that is sure."""
    short = [one for one in conditions if one.beyond[0] < 0]
    # of a class each label takes several items
    items_more = [one.more * labelled / max(one.value.n, 1) for one in short or conditions]
    more = min(items_more) if short else max(items_more)
    return max(two_digits(more), FEWEST) if more <= TIMES * labelled else math.inf


def two_digits(n: float) -> int:
    """Rounded up to two digits, at least one."""
    whole = max(math.ceil(n - 1e-9), 1)
    step = int(10 ** max(len(str(whole)) - 2, 0))
    return -(-whole // step) * step
