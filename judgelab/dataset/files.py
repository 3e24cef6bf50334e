"""Rows of any file: CSV, TSV, JSON, JSONL, parquet, DataFrames; and texts inside of nested rows.

Nothing is guessed but what parts cells (the first line shows it) and that a .json file with an
object in each line is a list of these.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.core.panel import halved

if TYPE_CHECKING:
    from pandas import DataFrame

Row = Mapping[str, Any]
SHOWN = 10  # of so many faults the reasons are told
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
"""What a cell may hold where a value is missing, in any case."""

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
LINE_END = re.compile(r"\r\n|\r|\n")
INDEX = "__index_level_"  # how pandas names an index without a name in parquet
NO_LIST = "'{}' is no list of records, as [{{...}}, {{...}}] is: save it as one, or as .jsonl."
PLACE = re.compile(r"-?\d+")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
SLICE = re.compile(r"(-?\d+)?:(-?\d+)?")


@dataclass(slots=True)
class Records:
    """Rows as a file holds them: text in CSV, typed and perhaps nested values in the others."""

    # (line of the file, or row from 1; column -> value)
    rows: list[tuple[int, Row]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # lines that are no rows, and why
    columns: tuple[str, ...] = ()  # as the table names them
    comma: bool = False  # whether 4,5 is the number 4.5, as where cells are parted by semicolons
    noun: str = "line"  # what a row is called in messages

    def add(self, line: int, row: object) -> None:
        """Take a value of JSON as a row."""
        if isinstance(row, dict):
            self.rows.append((line, row))
            if not row.keys() <= set(self.columns):
                self.columns = tuple(dict.fromkeys([*self.columns, *row]))
        else:
            self.faults.append(f"{self.noun} {line}: not a JSON object")


def content_of(file: Path) -> Records | dict[str, Any]:
    """What a .csv, .tsv, .txt, .jsonl, .json, .eval or .parquet file holds: rows, or one object.

    Text is UTF-8, with or without a byte order mark, or UTF-16 with one; any line ends; cells are
    parted by comma, semicolon or tab, as the first line shows. An object of JSON in each line, or a
    list of objects, are rows.

    Raises:
        DataError: there is no such file, it has no rows, or it is none of these.
    """
    readers: dict[str, Callable[[Path], Records | dict[str, Any]]] = {
        **dict.fromkeys((".csv", ".tsv", ".txt"), _csv_rows),
        **dict.fromkeys((".jsonl", ".ndjson"), _objects),
        **dict.fromkeys((".json", ".eval"), _json),
        **dict.fromkeys((".parquet", ".pq"), _parquet),
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise DataError(
            f"{str(file)!r} is no table that can be read (dataset.path): save it as .csv, .tsv, "
            ".jsonl, .json or .parquet."
        )
    if not file.is_file():
        raise DataError(f"There is no file {str(file)!r}: check dataset.path.")
    content = reader(file)
    if isinstance(content, Records) and not (content.rows or content.faults):
        raise DataError(f"{str(file)!r} has no rows.")
    return content


def read_records(path: str) -> Records:
    """The rows of a file, as ``content_of``.

    Raises:
        DataError: as there; or it is one object.
    """
    content = content_of(Path(path).expanduser())
    if isinstance(content, Records):
        return content
    raise DataError(NO_LIST.format(path))


def each_row(files: Sequence[Path]) -> Iterator[Row]:
    """The rows of files, of the Hub or of a user's copy; of parquet without holding them all."""
    for file in files:
        if file.suffix.lower() == ".parquet" and file.is_file():
            yield from _parquet_rows(file)
        else:
            records = read_records(str(file))
            refuse(repr(str(file)), records.faults)
            yield from (row for _, row in records.rows)


def of_frame(frame: DataFrame) -> Records:
    """The rows of a DataFrame, numbered from 1."""
    columns = tuple(map(str, frame.columns))
    if len(set(columns)) < len(columns):
        raise DataError("Two columns of the table have one name: rename one of them.")
    rows: list[Any] = frame.set_axis(columns, axis=1).to_dict("records")
    return Records(list(enumerate(rows, start=1)), columns=columns, noun="row")


def refuse(where: str, faults: Sequence[str]) -> None:
    """Raise DataError if there is any fault: how many, and the first ``SHOWN`` of them."""
    if faults:
        noun = "problem" if len(faults) == 1 else "problems"
        head = f"{where} has {len(faults)} {noun}; correct them; nothing was loaded:"
        rest = len(faults) - SHOWN
        more = [f"  and {rest} more"] if rest > 0 else []
        raise DataError("\n".join([head, *(f"  {one}" for one in faults[:SHOWN]), *more]))


def number(cell: str) -> float:
    """A finite number, written in the usual way; NaN for all else."""
    text = cell.strip()
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else math.nan


def cell_text(value: Any) -> str | None:
    """A cell as text; a whole number without its .0; None for lists, objects, half characters."""
    if isinstance(value, str):
        return None if halved(value) else value
    if hasattr(value, "__len__"):
        return None
    try:
        if value is None or value != value:
            return ""
        if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        return str(value)
    except TypeError:  # pandas' NA is not even unequal to itself
        return ""
    except ValueError:  # Python writes no whole number of thousands of digits
        return None


def value_at(row: object, path: str) -> object:
    """What lies at a path such as ``translation.de``, in nested columns and those that hold JSON.

    Lists are reached by number, also from the end (``dialog.-1``); a slice of a list of texts
    (``dialog.:-1``) is put together line by line. KeyError: there is no such path.
    """
    if isinstance(row, Mapping) and path in row:
        return row[path]
    value = row
    for part in path.split("."):
        value = unpack(value)
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, str) or not isinstance(value, Sequence):
            raise KeyError(path)
        elif PLACE.fullmatch(part) and -len(value) <= int(part) < len(value):
            value = value[int(part)]
        elif ends := SLICE.fullmatch(part):
            value = value[slice(*(int(end) if end else None for end in ends.groups()))]
            if all(isinstance(one, str) for one in value):
                value = "\n".join(value)
        else:
            raise KeyError(path)
    return value


def text_at(row: Row, path: str) -> str | None:
    """The text at a path; a null stays None; of a path that ends in ``.*`` the ``sections`` of a
    form.

    Raises:
        KeyError, TypeError: there is no such path, or no text.
    """
    value = value_at(row, path if path in row else path.removesuffix(".*"))
    if path.endswith(".*") and isinstance(form := unpack(value), Mapping):
        value = sections({k: v for k, v in form.items() if isinstance(v, str | int | float)})
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{path!r} is not text but {type(value).__name__}")
    return value


@contextmanager
def row_faults(where: str, number: int, row: Row) -> Iterator[None]:
    """Name the row of ``where`` that lacks a field, or has another value there (DataError)."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as cause:
        why = f"{cause} is missing" if isinstance(cause, KeyError) else cause
        raise DataError(
            f"Row {number} (the first is 0) of {where}: {why}; columns present: "
            f"{', '.join(map(str, row))}. Mend the row, or set dataset.fields."
        ) from cause


def sections(form: Mapping[str, object]) -> str:
    """The parts of a form that are not blank, each under its name."""
    return "\n\n".join(
        f"{key.replace('_', ' ').title()}:\n\n{text}"
        for key, part in form.items()
        if part is not None and (text := str(part).strip())
    )


def unpack(value: object) -> object:
    """What a column of JSON text holds (None where it is no JSON); other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def _csv_rows(file: Path) -> Records:
    text = _text_of(file)
    head = LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    mark = max(",;\t", key=head.count)
    csv.field_size_limit(2**31 - 1)  # a source may be a whole document
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    records, line = Records(comma=mark != ","), 1
    try:
        for cells in reader:
            here, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not records.columns:  # those without a name are numbered, and mean nothing
                names = [cell.strip() or f"column {k}" for k, cell in enumerate(cells, start=1)]
                for name in (name for k, name in enumerate(names) if name in names[:k]):
                    raise DataError(f"{str(file)!r} has two columns {name!r}: rename one of them.")
                records.columns = tuple(names)
            elif len(cells) != len(records.columns):
                records.faults.append(
                    f"line {here}: {len(cells)} cells where the header has {len(records.columns)} "
                    f"(quote cells that hold {mark!r} or line breaks)"
                )
            else:
                records.rows.append((here, dict(zip(records.columns, cells, strict=True))))
    except csv.Error as cause:
        why = f"{cause} (a quote that is left open?)"
        raise DataError(f"{str(file)!r}, line {line}: {why}.") from cause
    return records


def _objects(file: Path) -> Records:
    records = Records()
    for line, text in enumerate(LINE_END.split(_text_of(file)), start=1):
        if text.strip():
            try:
                records.add(line, _json_value(text))
            except DataError as cause:
                records.faults.append(f"line {line}: {cause}")
    return records


def _json(file: Path) -> Records | dict[str, Any]:
    text = _text_of(file)
    try:
        value = _json_value(text)
    except DataError as cause:
        first, *more = LINE_END.split(text.strip(), maxsplit=1)
        if more and isinstance(unpack(first), dict):
            return _objects(file)
        raise DataError(f"{str(file)!r}: {cause}") from cause
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        raise DataError(NO_LIST.format(file))
    records = Records(noun="row")
    for line, row in enumerate(value, start=1):
        records.add(line, row)
    return records


def _json_value(text: str) -> Any:
    try:
        value = json.loads(text)
        if SURROGATE.search(text) and halved(json.dumps(value, ensure_ascii=False)):
            raise DataError("half of a surrogate pair, which is not valid Unicode")
        return value
    except (ValueError, RecursionError) as cause:
        why = cause.msg if isinstance(cause, json.JSONDecodeError) else "too large or too deep"
        why = why if text.strip() else "it is empty"
        raise DataError(f"not usable JSON ({why})") from cause


def _parquet(file: Path) -> Records:
    rows = list(enumerate(_parquet_rows(file), start=1))
    return Records(rows, columns=tuple(rows[0][1]) if rows else (), noun="row")


def _parquet_rows(file: Path) -> Iterator[Row]:
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file)
        names = [name for name in table.schema_arrow.names if not name.startswith(INDEX)]
        for batch in table.iter_batches(batch_size=1024, columns=names):
            yield from batch.to_pylist()
    except (OSError, ValueError) as cause:  # pyarrow's errors are ValueErrors
        why = " ".join(str(cause).split())[:200]
        raise DataError(f"{str(file)!r} cannot be read as parquet: {why}.") from cause


def _text_of(file: Path) -> str:
    raw = file.read_bytes()
    coding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return raw.decode(coding)
    except UnicodeDecodeError as cause:
        line = len(LINE_END.split(raw[: cause.start].decode(coding, "ignore")))
        raise DataError(
            f"{str(file)!r}, line {line}: not valid UTF-8; save the file as UTF-8."
        ) from cause
