"""Logs of other tools, recognised by what they hold: each has a small reader on one row model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judgelab.core.errors import DataError, listed
from judgelab.dataset.files import Records, content_of, refuse
from judgelab.dataset.logs import (
    alpaca_eval,
    argilla,
    deepeval,
    inspect,
    label_studio,
    langfuse,
    lm_eval,
    mlflow,
    promptfoo,
)
from judgelab.dataset.logs.inspect import unzip
from judgelab.dataset.logs.log import Log, LogFile, Reader

__all__ = ["Log", "file_facts", "read_files"]

READERS: Sequence[Reader] = (
    inspect,
    promptfoo,
    deepeval,
    mlflow,
    langfuse,
    lm_eval,
    alpaca_eval,
    label_studio,
    argilla,
)
"""The first that knows a file reads it."""

FIRST = 200  # rows by which a file is recognised
SUFFIXES = (".eval", ".json", ".jsonl", ".csv", ".parquet")  # of a folder's files that may be logs


def read_files(path: str | Sequence[str]) -> Records | Log:
    """The rows of a flat table; or what logs of one tool say.

    Args:
        path: a file; a folder of logs, in which other files are left out; or several of these.

    Raises:
        DataError: nothing can be read, or logs are of several tools.
    """
    files, failures, logs = _files(path), 0, list[tuple[Reader, LogFile]]()
    places = [Path(one).expanduser() for one in ([path] if isinstance(path, str) else path)]
    for file in files:
        try:
            content = _content(file)
        except DataError:
            if file in places:
                raise
            failures += 1
            continue  # a folder may hold anything; how much of it is left out is said
        records = content if isinstance(content, Records) else None
        whole: Any = [row for _, row in records.rows] if records else content
        first = whole[:FIRST] if records else whole
        reader = next((reader for reader in READERS if reader.recognises(first)), None)
        if reader is not None:
            refuse(repr(str(file)), records.faults if records else ())
            logs.append((reader, LogFile(file, whole)))
        elif records and files == places[:1]:  # one file by its name
            return records
    tools = list(dict.fromkeys(reader.TOOL for reader, _ in logs))
    if len(tools) > 1:
        raise DataError(f"{path!r} holds logs of {listed(tools)}: name those of one tool.")
    if not logs:
        raise DataError(
            f"{path!r} is no list of records, as [{{...}}, {{...}}] is, and no log of a known "
            f"tool: {listed([reader.TOOL for reader in READERS])}."
        )
    reader = logs[0][0]
    log = Log(reader.TOOL, reader.ITEMS)
    reader.read([file for _, file in logs], log)
    log.without_texts()
    other = len(files) - len(logs) - failures
    log.left_out += Counter({"files of other kinds": other, "files that cannot be read": failures})
    if not log.units:
        raise DataError(f"{path!r} holds nothing that was scored. {log.sentence}")
    return log


def file_facts(path: str | Sequence[str]) -> dict[str, object]:
    """What a record says of a user's files."""
    hashes = [hashlib.sha256(file.read_bytes()) for file in _files(path)]
    whole = hashlib.sha256(b"".join(one.digest() for one in hashes))
    sha = (whole if len(hashes) > 1 else hashes[0]).hexdigest()
    name = Path(path if isinstance(path, str) else path[0]).expanduser().stem
    return {"dataset": name, "source": "path", "file": path, "sha256": sha}


def _files(path: str | Sequence[str]) -> list[Path]:
    files = list[Path]()
    for one in [path] if isinstance(path, str) else path:
        place = Path(one).expanduser()
        inside = sorted(file for file in place.rglob("*") if file.suffix in SUFFIXES)
        files += inside if place.is_dir() else [place]
    return files


def _content(file: Path) -> Records | dict[str, Any]:
    """The rows of a table; or one object of JSON, which may be zipped, whatever it is called."""
    if file.is_file():
        with file.open("rb") as content:
            if content.read(2) == b"PK":
                return unzip(file)
    return content_of(file)
