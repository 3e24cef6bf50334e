"""A public dataset: its shipped sample, the real thing on the Hugging Face Hub, or a local copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel
from judgelab.dataset.files import Row, read_rows
from judgelab.dataset.nested import text_at
from judgelab.dataset.provenance import Provenance, SourcedDataset, check_keys, find_rows

FIELDS = ("source", "reference", "id", "synopsis", "gloss")


@dataclass(frozen=True, kw_only=True)
class PublicTexts(SourcedDataset):
    """What datasets of the Hub have in common: one set of columns, three places to find it.

    Args:
        name: key of the dataset; names the sample file and items without an id.
        task: summarization, translation, peer_review, ...
        task_description: one line for prompts.
        noun: what a source is called in prompts, e.g. "article".
        path: a local parquet, jsonl, json or csv file with the same columns.
    """

    name: str
    task: str
    task_description: str
    noun: str
    hub: Mapping[str, Any]

    def _facts(self, found: Provenance, items: Sequence[Item]) -> dict[str, object]:
        return {
            "dataset": self.name,
            "source": self.source,
            **found.facts,
            "rows": len(items),
            "task_description": self.task_description,
            "content": Panel(items=tuple(items)).digest,
        }


@dataclass(frozen=True, kw_only=True)
class Hub(PublicTexts):
    """Items of one dataset, each from one row.

    Args:
        fields: columns that become ``source``, ``reference``, ``id``, ``synopsis`` and ``gloss``;
            a path like ``translation.de`` reaches into nested columns; null: there is none.
        empty_rows: what to do with a row whose source is empty: ``error``, or ``skip`` it and list
            it in the provenance.
    """

    fields: Mapping[str, str | None]
    empty_rows: str = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not check_keys(self.fields, FIELDS, "dataset.fields")["source"]:
            raise ConfigError("dataset.fields.source must name the column that holds the source.")
        if self.empty_rows not in ("error", "skip"):
            raise ConfigError(f"dataset.empty_rows={self.empty_rows!r} must be error or skip.")

    def _panel(self, limit: int | None) -> Panel:
        found = find_rows(self.name, self.source, self.path, self.hub)
        where = found.where
        rows = read_rows(found.files, limit)
        read = [self._item(index, row, where) for index, row in enumerate(rows)]
        items = tuple(item for item in read if item is not None)
        if not items:
            raise DataError(f"Dataset {self.name!r} ({where}) has no rows with a source.")
        facts = self._facts(found, items)
        facts["skipped_rows"] = [index for index, item in enumerate(read) if item is None]
        return Panel(items=items, task=self.task, provenance=facts)

    def _item(self, index: int, row: Row, where: str) -> Item | None:
        texts = {key: self._cell(key, index, row, where) for key in FIELDS}
        source = texts["source"]
        if source is None and self.empty_rows == "skip":
            return None
        if source is None:
            raise self._bad(index, "source", "is empty (empty_rows=skip leaves it out)", row, where)
        return Item(
            id=texts["id"] or f"{self.name}-{index}",
            source=source,
            reference=texts["reference"],
            synopsis=texts["synopsis"],
            meta={} if texts["gloss"] is None else {"gloss": texts["gloss"]},
        )

    def _cell(self, key: str, index: int, row: Row, where: str) -> str | None:
        """One text; None where the field is not mapped, null or blank."""
        field = self.fields.get(key)
        if not field:
            return None
        if key == "id" and isinstance(row.get(field), int):
            return str(row[field])
        try:
            text = text_at(row, field)
        except (KeyError, TypeError, UnicodeError) as cause:
            if key == "gloss" and isinstance(cause, KeyError):  # only our own samples carry one
                return None
            said = {KeyError: "is missing", TypeError: str(cause)}
            fault = said.get(type(cause), "is not valid Unicode")
            raise self._bad(index, key, fault, row, where) from None
        if text is not None and text.strip():
            return text
        if key == "id":
            raise self._bad(index, key, "is empty", row, where)
        return None

    def _bad(self, index: int, key: str, fault: str, row: Row, where: str) -> DataError:
        return DataError(
            f"Row {index} (the first is 0) of dataset {self.name!r} ({where}): column "
            f"{self.fields[key]!r} {fault}; columns present: {', '.join(map(str, row)) or 'none'}. "
            f"Mend the row, lower limit, or set dataset.fields.{key}."
        )
