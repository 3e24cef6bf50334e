"""A public dataset, a row an item: its sample, the Hugging Face Hub, or a copy; and which rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from judgelab.core.bounds import Count, Natural
from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel
from judgelab.core.sentences import sentences
from judgelab.dataset.files import Row, each_row, row_faults, text_at, value_at
from judgelab.dataset.provenance import SourcedDataset, settings_of

REST = "less than a passage, at the end"
FIELD = re.compile(r"\{([^{}]+)\}")
HEADING = r"(?:[A-Z]{5,}(?: (?:AND )?[A-Z]{5,})*)"


class Columns(BaseModel):
    """What holds what: columns, or paths as ``translation.de`` into nested ones; null: nothing."""

    model_config = ConfigDict(frozen=True, strict=True)

    source: str = Field(min_length=1)  # a column, or a pattern with {columns}
    # a column, one that holds a list, or a list of columns
    reference: str | list[str] | None = Field(None, min_length=1)
    # id, synopsis: of the item; without an id it is the dataset's name and the row's number
    id: str | None = None
    synopsis: str | None = None
    gloss: str | None = None  # a literal translation, which only our own samples carry
    # the column that numbers the right reference (from 1, nulls counted); the other, where there is
    # just one, becomes the item's meta ``wrong``
    right: str | None = None


class Selection(BaseModel):
    """Which references and items take part (DHP paper, appendix C)."""

    model_config = ConfigDict(frozen=True, strict=True)

    # which of several references: the first; the one with the most sentences, the first among
    # equals; or the one that the column ``right`` numbers
    reference: Literal["first", "most_sentences", "right"] = "first"
    characters: Count | None = None  # only references that are longer than so many characters
    # rows are segments of texts: consecutive ones are joined until their reference is longer than
    # ``characters``; what is left at the end is left out
    join: bool = False
    # only the part of source and reference under this heading in capitals
    section: str | None = Field(None, pattern=r"\S")
    unique: bool = False  # only the first of rows with the same source and reference
    draw: Count | None = None  # so many items at random, all where there are fewer; null for all
    seed: Natural = 0  # of that draw


@dataclass(frozen=True, kw_only=True)
class Hub(SourcedDataset):
    """Items of one dataset, each from one row; a row without a source is left out and counted."""

    name: str
    task: str
    noun: str
    hub: Mapping[str, Any]
    fields: Mapping[str, Any]
    select: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        select = self._selection
        if (select.reference == "right") != bool(self._columns.right):
            raise ConfigError(
                "dataset.select.reference=right and dataset.fields.right go together: give both."
            )
        if select.join and (select.characters is None or self._columns.right):
            raise ConfigError(
                "dataset.select.join joins rows until they are longer than "
                "dataset.select.characters: give that, and leave dataset.fields.right null."
            )

    @cached_property
    def _columns(self) -> Columns:
        return settings_of(Columns, self.fields, "dataset.fields")

    @cached_property
    def _selection(self) -> Selection:
        return settings_of(Selection, self.select or {}, "dataset.select")

    def _panel(self, limit: int | None) -> Panel:
        origin, select = self._find(self.name), self._selection
        rows, count = list[Item | str](), 0
        for k, row in enumerate(each_row(origin.files)):
            if self.select is None and count == limit:
                break
            rows.append(self._item(k, row, origin.where))
            count += isinstance(rows[-1], Item)
        why, by_key = Counter[str](), dict[object, Item]()
        for k, item in enumerate(_join(rows, select.characters or 0) if select.join else rows):
            if isinstance(item, str):
                why[item] += 1
                continue
            key = (item.source, item.reference) if select.unique else k
            if select.characters and len(item.reference or "") <= select.characters:
                why[f"not longer than {select.characters} characters"] += 1
            elif by_key.setdefault(key, item) is not item:
                why["repeated"] += 1
        items = list(by_key.values())
        if select.draw is not None and select.draw < len(items):
            why["not drawn"] = len(items) - select.draw
            rng = np.random.default_rng(select.seed)
            places = np.sort(rng.choice(len(items), size=select.draw, replace=False))
            items = [items[k] for k in places]
        if not items:
            raise DataError(
                f"Dataset {self.name!r} ({origin.where}): none of {len(rows)} rows is left "
                f"({dict(why)}): correct the file, or loosen dataset.select."
            )
        items = items[:limit]
        facts = {
            "rows": len(items),
            "content": Panel(tuple(items)).digest,
            "rows_left_out": dict(why),
            "selection": None if self.select is None else select.model_dump(),
        }
        return Panel(tuple(items), task=self.task, provenance={**origin.facts, **facts})

    def _item(self, number: int, row: Row, where: str) -> Item | str:
        """The item of a row, or why it has none."""
        columns = self._columns
        pattern = columns.source if "{" in columns.source else f"{{{columns.source}}}"
        with row_faults(f"dataset {self.name!r} ({where})", number, row):
            source = FIELD.sub(lambda name: _text(row, name[1]) or "", pattern)
            references = _texts(row, columns.reference)
            right = None if columns.right is None else int(row[columns.right])
            if right is not None and not 1 <= right <= len(references):
                raise ValueError(f"{columns.right}={right}")
            id_ = f"{self.name}-{number}" if not columns.id else str(value_at(row, columns.id))
            if id_ in ("", "None"):
                raise ValueError(f"{columns.id!r} is empty")
            synopsis = _text(row, columns.synopsis)
            gloss = _text(row, columns.gloss) if columns.gloss in row else None
        item = Item(id_, source, synopsis=synopsis, meta={"gloss": gloss} if gloss else {})
        if self.select is None:
            reference = next((text for text in references if text.strip()), None)
            return replace(item, reference=reference) if source.strip() else "no source"
        texts, source = [self._part(text) for text in references], self._part(source)
        if not source:
            return "no source"
        present = [text for text in texts if text]
        reference = next(iter(present), "") if right is None else texts[right - 1]
        if self._selection.reference == "most_sentences":  # the first among equals
            reference = max(present, key=lambda text: len(sentences(text)), default="")
        if not reference:
            return "no reference"
        others = [] if right is None else texts[: right - 1] + texts[right:]
        wrong = [text for text in others if text]
        meta = {"wrong": wrong[0]} if len(wrong) == 1 else {}
        return replace(item, source=source, reference=reference, meta=meta)

    def _part(self, text: str) -> str:
        """The section asked for, up to the next heading in capitals; the whole where none is."""
        if self._selection.section is None:
            return text.strip()
        pattern = rf"\b{re.escape(self._selection.section)}\b:?(.*?)(?=\b{HEADING}\b|\Z)"
        match = re.search(pattern, text, re.DOTALL)
        return match[1].strip() if match else ""


def _join(rows: Sequence[Item | str], longer_than: int) -> list[Item | str]:
    """Passages of consecutive rows, and why rows are in none; a row without an item ends one."""
    passages: list[Item | str] = []
    part: list[Item] = []
    for item in rows:
        if isinstance(item, str):
            passages += [*[REST] * len(part), item]
            part = []
            continue
        part.append(item)
        reference = " ".join(one.reference or "" for one in part)
        if len(reference) > longer_than:
            source = " ".join(one.source for one in part)
            passages.append(Item(part[0].id, source, reference, meta={"segments": str(len(part))}))
            part = []
    return passages + [REST] * len(part)


def _text(row: Row, path: str | None) -> str | None:
    """One text; None where the field is not mapped, null or blank."""
    text = text_at(row, path) if path else None
    return text if text and text.strip() else None


def _texts(row: Row, columns: str | Sequence[str] | None) -> list[str]:
    """All references; empty where one is null, so that their numbers stay."""
    texts: list[str] = []
    for column in [columns] if isinstance(columns, str) else columns or ():
        value = row.get(column)
        if isinstance(value, Sequence) and not isinstance(value, str):
            texts += ["" if one is None else str(one) for one in value]
        else:
            texts.append(_text(row, column) or "")
    return texts
