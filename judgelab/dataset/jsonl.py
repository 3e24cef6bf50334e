"""A user's own panel: one JSON object an item, another spelling of the long table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, FiniteFloat, ValidationError

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Agent, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.files import Row, read_records, refuse
from judgelab.dataset.meaning import RATERS, Categories, Meaning, Preferences
from judgelab.dataset.rows import (
    PEOPLE,
    Category,
    FullText,
    Id,
    JudgedRow,
    fault_of,
    gathered,
    near,
)
from judgelab.dataset.table import file_facts


def _present(given: object) -> object:
    """Without nulls, which say the same as a key that is absent."""
    return {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else given


def _by_rater(given: object) -> object:
    return _present(given) if isinstance(given, Mapping) else {PEOPLE: given}


Grades = Annotated[dict[str, FiniteFloat], BeforeValidator(_by_rater)]


class Record(BaseModel):
    """One line: an item, the responses to it and their human scores, by rater."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    id: Id
    source: FullText
    reference: str | None = None
    synopsis: str | None = None
    responses: Annotated[dict[FullText, FullText], BeforeValidator(_present)] = {}
    human: Annotated[dict[str, Grades], BeforeValidator(_present)] = {}


KEYS = tuple(Record.model_fields)


@dataclass(frozen=True, kw_only=True)
class Jsonl(LimitedDataset):
    """Items, responses and human scores of a user's own.

    A line holds ``id`` (text or a whole number), ``source``, and optionally ``reference``,
    ``synopsis``, ``responses`` (agent: text) and ``human`` (agent: score, or rater: score)::

        {"id": "a1", "source": "...", "responses": {"gpt": "...", "me": "..."}, "human": {"me": 4}}

    An agent that is absent from a line, or null there, did not answer that item: its text is
    None and stays unscored. Columns follow ``agents``, then the order of first appearance. Other
    keys are listed in the record, unless they are misspelled ones of these.

    Args:
        path: the file; UTF-8, a byte order mark and blank lines are tolerated.
        task: summarization, translation, peer_review, or a word of your own.
        task_description: one line for prompts.
        noun: what a source is called in prompts.
        agents: name and category (Faithful, Style, Strategic, Low Effort, Other, or null) of
            agents; null: none has one.
        reference_agent: the agent that is the human reference, a peer but not itself tested.
    """

    path: str
    task: str = "summarization"
    task_description: str = "Summarise a text"
    noun: str = "text"
    agents: Mapping[str, Category | None] | None = None
    reference_agent: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.path:
            raise ConfigError("dataset=jsonl needs dataset.path=FILE.")

    def _panel(self, limit: int | None) -> Panel:
        read = read_records(self.path)
        where = repr(self.path)
        faults, lines = list(read.faults), dict[str, int]()
        records: list[tuple[int, Record]] = []
        for line, row in read.rows:
            try:
                records.append((line, self._record(row, line, lines)))
            except (ValidationError, DataError) as cause:
                why = fault_of(cause) if isinstance(cause, ValidationError) else cause
                faults.append(f"{read.noun} {line}: {why}")
        refuse(where, faults)
        answering = dict.fromkeys(name for _, record in records for name in record.responses)
        given = {str(name): category for name, category in (self.agents or {}).items()}
        asked = {**given, **({self.reference_agent: None} if self.reference_agent else {})}
        scored = {name: f"line {line}: " for line, record in records for name in record.human}
        for name, place in {**dict.fromkeys(asked, "dataset.agents: "), **scored}.items():
            if name not in answering:
                hint = near(name, answering)
                raise DataError(f"{where}, {place}{name!r} has no response in this file{hint}")
        names = list(dict.fromkeys([*given, *answering]))
        rows = [row for line, record in records for row in _rows(line, record, names)]
        said = {RATERS: Counter(one.cell for row in rows for one in row.labels)}
        grades = Meaning("grade", Preferences.of({}, None), Categories(), said, {}, False)
        panel = gathered(rows, grades, where).panel(
            file_facts(self.path)
            | {"columns_not_read": [name for name in read.columns if name not in KEYS]}
            | {"task_description": self.task_description},
            limit,
            self.task,
            [Agent(one, given.get(one), one == self.reference_agent) for one in names],
        )
        table = panel.judgments  # a reference is not judged
        told = table and table.at(np.asarray(table.units.first != self.reference_agent, np.bool_))
        return replace(panel, judgments=told)

    def _record(self, row: Row, line: int, lines: dict[str, int]) -> Record:
        """A line as it must be; ``lines`` has that of each id."""
        for key in row:
            if key not in KEYS and (hint := near(key, KEYS)):
                raise DataError(f"unknown key {key!r}{hint}")
        record = Record(**{key: row[key] for key in KEYS if row.get(key) is not None})
        if (first := lines.setdefault(record.id, line)) != line:
            raise DataError(f"the id {record.id!r} was used in line {first}")
        return record


def _rows(line: int, record: Record, names: Sequence[str]) -> list[JudgedRow]:
    """A row of the item, and one of each text."""
    facts = {"source": record.source, "reference": record.reference, "synopsis": record.synopsis}
    item: dict[str, Any] = {"line": line, "id": record.id}
    rows = [item | {key: text for key, text in facts.items() if text}]
    for name in names:
        if name in record.responses or name in record.human:
            labels = [(who, repr(grade)) for who, grade in record.human.get(name, {}).items()]
            text = record.responses.get(name, "")
            rows.append(item | {"agent": name, "text": text, "labels": labels})
    return [JudgedRow.model_validate(row) for row in rows]
