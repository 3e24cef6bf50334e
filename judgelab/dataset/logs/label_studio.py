"""JSON exports of Label Studio: tasks with annotations of people and predictions of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judgelab.dataset.columns import COLUMNS
from judgelab.dataset.files import Row
from judgelab.dataset.logs.log import Log, LogFile, each, either, facts_of, part, prose, rows_of
from judgelab.dataset.rows import PEOPLE

TOOL = "a Label Studio export"
ITEMS = "tasks"
KINDS = ("annotations", "completions", "predictions")


def recognises(content: Any) -> bool:
    """Tasks hold data and annotations, or completions, as they were called once."""
    return any("data" in row and row.keys() & {*KINDS[:2]} for row in rows_of(content))


def read(files: Sequence[LogFile], log: Log) -> None:
    """Tasks are items, controls criteria; annotators are people, predictions judges."""
    for row in each(files):
        data = part(row, "data")
        own = either(data, "id", *COLUMNS["id"])  # by which other files know the item
        id_ = str(own or row.get("id") or f"task {len(log.units) + 1}")
        facts = facts_of(data)
        agent = facts.pop("agent", "response")
        for kind, one in ((key, one) for key in KINDS for one in rows_of(row.get(key))):
            if one.get("was_cancelled") or one.get("skipped"):
                log.left_out["skipped annotations"] += 1
                continue
            for control, value, objects in _values(one, log):
                names, texts = (agent, ""), facts
                if objects:
                    sides = [prose(data.get(name)) for name in (*objects.split(","), "")]
                    texts = {"text": sides[0], "other_text": sides[1]}
                    names, texts = ("left", "right"), texts | {"source": facts.get("source", "")}
                unit = log.unit(id_, *names, alike=texts.get("text", ""), **texts)
                if kind == "predictions":
                    unit.verdict(prose(one.get("model_version")) or "prediction", value, control)
                else:
                    unit.label(_who(one), value, control)


def _who(annotation: Row) -> str:
    by = annotation.get("completed_by")
    return prose(either(part(annotation, "completed_by"), "email", "id") or by) or PEOPLE


def _values(annotation: Row, log: Log) -> Iterator[tuple[str, object, str]]:
    """(control, value, the two objects of a pair) of each choice, grade or side."""
    for one in rows_of(annotation.get("result")):
        kind, value, control = one.get("type"), part(one, "value"), prose(one.get("from_name"))
        choices = value.get("choices") or []
        if kind == "choices" and len(choices) == 1:
            yield control, choices[0], ""
        elif kind in ("rating", "number"):
            yield control, value.get(kind), ""
        elif kind == "pairwise":
            yield control, value.get("selected"), prose(one.get("to_name")) or "left,right"
        else:
            log.left_out["answers that are regions, texts or several choices"] += 1
