"""Rows of a table, wherever it lies: local files, and the parquet files of the Hugging Face Hub."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgelab.core.errors import ConfigError, DataError, require

Row = Mapping[str, Any]
PLACE = re.compile(r"-?\d+")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?")


def read_rows(files: Sequence[Path], limit: int | None = None) -> list[Row]:
    """The first ``limit`` rows (all where None) of files of one kind, known by their suffix.

    ``.parquet`` goes through ``datasets``; ``.jsonl``, ``.json`` (a list of objects) and ``.csv``
    (UTF-8, header line) are read exactly as written: no column changes its type.

    Raises:
        ConfigError: the suffix is none of these.
        DataError: a file is missing or is not what its suffix says.
        MissingExtraError: parquet without the package ``datasets``.
    """
    return list(itertools.islice(each_row(files), limit))


def each_row(files: Sequence[Path]) -> Iterator[Row]:
    """The rows of ``read_rows`` one by one, for files that are too large to be held."""
    return itertools.chain.from_iterable(_rows_of(file) for file in files)


def text_at(row: Row, field: str) -> str | None:
    """The text of a column, or at a path such as ``translation.de`` or ``reviews.0.text``.

    A path descends into nested columns, into lists by number, and into columns that hold JSON.
    Numbers may count from the end (``dialog.-1``); a slice of a list of texts (``dialog.:-1``)
    is put together line by line.
    A path that ends in ``.*`` takes a whole form (a review form, for instance): every text or
    number of it, as sections ``Heading:``, blank line, text. A null stays None.

    Raises:
        KeyError: there is no such column or path.
        TypeError: what is there is not text.
        UnicodeError: the text holds half of a surrogate pair, which no encoding can write.
    """
    value: object = row
    if field in row:
        value = row[field]
    else:
        for part in field.removesuffix(".*").split("."):
            value = child(unpacked(value), part)
        value = _sections(unpacked(value)) if field.endswith(".*") else value
    if value is not None and not isinstance(value, str):
        raise TypeError(f"is not text but {type(value).__name__}")
    if value is not None:
        value.encode()
    return value


def _sections(form: object) -> object:
    if not isinstance(form, Mapping):
        return form
    return "\n\n".join(
        f"{str(key).replace('_', ' ').title()}:\n\n{str(part).strip()}"
        for key, part in form.items()
        if isinstance(part, (str, int, float)) and str(part).strip()
    )


def unpacked(value: object) -> object:
    """What a column of JSON text holds (None where it is no JSON); other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def child(value: object, part: str) -> object:
    """One step of a path: a key, a number from either end, or a slice; KeyError without it."""
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise KeyError(part)
    if PLACE.fullmatch(part) and -len(value) <= int(part) < len(value):
        return value[int(part)]
    if found := SLICE.fullmatch(part):
        start, end = (int(bound) if bound else None for bound in found.groups())
        chosen = value[start:end]
        return "\n".join(chosen) if all(isinstance(one, str) for one in chosen) else chosen
    raise KeyError(part)


def _rows_of(file: Path) -> Iterator[Row]:
    readers = {".parquet": _parquet, ".jsonl": _jsonl, ".json": _json, ".csv": _csv}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise ConfigError(f"Cannot read {str(file)!r}: its name must end in {', '.join(readers)}.")
    if not file.is_file():
        raise DataError(f"There is no file {str(file)!r}: check dataset.path.")
    return reader(file)


def _parquet(file: Path) -> Iterator[Row]:
    datasets = require("datasets", extra="hub")
    arrow = require("pyarrow", extra="hub")
    try:
        # Streaming reads row group by row group and writes no second copy into a cache.
        table = datasets.load_dataset(
            "parquet", data_files={"rows": [str(file)]}, split="rows", streaming=True
        )
        yield from table
    except (arrow.ArrowException, datasets.exceptions.DatasetsError, ValueError, OSError) as cause:
        raise DataError(f"{str(file)!r} is not readable as parquet: {_short(cause)}") from cause


def _jsonl(file: Path) -> Iterator[Row]:
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            yield _object(_parsed(line, f"{str(file)!r}, line {number}"), file, f"line {number}")


def _json(file: Path) -> Iterator[Row]:
    rows = _parsed(_text(file), repr(str(file)))
    if not isinstance(rows, list):
        raise DataError(f"{str(file)!r} must hold a JSON list of objects, one object a row.")
    for number, row in enumerate(rows, start=1):
        yield _object(row, file, f"entry {number}")


def _csv(file: Path) -> Iterator[Row]:
    lines = iter(_text(file).splitlines(keepends=True))
    reader = csv.DictReader(lines, strict=True)
    try:
        for row in reader:
            if None in row or None in row.values():
                raise DataError(
                    f"{str(file)!r}, line {reader.line_num}: this row has not as many fields as "
                    "the header line; quote fields that contain commas or line breaks."
                )
            yield row
    except csv.Error as cause:
        raise DataError(f"{str(file)!r}, line {reader.line_num}: {cause}.") from cause


def _text(file: Path) -> str:
    raw = file.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        line = raw.count(b"\n", 0, cause.start) + 1
        raise DataError(
            f"{str(file)!r}, line {line}: not valid UTF-8; save the file as UTF-8."
        ) from cause


def _parsed(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except ValueError as cause:
        raise DataError(f"{where}: not valid JSON ({cause}).") from cause


def _object(row: object, file: Path, where: str) -> Row:
    if not isinstance(row, dict):
        raise DataError(f"{str(file)!r}, {where}: a row must be a JSON object.")
    return row


def _short(cause: BaseException) -> str:
    return " ".join(str(cause).split())[:200]
