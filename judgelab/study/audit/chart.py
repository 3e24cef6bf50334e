"""Agreement of many judges beside people and the best rule that knows nothing, as inline SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgelab.core.result import Chart
from judgelab.study.common.templates import render

if TYPE_CHECKING:
    from judgelab.study.audit.page import Audited

MARKS = {"use": "use", "not known yet": "open", "do not use": "no"}


def chart(audited: Audited) -> Chart:
    """A row for each judge, the best first; one unit of the drawing is one pixel of a phone."""
    held, rows = audited.held, []
    for one, verdict, _ in audited.ranked:
        if not one.agreement.n:
            continue
        people = one.people[1].value if held.leaves_out and one.people is not None else None
        rows.append(
            {
                "name": one.name,
                "mark": MARKS[verdict.word],
                "value": one.agreement.value,
                "low": one.agreement.low,
                "high": one.agreement.high,
                "rule": max(one.controls.values()),
                "people": people,
            }
        )
    needed = audited.rules.minimum
    svg = render("judgelab.study.audit", "chart.svg.j2", rows=rows, needed=needed)
    parts = ["Lines are 95 % intervals; grey ticks: the best rule that knows nothing"]
    if any(row["people"] is not None for row in rows):
        parts.append("black ticks: people with each other")
    if needed is not None:
        parts.append("dotted: what you ask for")
    return Chart("Agreement with people", "; ".join(parts) + ".", svg)
