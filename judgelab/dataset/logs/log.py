"""What a reader makes of a log: who said what of which text, and what it left out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from judgelab.core.errors import DataError, listed
from judgelab.dataset.files import Row, cell_text, refuse, unpack
from judgelab.dataset.meaning import LONGEST, MOST, is_figure
from judgelab.dataset.rows import TEXT, JudgedRow, Opinion

NAMES: Mapping[str, Sequence[str]] = {
    "source": ("source", "prompt", "question", "instruction", "input", "query", "document"),
    "text": ("response", "answer", "output", "completion", "generation", "summary", "text"),
    "agent": ("agent", "model", "system", "model_name"),
    "reference": ("reference", "expected_output", "expected", "target", "ground_truth"),
}
"""Fact -> names under which people keep it in tools that leave names to them."""

OVERALL = "overall"  # the criterion of what has none, where others have one
SINGULAR = {"criteria": "criterion", "people": "person"}


class LogFile(NamedTuple):
    """A file that was read."""

    path: Path
    content: Any  # an object of JSON, or a list of them: the rows


class Reader(Protocol):
    """A module of this package: whose files it reads, and how."""

    TOOL: str  # as in "Read as an Inspect log"
    ITEMS: str  # what its items are called

    def recognises(self, content: Any) -> bool:
        """Whether a file is this tool's, by what it holds."""
        ...

    def read(self, files: Sequence[LogFile], log: Log) -> None:
        """Take what the files say; DataError where they do not belong together."""
        ...


@dataclass(slots=True)
class Unit:
    """A text or a pair, and what was said of it."""

    facts: dict[str, Any]  # of ``JudgedRow``
    # (criterion, whether a person said it, who, run) -> it
    opinions: dict[tuple[str, bool, str, str], Opinion] = field(default_factory=dict)

    def label(self, who: object, value: object, criterion: str = "") -> None:
        """What a person said last; a blank value says nothing."""
        if cell := (cell_text(value) or "").strip():
            name, criterion = str(who).strip(), criterion.strip()
            self.opinions[criterion, True, name, ""] = Opinion(name, cell)

    def verdict(self, who: str, value: object, criterion: str = "", reason: object = "") -> None:
        """What a judge said; a blank value is a missing verdict, and ``reason`` says why."""
        who, criterion = who.strip(), criterion.strip()  # one judge, however a log spells it
        times = sum(key[:3] == (criterion, False, who) for key in self.opinions)
        run, cell = str(times + 1) if times else "", (cell_text(value) or "").strip()
        why = "" if cell else " ".join(prose(reason).split())[:100]
        self.opinions[criterion, False, who, run] = Opinion(who, cell, reason=why, run=run)


@dataclass(slots=True)
class Log:
    """What files of a tool say."""

    tool: str
    noun: str  # what its items are called
    counts: Counter[str] = field(default_factory=Counter)  # plural noun -> how many more there are
    left_out: Counter[str] = field(default_factory=Counter)  # the same -> how many there are
    units: dict[tuple[str, str, str], Unit] = field(default_factory=dict)
    # (item, agent, other) -> what makes two answers one -> which of several it is
    answers: dict[tuple[str, str, str], dict[str, int]] = field(default_factory=dict)

    def unit(
        self, item: str, agent: str = TEXT, other: str = "", alike: str = "", **facts: Any
    ) -> Unit:
        """The text of ``agent`` for an item, or its pair with the text of ``other``; ``facts`` are
        of ``JudgedRow``.

        Where an agent answers an item more than once, ``alike`` makes two answers one; those that
        differ become items of their own, in the cluster of the first.
        """
        item, agent, other = (name.strip() for name in (item, agent, other))
        answers = self.answers.setdefault((item, agent, other), {})
        place = answers.setdefault(alike, len(answers) + 1)
        ids = {"id": item, "agent": agent, "other": other}
        if place > 1:
            ids |= {"id": f"{item} ({place})", "cluster": item}
        unit = self.units.setdefault((ids["id"], agent, other), Unit({**ids}))
        unit.facts |= {name: value for name, value in facts.items() if value}
        return unit

    @property
    def criteria(self) -> list[str]:
        """The questions of a file; [""] where people have at most one, and judges, too."""
        keys = [key for unit in self.units.values() for key in unit.opinions]
        people, judges = ({name for name, by, *_ in keys if by == who} for who in (True, False))
        several = len(people) > 1 or len(judges) > 1
        return list(dict.fromkeys(name for name, *_ in keys)) if several else [""]

    def without_texts(self) -> None:
        """Leave out criteria that are answered in free texts, such as remarks."""
        cells: dict[str, list[str]] = {}
        for unit in self.units.values():
            for (name, *_), one in unit.opinions.items():
                cells.setdefault(name, []).append(one.cell)
        for name, its in cells.items():
            words = {cell for cell in its if not is_figure(cell)}
            if len(words) > MOST or 2 * sum(len(cell) > LONGEST for cell in its) > len(its):
                self.left_out["criteria in free texts"] += 1
                for unit in self.units.values():
                    unit.opinions = {k: x for k, x in unit.opinions.items() if k[0] != name}

    def rows(self, where: str) -> list[JudgedRow]:
        """A row of each unit and criterion; DataError if one is not as a row must be."""
        rows, faults, several = list[JudgedRow](), list[str](), len(self.criteria) > 1
        for line, unit in enumerate(self.units.values(), start=1):
            groups: dict[str, dict[str, tuple[Opinion, ...]]] = {}
            for (criterion, by_person, _, _), one in unit.opinions.items():
                name = (criterion or OVERALL) if several else ""
                own = groups.setdefault(name, {"labels": (), "verdicts": ()})
                own["labels" if by_person else "verdicts"] += (one,)
            for criterion, opinions in (groups or {"": {}}).items():
                facts = {**unit.facts, "line": line, "criterion": criterion, **opinions}
                try:
                    rows.append(JudgedRow(**facts))
                except DataError as cause:
                    faults.append(f"entry {line}: {cause}")
        refuse(where, faults)
        return rows

    @property
    def sentence(self) -> str:
        """What a file was read as, and what was left out."""
        keys = [key for unit in self.units.values() for key in unit.opinions]
        agents = {name for _, *names in self.answers for name in names if name}
        several = {"agents": len(agents), "criteria": len(self.criteria)} | self.counts
        sizes = {
            self.noun: len({item for item, *_ in self.answers}),
            **{noun: n for noun, n in several.items() if n > 1},
            "judges": len({who for _, by_person, who, _ in keys if not by_person}),
            "people": len({who for _, by_person, who, _ in keys if by_person}),
        }
        line = f"Read as {self.tool}: {listed(_counts_in_words(sizes)) or 'nothing'}."
        rest = _counts_in_words(self.left_out)
        return f"{line} Left out: {listed(rest)}." if self.left_out else line


def _counts_in_words(counts: Mapping[str, int]) -> list[str]:
    """``60 samples``, ``1 sample with errors``."""
    parts = []
    for noun, n in counts.items():
        first, *rest = noun.split(" ", 1)
        first = SINGULAR.get(first, first.removesuffix("s")) if n == 1 else first
        parts += [" ".join([f"{n:,}", first, *rest])] if n else []
    return parts


def each(files: Sequence[LogFile], *keys: str) -> Iterator[Row]:
    """The objects of all files, of lists or of the first of these keys."""
    return (row for _, content in files for row in rows_of(content, *keys))


def rows_of(content: Any, *keys: str) -> list[Row]:
    """The objects of a list, or of what lies under the first of these keys."""
    while isinstance(content, Mapping) and (key := next((x for x in keys if x in content), None)):
        content = content[key]
    return [row for row in content if isinstance(row, Mapping)] if isinstance(content, list) else []


def part(row: Row, key: str) -> Row:
    """An object inside of a row, which may be written as JSON; {} where there is none."""
    value = unpack(row.get(key))
    return value if isinstance(value, Mapping) else {}


def either(row: Row, *keys: str) -> Any:
    """The value of the first of these keys that has one; None without."""
    return next((row[key] for key in keys if row.get(key) not in (None, "")), None)


def prose(value: object) -> str:
    """Text, messages, parts of messages or other values as a text; "" for none."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, Mapping):
        inner = either(value, "content", "text")
        return json.dumps(value, ensure_ascii=False, default=str) if inner is None else prose(inner)
    if isinstance(value, Iterable):
        return "\n\n".join(filter(None, map(prose, value)))
    return cell_text(value) or str(value)


def facts_of(fields: Row) -> dict[str, str]:
    """Source, text, agent, reference among fields that people name; else all of it is the text."""
    low = {name.lower(): prose(value) for name, value in fields.items()}
    facts = {fact: prose(either(low, *names)) for fact, names in NAMES.items()}
    if not facts["text"]:
        facts |= {"text": "\n\n".join(filter(None, low.values())), "source": ""}
    return {fact: text for fact, text in facts.items() if text}
