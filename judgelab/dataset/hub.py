"""A public dataset: its shipped sample, the real thing on the Hugging Face Hub, or a local copy."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from judgelab.core.errors import ConfigError, DataError
from judgelab.core.panel import Item, Panel
from judgelab.dataset.origin import SAMPLES, check_source, origin
from judgelab.dataset.rows import Row, at_least_one, read_rows, text_at

EMPTY_ROWS = ("error", "skip")
__all__ = ["SAMPLES", "Hub"]


class Hub:
    """Items of one dataset, from one of three sources that share one set of columns.

    Args:
        name: key of the domain; names the sample file and items without an id.
        task: summarization, translation or peer_review.
        task_description: one line for prompts.
        noun: what a source is called in prompts, e.g. "article".
        hub: where it lies on the Hub: ``id``, ``config`` (or null), ``revision`` (commit, branch
            or ref), ``split``, ``data_files`` (patterns inside the repository; null: the usual
            layout of that config and split). Parquet files only; no code is ever run.
        fields: columns that become ``source``, ``reference``, ``id``, ``synopsis`` and ``gloss``;
            a path like ``translation.de`` reaches into nested columns; null: there is none.
        source: ``sample`` (items written for this project), ``hub``, or ``path``.
        path: a local parquet, jsonl, json or csv file with the same columns.
        limit: the first so many rows; ``load`` may override it.
        empty_rows: what to do with a row whose source is empty: ``error``, or ``skip`` it and list
            it in the provenance.

    Raises:
        ConfigError: an unknown key or source, a limit below 1, or a path that does not fit.
    """

    def __init__(
        self,
        *,
        name: str,
        task: str,
        task_description: str,
        noun: str,
        hub: Mapping[str, Any],
        fields: Mapping[str, str | None],
        source: str = "sample",
        path: str | None = None,
        limit: int | None = None,
        empty_rows: str = "error",
    ) -> None:
        self.name, self.task = name, task
        self.task_description, self.noun = task_description, noun
        self.hub = _known(hub, ("id", "config", "revision", "split", "data_files"), "dataset.hub")
        self.fields = _known(
            fields, ("source", "reference", "id", "synopsis", "gloss"), "dataset.fields"
        )
        if not self.fields.get("source"):
            raise ConfigError("dataset.fields.source must name the column that holds the source.")
        check_source(source, path)
        if empty_rows not in EMPTY_ROWS:
            raise ConfigError(f"dataset.empty_rows={empty_rows!r} must be error or skip.")
        self.source, self.path, self.limit = source, path, at_least_one(limit)
        self.empty_rows = empty_rows

    def load(self, limit: int | None = None) -> Panel:
        """The items, without agents.

        Args:
            limit: the first so many rows; None takes the limit of the configuration.

        Returns:
            A panel whose provenance holds: dataset, source, the hub id, revision asked and commit
            found or the file, split, rows, and a hash of the content.

        Raises:
            ConfigError: the limit is below 1.
            DataError: the data cannot be had, a column is missing, or a row has no source text.
        """
        limit = self.limit if limit is None else at_least_one(limit)
        lies = origin(self.name, self.source, self.path, self.hub)
        where = lies.where
        rows = read_rows(lies.files, limit)
        found = [self._item(index, row, where) for index, row in enumerate(rows)]
        items = tuple(item for item in found if item is not None)
        if not items:
            raise DataError(f"Dataset {self.name!r} ({where}) has no rows with a source.")
        facts = {"dataset": self.name, "source": self.source, **lies.facts, "rows": len(items)}
        facts["task_description"] = self.task_description
        facts["skipped_rows"] = [index for index, item in enumerate(found) if item is None]
        facts["content"] = Panel(items=items).digest
        return Panel(items=items, task=self.task, provenance=facts)

    def _item(self, index: int, row: Row, where: str) -> Item | None:
        texts = {key: self._cell(key, index, row, where) for key in self.fields}
        source = texts["source"]
        if source is None and self.empty_rows == "skip":
            return None
        if source is None:
            raise self._bad(index, "source", "is empty (empty_rows=skip leaves it out)", row, where)
        gloss = texts.get("gloss")
        return Item(
            id=texts.get("id") or f"{self.name}-{index}",
            source=source,
            reference=texts.get("reference"),
            synopsis=texts.get("synopsis"),
            meta={} if gloss is None else {"gloss": gloss},
        )

    def _cell(self, key: str, index: int, row: Row, where: str) -> str | None:
        """One text; None where the field is not mapped, null or blank."""
        field = self.fields[key]
        if not field:
            return None
        if key == "id" and isinstance(row.get(field), int):
            return str(row[field])
        try:
            text = text_at(row, field)
        except KeyError:
            if key == "gloss":  # only our own samples carry one
                return None
            raise self._bad(index, key, "is missing", row, where) from None
        except TypeError as cause:
            raise self._bad(index, key, str(cause), row, where) from None
        except UnicodeError:
            raise self._bad(index, key, "is not valid Unicode", row, where) from None
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


def _known(given: Mapping[str, Any], keys: Sequence[str], where: str) -> dict[str, Any]:
    for key in given:
        if key not in keys:
            near = difflib.get_close_matches(str(key), keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(keys)}."
            raise ConfigError(f"Unknown key {where}.{key}: {hint}")
    return dict(given)
