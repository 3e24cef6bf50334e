"""What a study found: plain values that can be written, read back, and drawn without a model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from judgelab.core.estimator import Estimator

Value = str | int | float | bool | None
Row = Mapping[str, Value]
PARTS = ("low", "high", "threshold", "n", "unscored", "p")
"""What may stand beside the value of an estimate in a summary: ``key``, ``key_low``, ..."""
NAMES = ("criterion", "judge", "system")  # columns that say on whom a verdict is


@dataclass(frozen=True)
class Table:
    """Named rows of plain values; NaN stands for "not known" and is written as null."""

    name: str
    title: str
    rows: Sequence[Row]
    note: str = ""
    level: float = 0.95  # of the intervals in columns low and high
    by: str = ""  # the column by whose values a page groups many rows


@dataclass(frozen=True)
class PageSection:
    """A part of a page that answers one question: the heading."""

    heading: str
    tables: Sequence[str] = ()  # tables, figures: names of those of the result that belong here
    figures: Sequence[str] = ()
    notes: Sequence[str] = ()  # sentences on what holds and what does not
    folded: bool = False  # whether a reader opens it


@dataclass(frozen=True)
class Card:
    """One figure of the answer, held against its bar: its ``standing`` is met, broken or open.

    ``figure`` is the value as it is to be read, ``line`` its interval and the bar.
    """

    name: str
    figure: str
    line: str
    standing: str


@dataclass(frozen=True)
class Chart:
    """A drawing that a study makes itself: inline SVG in the page's own colours."""

    title: str
    caption: str
    svg: str


@dataclass(frozen=True)
class Headline:
    """A figure of the summary by which runs of a sweep are sorted and compared."""

    key: str
    name: str  # what it is, as a heading: "AUC, good against bad responses"
    chance: float | None = None  # what guessing reaches; None where that is not one number
    lower: bool = False  # whether less is better
    gain: str = ""  # summary key of what it adds to length alone; "" without one
    people: bool = False  # whether it is agreement with people


@dataclass(frozen=True)
class Result:
    """The outcome of a study."""

    summary: Mapping[str, Value]  # flat name -> number or word, for sweeps and trackers
    primary: str  # the summary entry of the main figure
    tables: Sequence[Table]  # in the order to be read
    figures: Sequence[str] = ()  # names of the study's drawings, made from the tables alone
    notes: Sequence[str] = ()  # sentences a reader must see (data, LM, what was left out and why)
    # how each panel and its measurements were made (commit, hashes, prompt)
    provenance: Mapping[str, object] = field(default_factory=dict)
    estimators: Sequence[Estimator] = ()  # of the scores; one for each judge of several
    answer: Sequence[tuple[str, str]] = ()  # (heading, plain sentences) that a page opens with
    sections: Sequence[PageSection] = ()  # under headings of their own, after all else
    title: str = ""  # the answer in one sentence, where a study gives one: heads page and console
    cards: Sequence[Card] = ()  # figures behind the answer, each with its bar
    chart: Chart | None = None  # the headline figure, where a study draws it itself
    headlines: Sequence[Headline] = ()  # by which runs are compared, the most important first

    @classmethod
    def read(cls, folder: Path) -> Result:
        """Of a finished run, by its result.json, NaN as None; OSError, ValueError without one."""
        from pydantic import TypeAdapter

        return TypeAdapter(cls).validate_json((folder / "result.json").read_bytes())

    def to_json(self) -> dict[str, object]:
        """JSON-ready, with NaN as None; what a page lacks is left out."""
        page = ("title", "answer", "cards", "chart", "sections", "headlines")
        content: dict[str, object] = asdict(replace(self, tables=()))
        content |= {"summary": plain(self.summary), "tables": [_table(one) for one in self.tables]}
        return {key: value for key, value in content.items() if value or key not in page}


def _table(table: Table) -> dict[str, object]:
    """JSON objects have no order of keys, so the order of the columns is written too."""
    columns = list(dict.fromkeys(key for row in table.rows for key in row))
    rows = [plain(row) for row in table.rows]
    return asdict(replace(table, rows=())) | {"columns": columns, "rows": rows}


def plain(row: Row) -> dict[str, Value]:
    """The row with NaN and infinities as None, so that it is valid JSON."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in row.items()
    }


def verdicts(content: Mapping[str, Any]) -> dict[str, str]:
    """Judge or system -> its verdict, of a result.json whose first table has verdicts; of several
    criteria ``CRITERION: JUDGE``."""
    rows = [row for table in content["tables"][:1] for row in table["rows"]]
    names = (": ".join(str(row[key]) for key in NAMES if row.get(key)) for row in rows)
    pairs = ((name, row.get("verdict")) for name, row in zip(names, rows, strict=True))
    return {name: verdict for name, verdict in pairs if name and verdict}


def read_estimate(summary: Mapping[str, Any], key: str) -> dict[str, Any]:
    """An estimate of a flat summary as value, low, high, ...; None for what the summary lacks."""
    return {"value": summary.get(key)} | {part: summary.get(f"{key}_{part}") for part in PARTS}


def flat_estimate(key: str, parts: Mapping[str, Any]) -> dict[str, Any]:
    """The reverse of ``read_estimate``: its parts as ``key``, ``key_low``, ``key_high``, ..."""
    return {key if part == "value" else f"{key}_{part}": value for part, value in parts.items()}


def estimate_keys(summary: Mapping[str, Any]) -> list[str]:
    """The keys of a flat summary that have a value and an interval."""
    return [key for key in summary if f"{key}_low" in summary and summary[key] is not None]
