"""A user's own panel: one JSON object an item, another spelling of the long table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.files import Records, Row, read_records
from judgelab.dataset.logs import file_facts
from judgelab.dataset.rows import PEOPLE, Category, near
from judgelab.dataset.table import LabelledTable

FACTS = ("id", "source", "reference", "synopsis")
KEYS = (*FACTS, "responses", "human")
COLUMNS = (*FACTS, "agent", "text", "rater", "human")


@dataclass(frozen=True, kw_only=True)
class Jsonl(LimitedDataset):
    """Items, responses and human scores of a user's own, as ``docs/datasets.md`` says.

    An agent that is absent from a line, or null there, did not answer that item: its text is
    None and stays unscored. Columns follow ``agents``, then the names.
    """

    path: str
    task: str = "summarization"
    task_description: str = "Summarise a text"
    noun: str = "text"
    agents: Mapping[str, Category | None] | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("dataset=jsonl needs dataset.path=FILE.")

    def _panel(self, limit: int | None) -> Panel:
        source = read_records(self.path)
        records = Records(faults=list(source.faults), columns=COLUMNS, noun=source.noun)
        lines: dict[str, int] = {}
        for line, row in source.rows:
            try:
                id_ = str(row.get("id", f"line {line}"))
                if (first := lines.setdefault(id_, line)) != line:
                    raise DataError(f"the id {id_!r} was used in line {first}")
                records.rows += [(line, one) for one in _rows(row)]
            except DataError as cause:
                records.faults.append(f"{source.noun} {line}: {cause}")
        agents = {one["agent"] for _, one in records.rows if one.get("text")}
        for line, one in records.rows:
            if (name := one.get("agent", "")) and name not in agents:
                why = f"{name!r} has no response in this file{near(name, agents)}"
                records.faults.append(f"{source.noun} {line}: {why}")
        table = LabelledTable(
            kind="grade",
            columns={name: name for name in COLUMNS},
            agents=self.agents,
            task=self.task,
            task_description=self.task_description,
        )
        panel = table.panel(records, repr(self.path), file_facts(self.path), limit)
        unread = [name for name in source.columns if name not in KEYS]
        facts = {key: value for key, value in panel.provenance.items() if key != "columns"}
        return replace(panel, provenance=facts | {"columns_not_read": unread})


def _rows(row: Row) -> Iterator[dict[str, Any]]:
    """A row of the item, and one of each text or of each grade of it."""
    for key in row:
        if key not in KEYS and (hint := near(key, KEYS)):
            raise DataError(f"unknown key {key!r}{hint}")
    item: dict[str, Any] = {key: row.get(key) for key in FACTS}
    if not any(str(item[key] or "").strip() for key in ("source", "synopsis")):
        raise DataError("source is missing")
    texts, human = (row.get(key) or {} for key in ("responses", "human"))
    if not isinstance(texts, Mapping) or not isinstance(human, Mapping):
        raise DataError("responses and human must be objects, whose keys are agents")
    yield item
    for name in dict.fromkeys([*texts, *human]):
        grades = human.get(name)
        grades = grades if isinstance(grades, Mapping) else {PEOPLE: grades}
        labels = {who: grade for who, grade in grades.items() if grade is not None}
        text = item | {"agent": name, "text": texts.get(name)}
        if text["text"] is not None:
            yield text
        yield from (text | {"rater": who, "human": grade} for who, grade in labels.items())
