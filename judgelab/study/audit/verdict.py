"""One verdict for each judge from all that was found about it: explicit rules, first match wins."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.betting import RESERVE
from judgelab.study.audit import words
from judgelab.study.audit.evidence import Evidence
from judgelab.study.audit.rules import TrustRules, gain_bar
from judgelab.study.audit.words import agreement_bar

Standing = Literal["trust", "trust after correction", "do not trust", "cannot say yet"]
STANDINGS: tuple[Standing, ...] = (
    "trust",
    "trust after correction",
    "cannot say yet",
    "do not trust",
)
"""In the order to be read."""
FEW = "too few labels"
ALIKE = "labels are alike"


@dataclass(frozen=True)
class TrustVerdict:
    """What to make of a judge.

    Attributes:
        verdict: one of four.
        reason: the rule that matched, in two or three words.
        why: the evidence, with its numbers.
        next: what to do.
        more: labels more that would decide, if the judge is what it seems to be; 0 where none are
            needed, infinite where labels alone do not decide.
        here: whether this pool has so many items without a label.
    """

    verdict: Standing
    reason: str
    why: str
    next: str
    more: float = 0.0
    here: bool = True


@dataclass(frozen=True)
class Need:
    """One condition of trust.

    Attributes:
        name: in one word.
        met: whether it holds.
        closed: whether it surely does not hold, so that no number of labels will change it.
        more: labels more that would show it, if the judge is what it seems to be.
    """

    name: str
    met: bool
    closed: bool = False
    more: float = 0.0


def decide(evidence: Mapping[str, Evidence], rules: TrustRules) -> dict[str, TrustVerdict]:
    """Judge -> its verdict.

    Every bound is an end of the interval that the page shows. In this order:

    1. cannot say yet: the table looks wrongly joined; too few labels; labels that are no random
       sample, or of which a few count for nearly all; labelled items that it left out; too many
       replies without a verdict.
    2. do not trust: a manipulation surely moves it further than ``rules.probe``; or it is surely
       less than ``rules.gain`` better than some control (``gain_bar``). Cannot say yet where a
       control is right on every item: then no judge can be better.
    3. trust: better than every control at any number of looks, and all of ``trusted``.
    4. trust after correction: the same, and it surely saves ``rules.saving`` of the labels.
    5. do not trust: surely neither 3 nor 4, however many labels come.
    6. cannot say yet.
    """
    return {name: _verdict(one, rules) for name, one in evidence.items()}


def _verdict(e: Evidence, rules: TrustRules) -> TrustVerdict:
    if reason := _unfit(e, rules):
        more = rules.labels - e.labelled if reason == FEW else math.inf
        said = words.unfit(e, rules)
        return TrustVerdict("cannot say yet", reason, *said, more, _here(more, e))
    fallen = [one for one in e.probes if one.outcome == "falls" and one.move.low > rules.probe]
    if fallen:
        return TrustVerdict("do not trust", "falls for manipulation", *words.fallen(fallen, e))
    if e.room == 0:
        said = words.no_room(e)
        return TrustVerdict("cannot say yet", ALIKE, *said, math.inf, here=False)
    if e.gain.high < gain_bar(e.room, rules):
        return TrustVerdict("do not trust", "no better than a control", *words.no_better(e, rules))
    gate, straight, saving = better(e, rules), trusted(e, rules), saves(e, rules)
    if gate.met and all(one.met for one in straight):
        return TrustVerdict("trust", "agrees enough", *words.trust(e, rules))
    lacking = [one.name for one in straight if not one.met]
    if gate.met and saving.met:
        return TrustVerdict(
            "trust after correction", "saves labels", *words.saves(lacking, e, rules)
        )
    if gate.met and saving.closed and any(one.closed for one in straight):
        return TrustVerdict("do not trust", "too weak", *words.too_weak(lacking, e, rules))
    more = min(_labels(way) for way in ([gate, *straight], [gate, saving]))
    lacking = [one.name for one in (gate, *straight, saving) if not one.met]
    said = words.undecided(lacking, more, e, rules)
    return TrustVerdict("cannot say yet", "too little evidence", *said, more, _here(more, e))


def _unfit(e: Evidence, rules: TrustRules) -> str:
    """Why the table does not allow a verdict; "" where it does."""
    if e.alarm:
        return "labels and verdicts may be misaligned"
    if e.labelled < rules.labels:
        return FEW
    if e.sampled is not True:
        return "labels may not be random"
    if e.effective < rules.labels:
        return "few labels count for most"
    if e.unseen:
        return "no labels of a set"
    if e.left_out > rules.unparsed:
        return "labelled items left out"
    return "replies without a verdict" if e.unparsed > rules.unparsed else ""


def _here(more: float, e: Evidence) -> bool:
    return e.labelled + more <= e.pool


def better(e: Evidence, rules: TrustRules) -> Need:
    """The gate: better than every control, by betting, after Holm over the judges."""
    met = e.gate_p <= rules.alpha
    return Need("control", met, more=0.0 if met else _known(e.more))


def trusted(e: Evidence, rules: TrustRules) -> list[Need]:
    """What the judge's own numbers must show to be used as they are."""
    bar = agreement_bar(e, rules)
    agreed = e.agreement.low >= bar or e.omega >= rules.winning
    missing = e.agreement.high < bar and not agreed
    margin = mean_margin(e, rules)
    off = e.shift.low > margin or e.shift.high < -margin
    equal = -margin <= e.shift.low and e.shift.high <= margin
    ends, side = e.position, rules.position
    tilted = ends.low > 0.5 + side or ends.high < 0.5 - side
    either = e.averaged or e.pointwise
    upright = either or (0.5 - side <= ends.low and ends.high <= 0.5 + side)
    falls = any(one.outcome == "falls" for one in e.probes)
    return [
        Need("agreement", agreed, missing, 0.0 if agreed else _above(e.agreement, bar, e.labelled)),
        Need("mean", equal, off, 0.0 if equal else _within(e.shift, margin, e.labelled)),
        Need("position", upright, tilted and not either, 0.0 if upright else math.inf),
        Need("manipulation", not falls, falls, math.inf if falls else 0.0),
    ]


def saves(e: Evidence, rules: TrustRules) -> Need:
    """Whether labels and verdicts together need fewer labels than labels alone."""
    met = e.saving.low >= rules.saving
    more = 0.0 if met else _above(e.saving, rules.saving, e.labelled)
    return Need("saving", met, e.saving.high < rules.saving, more)


def mean_margin(e: Evidence, rules: TrustRules) -> float:
    """How far the judge's mean may be off."""
    return e.shift_margin if e.shift_margin == e.shift_margin else rules.mean


def _labels(way: list[Need]) -> float:
    """Labels more that would show every condition of a way to trust."""
    return max((math.inf if one.closed else one.more for one in way if not one.met), default=0.0)


def _above(found: Estimate, bar: float, n: int) -> float:
    """Labels more until the low end reaches the bar: intervals shrink with the root of n."""
    return _narrower(found.value - found.low, found.value - bar, n)


def _within(found: Estimate, margin: float, n: int) -> float:
    """The same until the interval lies within the margin on both sides of 0."""
    half = max(found.value - found.low, found.high - found.value)
    return _narrower(half, margin - abs(found.value), n)


def _narrower(half: float, room: float, n: int) -> float:
    """Labels more until a half width fits into the room, with the gate's reserve."""
    if not room > 0 or not math.isfinite(half):
        return math.inf
    return max(math.ceil(n * (RESERVE * (half / room) ** 2 - 1)), 1)


def _known(more: float) -> float:
    return more if more == more else math.inf
