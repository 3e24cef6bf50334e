"""Items that several unnamed people wrote about, such as reviews of papers or proposals."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.files import Row, each_row, row_faults, sections, text_at, unpack, value_at
from judgelab.dataset.jsonl import Jsonl
from judgelab.dataset.provenance import SourcedDataset, settings_of

PeerItem = tuple[Item, tuple[str, ...]]
"""An item, and the texts about it."""


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
        """The first ``limit`` items, and the rows before them that have too few texts; DataError
        if a row lacks a column, or no row has enough."""
        items: list[PeerItem] = []
        skipped: list[int] = []
        for index, row in enumerate(rows):
            if len(items) == limit:
                break
            with row_faults(where, index, row):
                item = self._item(row)
            items += [item] if item else []
            skipped += [] if item else [index]
        if not items:
            raise DataError(f"{where}: no row has {self.reviewers} reviews or more.")
        return items, skipped

    def _item(self, row: Row) -> PeerItem | None:
        """None where it has too few texts."""
        reviews = unpack(value_at(row, self.reviews))
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
            keys = ", ".join(map(str, form))
            raise ValueError(f"a review has none of {', '.join(self.sections)}, but {keys}")
        return sections(parts)


@dataclass(frozen=True, kw_only=True)
class PeerTexts(SourcedDataset):
    """Rows with several texts by peers, as agents ``reviewer_1`` to ``reviewer_M``.

    A row is a line of ``dataset=jsonl``, or what ``fields`` says. The k-th text of every item
    belongs to reviewer_k, who need not be the same person on every item.
    """

    name: str
    task: str
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
        origin = self._find(self.name)
        facts = {**origin.facts}
        first = origin.files[0]
        own = first.suffix != ".parquet" and "responses" in next(each_row(origin.files), {})
        if own or self.fields is None:
            panel = own_panel(first, self.task)
        else:
            fields = settings_of(Fields, self.fields, "dataset.fields")
            items, skipped = fields.items(each_row(origin.files), origin.where, limit)
            facts |= {"skipped_rows": skipped} if skipped else {}
            panel = peer_panel(items, self.task)
        if self.source != "hub":
            facts["sha256"] = hashlib.sha256(first.read_bytes()).hexdigest()
        return with_references(panel, self.references, facts).head(limit)


def own_panel(file: Path, task: str) -> Panel:
    """The panel of a file of our own form; its grades are scores of the items, and no judgments."""
    return replace(Jsonl(path=str(file), task=task).load(), judgments=None)


def peer_panel(items: Sequence[PeerItem], task: str) -> Panel:
    """A panel of reviewer_1 to reviewer_M; all items have as many texts."""
    agents = tuple(Agent(f"reviewer_{k}") for k, _ in enumerate(items[0][1], start=1))
    return Panel(tuple(item for item, _ in items), agents, tuple(its for _, its in items), task)


def with_references(panel: Panel, references: Sequence[str], facts: Mapping[str, object]) -> Panel:
    """The panel with these agents as references; ConfigError if one is no reviewer, or all are."""
    names = [agent.name for agent in panel.agents]
    for name in references:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ConfigError(f"dataset.references: there is no reviewer {name!r}.{hint}")
    if not set(names) - set(references):
        raise ConfigError("dataset.references names every reviewer: leave one to be judged.")
    agents = tuple(Agent(name, reference=name in references) for name in names)
    counts = {"rows": len(panel.items), "references": list(references)}
    return replace(panel, agents=agents, provenance={**facts, **counts})
