"""The audit's own decision on a table, without its page."""

from __future__ import annotations

from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.averages import AverageAnswer, averages
from judgelab.study.audit.conditions import Evidence, Verdict, evidence
from judgelab.study.audit.held import Bars, Held


def known(table: JudgmentTable, minimum: float | None = None) -> tuple[Held, list[Evidence]]:
    """Credits, and what is known of every judge."""
    held = Held(table, Bars(minimum=minimum))
    return held, evidence(held)


def decided(
    table: JudgmentTable, minimum: float | None = None
) -> tuple[Evidence, Verdict, AverageAnswer | None]:
    """Of the only judge; labels are a random sample of the table."""
    held, (one,) = known(table, minimum)
    return one, one.verdict, averages(held, True)[0]
