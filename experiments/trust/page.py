"""Every interval that the page of an audit shows, read from the tables of its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from judgelab.core.judgments import JudgmentTable
from judgelab.core.panel import Panel
from judgelab.core.result import Row, Table
from judgelab.engine.context import Context
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import TrustRules

Key = tuple[str, ...]
"""Table, what tells its row from others, and the column of the estimate."""

Interval = tuple[float, float, float]
"""value, low, high; NaN where there is none."""


def case(table: JudgmentTable, *, seed: int = 0, draws: int = 400, **more: Any) -> AuditCase:
    """What a part gets that asks no LM."""
    panel, context = cast(Panel, None), cast(Context, None)
    given = {"sampled": True, "rules": TrustRules(), **more}
    return AuditCase(table, panel, context, {}, given["sampled"], given["rules"], seed, draws)


def found(part: AuditPart, table: JudgmentTable, **setting: Any) -> Findings:
    """What one part says of a table."""
    return part.run(case(table, **setting))


def intervals(tables: Sequence[Table], named: Mapping[str, Sequence[str]]) -> dict[Key, Interval]:
    """Key -> estimate, of every row.

    Args:
        named: table -> the columns that tell its rows apart; tables without an entry are left out.
    """
    return {
        (table.name, *(str(row.get(name, "")) for name in named[table.name]), column): (
            v,
            low,
            high,
        )
        for table in tables
        if table.name in named
        for row in table.rows
        for column, v, low, high in _estimates(row)
    }


def _estimates(row: Row) -> Iterator[tuple[str, float, float, float]]:
    for column in row:
        low, high = _ends(column)
        if low in row and high in row:
            yield column, _number(row[column]), _number(row[low]), _number(row[high])


def _ends(column: str) -> tuple[str, str]:
    return ("low", "high") if column == "value" else (f"{column}_low", f"{column}_high")


def _number(value: Any) -> float:
    return float("nan") if value is None or isinstance(value, str) else float(value)


@dataclass(frozen=True)
class Shown:
    """Tables of a part whose intervals are tried; ``named`` as in ``intervals``."""

    part: AuditPart
    named: Mapping[str, Sequence[str]]
