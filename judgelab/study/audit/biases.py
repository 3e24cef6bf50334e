"""What moves a judge besides quality: place, length, its own family, and how it uses a scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from judgelab.core.bounds import Count
from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats, Mask
from judgelab.stats.trust.clustered import interval_p
from judgelab.stats.trust.length_bias import log_ratio
from judgelab.stats.trust.own_family import own_family, own_side
from judgelab.study.audit.bias_words import adjusted, side
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.length_table import grade_effects, length
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.position_table import position
from judgelab.study.audit.scale_tables import scale_tables

OWN_PAIRS = (
    "favour: log odds that a text of the judge's own model family gains at equal human preference "
    "and length; 0: none. own_wins_wrongly: how often it wins where people prefer the other text. "
    "p: that there is no favour, Holm over judges. 95 % intervals over items."
)
OWN_GRADES = (
    "effect: what a text of the judge's own model family gains, in standard deviations of the "
    "judge's grades, at equal human grade and length. p: Holm over judges. 95 % intervals "
    "over items."
)
NO_FAMILY = (
    "Own family: no text is known to be by a judge's own model family. Name the families of "
    "systems and judges in study.questions.biases.families."
)


@dataclass(frozen=True)
class Biases(AuditPart):
    """Position, length at equal human preference, own family, scale use, calibration curve.

    Args:
        families: system or judge -> its model family; where it is not told, a panel's agents may
            have a ``family``, and a system whose name begins with the family of a judge is of it.
        bins: of the calibration curve, for judges that score on a line.
    """

    name: ClassVar[str] = "biases"
    question: ClassVar[str] = "What moves a judge besides quality?"
    families: Mapping[str, str] = field(default_factory=dict)
    bins: Count = 10

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        made = [position(case), length(case.table, case.rules.alpha), self._own(case)]
        tables = [table for one in made for table in one.tables]
        tables += list(scale_tables(case.table, self.bins))
        notes = [said for one in made for said in one.notes]
        kept = [table for table in tables if table.rows]
        drawn = ["audit_calibration"] if any(one.name == "calibration" for one in kept) else []
        return Findings(kept, drawn, made[0].evidence, notes)

    def _own(self, case: AuditCase) -> Findings:
        """The table of own families, or what it would need."""
        table, alpha = case.table, case.rules.alpha
        judges = [self.families.get(one.name, one.family) for one in table.judges]
        first, second = (
            np.array([_is_of(family, self._of(case, names)) for family in judges])
            for names in (table.units.first, table.units.second)
        )
        own = own_side(first, second) if table.kind == "preference" else first.astype(float)
        if table.kind == "category":
            return Findings()
        if not own.any():
            return Findings(notes=[NO_FAMILY])
        title = "Do judges favour texts of their own family?"
        if table.kind == "grade":
            return Findings(
                [Table("own_family", title, grade_effects(table, own, alpha), OWN_GRADES)]
            )
        return Findings([Table("own_family", title, _own_rows(table, own, alpha), OWN_PAIRS)])

    def _of(self, case: AuditCase, names: Iterable[str]) -> list[str]:
        """The family of each system, or else its name."""
        meta = {agent.name: agent.meta.get("family", "") for agent in case.panel.agents}
        return [self.families.get(name) or meta.get(name) or name for name in names]


def _is_of(family: str, names: list[str]) -> Mask:
    """Whether each family or system name begins with this family, whatever its case."""
    start = family.casefold()
    return np.array([bool(start) and name.casefold().startswith(start) for name in names], np.bool_)


def _own_rows(table: JudgmentTable, own: Floats, alpha: float) -> list[Row]:
    ratio = log_ratio(table.units.words)
    found = own_family(table.verdicts, table.truth, own, ratio, table.clusters)
    there = ~table.controls & own.any(axis=1)
    p = adjusted(interval_p(found.low, found.high, found.clusters), there)
    readings = ("favours its own", "disfavours its own")
    return [
        {
            "judge": one.name,
            "reading": found.refused[k] or side(found.favour[k], p[k], alpha, *readings),
            "favour": float(found.favour[k]),
            "low": float(found.low[k]),
            "high": float(found.high[k]),
            "pairs": int(found.pairs[k]),
            "own_wins_wrongly": float(found.wrongly[k]),
            "wrongly_low": float(found.wrongly_low[k]),
            "wrongly_high": float(found.wrongly_high[k]),
            "wrongly_n": int(found.against[k]),
            "p": float(p[k]),
        }
        for k, one in enumerate(table.judges)
        if there[k]
    ]
