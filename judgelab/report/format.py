"""How numbers, names, tables and pages are written: on the console and on the page alike."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from judgelab.core import resources
from judgelab.core.errors import some

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import BytecodeCache, Environment

NOTHING = "–"
NAMES: Mapping[str, Mapping[str, str]] = resources.words("report/words/names.yaml")
Row = Mapping[str, Any]
MOST, ENDS = 20, 5  # rows of a table that a screen has whole; those of a longer one at each end
SENTENCE = 90  # characters beyond which a cell is more than a name


def number(value: object) -> str:
    """Three significant digits; whole numbers stay whole, "–" stands for not known."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if not isinstance(value, float) or not math.isfinite(value):
        return NOTHING
    if value == int(value) and abs(value) >= 1000:
        return number(int(value))
    return _fixed(value, _decimals(value))


def estimate(value: object, low: object, high: object) -> str:
    """``0.632 [0.583, 0.684]``: three parts with the same number of decimals."""
    values = (value, low, high)
    parts = [part for part in map(_real, values) if part is not None]
    if len(parts) < 3 or _real(value) is None:
        return NOTHING if _real(value) is None else number(value)
    if all(isinstance(part, int) for part in values):
        spelled_parts = list(map(number, values))
    else:
        decimals = _decimals(max(map(abs, parts)))
        spelled_parts = [_fixed(part, decimals) for part in parts]
    return f"{spelled_parts[0]} [{spelled_parts[1]}, {spelled_parts[2]}]"


def p_value(value: object) -> str:
    """``.024``, or ``<.001`` where three decimals would show nothing."""
    if (p := _real(value)) is None:
        return NOTHING
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def words(name: str) -> str:
    """A key as a reader would say it: ``clean/pair_auc`` is "clean pair AUC"."""
    phrases = " ".join(NAMES["phrases"].get(part, part) for part in name.split("/"))
    parts = phrases.replace("_", " ").split()
    return " ".join(NAMES["capitals"].get(part.lower(), part) for part in parts)


def text(value: object) -> str:
    """One line without control characters, whatever a user's names and messages hold."""
    if value is None:
        return NOTHING
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def shorten(value: str, length: int) -> str:
    """At most ``length`` characters, the last an ellipsis if something was cut."""
    return value if len(value) <= length else value[: length - 1].rstrip() + "…"


def counted(n: int, thing: str = "item") -> str:
    """``1 item``, ``30 items``."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _real(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _decimals(value: float) -> int:
    """Decimals that leave three significant digits; 1 counts as 0.999 would."""
    return min(max(3 - math.ceil(math.log10(abs(value))), 0), 12) if value else 2


def _fixed(value: float, decimals: int) -> str:
    """Fixed-point; a number too small to be read that way is less than .0001."""
    if decimals > 6:
        return "<.0001" if value > 0 else ">-.0001"
    digits = f"{value:.{decimals}f}"
    return digits.removeprefix("-") if float(digits) == 0 else digits


def render(template: str, **values: Any) -> str:
    """A page of templates/, where strings are texts, whatever they hold; or a template of another
    room, by its path in the package."""
    return _environment().get_template(template).render(values)


def sentences(template: str, **values: Any) -> list[str]:
    """The lines of a template without those that are empty, and without markup (``.md.j2``)."""
    lines = (text(line) for line in render(template, **values).splitlines())
    return [line for line in lines if line]


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([resources.PACKAGE / "report/templates", resources.PACKAGE]),
        autoescape=lambda name: not str(name).endswith(".md.j2"),
        undefined=StrictUndefined,
        finalize=_printable,
        keep_trailing_newline=True,
        bytecode_cache=compiled_templates(),
    )
    environment.filters |= {"number": number, "text": text, "some": some}
    return environment


def compiled_templates() -> BytecodeCache | None:
    """Where jinja2 keeps what it compiles, a tenth of a short run: beside Python's own files; None
    where Python writes none, as the folder is another user's, or that is switched off."""
    from jinja2 import FileSystemBytecodeCache

    folder = resources.PACKAGE / "__pycache__"
    writable = os.access(folder, os.W_OK) and not sys.dont_write_bytecode
    return FileSystemBytecodeCache(str(folder)) if writable else None


def _printable(value: Any) -> Any:
    """A user's text without control characters; markup as it is."""
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(c if c.isprintable() or c == "\n" else " " for c in value)


@dataclass(frozen=True)
class Column:
    """One column, ready to print."""

    key: str  # the name in the rows; "value" stands for value, low and high together
    heading: str  # the name for readers
    numeric: bool  # whether it is to be aligned right
    cells: tuple[str, ...]  # the texts, one per row
    sort: tuple[Any, ...]  # what the rows are to be sorted by, one per row; None goes last
    links: tuple[str, ...] = ()  # where a cell leads, one per row; "" nowhere. Empty without any.

    @property
    def prose(self) -> bool:
        """Whether it holds sentences."""
        return any(len(cell) > SENTENCE for cell in self.cells)


def columns(rows: Sequence[Row], order: Iterable[str] = (), level: float = 0.95) -> list[Column]:
    """The columns of a table without those that hold nothing, intervals (of this ``level``) merged
    into their values, in the author's ``order``, then as they come."""
    keys = [key for key in _keys(rows, order) if any(row.get(key) is not None for row in rows)]
    ends = {key: (f"{key}_low", f"{key}_high") for key in keys} | {"value": ("low", "high")}
    ends = {key: pair for key, pair in ends.items() if {key, *pair} <= set(keys)}
    ends_of_others = {end for pair in ends.values() for end in pair}
    result = []
    for key in (key for key in keys if key not in ends_of_others):
        if key in ends:
            low, high = ends[key]
            parts = [{"value": r.get(key), "low": r.get(low), "high": r.get(high)} for r in rows]
            heading = f"{words(key)} [{100 * level:g} % interval]"
            result.append(estimates(key, parts, heading))
        else:
            result.append(column(key, [row.get(key) for row in rows]))
    return result


def column(key: str, values: Sequence[Any], heading: str | None = None) -> Column:
    """A column of numbers, of p values (key "p") or of texts, under its key in words or a
    ``heading``. Numbers that are all whole are written so: ranks, and counts as floats."""
    sort = tuple(None if value != value else value for value in values)  # NaN goes last, too
    numeric = all(_is_number(value) or value is None for value in values)
    whole = numeric and all(_is_whole(value) for value in values)
    cells = tuple(_cell(key, _whole(value) if whole else value, numeric) for value in values)
    return Column(key, words(key) if heading is None else heading, numeric, cells, sort)


def estimates(key: str, rows: Iterable[Row], heading: str) -> Column:
    """A column of estimates (value, low, high), sorted by their values."""
    parts = [[row.get(part) for part in ("value", "low", "high")] for row in rows]
    if all(_is_whole(part) for each in parts for part in each):
        parts = [[_whole(part) for part in each] for each in parts]  # ranks
    cells = tuple(estimate(*each) for each in parts)
    return Column(key, heading, True, cells, tuple(v if v == v else None for v, _, _ in parts))


def frame(table: Mapping[str, Any]) -> pd.DataFrame:
    """The table with all its columns in reading order; None is NaN in columns of numbers."""
    import pandas as pd

    rows: Sequence[Row] = table["rows"]
    keys = _keys(rows, table.get("columns", ()))
    data = pd.DataFrame([[row.get(key) for key in keys] for row in rows], columns=keys)
    for key in keys:
        if all(_is_number(row.get(key)) or row.get(key) is None for row in rows):
            data[key] = pd.to_numeric(data[key])
    return data


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as plain mappings."""
    return [{str(key): value for key, value in row.items()} for row in data.to_dict("records")]


def cut(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows for a screen and how many were left out: first and last of the first panel."""
    if len(rows) <= MOST:
        return list(rows), 0
    first = [row for row in rows if row.get("panel") == rows[0].get("panel")]
    visible = first if len(first) <= 2 * ENDS else [*first[:ENDS], *first[-ENDS:]]
    return list(visible), len(rows) - len(visible)


def _is_whole(value: Any) -> bool:
    return value is None or not value % 1 > 0


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and math.isfinite(value) else value


def _cell(key: str, value: Any, numeric: bool) -> str:
    if key in ("p", "p_holm"):
        return p_value(value)
    if numeric or isinstance(value, int | float):
        return number(value)
    spelling = text(value)
    return words(spelling) if key == "statistic" else spelling


def _keys(rows: Sequence[Row], order: Iterable[str]) -> list[str]:
    """The columns that are there: those of the order, then others as they come."""
    present = dict.fromkeys(key for row in rows for key in row)
    return list(dict.fromkeys([*(key for key in order if key in present), *present]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
