"""What the parts of an audit found about one judge: all that its verdict rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from judgelab.core.result import Table, Value
from judgelab.stats.intervals.estimate import Estimate

UNKNOWN = Estimate(math.nan)


@dataclass(frozen=True)
class ProbeOutcome:
    """What one manipulation did to a judge.

    Attributes:
        probe: its name.
        outcome: of the rules in trust by equivalence: only the middle one says that it is safe.
        move: of the attacked text's share of wins, minus the placebo's.
    """

    probe: str
    outcome: Literal["falls", "does not fall", "no answer"]
    move: Estimate


@dataclass(frozen=True)
class Evidence:
    """All that a verdict about one judge rests on; NaN, UNKNOWN and None where it is not known.

    Attributes:
        labelled: clusters (items, documents) with a label that the judge judged.
        pool: clusters that the judge judged, labelled or not.
        effective: so many labels drawn with equal chances would tell as much: fewer than
            ``labelled`` where a few were unlikely to be drawn and count for many; NaN: not known.
        left_out: share of the labelled units that it was not asked about, of sets that it judged.
        unseen: sets of which its verdicts are and no label is; a random sample would have some.
        sampled: whether labels are a random sample with known probabilities; None: not known.
        alarm: a sentence where the table looks wrongly joined; else "".
        in_turn: whether the order is known in which labels came, so that looks may be repeated.
        unparsed: share of its verdicts that were asked for and are missing.
        lost: why most of them are; "" where it is not known.
        gate_p: p that it is no better than some control, after Holm, at any number of looks.
        gain: over the best control, or one that it is surely no better than, in credit per item;
            ``gain_over`` names that control.
        control: agreement of that control with people, on the judge's items.
        agreement: credit with people, from 0 to 1.
        tied: whether that is refused, as its order is not surely better than calling all ties.
        ceiling: agreement of people with each other on the same target; NaN with one rater.
        omega: winning rate of the alternative annotator test; NaN where it is refused.
        shift: the judge's own mean minus the corrected mean, ``shift_margin`` what is tolerated.
        position: share of comparisons won by the text shown first; UNKNOWN for grades.
        averaged: whether every unit was judged in both orders.
        pointwise: whether it grades one text at a time, so that no order can matter.
        probes: outcome of every manipulation tried.
        saving: net rho^2, the share of labels that the judge saves at best.
        more: labels more after which it would pass the gate; infinite where it would not.
        left: names of parts of the audit that were not to be answered.
    """

    labelled: int = 0
    pool: int = 0
    effective: float = math.nan
    left_out: float = 0.0
    sampled: bool | None = None
    unseen: tuple[str, ...] = ()
    in_turn: bool = False
    alarm: str = ""
    unparsed: float = 0.0
    lost: str = ""
    gate_p: float = math.nan
    gain: Estimate = UNKNOWN
    gain_over: str = ""
    control: float = math.nan
    agreement: Estimate = UNKNOWN
    tied: bool = False
    ceiling: float = math.nan
    omega: float = math.nan
    shift: Estimate = UNKNOWN
    shift_margin: float = math.nan
    position: Estimate = UNKNOWN
    averaged: bool = False
    pointwise: bool = False
    probes: tuple[ProbeOutcome, ...] = ()
    saving: Estimate = UNKNOWN
    more: float = math.nan
    left: tuple[str, ...] = ()

    @property
    def room(self) -> float:
        """By how much a judge that is always right would be better than that control."""
        return max(round(1 - self.control, 9), 0.0) if self.control == self.control else math.nan


@dataclass(frozen=True)
class Findings:
    """What one part of an audit found.

    Attributes:
        tables: in the order to be read.
        figures: names of drawings in judgelab.report.figures.
        evidence: judge -> fields of ``Evidence``.
        notes: sentences on what holds and what does not, for the part's section.
        lacking: what the part would need to give an answer; "" where it has one.
        summary: entries for the summary of the run.
    """

    tables: Sequence[Table] = ()
    figures: Sequence[str] = ()
    evidence: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    lacking: str = ""
    summary: Mapping[str, Value] = field(default_factory=dict)


def joined(
    found: Sequence[Findings],
    judges: Sequence[str],
    facts: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Evidence]:
    """Judge -> its evidence from all parts; two parts do not speak of one field.

    Args:
        facts: judge -> fields that hold where no part speaks of them.

    Raises:
        ValueError: they do, or a field is unknown.
    """
    known = {one.name for one in fields(Evidence)}
    made: dict[str, dict[str, Any]] = {name: {} for name in judges}
    for one in found:
        for judge, given in one.evidence.items():
            if judge not in made:
                continue
            for key, value in given.items():
                if key not in known or key in made[judge]:
                    raise ValueError(f"Evidence {key!r} of {judge!r} is unknown, or found twice.")
                made[judge][key] = value
    known_for = facts or {}
    return {name: Evidence(**{**known_for.get(name, {}), **given}) for name, given in made.items()}
