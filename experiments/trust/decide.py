"""The audit's own decision on a table, without its page."""

from __future__ import annotations

from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.averages import AverageAnswer, averages
from judgelab.study.audit.conditions import Evidence, Verdict
from judgelab.study.audit.design import Bars, Design
from judgelab.study.audit.evidence import evidence


def known(table: JudgmentTable, minimum: float | None = None) -> tuple[Design, list[Evidence]]:
    """How the table is read, and what is known of every judge."""
    design = Design.of(table, Bars(minimum=minimum))
    return design, evidence(design)


def decided(
    table: JudgmentTable, minimum: float | None = None
) -> tuple[Evidence, Verdict, AverageAnswer | None]:
    """Of the only judge; labels are a random sample of the table."""
    design, (one,) = known(table, minimum)
    return one, one.verdict, averages(design, True)[0]
