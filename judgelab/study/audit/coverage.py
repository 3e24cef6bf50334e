"""How often the intervals of the page held on real judges of known truth, said below each table.

coverage.yaml is made by ``python -m experiments.trust.readme --write`` from the trials' results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from judgelab.core.resources import words
from judgelab.core.result import Table

NOMINAL = (0.93, 0.97)
"""Shares that count as the 95 % that is claimed: mean over judges of one set of data."""


@cache
def trials() -> Mapping[str, Any]:
    """labels: numbers tried; tables: table -> column -> data -> share held, by number."""
    made: Mapping[str, Any] = words("study/audit/coverage.yaml")
    return made


def said(table: Table) -> Table:
    """The table with a sentence on how often its intervals held; as it is where none was tried."""
    shown = {column for row in table.rows for column in row}
    tried = trials()["tables"].get(table.name, {})
    found = {
        column: by
        for column, by in tried.items()
        if column in shown and shown & {"low", f"{column}_low"}
    }
    sentence = coverage_sentence(found, trials()["labels"])
    return replace(table, note=f"{table.note} {sentence}".strip()) if sentence else table


def coverage_sentence(tried: Mapping[str, Mapping[str, Any]], labels: Sequence[int]) -> str:
    """What the trials say of some columns; "" without any.

    Args:
        tried: column -> data -> share held for each of ``labels``; null: no interval.
    """
    every = [x for by in tried.values() for held in by.values() for x in held if x is not None]
    if not every:
        return ""
    start = (
        f"Tried on real judges with {', '.join(map(str, labels[:-1]))} and {labels[-1]} labels, "
        f"these intervals held the truth in {_hundred(min(every))}"
    )
    most = f" to {_hundred(max(every))}" if _hundred(max(every)) != _hundred(min(every)) else ""
    narrow = [
        f"{column} ({worst})" for column, by in tried.items() if (worst := _worst(by, labels))
    ]
    warning = f" Too narrow: {'; '.join(narrow)}." if narrow else ""
    return f"{start}{most} of 100 cases.{warning}"


def _worst(by: Mapping[str, Sequence[float | None]], labels: Sequence[int]) -> str:
    """Where a column's intervals held least often, if too seldom."""
    cells = [
        (held, data, n)
        for data, shares in by.items()
        for n, held in zip(labels, shares, strict=True)
        if held is not None
    ]
    held, data, n = min(cells, default=(1.0, "", 0))
    return f"{_hundred(held)} in 100 on {data} with {n} labels" if held < NOMINAL[0] else ""


def _hundred(share: float) -> str:
    return f"{100 * share:.0f}"
