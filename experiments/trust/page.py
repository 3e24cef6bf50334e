"""Every interval that the page of an audit shows, read from the tables of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from experiments.trust.coverage import Interval, Key
from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart
from tests.judgment_tables import audit_case, made_pairs

DRAWS = 400
DIFFERENCES = "judge_pairs"
OVER_SYSTEMS = "tau_between"
"""Intervals over systems: resampled items say nothing of them."""


@cache
def _blank() -> AuditCase:
    return audit_case(made_pairs(4), Path(mkdtemp()), sampled=True, draws=DRAWS)


def case(table: JudgmentTable, **more: Any) -> AuditCase:
    """What a part gets that asks no LM; labels are a random sample."""
    return replace(_blank(), table=table, panel=Panel((), judgments=table), **more)


@dataclass(frozen=True)
class Page:
    """What some parts show of a table.

    Attributes:
        parts: of an audit.
        named: table -> the columns that tell its rows apart; others are not looked at.
    """

    parts: Sequence[AuditPart]
    named: Mapping[str, Sequence[str]]

    def __call__(self, table: JudgmentTable) -> dict[Key, Interval]:
        """Key -> estimate."""
        seen = case(table)
        return intervals([t for part in self.parts for t in part.run(seen).tables], self.named)


def found(part: AuditPart, table: JudgmentTable, **setting: Any) -> Findings:
    """What one part says of a table."""
    return part.run(case(table, **setting))


def intervals(tables: Sequence[Table], named: Mapping[str, Sequence[str]]) -> dict[Key, Interval]:
    """Key -> estimate, of every row of the tables that are named."""
    found: dict[Key, Interval] = {}
    for table in tables:
        for row in table.rows if table.name in named else ():
            names = [str(row.get(name, "")) for name in named[table.name]]
            turned = table.name == DIFFERENCES and names[0] > names[1]
            for column, (value, low, high) in _estimates(row):
                if turned:  # a difference is shown from its better side
                    value, low, high = -value, -high, -low
                ordered = sorted(names) if table.name == DIFFERENCES else names
                found[table.name, *ordered, column] = (value, low, high)
    return found


def _estimates(row: Row) -> Iterator[tuple[str, Interval]]:
    """Columns that are followed by ``low`` and ``high``, whatever stands before these words."""
    names = list(row)
    for value, low, high in zip(names, names[1:], names[2:], strict=False):
        if low.endswith("low") and high.endswith("high") and not value.startswith(OVER_SYSTEMS):
            yield value, (_number(row[value]), _number(row[low]), _number(row[high]))
            if value == row.get("use"):
                yield "the one to use", (_number(row[value]), _number(row[low]), _number(row[high]))


def _number(value: Any) -> float:
    return float("nan") if value is None or isinstance(value, str) else float(value)
