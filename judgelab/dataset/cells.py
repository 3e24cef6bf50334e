"""Tables as people save them: CSV, TSV, JSONL, parquet or a DataFrame, every cell as text."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgelab.core.errors import DataError
from judgelab.core.panel import halved
from judgelab.dataset.jsonl import no_repeats

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 10
"""Of so many faults the reasons are told."""

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE | re.ASCII)
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)
MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class CellTable:
    """Rows of text.

    Attributes:
        columns: as the table names them.
        rows: (line of the file, or row from 1; column -> cell). Empty cells are "".
        faults: lines that are no rows, and why.
        odd: (column, why) of cells that cannot be text; they matter where the column is read.
        comma: whether 4,5 is the number 4.5, as where cells are parted by semicolons.
        noun: what a row is called in messages.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[int, Mapping[str, str]]]
    faults: list[str]
    comma: bool = False
    noun: str = "line"
    odd: Sequence[tuple[str, str]] = ()


def cell_table(path: str) -> CellTable:
    """What a .csv, .tsv, .txt, .jsonl or .parquet file holds.

    Text is UTF-8, with or without a byte order mark, or UTF-16 with one; any line ends; cells are
    parted by comma, semicolon or tab, as the first line shows.

    Raises:
        DataError: there is no such file, or it is none of these.
    """
    file = Path(path).expanduser()
    readers: dict[str, Callable[[Path], CellTable]] = {
        **dict.fromkeys((".csv", ".tsv", ".txt"), _separated),
        **dict.fromkeys((".jsonl", ".ndjson"), _objects),
        **dict.fromkeys((".parquet", ".pq"), _parquet),
    }
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise DataError(
            f"{path!r} is no table that can be read: save it as .csv, .tsv, .jsonl or .parquet."
        )
    if not file.is_file():
        raise DataError(f"There is no file {path!r}: check dataset.path.")
    found = reader(file)
    if not found.rows and not found.faults:
        raise DataError(f"{path!r} has no rows.")
    return found


def frame_table(frame: DataFrame) -> CellTable:
    """The cells of a DataFrame; rows are numbered from 1."""
    columns = tuple(str(name) for name in frame.columns)
    if len(set(columns)) < len(columns):
        raise DataError("Two columns of the table have one name: rename one of them.")
    odd: list[tuple[str, str]] = []
    rows: list[tuple[int, Mapping[str, str]]] = []
    values = (frame.iloc[:, k].tolist() for k in range(len(columns)))
    for line, row in enumerate(zip(*values, strict=True), start=1):
        rows.append((line, _texts(line, zip(columns, row, strict=True), "row", odd)))
    return CellTable(columns, rows, [], noun="row", odd=odd)


def refuse(where: str, faults: list[str]) -> None:
    """Raise if there is any fault: how many, and the first ``SHOWN`` of them.

    Raises:
        DataError: there is one.
    """
    if faults:
        noun = "row" if len(faults) == 1 else "rows"
        head = f"{where} has {len(faults)} {noun} that cannot be used; nothing was loaded:"
        rest = len(faults) - SHOWN
        more = [f"  and {rest} more"] if rest > 0 else []
        raise DataError("\n".join([head, *(f"  {one}" for one in faults[:SHOWN]), *more]))


def number(cell: str, comma: bool = False) -> float:
    """A finite number, written in the usual way; NaN for all else."""
    text = cell.strip()
    if comma and COMMA.fullmatch(text):
        text = text.replace(",", ".")
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else math.nan


def _separated(file: Path) -> CellTable:
    text = _decoded(file)
    told = re.match(r"sep=(.)(\r\n|\r|\n)", text)  # as Excel writes and reads it
    skipped = 0
    if told:
        text, skipped = text[told.end() :], 1
    head = LINE_END.split(text.lstrip("\r\n"), maxsplit=1)[0]
    counts = {mark: head.count(mark) for mark in ",;\t"}
    mark = told[1] if told else max(counts, key=lambda one: counts[one])
    csv.field_size_limit(2**31 - 1)  # a source may be a whole document
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    columns: tuple[str, ...] | None = None
    rows, faults, line = [], list[str](), 1 + skipped
    try:
        for cells in reader:
            here, line = line, reader.line_num + 1 + skipped
            if not any(cell.strip() for cell in cells):
                continue
            if columns is None:
                columns = _header(cells, file)
            elif len(cells) != len(columns):
                faults.append(
                    f"line {here}: {len(cells)} cells where the header has {len(columns)} (quote "
                    f"cells that hold {_spoken(mark)} or line breaks)"
                )
            else:
                rows.append((here, dict(zip(columns, cells, strict=True))))
    except csv.Error as cause:
        raise DataError(f"{str(file)!r}, line {line}: {cause} (a quote that is left open?).") from (
            cause
        )
    return CellTable(columns or (), rows, faults, mark != ",")


def _spoken(mark: str) -> str:
    return "tabs" if mark == "\t" else repr(mark)


def _header(cells: list[str], file: Path) -> tuple[str, ...]:
    """The names of columns; those without one are numbered, and mean nothing."""
    found = [cell.strip() or f"column {k}" for k, cell in enumerate(cells, start=1)]
    twice = next((name for k, name in enumerate(found) if name in found[:k]), None)
    if twice is not None:
        raise DataError(f"{str(file)!r} has two columns {twice!r}: rename one of them.")
    return tuple(found)


def _objects(file: Path) -> CellTable:
    rows: list[tuple[int, Mapping[str, str]]] = []
    columns: dict[str, None] = {}
    faults: list[str] = []
    odd: list[tuple[str, str]] = []
    for line, text in enumerate(LINE_END.split(_decoded(file)), start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text, object_pairs_hook=no_repeats)
        except DataError as cause:
            faults.append(f"line {line}: {cause}")
            continue
        except (ValueError, RecursionError) as cause:
            said = cause.msg if isinstance(cause, json.JSONDecodeError) else "too large or too deep"
            faults.append(f"line {line}: not usable JSON ({said})")
            continue
        if not isinstance(row, dict):
            faults.append(f"line {line}: not a JSON object")
            continue
        columns |= dict.fromkeys(row)
        rows.append((line, _texts(line, row.items(), "line", odd)))
    whole = tuple(columns)
    filled = [(k, {**dict.fromkeys(whole, ""), **row}) for k, row in rows]
    return CellTable(whole, filled, faults, odd=odd)


def _parquet(file: Path) -> CellTable:
    import pandas as pd

    try:
        return frame_table(pd.read_parquet(file))
    except (OSError, ValueError) as cause:  # pyarrow's errors are ValueErrors
        said = " ".join(str(cause).split())[:200]
        raise DataError(f"{str(file)!r} cannot be read as parquet: {said}.") from cause


def _decoded(file: Path) -> str:
    raw = file.read_bytes()
    coding = next((name for mark, name in MARKS if raw.startswith(mark)), "utf-8")
    try:
        return raw.decode(coding)
    except UnicodeDecodeError as cause:
        line = len(LINE_END.split(raw[: cause.start].decode(coding, "ignore")))
        raise DataError(
            f"{str(file)!r}, line {line}: not valid UTF-8; save the file as UTF-8."
        ) from cause


def _texts(
    line: int, cells: Iterable[tuple[str, Any]], noun: str, odd: list[tuple[str, str]]
) -> Mapping[str, str]:
    """The row with every cell as text; empty where it cannot be, which is noted."""
    row = {}
    for name, value in cells:
        text = cell_text(value)
        if text is None or halved(text):
            said = "is no text and no number" if text is None else "holds half a character"
            odd.append((name, f"{noun} {line}: the cell {name!r} {said}"))
            text = ""
        row[name] = text
    return row


def cell_text(value: Any) -> str | None:
    """A cell as text; a whole number without its .0; None for lists and objects."""
    if value is None or (not isinstance(value, str) and _missing(value)):
        return ""
    if isinstance(value, str):
        return value
    if hasattr(value, "__len__"):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    try:
        return str(value)
    except ValueError:  # Python writes no whole number of thousands of digits
        return None


def _missing(value: Any) -> bool:
    """Whether a cell is NaN, NaT or NA."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return not hasattr(value, "__len__")  # pandas' NA answers no comparison
