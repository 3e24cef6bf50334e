"""Items that several unnamed people wrote about: reviews of papers, proposals, restaurants."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.files import Row, each_row, read_rows, unpacked
from judgelab.dataset.nested import child, text_at
from judgelab.dataset.provenance import SourcedDataset, find_rows

KEYS = ("id", "source", "synopsis", "texts", "grades")
LETTERS = {"A": 3.0, "B": 2.0, "C": 1.0}
"""An instructor's grades (GEM paper, section 4.1) as numbers; more is better."""


PeerItem = tuple[Item, tuple[str | None, ...]]
"""An item with its grades, and the texts about it (None where there is none)."""


class Fields(BaseModel):
    """Where a row holds what (``dataset.fields``).

    Attributes:
        id, source, synopsis: columns, or paths into nested ones; null: there is none.
        reviews: column or path of the list of reviews.
        form: path from an entry of that list to its form; null: the entry itself is the form, or
            the text.
        sections: keys of the form that make the text, in this order, each under its name as a
            heading; those that a form lacks are left out. Grades and confidences are not among
            them, as a text that shows them tells the answer.
        reviewers: texts of an item: the first so many; rows with fewer are skipped and listed in
            the provenance.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    source: str | None = None
    synopsis: str | None = None
    reviews: str
    form: str | None = None
    sections: tuple[str, ...] = ()
    reviewers: int = Field(3, ge=2)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Fields:
        """The settings, checked.

        Raises:
            ConfigError: one is missing, unknown or of the wrong kind.
        """
        try:
            return cls.model_validate(dict(given))
        except ValidationError as cause:
            fault = cause.errors()[0]
            key = ".".join(map(str, fault["loc"]))
            raise ConfigError(f"dataset.fields.{key}: {fault['msg'].lower()}.") from cause

    def items(
        self, rows: Iterable[Row], where: str, limit: int | None = None
    ) -> tuple[list[PeerItem], tuple[int, ...]]:
        """The first ``limit`` items, and the rows before them that have too few texts.

        Raises:
            DataError: a row lacks a column, a form none of the sections, or no row has enough.
        """
        found: list[PeerItem] = []
        skipped: list[int] = []
        for index, row in enumerate(rows):
            if limit is not None and len(found) == limit:
                break
            item = self._item(row, f"{where}, row {index} (the first is 0)")
            found += [] if item is None else [item]
            skipped += [index] if item is None else []
        if not found:
            raise DataError(f"{where}: no row has {self.reviewers} reviews or more.")
        return found, tuple(skipped)

    def _item(self, row: Row, where: str) -> PeerItem | None:
        reviews = self._at(row, self.reviews, where)
        if not isinstance(reviews, list):
            raise DataError(f"{where}: {self.reviews!r} is no list of reviews.")
        texts = [text for text in (self._text(one, where) for one in reviews) if text]
        if len(texts) < self.reviewers:
            return None
        id_, source, synopsis = (
            self._cell(row, key, where) for key in ("id", "source", "synopsis")
        )
        return Item(id_ or "", source or "", synopsis=synopsis), tuple(texts[: self.reviewers])

    def _text(self, entry: object, where: str) -> str | None:
        form = (
            entry if self.form is None else self._at({"entry": entry}, f"entry.{self.form}", where)
        )
        if isinstance(form, str):
            return form.strip() or None
        if not isinstance(form, Mapping):
            raise DataError(f"{where}: a review is neither text nor a form.")
        held = [key for key in self.sections if key in form]
        if not held:
            raise DataError(
                f"{where}: a review has none of the sections {', '.join(self.sections)}, but "
                f"{', '.join(map(str, form)) or 'nothing'}: set dataset.fields.sections."
            )
        parts = {key: str(form[key] or "").strip() for key in held}
        headings = (
            f"{key.replace('_', ' ').title()}:\n\n{text}" for key, text in parts.items() if text
        )
        return "\n\n".join(headings) or None

    def _cell(self, row: Row, key: str, where: str) -> str | None:
        field = getattr(self, key)
        if field is None:
            return None
        try:
            text = text_at(row, field)
        except (KeyError, TypeError, UnicodeError) as cause:
            raise DataError(f"{where}: {field!r} is missing or is no text.") from cause
        if key == "id" and not (text or "").strip():
            raise DataError(f"{where}: {field!r} is empty.")
        return text if text and text.strip() else None

    def _at(self, row: Mapping[str, Any], path: str, where: str) -> object:
        value: object = row
        try:
            for part in path.split("."):
                value = child(unpacked(value), part)
        except KeyError as cause:
            present = ", ".join(map(str, row))
            raise DataError(
                f"{where}: there is no {path!r}; columns present: {present}."
            ) from cause
        return unpacked(value) if isinstance(value, str) and path == self.reviews else value


@dataclass(frozen=True, kw_only=True)
class PeerTexts(SourcedDataset):
    """Rows with several texts by peers, as agents ``reviewer_1`` to ``reviewer_M``.

    A row holds ``id``, ``source`` (may be empty), ``synopsis`` (or null), ``texts``
    (a list, null where one is missing) and optionally ``grades`` (A, B, C, a number or null for
    each text; A counts 3, B 2, C 1). The k-th text of every item belongs to reviewer_k, who need
    not be the same person on every item.

    Args:
        name: names the sample file.
        task: e.g. peer_review.
        task_description: one line for prompts.
        noun: what a source is called in prompts.
        path: a jsonl or json file of such rows; or rows (parquet too) that ``fields`` describes.
        references: agents that are references; empty: each text is compared with all others.
        hub: where a public copy lies (``dataset.hub``); null: none is known.
        fields: how other rows are read (``Fields``).
    """

    name: str
    task: str
    task_description: str
    noun: str
    references: Sequence[str] = ()
    fields: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source == "hub" and not (self.hub and self.fields):
            raise ConfigError(
                f"dataset.source=hub: no public copy of {self.name} is known. Give dataset.hub and "
                "dataset.fields of one (as conf/dataset/iclr_reviews.yaml does), or "
                "dataset.source=path."
            )

    def _panel(self, limit: int | None) -> Panel:
        found = find_rows(self.name, self.source, self.path, self.hub)
        items, skipped = self._items(found.files, found.where, limit)
        facts: dict[str, object] = {"dataset": self.name, "source": self.source, **found.facts}
        facts["task_description"] = self.task_description
        if self.source != "hub":
            facts["sha256"] = hashlib.sha256(found.files[0].read_bytes()).hexdigest()
        if skipped:
            facts["skipped_rows"] = list(skipped)
        return peer_panel(items, self.references, self.task, facts).head(limit)

    def _items(
        self, files: Sequence[Path], where: str, limit: int | None
    ) -> tuple[list[PeerItem], tuple[int, ...]]:
        """Rows of our own form, else as ``fields`` says; and which were skipped."""
        if self.fields is None or (self.source != "hub" and _own(files[0])):
            return read_items(files[0]), ()
        return Fields.of(self.fields).items(each_row(files), where, limit)


def _own(file: Path) -> bool:
    """Whether a file's first row is of our own form."""
    if file.suffix.lower() == ".parquet":
        return False
    first = read_rows([file], 1)
    return not first or "texts" in first[0]


def peer_panel(
    items: Sequence[PeerItem], references: Sequence[str], task: str, facts: Mapping[str, object]
) -> Panel:
    """A panel of reviewer_1 to reviewer_M; items with fewer texts have None for the last.

    Raises:
        ConfigError: a reference is no reviewer, or all reviewers are references.
    """
    width = max(len(texts) for _, texts in items)
    names = [f"reviewer_{number}" for number in range(1, width + 1)]
    for name in references:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ConfigError(f"dataset.references: there is no reviewer {name!r}.{hint}")
    if names and not set(names) - set(references):
        raise ConfigError("dataset.references names every reviewer: leave one to be judged.")
    return Panel(
        items=tuple(item for item, _ in items),
        agents=tuple(Agent(name, reference=name in references) for name in names),
        texts=tuple((*texts, *[None] * (width - len(texts))) for _, texts in items),
        task=task,
        provenance={**facts, "rows": len(items), "references": list(references)},
    )


def read_items(file: Path) -> list[PeerItem]:
    """All rows of a file.

    Raises:
        DataError: the file is missing or empty, or a row is not as described.
    """
    items = [
        _item(row, f"{str(file)!r}, row {number}")
        for number, row in enumerate(read_rows([file]), start=1)
    ]
    if not items:
        raise DataError(f"{str(file)!r} has no rows.")
    return items


def _item(row: Row, where: str) -> PeerItem:
    for key in row:
        if key not in KEYS:
            raise DataError(f"{where}: unknown key {key!r}.{did_you_mean(str(key), KEYS)}")
    texts = row.get("texts")
    if not isinstance(texts, list) or not texts:
        raise DataError(f"{where}: texts must be a list of at least one text.")
    grades = row.get("grades") or [None] * len(texts)
    if not isinstance(grades, list) or len(grades) != len(texts):
        raise DataError(f"{where}: grades must be a list with one entry for each of the texts.")
    id_ = row.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int) or not str(id_).strip():
        raise DataError(f"{where}: id must be text or a whole number.")
    source = _text(row.get("source") or "", where, "source") or ""
    synopsis = _text(row.get("synopsis"), where, "synopsis")
    read = tuple(_text(text, where, "a text") for text in texts)
    numbers = enumerate((_grade(grade, where) for grade in grades), start=1)
    human = {f"reviewer_{k}": number for k, number in numbers if number is not None}
    return Item(str(id_), source, synopsis=synopsis, human=human), read


def _text(value: Any, where: str, what: str) -> str | None:
    """The text; None for null and for blank."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise DataError(f"{where}: {what} is not text but {type(value).__name__}.")
    return value if value.strip() else None


def _grade(value: Any, where: str) -> float | None:
    if value is None:
        return None
    letter = value.strip().upper() if isinstance(value, str) else None
    if letter in LETTERS:
        return LETTERS[letter]
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # an integer of hundreds of digits
        number = math.nan
    if math.isfinite(number):
        return number
    said = repr(value)
    said = said if len(said) <= 40 else said[:40] + "..."
    raise DataError(f"{where}: a grade must be A, B, C, a finite number or null, not {said}.")
