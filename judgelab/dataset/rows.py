"""The row on which all readers meet: who said what of which text or pair."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from judgelab.core.errors import DataError, did_you_mean
from judgelab.dataset.columns import Layout
from judgelab.dataset.files import MISSING, Records, cell_text, number, refuse

Category = Literal["Faithful", "Low Effort", "Other", "Strategic", "Style"]
CATEGORIES = get_args(Category)
PEOPLE = "people"  # who gave labels that come without a name
TEXT = "response"  # system of a text that has none
PAIR = ("first", "second")  # systems of a pair that has no names
FIGURES = ("words", "other_words", "turn")
NUMBERS = {"human", "preference", "order", "verdict", "score", *FIGURES}
NAMES = ("id", "agent", "other", "stratum", "cluster", "criterion")
TEXTS = ("source", "reference", "synopsis", "text", "other_text")  # whose blanks are kept
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)


class Opinion(NamedTuple):
    """A person's label or a judge's verdict."""

    who: str  # the person or judge
    cell: str  # as it was written; ``Meaning`` reads it. A blank verdict is one that is missing.
    order: int = 0  # of a verdict on a pair: 1 where ``other`` was shown first
    reason: str = ""  # why there is no verdict
    run: str = ""  # which of several times the judge was asked


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What one row of a table, or entry of a log, says: all that ``PanelBuilder`` knows of it.

    Facts that are empty are those that the row does not say; a row without ``agent`` is of the
    item alone. Blanks around names mean nothing: they are left out here, whoever makes the row.

    Raises:
        DataError: it cannot be so.
    """

    line: int | str  # where it stands, for messages
    id: str  # the item
    agent: str = ""  # agent, other: who wrote the text, and the other one of a pair
    other: str = ""
    source: str = ""  # source, reference, synopsis: of the item
    reference: str = ""
    synopsis: str = ""
    category: str = ""  # of the agent
    text: str = ""  # text, other_text: of ``agent`` and ``other``
    other_text: str = ""
    # words, other_words: how many words these have, where they are not there to be counted
    words: float = np.nan
    other_words: float = np.nan
    stratum: str = ""  # stratum, cluster, turn: of the text or pair; see ``core.judgments.Units``
    cluster: str = ""
    turn: float = np.nan
    criterion: str = ""  # what is judged, where a file holds several questions
    labels: tuple[Opinion, ...] = ()  # what people said of it
    verdicts: tuple[Opinion, ...] = ()  # what judges said of it

    def __post_init__(self) -> None:
        for name in NAMES:
            object.__setattr__(self, name, getattr(self, name).strip())
        for kind in ("labels", "verdicts"):
            opinions = tuple(
                Opinion(who.strip(), cell, order, reason.strip(), run.strip())
                for who, cell, order, reason, run in getattr(self, kind)
            )
            object.__setattr__(self, kind, opinions)
        if not self.id:
            raise DataError("id is empty")
        if not self.agent and (self.other or self.text or self.labels or self.verdicts):
            raise DataError("agent is empty")
        if self.agent and self.agent == self.other:
            raise DataError(f"agent and other are both {self.agent!r}")
        if self.labels and not all(one.who for one in self.labels):
            raise DataError("rater is empty, and nobody's label means nothing")
        if self.verdicts and not all(one.who for one in self.verdicts):
            raise DataError("judge is empty, and nobody's verdict means nothing")
        if self.words < 0 or self.other_words < 0:
            raise DataError("words are fewer than none")
        if not self.other and any(one.order for one in self.verdicts):
            raise DataError("order 1 is of pairs; this is one text")


def natural(name: str) -> list[tuple[str, int, str]]:
    """The place of a name: digits by their number; the name itself, as 02 and 2 may not tie."""
    parts = re.findall(r"(\D*)0*(\d*)", name)
    return [*((text, len(digits), digits) for text, digits in parts), (name, 0, "")]


def in_order(rows: Sequence[JudgedRow]) -> list[JudgedRow]:
    """Rows by what they are about, item 2 before item 10, then by who says it: whatever is drawn by
    place, or hangs on who comes first, is the same in whatever order a table has its rows."""

    def names(row: JudgedRow) -> tuple[str, ...]:
        people = (one.who for one in (*row.labels, *row.verdicts))
        return row.id, row.agent, row.other, row.criterion, *people

    each = sorted({name for row in rows for name in names(row)}, key=natural)
    place = {name: k for k, name in enumerate(each)}
    return sorted(
        rows,
        key=lambda row: (
            [place[name] for name in names(row)],
            [(one.order, one.run) for one in row.verdicts],
        ),
    )


def table_rows(records: Records, layout: Layout, where: str) -> list[JudgedRow]:
    """What the rows of a table say, long or wide; DataError where they are not as rows must be."""
    columns = [name for name in records.columns if name not in layout.unread]
    words = {column for name, column in layout.columns.items() if name not in NUMBERS}
    rows, faults, sources = list[JudgedRow](), list(records.faults), dict[str, int]()
    for k, (line, record) in enumerate(records.rows, start=1):
        cells, whys = dict[str, str](), list[str]()
        for name in columns:
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
        except DataError as cause:
            whys.append(str(cause))
        faults += [f"{records.noun} {line}: {why}" for why in whys]
    refuse(where, list(dict.fromkeys(faults)))
    return rows


def _table_row(
    line: int, cells_of: Mapping[str, str], cells: Mapping[str, str], layout: Layout
) -> JudgedRow:
    """What a row says, its systems named; ``cells_of`` are cells by judgelab's names of columns."""
    facts = {name: x if name in TEXTS else x.strip() for name, x in cells_of.items()}
    if "agent" not in facts:
        facts["agent"] = PAIR[0] if layout.pairs else TEXT
        facts |= {"other": facts.get("other", PAIR[1])} if layout.pairs else {}
    label, run = facts.pop("human", None), facts.pop("run", "")
    preference = facts.pop("preference", None)
    if preference is not None and facts.get("other"):
        label = preference
    rater = facts.pop("rater", PEOPLE)
    labels = [Opinion(name, cells[column]) for name, its in layout.raters.items() for column in its]
    if label is not None and (rater or label):
        labels.append(Opinion(rater, label))
    order = number(its) if (its := facts.pop("order", "")) else 0
    swapped = int(order == 1)
    verdicts = [
        Opinion(name, cells[column], place if len(its) > 1 else swapped, "", run)
        for name, its in layout.judges.items()
        for place, column in enumerate(its)
        if cells[column].strip()
    ]
    who, verdict, score = (facts.pop(name, None) for name in ("judge", "verdict", "score"))
    if (verdict := verdict or score or "") or who:
        who = "judge" if who is None else who
        verdicts.append(Opinion(who, verdict, swapped, facts.get("reason", ""), run))
    if verdicts and order not in (0, 1):
        cell = shorten(cells_of["order"])
        raise DataError(f"order {cell} is no order, which is 0 (agent is shown first) or 1")
    facts.pop("reason", None)
    category = facts.get("category", "")
    if category.lower() in MISSING:
        facts["category"] = ""
    elif category not in CATEGORIES:
        raise DataError(f"category {shorten(category)} must be {', '.join(CATEGORIES)}")
    row: dict[str, Any] = {**facts, "labels": tuple(labels), "verdicts": tuple(verdicts)}
    for name in (name for name in FIGURES if name in facts):
        row[name] = number(facts[name])
        if row[name] != row[name] and facts[name].lower() not in MISSING:
            raise DataError(f"{name} {shorten(facts[name])} is no number")
    return JudgedRow(line, **row)


def shorten(value: object) -> str:
    """A value for a message."""
    text = repr(value)
    return text if len(text) <= 42 else text[:39] + "..."


def near(name: str, names: Iterable[str]) -> str:
    """``, did you mean 'x'?`` where a known name is close; otherwise nothing."""
    hint = did_you_mean(name, names)
    return f", did{hint[4:]}" if hint.startswith(" Did") else ""
