"""Items that several unnamed people wrote about: reviews of papers, proposals, restaurants."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.files import Row, each_row, sections, text_at, unpacked, value_at
from judgelab.dataset.provenance import SourcedDataset, find_rows, settings_of
from judgelab.dataset.rows import Id, fault_of

LETTERS = {"A": 3.0, "B": 2.0, "C": 1.0}

PeerItem = tuple[Item, tuple[str | None, ...]]
"""An item with its grades, and the texts about it (None where there is none)."""


def _grade(given: object) -> object:
    """An instructor's grade (GEM paper, section 4.1) as a number; more is better."""
    if not isinstance(given, str):
        return given
    if (letter := given.strip().upper()) not in LETTERS:
        raise ValueError("must be A, B, C, a number or null")
    return LETTERS[letter]


Text = Annotated[
    str | None,
    BeforeValidator(lambda text: None if isinstance(text, str) and not text.strip() else text),
]
Grade = Annotated[FiniteFloat | None, BeforeValidator(_grade)]


class PeerRecord(BaseModel):
    """A row of our own form: an item and what peers wrote about it, graded or not."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    id: Id  # text or a whole number
    source: Text = None  # source, synopsis: of the item; may be empty
    synopsis: Text = None
    texts: list[Text] = Field(min_length=1)  # null where one is missing
    # A, B, C, a number or null for each text; A counts 3, B 2, C 1
    grades: list[Grade] | None = None

    @model_validator(mode="after")
    def _paired(self) -> PeerRecord:
        if self.grades and len(self.grades) != len(self.texts):
            raise ValueError("grades must be a list with one entry for each of the texts")
        return self

    def item(self) -> PeerItem:
        """The item, whose k-th text reviewer_k wrote."""
        grades = enumerate(self.grades or (), start=1)
        human = {f"reviewer_{k}": grade for k, grade in grades if grade is not None}
        item = Item(self.id, self.source or "", synopsis=self.synopsis, human=human)
        return item, tuple(self.texts)


class Fields(BaseModel):
    """Where a row of another form holds what (``dataset.fields``)."""

    model_config = ConfigDict(frozen=True)

    id: str  # id, source, synopsis: columns, or paths into nested ones; null: there is none
    source: str | None = None
    synopsis: str | None = None
    reviews: str  # column or path of the list of reviews
    # path from an entry of that list to its form; null: the entry itself is the form, or the text
    form: str | None = None
    # keys of the form that make the text, in this order, each under its name as a heading; those
    # that a form lacks are left out. Grades and confidences are not among them, as a text that
    # shows them tells the answer.
    sections: tuple[str, ...] = ()
    # texts of an item: the first so many; rows with fewer are skipped and listed in the provenance
    reviewers: int = Field(3, ge=2)

    def items(
        self, rows: Iterable[Row], where: str, limit: int | None = None
    ) -> tuple[list[PeerItem], list[int]]:
        """The first ``limit`` items, and the rows before them that have too few texts.

        Raises:
            DataError: a row lacks a column, a form none of the sections, or no row has enough.
        """
        items: list[PeerItem] = []
        skipped: list[int] = []
        for index, row in enumerate(rows):
            if len(items) == limit:
                break
            try:
                item = self._item(row)
            except (KeyError, TypeError, ValueError) as cause:
                said = f"{cause} is missing" if isinstance(cause, KeyError) else str(cause)
                raise DataError(
                    f"{where}, row {index} (the first is 0): {said}; columns present: "
                    f"{', '.join(map(str, row))}: set dataset.fields."
                ) from cause
            items += [item] if item else []
            skipped += [] if item else [index]
        if not items:
            raise DataError(f"{where}: no row has {self.reviewers} reviews or more.")
        return items, skipped

    def _item(self, row: Row) -> PeerItem | None:
        """None where it has too few texts."""
        reviews = unpacked(value_at(row, self.reviews))
        if not isinstance(reviews, list):
            raise TypeError(f"{self.reviews!r} is no list of reviews")
        texts = [text for text in map(self._text, reviews) if text]
        if len(texts) < self.reviewers:
            return None
        paths = (self.id, self.source, self.synopsis)
        id_, source, synopsis = (text_at(row, path) if path else None for path in paths)
        if not (id_ or "").strip():
            raise ValueError(f"{self.id!r} is empty")
        synopsis = synopsis if (synopsis or "").strip() else None
        return Item(id_ or "", source or "", synopsis=synopsis), tuple(texts[: self.reviewers])

    def _text(self, entry: object) -> str:
        form = entry if self.form is None else value_at(entry, self.form)
        if isinstance(form, str):
            return form.strip()
        if not isinstance(form, Mapping):
            raise TypeError("a review is neither text nor a form")
        parts = {key: form[key] for key in self.sections if key in form}
        if not parts:
            known = ", ".join(map(str, form))
            raise ValueError(f"a review has none of {', '.join(self.sections)}, but {known}")
        return sections(parts)


@dataclass(frozen=True, kw_only=True)
class PeerTexts(SourcedDataset):
    """Rows with several texts by peers, as agents ``reviewer_1`` to ``reviewer_M``.

    A row is a ``PeerRecord``, or what ``fields`` says. The k-th text of every item belongs to
    reviewer_k, who need not be the same person on every item.

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
        facts: dict[str, object] = {"dataset": self.name, "source": self.source, **found.facts}
        facts["task_description"] = self.task_description
        own = found.files[0].suffix != ".parquet" and "texts" in next(each_row(found.files), {})
        if own or self.fields is None:
            items = read_items(found.files[0])
        else:
            fields = settings_of(Fields, self.fields, "dataset.fields")
            items, skipped = fields.items(each_row(found.files), found.where, limit)
            facts |= {"skipped_rows": skipped} if skipped else {}
        if self.source != "hub":
            facts["sha256"] = hashlib.sha256(found.files[0].read_bytes()).hexdigest()
        return peer_panel(items, self.references, self.task, facts).head(limit)


def read_items(file: Path) -> list[PeerItem]:
    """All rows of a file of our own form.

    Raises:
        DataError: the file is missing or empty, or a row is not as described.
    """
    items = []
    for k, row in enumerate(each_row([file]), start=1):
        try:
            items.append(PeerRecord.model_validate(row).item())
        except ValidationError as cause:
            raise DataError(f"{str(file)!r}, row {k}: {fault_of(cause)}.") from None
    return items


def peer_panel(
    items: Sequence[PeerItem], references: Sequence[str], task: str, facts: Mapping[str, object]
) -> Panel:
    """A panel of reviewer_1 to reviewer_M; items with fewer texts have None for the last.

    Raises:
        ConfigError: a reference is no reviewer, or all reviewers are references.
    """
    width = max(len(texts) for _, texts in items)
    names = [f"reviewer_{k}" for k in range(1, width + 1)]
    for name in references:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ConfigError(f"dataset.references: there is no reviewer {name!r}.{hint}")
    if not set(names) - set(references):
        raise ConfigError("dataset.references names every reviewer: leave one to be judged.")
    return Panel(
        items=tuple(item for item, _ in items),
        agents=tuple(Agent(name, reference=name in references) for name in names),
        texts=tuple((*texts, *[None] * (width - len(texts))) for _, texts in items),
        task=task,
        provenance={**facts, "rows": len(items), "references": list(references)},
    )
