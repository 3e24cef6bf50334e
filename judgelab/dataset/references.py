"""Reference texts to be perturbed: which of an item's references, and which items (DHP paper)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel
from judgelab.core.sentences import sentences
from judgelab.dataset.files import Row, read_rows
from judgelab.dataset.hub import PublicTexts
from judgelab.dataset.nested import text_at
from judgelab.dataset.provenance import Provenance, check_keys, find_rows

FIELDS = ("source", "references", "right", "id", "document")
REST = "less than a passage, at the end of a document"
_FIELD = re.compile(r"\{([^{}]+)\}")
_HEADING = r"(?:[A-Z]{5,}(?: (?:AND )?[A-Z]{5,})*)"


class Selection(BaseModel):
    """Which references and items take part (DHP paper, appendix C).

    Attributes:
        reference: which of several references: the first; the one with the most sentences, the
            first among equals; or the one that the column ``right`` numbers (from 1).
        characters: only references that are longer than so many characters.
        join: rows are segments of texts: consecutive ones of a document are joined until their
            reference is longer than ``characters``; what is left at its end is left out.
        section: only the part of source and reference under this heading in capitals.
        unique: only the first of rows with the same source and reference.
        draw: so many items at random, all where there are fewer; null for all.
        seed: of that draw.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    reference: Literal["first", "most_sentences", "right"] = Field(
        "first", description="first, most_sentences or right"
    )
    characters: int | None = Field(None, ge=1, description="at least 1, or null")
    join: bool = Field(False, description="true or false")
    section: str | None = Field(None, pattern=r"\S", description="a heading, or null")
    unique: bool = Field(False, description="true or false")
    draw: int | None = Field(None, ge=1, description="at least 1, or null")
    seed: int = Field(0, ge=0, description="a whole number from 0 up")


@dataclass(frozen=True, kw_only=True)
class References(PublicTexts):
    """Items with one reference each, for studies that degrade good texts.

    Args:
        fields: columns (or paths into nested ones): ``source``, a column or a pattern with
            {columns}; ``references``, a column, one that holds a list, or a list of columns;
            ``right``, the column that numbers the right one of them, nulls counted (the other,
            where there is just one, becomes the item's meta ``wrong``); ``id``; ``document``, the
            column that tells which rows belong together (null: all do); null where there is none.
        select: see ``Selection``.
    """

    fields: Mapping[str, Any]
    select: Mapping[str, Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_keys(self.fields, FIELDS, "dataset.fields")
        for key, several in (("source", ""), ("references", " or a list of columns")):
            if not _columns(self.fields.get(key), several=bool(several)):
                raise ConfigError(f"dataset.fields.{key} must name a column{several}.")
        if (self._selection.reference == "right") != bool(self.fields.get("right")):
            raise ConfigError(
                "dataset.select.reference=right and dataset.fields.right go together: give both."
            )
        if self._selection.join and (self._selection.characters is None or self.fields["right"]):
            raise ConfigError(
                "dataset.select.join joins rows until they are longer than "
                "dataset.select.characters: give that, and leave dataset.fields.right null."
            )

    @cached_property
    def _selection(self) -> Selection:
        known = Selection.model_fields
        check_keys(self.select, tuple(known), "dataset.select")
        try:
            return Selection(**self.select)
        except ValidationError as cause:
            key = str(cause.errors()[0]["loc"][0])
            must = known[key].description
            raise ConfigError(
                f"dataset.select.{key}={self.select[key]!r} must be {must}."
            ) from None

    def _panel(self, limit: int | None) -> Panel:
        found = find_rows(self.name, self.source, self.path, self.hub)
        rows = read_rows(found.files)
        items, left_out = self._selected(rows, found)
        if not items:
            raise DataError(
                f"Dataset {self.name!r} ({found.where}): none of {len(rows)} rows is left "
                f"({dict(left_out)}): loosen dataset.select."
            )
        items = items[:limit]
        facts = self._facts(found, items)
        facts |= {"rows_read": len(rows), "rows_left_out": dict(left_out)}
        facts["selection"] = self._selection.model_dump()
        return Panel(items=tuple(items), task=self.task, provenance=facts)

    def _selected(self, rows: Sequence[Row], found: Provenance) -> tuple[list[Item], Counter[str]]:
        """Items in the order of the rows, and why the other rows are not among them."""
        why: Counter[str] = Counter()
        kept: list[Item] = []
        seen: set[tuple[str, str | None]] = set()
        read = [self._item(number, row, found.where) for number, row in enumerate(rows)]
        least = self._selection.characters
        if self._selection.join and least is not None:
            column = self.fields.get("document")
            read = _joined(read, [row.get(column) if column else None for row in rows], least)
        for item in read:
            if isinstance(item, str):
                why[item] += 1
            elif least is not None and len(item.reference or "") <= least:
                why[f"not longer than {least} characters"] += 1
            elif self._selection.unique and (item.source, item.reference) in seen:
                why["repeated"] += 1
            else:
                seen.add((item.source, item.reference))
                kept.append(item)
        draw = self._selection.draw
        if draw is not None and draw < len(kept):
            why["not drawn"] = len(kept) - draw
            rng = np.random.default_rng(self._selection.seed)
            chosen = np.sort(rng.choice(len(kept), size=draw, replace=False))
            kept = [kept[int(i)] for i in chosen]
        return kept, why

    def _item(self, number: int, row: Row, where: str) -> Item | str:
        """The item of a row, or why it has none."""
        try:
            source = _filled(row, str(self.fields["source"]))
            texts = _texts(row, self.fields["references"])
            right = _number(row, self.fields.get("right"), len(texts))
            name = self.fields.get("id")
            key = f"{self.name}-{number}" if not name else str(row[str(name)])
        except (KeyError, TypeError, ValueError) as cause:
            raise DataError(
                f"Row {number} (the first is 0) of dataset {self.name!r} ({where}): {cause} is "
                f"missing or not of its kind; columns: {', '.join(map(str, row))}. Mend the row or "
                "set dataset.fields."
            ) from cause
        texts = [self._part(text) for text in texts]
        source = self._part(source)
        if not source or not any(texts):
            return "no source" if not source else "no reference"
        chosen = self._choose(texts) if right is None else texts[right]
        if not chosen:
            return "no reference"
        others = [] if right is None else texts[:right] + texts[right + 1 :]
        wrong = [text for text in others if text]
        return Item(key, source, chosen, meta={"wrong": wrong[0]} if len(wrong) == 1 else {})

    def _choose(self, texts: Sequence[str]) -> str:
        present = [text for text in texts if text]
        if self._selection.reference == "most_sentences":
            return max(present, key=lambda text: len(sentences(text)))
        return present[0]

    def _part(self, text: str) -> str:
        """The section asked for, up to the next heading in capitals; the whole where none is."""
        if self._selection.section is None:
            return text.strip()
        pattern = rf"\b{re.escape(self._selection.section)}\b:?(.*?)(?=\b{_HEADING}\b|\Z)"
        match = re.search(pattern, text, re.DOTALL)
        return match[1].strip() if match else ""


def _joined(
    read: Sequence[Item | str], documents: Sequence[object], longer_than: int
) -> list[Item | str]:
    """Passages of consecutive rows, and why rows are in none; a row without an item ends one."""
    made: list[Item | str] = []
    part: list[Item] = []
    for place, (item, document) in enumerate(zip(read, documents, strict=True)):
        if isinstance(item, str) or (place and document != documents[place - 1]):
            made += [REST] * len(part)
            part = []
        if isinstance(item, str):
            made.append(item)
            continue
        part.append(item)
        reference = " ".join(one.reference or "" for one in part)
        if len(reference) > longer_than:
            source = " ".join(one.source for one in part)
            made.append(Item(part[0].id, source, reference, meta={"segments": str(len(part))}))
            part = []
    return made + [REST] * len(part)


def _filled(row: Row, pattern: str) -> str:
    """A column's text, or a pattern with the texts of columns."""
    if "{" not in pattern:
        return text_at(row, pattern) or ""
    return _FIELD.sub(lambda match: text_at(row, match[1]) or "", pattern)


def _texts(row: Row, columns: str | Sequence[str]) -> list[str]:
    found: list[str] = []
    for column in [columns] if isinstance(columns, str) else columns:
        value = row.get(column)
        if isinstance(value, Sequence) and not isinstance(value, str):
            found += ["" if one is None else str(one) for one in value]  # their numbers stay
        else:
            found.append(text_at(row, column) or "")
    return found


def _number(row: Row, column: str | None, count: int) -> int | None:
    """Index of the right reference; None where no column says so."""
    if column is None:
        return None
    number = int(row[column])
    if not 1 <= number <= count:
        raise ValueError(f"{column}={number}")
    return number - 1


def _columns(given: object, *, several: bool) -> bool:
    """Whether it is the name of a column or, where that is allowed, a list of names."""
    names = given if several and isinstance(given, Sequence) else [given]
    names = [given] if isinstance(given, str) else names
    return bool(names) and all(isinstance(name, str) and name for name in names)
