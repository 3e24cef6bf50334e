"""Items that several unnamed people wrote about: reviews of papers, proposals, restaurants."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.provenance import HUB, SourcedDataset, check_keys, find_rows
from judgelab.dataset.rows import Row, each_row, read_rows

KEYS = ("id", "source", "synopsis", "texts", "grades")
LETTERS = {"A": 3.0, "B": 2.0, "C": 1.0}
"""An instructor's grades (GEM paper, section 4.1) as numbers; more is better."""


@dataclass(frozen=True)
class PeerItem:
    """One item, the texts about it (None where there is none), and a grade of each or None."""

    id: str
    source: str
    synopsis: str | None
    texts: tuple[str | None, ...]
    grades: tuple[float | None, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)


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
        fields: how other rows are read (``peer_rows.Fields``).
    """

    name: str
    task: str
    task_description: str
    noun: str
    references: Sequence[str] = ()
    hub: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.source == "hub" and not (self.hub and self.fields):
            raise ConfigError(
                f"dataset.source=hub: no public copy of {self.name} is known. Give dataset.hub and "
                "dataset.fields of one (as conf/dataset/iclr_reviews.yaml does), or "
                "dataset.source=path."
            )
        check_keys(self.hub or {}, HUB, "dataset.hub")

    def _panel(self, limit: int | None) -> Panel:
        found = find_rows(self.name, self.source, self.path, self.hub or {})
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
        from judgelab.dataset.peer_rows import Fields

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

    Args:
        items: at least one.

    Raises:
        ConfigError: a reference is no reviewer, or all reviewers are references.
    """
    width = max(len(item.texts) for item in items)
    names = [f"reviewer_{number + 1}" for number in range(width)]
    for name in references:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ConfigError(f"dataset.references: there is no reviewer {name!r}.{hint}")
    if names and not set(names) - set(references):
        raise ConfigError("dataset.references names every reviewer: leave one to be judged.")
    return Panel(
        items=tuple(
            Item(
                id=item.id,
                source=item.source,
                synopsis=item.synopsis,
                human={n: g for n, g in zip(names, item.grades, strict=False) if g is not None},
                meta=item.meta,
            )
            for item in items
        ),
        agents=tuple(Agent(name, reference=name in references) for name in names),
        texts=tuple((*item.texts, *[None] * (width - len(item.texts))) for item in items),
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
    return PeerItem(
        id=str(id_),
        source=_text(row.get("source") or "", where, "source") or "",
        synopsis=_text(row.get("synopsis"), where, "synopsis"),
        texts=tuple(_text(text, where, "a text") for text in texts),
        grades=tuple(_grade(grade, where) for grade in grades),
    )


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
