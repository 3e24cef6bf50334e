"""Traces of MLflow with their assessments, as ``search_traces`` or a trace gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judgelab.dataset.files import Row, unpack
from judgelab.dataset.logs.log import Log, LogFile, either, part, prose, rows_of

TOOL = "MLflow traces"
ITEMS = "traces"


def recognises(content: Any) -> bool:
    """Traces list assessments, each with the type of its source."""
    return any(_assessments(row) for row in _traces(content))


def read(files: Sequence[LogFile], log: Log) -> None:
    """Traces are items, names of assessments criteria; HUMAN is a person, the others judge."""
    for row in (row for _, content in files for row in _traces(content)):
        info = {**row, **part(row, "data"), **part(row, "info")}
        request, response = _text(info, "request"), _text(info, "response")
        id_ = str(either(info, "trace_id", "request_id") or f"trace {len(log.units) + 1}")
        unit = log.unit(id_, source=request, text=response)
        for one in _assessments(row):
            name, source = prose(either(one, "assessment_name", "name")), part(one, "source")
            feedback, expectation = part(one, "feedback"), part(one, "expectation")
            who = prose(source.get("source_id"))
            if one.get("valid") is False:
                log.left_out["assessments that another one overrides"] += 1
            elif expectation:
                unit.facts.setdefault("reference", prose(expectation.get("value")))
            elif source["source_type"] == "HUMAN":
                unit.label(who or "people", feedback.get("value"), name)
            else:
                error = part(feedback, "error") or part(one, "error")
                why = either(error, "error_message", "error_code")
                unit.verdict(who or name, feedback.get("value"), name, why)


def _traces(content: Any) -> list[Row]:
    one = isinstance(content, Mapping) and "info" in content
    return [content] if one else rows_of(content, "traces")


def _assessments(row: Row) -> list[Row]:
    its = part(row, "info").get("assessments") or row.get("assessments")
    its = rows_of(its if isinstance(its, list) else unpack(its))
    return [one for one in its if "source_type" in part(one, "source")]


def _text(info: Row, key: str) -> str:
    """What was asked or answered; JSON with one key as what it holds."""
    value = either(info, key, f"{key}_preview")
    inner = unpack(value)
    if isinstance(inner, Mapping) and len(inner) == 1:
        inner = next(iter(inner.values()))
    return prose(value if inner is None else inner)
