"""The row on which all readers meet: who said what of which text or pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from judgelab.core.errors import did_you_mean
from judgelab.dataset.columns import Layout
from judgelab.dataset.files import MISSING, Records, cell_text, number, refuse

Category = Literal["Faithful", "Low Effort", "Other", "Strategic", "Style"]
PEOPLE = "people"  # who gave labels that come without a name
TEXT = "response"  # system of a text that has none
PAIR = ("first", "second")  # systems of a pair that has no names
FIGURES = {"human", "preference", "order", "verdict", "score", "words", "other_words", "turn"}
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)


def _finite(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    value = number(cell)
    if value != value and cell.strip().lower() not in MISSING:
        raise ValueError("is no number")
    return value


def _place(cell: object) -> object:
    place = number(cell) if isinstance(cell, str) and cell.strip() else cell or 0
    if place not in (0, 1):
        raise ValueError("is no order, which is 0 (agent is shown first) or 1 (other is)")
    return int(place)


def _full(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()


Name = Annotated[str, StringConstraints(strip_whitespace=True)]
Number = Annotated[float, BeforeValidator(_finite)]


class Opinion(NamedTuple):
    """A person's label or a judge's verdict."""

    who: Name  # the person or judge
    cell: str  # as it was written; ``Meaning`` reads it. A blank verdict is one that is missing.
    # of a verdict on a pair: 1 where ``other`` was shown first
    order: Annotated[int, BeforeValidator(_place)] = 0
    reason: Name = ""  # why there is no verdict
    run: Name = ""  # which of several times the judge was asked


class JudgedRow(BaseModel):
    """What one row of a table, or entry of a log, says: all that ``PanelBuilder`` knows of it.

    Facts that are empty are those that the row does not say; a row without ``agent`` is of the
    item alone.
    """

    model_config = ConfigDict(frozen=True)

    line: int | str  # where it stands, for messages
    id: Annotated[str, AfterValidator(_full)]  # the item
    agent: Name = ""  # agent, other: who wrote the text, and the other one of a pair
    other: Name = ""
    source: str = ""  # source, reference, synopsis: of the item
    reference: str = ""
    synopsis: str = ""
    category: Literal["", Category] = ""  # of the agent
    text: str = ""  # text, other_text: of ``agent`` and ``other``
    other_text: str = ""
    # words, other_words: how many words these have, where they are not there to be counted
    words: Number = np.nan
    other_words: Number = np.nan
    stratum: Name = ""  # stratum, cluster, turn: of the text or pair; see ``core.judgments.Units``
    cluster: Name = ""
    turn: Number = np.nan
    criterion: Name = ""  # what is judged, where a file holds several questions
    labels: tuple[Opinion, ...] = ()  # what people said of it
    verdicts: tuple[Opinion, ...] = ()  # what judges said of it

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.agent and (self.other or self.text or self.labels or self.verdicts):
            raise ValueError("agent is empty")
        if self.agent and self.agent == self.other:
            raise ValueError(f"agent and other are both {self.agent!r}")
        if not all(one.who for one in self.labels):
            raise ValueError("rater is empty, and nobody's label means nothing")
        if not all(one.who for one in self.verdicts):
            raise ValueError("judge is empty, and nobody's verdict means nothing")
        if self.words < 0 or self.other_words < 0:
            raise ValueError("words are fewer than none")
        if not self.other and any(one.order for one in self.verdicts):
            raise ValueError("order 1 is of pairs; this is one text")
        return self


def table_rows(records: Records, layout: Layout, where: str) -> list[JudgedRow]:
    """What the rows of a table say, long or wide; DataError where they are not as rows must be."""
    used = [name for name in records.columns if name not in layout.unread]
    words = {column for name, column in layout.columns.items() if name not in FIGURES}
    rows, faults, sources = list[JudgedRow](), list(records.faults), dict[str, int]()
    for k, (line, record) in enumerate(records.rows, start=1):
        cells, whys = dict[str, str](), list[str]()
        for name in used:
            cell = cell_text(record.get(name))
            if cell is None:
                whys.append(f"the cell {name!r} is no number and no Unicode text")
            elif records.comma and name not in words and COMMA.fullmatch(cell.strip()):
                cell = cell.replace(",", ".")
            cells[name] = cell or ""
        facts = {name: cells[column] for name, column in layout.columns.items()}
        if layout.numbers:
            source = facts.get("source", "").strip()
            number = sources.setdefault(source or f"row {k}", len(sources) + 1)
            facts["id"] = str(number)
            if layout.numbers == "rows":
                facts["id"] = str(k)
                facts.setdefault("cluster", f"source {number}")  # such rows are not independent
        alone = "agent" in facts and not facts.get("other", "").strip()
        if alone and facts.get("preference", "").strip():
            whys.append("preference is between two texts; dataset.columns.other names no other one")
        try:
            rows.append(_table_row(line, facts, cells, layout))
        except ValidationError as cause:
            whys.append(fault_of(cause))
        faults += [f"{records.noun} {line}: {why}" for why in whys]
    refuse(where, list(dict.fromkeys(faults)))
    return rows


def _table_row(
    line: int, facts: dict[str, str], cells: Mapping[str, str], layout: Layout
) -> JudgedRow:
    """What a row says, its systems named; ``facts`` are cells by judgelab's names of columns."""
    if "agent" not in facts:
        facts["agent"] = PAIR[0] if layout.pairs else TEXT
        facts |= {"other": facts.get("other", PAIR[1])} if layout.pairs else {}
    label, order, run = facts.get("human"), facts.get("order", ""), facts.get("run", "")
    if "preference" in facts and facts.get("other", "").strip():
        label = facts["preference"]
    rater = facts.get("rater", PEOPLE)
    labels = [(name, cells[column]) for name, its in layout.raters.items() for column in its]
    if label is not None and (rater.strip() or label.strip()):
        labels.append((rater, label))
    verdicts = [
        (name, cells[column], place if len(its) > 1 else order, "", run)
        for name, its in layout.judges.items()
        for place, column in enumerate(its)
        if cells[column].strip()
    ]
    judge, verdict = facts.get("judge", "judge"), facts.get("verdict") or facts.get("score", "")
    if verdict.strip() or ("judge" in facts and judge.strip()):
        verdicts.append((judge, verdict, order, facts.get("reason", ""), run))
    said = {"line": line, "labels": labels, "verdicts": verdicts}
    return JudgedRow.model_validate(facts | said)


def fault_of(cause: ValidationError) -> str:
    """The first thing that is wrong with a row, and where in it."""
    error = cause.errors()[0]
    where = ".".join(part for part in map(str, error["loc"]) if not part.isdigit())
    if error["type"] == "missing":
        return f"{where} is missing"
    why = error["msg"].removeprefix("Value error, ")
    if not error["loc"] or why == "is empty":
        return f"{where} {why}".strip()
    why = why.replace("Input should be", "must be")
    return f"{where} {shortened(error['input'])} {why[0].lower()}{why[1:]}"


def shortened(value: object) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 42 else text[:39] + "..."


def near(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` where a known name is close; otherwise nothing."""
    hint = did_you_mean(name, known)
    return f", did{hint[4:]}" if hint.startswith(" Did") else ""
