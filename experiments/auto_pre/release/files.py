"""Files of the authors' repository, by what they hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from experiments.repositories import AUTO_PRE
from judgelab.core.errors import DataError

ADDRESS = AUTO_PRE.address
ITEMS = 100  # items of every dataset


@cache
def layout() -> dict[str, Any]:
    """layout.yaml."""
    file = Path(__file__).with_name("layout.yaml")
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def datasets(root: Path) -> dict[str, dict[str, Any]]:
    """Name -> layout of the datasets, those with texts, that the clone has."""
    layouts = layout()["datasets"]
    return {name: each for name, each in layouts.items() if (root / each["folder"]).is_dir()}


def judge_of(tag: str) -> str:
    """The judge whom a file names so."""
    return str(layout()["judges"].get(tag, tag))


def orders(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """(shown first, shown second) of pairs (earlier, later): each with the later first, then the
    other way round, as all files have them."""
    return [order for one, two in pairs for order in ((two, one), (one, two))]


def tagged(folder: Path, patterns: Sequence[str], tag: str) -> Iterator[tuple[str, Path]]:
    """(tag, file) of the files of a folder, each tag once: by the first pattern that has it."""
    files: dict[str, Path] = {}
    for pattern in patterns:
        for file in sorted(folder.glob(pattern)):
            match = re.search(tag, file.name)
            if match:
                files.setdefault(match[1], file)
    yield from sorted(files.items())


def lines(file: Path) -> list[str]:
    """Lines, split at line feeds alone: some replies hold other separators.

    Raises:
        DataError: there is no such file, or it is no text.
    """
    try:
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as cause:
        raise DataError(
            f"{str(file)!r} cannot be read: it belongs to a clone of {ADDRESS}; fetch it again."
        ) from cause
    return text.removesuffix("\n").split("\n") if text else []


def records(file: Path) -> list[dict[str, Any]]:
    """JSON objects, one a line.

    Raises:
        DataError: a line is none.
    """
    return [_object(line, file, row) for row, line in enumerate(lines(file), 1)]


def document(file: Path) -> Any:
    """A file that is one JSON value.

    Raises:
        DataError: it is not.
    """
    return _json("\n".join(lines(file)), file, 1)


def _object(line: str, file: Path, row: int) -> dict[str, Any]:
    value = _json(line, file, row)
    if not isinstance(value, dict):
        raise DataError(f"{str(file)!r}, line {row}: a JSON object was expected.")
    return value


def _json(text: str, file: Path, row: int) -> Any:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise DataError(
            f"{str(file)!r}, line {row}: no JSON; fetch it again from {ADDRESS}."
        ) from cause
