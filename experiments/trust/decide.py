"""The audit's own decision on a table, without its page."""

from __future__ import annotations

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.study.audit.averages import AverageAnswer, averages
from judgelab.study.audit.bars import Bars
from judgelab.study.audit.conditions import Evidence, evidence
from judgelab.study.audit.held import Held
from judgelab.study.audit.study import classes_to_find
from judgelab.study.audit.verdict import Verdict, verdict_of


def known(table: JudgmentTable, minimum: float | None = None) -> tuple[Held, list[Evidence]]:
    """Credits, and what is known of every judge; labels are a random sample of the table."""
    bars = Bars(minimum=minimum)
    held = Held(table, bars.labels, np.ones(len(table.units)))
    return held, evidence(held, bars, {})


def decided(
    table: JudgmentTable, minimum: float | None = None
) -> tuple[Evidence, Verdict, AverageAnswer | None]:
    """Of the only judge."""
    held, (one,) = known(table, minimum)
    word = verdict_of(one, Bars(minimum=minimum), table.kind, classes_to_find(held))
    return one, word, averages(held, True, "population", Bars().unread)[0]
