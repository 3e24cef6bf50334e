"""What a discrimination study found, in a few plain sentences: never louder than its intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.study.common.groups import Groups
from judgelab.study.common.panels import ScoredPanel
from judgelab.study.common.plain import between, counted, hundredth, some, times

Said = tuple[str, str]
NONE = Estimate(math.nan)
CHANCE = 0.5


@dataclass(frozen=True)
class Found:
    """What the sentences are made of.

    Attributes:
        mechanism: its name.
        auc: of the clean panel.
        beside: ``beside.beside``.
        attack: its name; "" without one.
        attacked: AUC under it.
        change: attacked minus clean AUC.
        cheating: the sentence on an attack by some agents alone; "" where all attack.
        leads: problematic agent -> good agents' mean score less its own.
        judged: whether somebody said which texts are good: by categories of agents, or grades.
    """

    mechanism: str
    auc: Estimate = NONE
    beside: Mapping[str, Estimate] = field(default_factory=dict)
    attack: str = ""
    attacked: Estimate = NONE
    change: Estimate = NONE
    cheating: str = ""
    leads: Mapping[str, Estimate] = field(default_factory=dict)
    judged: bool = True


def opening(found: Found) -> list[Said]:
    """(heading, sentences): what was found, under attack, who is not told apart, what to do.

    Empty where texts are known to be good or bad, or were graded, and there is no figure of it.
    """
    if not found.judged:
        return _silent(found)
    agreement = found.beside.get("human_within", NONE)
    if math.isnan(found.auc.value) and math.isnan(agreement.value):
        return []
    return [_main(found, agreement), *_attacked(found), *_alike(found), ("Next", _next(found))]


def leads(scored: ScoredPanel, group: Groups) -> dict[str, Estimate]:
    """Problematic agent -> mean score of the good ones less its own, per item."""
    values = scored.values
    with np.errstate(invalid="ignore"):
        known = ~np.isnan(values[:, group.good])
        count = known.sum(axis=1)
        total = np.where(known, values[:, group.good], 0.0).sum(axis=1)
        good = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return {
        scored.panel.agents[k].name: item_mean(good - values[:, k])
        for k in np.flatnonzero(group.bad)
    }


def _silent(found: Found) -> list[Said]:
    """Where nobody said which texts are good."""
    return [
        (
            "Not known to tell good from bad",
            f"{found.mechanism} scored the texts, but nobody said which of them are good, so its "
            "scores cannot be held against anything.",
        ),
        (
            "Next",
            "Say who writes in good faith (dataset.agents={NAME: Faithful, OTHER: Low Effort}), or "
            "give people's grades of some texts.",
        ),
    ]


def _main(found: Found, agreement: Estimate) -> Said:
    said = []
    auc, heading = found.auc, ""
    if not math.isnan(auc.value):
        heading = _heading(auc)
        said.append(
            f"{found.mechanism} gives the good one of two responses the higher score "
            f"{between(auc)}; guessing does 50 times (AUC, {counted(auc.n)})."
        )
        said += _control(found.beside, "length_auc", "auc_gain")
    if not math.isnan(agreement.value):
        heading = heading or _people(agreement)
        said.append(
            f"It orders two responses as people do {between(agreement)} ({counted(agreement.n)})."
        )
        said += _control(found.beside, "length_human_within", "human_within_gain")
    return heading, " ".join(said)


def _heading(auc: Estimate) -> str:
    if auc.low > CHANCE:
        return "Tells good from bad responses"
    return "Prefers bad responses" if auc.high < CHANCE else "Not shown to tell good from bad"


def _people(agreement: Estimate) -> str:
    if agreement.low > CHANCE:
        return "Agrees with people more often than chance"
    if agreement.high < CHANCE:
        return "Contradicts people more often than chance"
    return "Not shown to agree with people"


def _control(beside: Mapping[str, Estimate], alone: str, gain: str) -> Iterator[str]:
    """Whether that is more than length tells, taken in the direction that does better here."""
    length, more = beside.get(alone, NONE), beside.get(gain, NONE)
    if math.isnan(length.value):
        return
    if math.isnan(more.value):
        yield "That is what length alone tells."
        return
    does = f"the longer (or, if that does better, the shorter) would be right {times(length.value)}"
    if more.low > 0:
        yield f"That is more than length tells: {does}."
    elif more.high < 0:
        yield f"That is less than length tells: {does}."
    else:
        yield f"That is not shown to be more than length tells: {does}."


def _attacked(found: Found) -> Iterator[Said]:
    if not found.attack:
        return
    heading = f"Under {found.attack}"
    if found.cheating:
        yield heading, found.cheating
        return
    if math.isnan(found.attacked.value):
        return
    still = (
        "it still tells them apart"
        if found.attacked.low > CHANCE
        else "it prefers bad responses"
        if found.attacked.high < CHANCE
        else "it is not shown to tell them apart"
    )
    change = found.change
    ends = f"{hundredth(change.low)} to {hundredth(change.high)} in 100"
    if change.high < 0:
        how = f"less often than before (change {ends})"
    elif change.low > 0:
        how = f"more often than before (change {ends})"
    elif math.isnan(change.low):
        how = "and how far that is a change is not known"
    else:
        how = f"and no change is shown ({ends})"
    yield heading, f"{still[0].upper()}{still[1:]}, {between(found.attacked)}, {how}."


def _alike(found: Found) -> Iterator[Said]:
    """Problematic agents that are not surely below the good ones."""
    above = [name for name, one in found.leads.items() if one.high < 0]
    open_ = [name for name, one in found.leads.items() if one.low <= 0 <= one.high]
    said = []
    if above:
        said.append(f"Scored higher than good responses: {some(above)}.")
    if open_:
        said.append(f"Not told from good responses: {some(open_)}.{_items(found, open_)}")
    if said:
        yield "Not separated", " ".join(said)


def _items(found: Found, names: list[str]) -> str:
    """Items that would tell them apart, if they are what they seem: intervals shrink with n^.5."""
    needed = [
        math.ceil(one.n * ((one.value - one.low) / one.value) ** 2)
        for one in (found.leads[name] for name in names)
        if one.value > 0
    ]
    if len(needed) < len(names):
        return " More items may not tell them apart." if not needed else ""
    return f" About {max(needed)} items would, if the difference is what it seems."


def _next(found: Found) -> str:
    people = found.beside.get("human_within", NONE)
    auc = found.auc if not math.isnan(found.auc.value) else people
    gain = found.beside.get("auc_gain", found.beside.get("human_within_gain", NONE))
    if auc.high < CHANCE:
        return "Do not use it on such texts; compare other mechanisms."
    if not auc.low > CHANCE:
        off = abs(auc.value - CHANCE)
        half = auc.value - auc.low if auc.value > CHANCE else auc.high - auc.value
        if not off > 0 or not math.isfinite(half):
            return "Add items, or compare other mechanisms."
        needed = max(math.ceil(auc.n * (half / off) ** 2), auc.n + 1)
        return f"About {needed} items would show it, if it is what it seems; or compare others."
    if people.high < CHANCE:
        return "Find out why people see it the other way before you rely on it."
    if gain.low <= 0 or (math.isnan(gain.low) and not math.isnan(_length(found).value)):
        return "Compare mechanisms that look at more than length before you rely on this one."
    if found.change.high < 0:
        return f"Expect less where texts may be manipulated; compare others under {found.attack}."
    if not found.attack:
        return "See whether it holds under manipulation: attack=case_flip, padding, pattern."
    return "Compare it with other mechanisms on the same texts (-m mechanism=...)."


def _length(found: Found) -> Estimate:
    """What length alone reaches; NaN where that is not known."""
    return found.beside.get("length_auc", found.beside.get("length_human_within", NONE))
