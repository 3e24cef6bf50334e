"""Rows of a public dataset with several reviews each, as items with texts by peers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judgelab.core.errors import ConfigError, DataError
from judgelab.dataset.peer_texts import PeerItem
from judgelab.dataset.rows import Row, child, text_at, unpacked


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
        cells = {key: self._cell(row, key, where) for key in ("id", "source", "synopsis")}
        return PeerItem(
            cells["id"] or "",
            cells["source"] or "",
            cells["synopsis"],
            tuple(texts[: self.reviewers]),
        )

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
