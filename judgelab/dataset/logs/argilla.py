"""Exports of Argilla: records with responses of people and suggestions of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judgelab.dataset.files import Row, cell_text
from judgelab.dataset.logs.log import Log, LogFile, each, facts_of, part, prose, rows_of
from judgelab.dataset.rows import PEOPLE

TOOL = "an Argilla export"
ITEMS = "records"
RESPONSES, SUGGESTION = ".responses", ".suggestion"  # ends of columns, where records are flat
NO_FIELDS = ("id", "status", "_server_id")


def recognises(content: Any) -> bool:
    """Records hold fields and responses; or a status and columns that end so."""
    return any(
        {"fields", "responses", "suggestions"} <= row.keys()
        or ("status" in row and any(key.endswith(RESPONSES) for key in row))
        for row in rows_of(content)
    )


def read(files: Sequence[LogFile], log: Log) -> None:
    """Records are items, questions criteria; users are people, agents of suggestions judges."""
    for row in each(files):
        flat = {key: its for key, its in row.items() if "." not in key and key not in NO_FIELDS}
        facts = facts_of(part(row, "fields") or flat)
        unit = log.unit(prose(row.get("id")), facts.pop("agent", "response"), **facts)
        for question, value, who, status in _responses(row):
            if status == "discarded" or cell_text(value) is None:
                log.left_out["responses that are discarded, spans or several labels"] += 1
            else:
                unit.label(who or PEOPLE, value, question)
        for question, value, agent in _suggestions(row):
            if cell_text(value):
                unit.verdict(agent or "suggestion", value, question)


def _responses(row: Row) -> Iterator[tuple[str, Any, str, str]]:
    """(question, value, user, status)."""
    for question, its in part(row, "responses").items():
        for one in rows_of(its):
            yield question, one.get("value"), prose(one.get("user_id")), prose(one.get("status"))
    for key in (key for key in row if key.endswith(RESPONSES)):
        values = row[key] or []
        more = (row.get(f"{key}.{name}") or [""] * len(values) for name in ("users", "status"))
        for value, who, status in zip(values, *more, strict=True):
            yield key.removesuffix(RESPONSES), value, prose(who), prose(status)


def _suggestions(row: Row) -> Iterator[tuple[str, Any, str]]:
    """(question, value, agent)."""
    for question, one in part(row, "suggestions").items():
        yield question, one.get("value"), prose(one.get("agent"))
    for key in (key for key in row if key.endswith(SUGGESTION)):
        yield key.removesuffix(SUGGESTION), row[key], prose(row.get(f"{key}.agent"))
