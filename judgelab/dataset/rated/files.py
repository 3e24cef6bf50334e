"""What annotated benchmarks have in common: where they come from, and their files of texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.dataset.download import fetch
from judgelab.dataset.rated.panel import RatedSource
from judgelab.dataset.rated.table import names, need, read_table, text_or_none
from judgelab.dataset.rows import Row, read_rows

SOURCES = ("sample", "hub", "path")


def check_source(source: str, path: str | None) -> str:
    """The source itself.

    Raises:
        ConfigError: it is unknown, or does not go with the path.
    """
    if source not in SOURCES:
        raise ConfigError(f"dataset.source={source!r} must be one of {', '.join(SOURCES)}.")
    if (source == "path") != bool(path):
        raise ConfigError("dataset.path and dataset.source=path go together: give both.")
    return source


def check_keys(given: Mapping[str, Any], known: Sequence[str], where: str) -> dict[str, Any]:
    """The mapping itself, with every known key.

    Raises:
        ConfigError: a key is unknown.
    """
    for key in given:
        if key not in known:
            raise ConfigError(f"{where}.{key} is not a known key.{did_you_mean(str(key), known)}")
    return {key: given.get(key) for key in known}


def hub_rows(hub: Mapping[str, Any], limit: int | None) -> tuple[list[Row], dict[str, object]]:
    """Rows of a split on the Hub, and where exactly they came from."""
    found = fetch(hub)
    asked = {key: hub.get(key) for key in ("id", "config", "revision", "split")}
    return read_rows(found.files, limit), {"hub": asked, "commit": found.commit}


def source_texts(
    path: str | None, item: str, source: str, reference: str, setting: str
) -> dict[str, RatedSource]:
    """Item -> article and reference, from a table beside the scores; empty without one.

    Args:
        path: .csv or .parquet, or None.
        item, source, reference: its columns.
        setting: the config key of the path, for messages.

    Raises:
        DataError: it cannot be read or lacks a column.
    """
    if path is None:
        return {}
    table = read_table(path, setting)
    need(table, (item, source, reference), path, setting)
    texts = zip(table[source].tolist(), table[reference].tolist(), strict=True)
    return {
        name: RatedSource(text_or_none(article) or "", text_or_none(summary))
        for name, (article, summary) in zip(names(table, item, path), texts, strict=True)
    }


def file_facts(**paths: str | None) -> dict[str, object]:
    """Names and hashes of the files read."""
    return {
        name: {
            "file": path,
            "sha256": hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest(),
        }
        for name, path in paths.items()
        if path is not None
    }
