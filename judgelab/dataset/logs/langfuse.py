"""Scores of Langfuse: the CSV or JSON export of its table, or what its API returns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from judgelab.dataset.logs.log import Log, LogFile, Unit, each, either, rows_of
from judgelab.dataset.rows import PEOPLE

TOOL = "Langfuse scores"
ITEMS = "traces"
SOURCES = {"EVAL", "ANNOTATION", "API"}
BY_PEOPLE = re.compile(r"human|user|annotat|thumb|feedback", re.IGNORECASE)
"""In the name of a score that came by API: people gave it."""


def recognises(content: Any) -> bool:
    """Scores have a name, a type and one of three sources."""
    rows = rows_of(content, "data")
    return any({"name", "dataType"} <= row.keys() and row.get("source") in SOURCES for row in rows)


def read(files: Sequence[LogFile], log: Log) -> None:
    """Traces are items, names criteria; EVAL and API judge, ANNOTATION is a person."""
    for row in each(files, "data"):
        place = either(row, "traceId", "sessionId", "datasetRunId")
        if row.get("dataType") in ("CORRECTION", "TEXT") or not place:
            log.left_out["corrections and texts"] += 1
            continue
        name, span = str(row.get("name")), row.get("observationId")
        unit = log.unit(f"{place}/{span}" if span else str(place), cluster=span and str(place))
        value = either(row, "stringValue", "value")  # the number of a category is its place
        by_hand = row["source"] == "API" and BY_PEOPLE.search(name)
        if row["source"] == "ANNOTATION" or by_hand:
            author = either(row, "authorUserName", "authorUserId")
            unit.label(author or _anybody(unit, name), value, name)
        else:
            unit.verdict(name, value, name, row.get("comment"))


def _anybody(unit: Unit, criterion: str) -> str:
    """Who gave a label without a name: another person for each one of a text."""
    k = sum(key[:2] == (criterion, True) and key[2].startswith(PEOPLE) for key in unit.opinions)
    return f"{PEOPLE} {k + 1}" if k else PEOPLE
