"""May a judge's average be reported? The share or mean by the judge, by people, and by both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.partial_correlation import dummies, saving
from judgelab.stats.trust.prediction_powered import (
    PER_STRATUM,
    LabelledUnits,
    corrected,
    difference,
    judge_alone,
    over_strata,
    people_alone,
    shift,
)
from judgelab.study.audit.design import PLACES, Design, shares_of_people

AverageWord = Literal["not known", "people alone", "with labels", "as it is"]
WORDS: Sequence[AverageWord] = ("not known", "people alone", "with labels", "as it is")
Sampled = bool | Literal["strata"] | None
PASSED = {"pass", "passed"}
AVERAGE = 0.05
"""How far the judge's own share may lie from the corrected one; of a rare class a fifth of it."""
AVERAGE_SD = 0.25  # the same of grades, in standard deviations of people's grades
SAVING = 0.1  # share of the labels that a judge must save to be worth a correction
RARE = 5  # labels of the rarer class below which only people alone (Wilson) hold
SYSTEMS = 20  # systems of which it is known for free who wrote a text


class Quantity(NamedTuple):
    """One number that verdicts stand for: its name in words (for "its ..."), what people say
    [units], what judges say [judges, units], NaN where they do not; whether it is a share."""

    name: str
    truth: Floats
    values: Floats
    rate: bool


@dataclass(frozen=True)
class AverageAnswer:
    """One number of one judge."""

    name: str  # of the number
    rate: bool  # whether it is a share
    own: Estimate  # by the judge alone
    people: Estimate  # by labels alone
    best: Estimate  # by both, or by labels alone where few are ``rare``
    bias: Estimate  # own minus best; within ``margin`` it is right
    margin: float
    saving: Estimate  # share of the labels that verdicts on many items save
    word: AverageWord  # what follows; why: the reason where nothing does
    why: str = ""
    all_labelled: bool = False  # whether no verdict is without a label
    rare: bool = False  # whether fewer than ``RARE`` labels are of one of the two answers


def quantities(table: JudgmentTable) -> Iterator[Quantity]:
    """The share of each class (of two, of the positive one), the mean grade, a win rate of two."""
    truth, values = table.truth, table.values
    if table.kind == "grade":
        yield Quantity("mean grade", truth, values, rate=False)
    elif table.kind == "category":
        shares = shares_of_people(table).T
        order = sorted(range(len(table.levels)), key=lambda k: table.levels[k])
        if table.positive in table.levels:
            order = [table.levels.index(table.positive)]
        elif len(order) == 2:
            order = order[1:]  # of two classes one says it all
        for k in [k for k in order if np.nansum(shares[k]) > 0] or order:
            name = table.levels[k]
            word = "pass rate" if name.casefold() in PASSED else f"share of '{name}'"
            of_class = np.where(np.isnan(values), np.nan, values == k)
            yield Quantity(word, shares[k], of_class, rate=True)
    else:
        first, second = table.units.first.astype(str), table.units.second.astype(str)
        names = sorted({*first, *second})
        if len(names) == 2 and tuple(names) not in PLACES:
            flip = first != names[0]
            truth, values = (np.where(flip, 1 - x, x) for x in (truth, values))
            yield Quantity(f"win rate of '{names[0]}'", truth, values, rate=True)


def averages(design: Design, sampled: Sampled) -> list[AverageAnswer | None]:
    """[judges] the number that is worst off of each; None where judges report none.

    Of several classes: the one with the least good word, of such the one that is farthest off for
    its margin, of such the first by name. Classes without a label are left out.
    ``sampled``: whether labels are a random sample, or one within strata; None: nobody said.
    """

    def standing(one: AverageAnswer) -> tuple[int, float, str]:
        far = round(abs(one.bias.value) / one.margin, 9) if one.margin > 0 else 0.0
        return WORDS.index(one.word), -np.nan_to_num(far), one.name

    numbers = [_of(design, number, sampled) for number in quantities(design.table)]
    if not numbers:
        return [None] * len(design.table.judges)
    return [min(own, key=standing) for own in zip(*numbers, strict=True)]


def _of(design: Design, number: Quantity, sampled: Sampled) -> Iterator[AverageAnswer]:
    """One number of all judges."""
    _, truth, values, rate = number
    labelled, stratum = ~np.isnan(truth), np.zeros(len(truth), np.intp)
    if sampled == "strata":
        stratum = np.unique(design.table.units.stratum.astype(str), return_inverse=True)[1]

    def units(such: Mask) -> LabelledUnits:
        cluster = np.unique(design.cluster[such], return_inverse=True)[1].astype(np.intp)
        return LabelledUnits(truth[such], values[:, such], cluster, share=rate)

    strata = [units(stratum == k) for k in np.unique(stratum)]
    own = judge_alone(units(np.ones(len(labelled), np.bool_)))
    both, bias, people = (over_strata(strata, of) for of in (corrected, shift, people_alone))
    apart = difference(own, people)
    gains = saving(truth, values, design.cluster, _free(design.table))
    spread = float(np.nanstd(truth)) if labelled.any() else math.nan
    for k, judged in enumerate(~np.isnan(values)):
        labels = truth[labelled & judged]
        rare = rate and bool(min((labels > 0.5).sum(), (labels < 0.5).sum()) < RARE)
        all_labelled, gain = bool((labelled | ~judged).all()), gains.at(k)
        best = (people if rare or all_labelled else both).at(k)
        gap = (apart if rare else bias).at(k)
        share = min(AVERAGE, min(best.value, 1 - best.value) / 5)
        margin = share if rate else AVERAGE_SD * spread
        word: AverageWord = "people alone" if rare or gain.high < SAVING else "not known"
        if why := _refusal(design, k, sampled, number):
            word = "not known"
        elif margin > 0 and gap.low >= -margin and gap.high <= margin and gain.low > 0:
            word = "as it is"  # and not by chance, as where every reply is the average
        elif gain.low >= SAVING and not rare:  # whose correction does not hold
            word = "with labels"
        yield AverageAnswer(
            number.name, rate, own.at(k), people.at(k), best, gap, margin, gain, word, why,
            all_labelled=all_labelled, rare=rare,
        )  # fmt: skip


def _refusal(design: Design, judge: int, sampled: Sampled, number: Quantity) -> str:
    """Why nothing is said of an average; "" where something is."""
    if not sampled:
        return (
            "it is not known that the labelled items are a random sample; if they are, set "
            "study.sampled=true"
        )
    table = design.table
    labelled, judged = ~np.isnan(number.truth), ~np.isnan(number.values[judge])
    names = design.table.units.stratum.astype(str)
    unseen = sorted({*names[judged]} - {*names[judged & labelled]})
    if unseen:
        return f"no label is from {_stratum(unseen[0])}, of which verdicts are"
    if sampled == "strata":
        for name in sorted({*names}):
            if (labelled & judged & (names == name)).sum() < PER_STRATUM:
                return f"{_stratum(name)} has fewer than {PER_STRATUM} labels"
    # the missing are rarely like the others
    asked, unread = table.asked[judge].any(axis=1), design.bars.unread
    if (asked & ~judged).sum() > unread * asked.sum():
        return "too many of its replies hold no verdict"
    if (labelled & ~judged).sum() > unread * labelled.sum():
        return "it has no verdict on too many of the labelled items"
    if table.kind == "grade" and not table.on_scale[judge]:
        return "its grades lie on another scale than people's"
    return ""


def _stratum(name: str) -> str:
    return f"stratum {str(name)!r}" if name else "the part without a stratum"


def _free(table: JudgmentTable) -> Floats | None:
    """[units, columns] what is known without a judge: who wrote a text, and its stratum."""
    units = table.units
    columns = [x for x in (units.first, units.stratum) if 1 < len(set(x)) <= SYSTEMS]
    if table.kind == "preference" or not columns:
        return None
    return np.column_stack([dummies(names) for names in columns])
