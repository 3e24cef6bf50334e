"""The per-item JSON files of one run in a clone of the authors' repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError
from judgelab.releases.peer_prediction.folders import Folder, load_json


@dataclass(frozen=True)
class ReleasedRecord:
    """One per-item file.

    Attributes:
        path: the file.
        id: item id (``example_idx``).
        names: agents in the order of the file's arrays (``condition_keys``).
        values: everything in it.
    """

    path: Path
    id: int
    names: tuple[str, ...]
    values: Mapping[str, Any]


def read_records(folder: Folder, run: str) -> list[ReleasedRecord]:
    """The files of one run, in order of item id.

    Raises:
        DataError: a file is damaged, or two of them claim one item.
    """
    records: dict[int, ReleasedRecord] = {}
    for path in folder.files(run):
        values = load_json(path)
        names = field_of(values, "condition_keys", path)
        item = field_of(values, "example_idx", path)
        if not isinstance(item, int) or not isinstance(names, list):
            raise DataError(f"{path}: example_idx must be a number and condition_keys a list.")
        if item in records:
            raise DataError(
                f"{path} and {records[item].path} both claim item {item}: keep one of them."
            )
        records[item] = ReleasedRecord(path, item, tuple(str(name) for name in names), values)
    return [records[item] for item in sorted(records)]


def field_of(values: Any, key: str, path: Path) -> Any:
    """One field of a file's JSON object.

    Raises:
        DataError: there is none of that name.
    """
    if not isinstance(values, dict) or key not in values:
        raise DataError(f"{path} lacks the field {key!r}: it may have been cut short.")
    return values[key]
