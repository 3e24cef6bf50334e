"""A user's own table of labels and judgments: who said what of which text, or of which pair."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.judgments import Kind
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.categories import RATERS, Categories
from judgelab.dataset.files import Records, cell_text, number, of_frame, read_records, refuse
from judgelab.dataset.jsonl import PEOPLE, near, refuse_categories
from judgelab.dataset.judged import JudgedRow, JudgedRows
from judgelab.dataset.meaning import Meaning, Preferences, figures_of, kind_of

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ("item", "item_id", "case_id", "example_id", "sample_id"),
    "source": (),
    "reference": (),
    "synopsis": (),
    "agent": ("system", "model"),
    "other": ("other_agent", "other_system"),
    "category": (),
    "text": ("response", "output"),
    "other_text": ("other_response", "other_output"),
    "rater": ("annotator",),
    "human": ("label", "human_score", "human_label", "human_verdict", "gold", "ground_truth"),
    "preference": (),
    "judge": (),
    "order": (),
    "verdict": ("judge_label", "judge_verdict"),
    "score": (),
    "reason": (),
    "words": (),
    "other_words": (),
    "stratum": (),
    "cluster": (),
    "turn": (),
}
"""What a table can say -> other names of the column; ``docs/datasets.md`` says what each means."""

KINDS: Sequence[Kind] = ("preference", "grade", "category")
PAIR = ("first", "second")  # systems of a pair that has no names
TEXT = "response"  # system of a text that has none


@dataclass(frozen=True, kw_only=True)
class LabelledTable(LimitedDataset):
    """Labels of people and verdicts of judges, a row for each, or many in one row.

    A row names its text (``id``, ``agent``) or pair (and ``other``), and holds what a rater said
    (``human``, or ``preference``), what a judge said (``verdict``, or ``score``), both, or
    neither. Texts need to stand once. Empty cells are missing; a judge's row without a verdict is
    one that it was asked for and did not give.

    Args:
        path: .csv, .tsv, .jsonl, .json (a list of records) or .parquet.
        columns: column, as judgelab calls it -> the table's name for it; null: the same name;
            false: it is not read.
        raters: columns, each with the labels of one person; or name -> column.
        judges: columns, each with the verdicts of one judge; or name -> column, or name -> two
            columns, the second of verdicts where ``other`` was shown first.
        kind: preference | grade | category; null: as columns and cells say.
        categories: names, in order; null: those that people and judges gave.
        labels: name of a category -> its spellings, where people and judges use other words.
        positive: the category that matters; null: of two the yes (1, true, pass, good, ...).
        preferences: first, second, tie -> what cells say; null: as they are usually written.
        numbering: what "1" or "A" is: ``stored``, the text of ``agent`` in either order; or
            ``shown``, the text that was shown first.
        agents: name -> category (Faithful, Style, Strategic, Low Effort, Other) of those that have
            one, for effect sizes and AUC; null: as the column ``category`` says.
        task: summarization, translation, or a word of your own.
        task_description: one line for prompts.
        noun: what a source is called in prompts.

    Raises:
        ConfigError: a setting names what does not exist.
        DataError: the file cannot be read, or rows are not as described; the first ten are named.
    """

    path: str = ""
    columns: Mapping[str, str | bool | None] | None = None
    raters: Any = None
    judges: Any = None
    kind: str | None = None
    categories: Sequence[Any] | None = None
    labels: Mapping[Any, Any] | None = None
    positive: Any = None
    preferences: Mapping[str, object] | None = None
    numbering: str = "stored"
    agents: Mapping[str, str | None] | None = None
    task: str = "summarization"
    task_description: str = "Summarise a text"
    noun: str = "text"

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting, value, known in (
            ("kind", self.kind, KINDS),
            ("numbering", self.numbering, ("stored", "shown")),
        ):
            if value is not None and value not in known:
                hint = did_you_mean(str(value), known)
                raise ConfigError(f"dataset.{setting}={value!r} is not known.{hint}")
        refuse_categories(self.agents)
        if self.kind not in (None, "category") and (self.categories or self.labels):
            raise ConfigError(
                f"dataset.kind={self.kind} has no categories: leave it out, or dataset.categories "
                "and dataset.labels."
            )
        for name in self.columns or ():
            if name not in COLUMNS:
                hint = did_you_mean(str(name), COLUMNS)
                raise ConfigError(f"dataset.columns.{name} is not a known key.{hint}")

    def _panel(self, limit: int | None) -> Panel:
        if not self.path:
            raise ConfigError("dataset=table needs dataset.path=FILE.")
        file = Path(self.path).expanduser()
        records = read_records(self.path)
        sha = hashlib.sha256(file.read_bytes()).hexdigest()
        facts = {"dataset": file.stem, "source": "path", "file": self.path, "sha256": sha}
        return self.panel(records, repr(self.path), facts, limit)

    def of(self, frame: DataFrame) -> Panel:
        """The panel of a table in memory; path is not read."""
        facts = {"dataset": "table", "source": "memory"}
        return self.panel(of_frame(frame), "The table", facts, self.limit)

    def panel(
        self, records: Records, where: str, facts: Mapping[str, object], limit: int | None
    ) -> Panel:
        """The panel of rows that somebody else has read.

        Args:
            where: the table, for messages.
            facts: for the provenance.

        Raises:
            ConfigError, DataError: as of the class.
        """
        if not records.rows:
            refuse(where, records.faults)
        wide = {
            "raters": _wide(self.raters, "raters", records.columns, 1),
            "judges": _wide(self.judges, "judges", records.columns, 2),
        }
        own = {c for names in wide.values() for its in names.values() for c in its}
        columns = self._mapped(records.columns, own, where)
        if "category" not in (self.columns or {}) and not _good_faith(records, columns):
            columns.pop("category", None)  # of texts or topics, and not of agents
        used = {*columns.values()} | own
        cells, odd = _cells(records, [name for name in records.columns if name in used])
        rows = [_row(line, row, columns, **wide) for line, row in cells]
        self._refuse_misread(rows, columns, where)
        meaning = self._meaning(rows, where, records.comma)
        judged = JudgedRows(meaning, records.noun, "agent" not in columns)
        for row in rows:
            judged.add(row)
        refuse(where, [*records.faults, *(odd or judged.faults)])
        _refuse_silent(where, wide["judges"], judged)
        facts = dict(facts) | {
            "kind": meaning.kind,
            "preferences": meaning.preferences.coding if meaning.kind == "preference" else None,
            "columns": columns | {k: False for k, v in (self.columns or {}).items() if v is False},
            "columns_not_read": [name for name in records.columns if name not in used],
            "task_description": self.task_description,
        }
        return self._categorised(judged.panel(where, facts, limit, self.task), judged)

    def _refuse_misread(
        self, rows: Sequence[JudgedRow], columns: Mapping[str, str], where: str
    ) -> None:
        """Refuse figures as names of systems, and verdicts as names of judges."""
        other = columns.get("other")
        if other and other not in (self.columns or {}).values():
            names, others = (
                [number(cell) for row in rows if (cell := row.get(column))]
                for column in ("agent", "other")
            )
            if others and np.isnan(names).any() and not np.isnan(others).any():
                raise DataError(
                    f"{where} has a column {other!r} of numbers, which names no other system of a "
                    f"pair: write dataset.columns.other=false, or ={other} if these are names."
                )
        if not columns.keys() & {"verdict", "score"} and any(row.get("judge") for row in rows):
            raise DataError(
                f"{where} has a column {columns['judge']!r} and none of verdicts: write "
                f"dataset.judges=[{columns['judge']}] if it holds one judge's verdicts, or, if it "
                "names judges, what they said with dataset.columns.verdict=COLUMN."
            )

    def _categorised(self, panel: Panel, judged: JudgedRows) -> Panel:
        """Its agents with the categories that they were given."""
        names = {name for key in judged.units for name in key[1:]}
        for name in map(str, self.agents or {}):
            if name not in names:
                hint = near(name, names)
                raise DataError(f"dataset.agents: {name!r} has no text in this table{hint}")
        given = {str(name): category for name, category in (self.agents or {}).items()}
        agents = (replace(one, category=given.get(one.name, one.category)) for one in panel.agents)
        return replace(panel, agents=tuple(agents))

    def _mapped(self, present: Sequence[str], own: set[str], where: str) -> dict[str, str]:
        """Column, as judgelab calls it -> the table's name; own are those of one person or judge.

        Raises:
            DataError: a column is missing, or its name is written wrongly.
        """
        given = {k: v for k, v in (self.columns or {}).items() if v is not None}
        for name, column in given.items():
            if column is not False and column not in present:
                hint = did_you_mean(str(column), present)
                raise DataError(f"{where} has no column {column!r} (dataset.columns.{name}).{hint}")
        low = {name.strip().lower(): name for name in reversed(present)}
        found = {name: str(column) for name, column in given.items() if column}
        taken = own | set(found.values())
        for name, others in COLUMNS.items():
            free = (low[one] for one in (name, *others) if one in low and low[one] not in taken)
            if name not in given and (its := next(free, None)):
                found[name] = its
        none = {name for name, column in given.items() if column is False}
        there, read = found.keys() | given.keys(), own | set(found.values())
        _refuse_misspelled(where, present, there, none, read)
        if "id" not in found:
            raise DataError(
                f"{where} has no column 'id', which says what an item is: add it, or name it with "
                f"dataset.columns.id=COLUMN. Columns are: {', '.join(present)[:300]}."
            )
        if "preference" in found and "agent" in found and "other" not in found:
            raise DataError(
                f"{where} has preferences between the text of 'agent' and another one, but no "
                "column 'other' that names it (dataset.columns.other=COLUMN)."
            )
        return found

    def _meaning(self, rows: Sequence[JudgedRow], where: str, comma: bool) -> Meaning:
        """How cells are read, from settings and cells."""
        cells: dict[str, Counter[str]] = {RATERS: Counter()}
        of_pairs: dict[str, list[str]] = {}
        pairs = False
        for row in rows:
            two = row.get("other")
            pairs = pairs or bool(two)
            names = row.get("agent"), two
            said = [(RATERS, cell) for _, cell in row.labels]
            said += [(judge, cell) for judge, _, cell, _ in row.said if judge]
            for who, cell in said:
                if two and cell.strip() not in names:
                    of_pairs.setdefault(who or PEOPLE, []).append(cell)
                elif cell.strip() and not two:
                    cells.setdefault(who, Counter())[cell] += 1
        kind: Any = self.kind or ("preference" if pairs else None)
        if self.categories or self.labels:
            kind = "category"
        kind = kind or kind_of(cells, self.positive is not None, comma)
        read = Preferences.of(of_pairs if kind == "preference" else {}, self.preferences, comma)
        classes, figures = Categories(), dict[str, float]()
        if kind == "category":
            named = self.categories or None, self.labels, self.positive
            classes = Categories.of(where, cells, *named, comma=comma)
        else:
            figures = figures_of(cells, self.positive, comma)
        return Meaning(kind, read, classes, cells, figures, self.numbering == "shown", comma)


def _good_faith(records: Records, columns: Mapping[str, str]) -> bool:
    """Whether a column ``category`` says who wrote in good faith; ``Other`` may be a topic."""
    column = columns.get("category", "")
    said = (cell_text(row.get(column)) or "" for _, row in records.rows)
    return "agent" in columns and any(cell.strip() in GOOD_FAITH | PROBLEMATIC for cell in said)


def _cells(
    records: Records, columns: Sequence[str]
) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """The rows with every cell as text, and what cannot be text."""
    rows, odd = [], []
    for line, row in records.rows:
        cells = {name: cell_text(row.get(name)) for name in columns}
        for name, cell in cells.items():
            if cell is None:
                half = isinstance(row[name], str)
                why = "holds half a character" if half else "is no text and no number"
                odd.append(f"{records.noun} {line}: the cell {name!r} {why}")
        rows.append((line, {name: cell or "" for name, cell in cells.items()}))
    return rows, odd


def _row(
    line: int,
    cells: Mapping[str, str],
    columns: Mapping[str, str],
    raters: Mapping[str, Sequence[str]],
    judges: Mapping[str, Sequence[str]],
) -> JudgedRow:
    """What a row says, its systems named."""
    own = {name: cells[column] for name, column in columns.items()}
    pairs = bool(columns.keys() & {"other", "other_text", "preference"})
    if "agent" not in columns:
        own["agent"] = PAIR[0] if pairs else TEXT
        if pairs and "other" not in columns:
            own["other"] = PAIR[1]
    row = JudgedRow(line, own)
    two = bool(row.get("other"))
    label = "preference" if two and "preference" in columns else "human"
    labels = [(rater, cells[column]) for rater, (column,) in raters.items()]
    if "rater" in columns and (row.get("rater") or row.get(label)):
        labels.append((row.get("rater"), own.get(label, "")))
    elif "rater" not in columns and label in columns:
        labels.append((PEOPLE, own[label]))
    verdict = own.get("verdict") or own.get("score", "")
    said = [
        (judge, str(order), cells[column], "")
        for judge, its in judges.items()
        for order, column in enumerate(its)
        if cells[column].strip()
    ]
    if row.get("judge") or verdict.strip():
        judge = row.get("judge") or ("" if "judge" in columns else "judge")
        said.append((judge, row.get("order"), verdict, row.get("reason")))
    return JudgedRow(line, own, labels, said)


def _wide(given: Any, setting: str, present: Sequence[str], most: int) -> dict[str, list[str]]:
    """Name -> its columns, of a setting that lists columns, or maps names to them."""
    many = [given] if isinstance(given, str) else given or ()
    if not isinstance(many, Mapping | Sequence) or any(not isinstance(n, str | int) for n in many):
        raise ConfigError(f"dataset.{setting}={given!r} is no list of columns: write [a,b].")
    named = many if isinstance(many, Mapping) else {str(name): str(name) for name in many}
    found = {
        str(name): [column] if isinstance(column, str) else list(map(str, column or ()))
        for name, column in named.items()
    }
    for name, columns in found.items():
        if not 1 <= len(columns) <= most:
            many = "one column" if most == 1 else "one column, or two"
            raise ConfigError(f"dataset.{setting}.{name} must name {many}.")
        for column in columns:
            if column not in present:
                hint = did_you_mean(column, present)
                raise DataError(f"There is no column {column!r} (dataset.{setting}).{hint}")
    return found


def _refuse_silent(where: str, judges: Mapping[str, Sequence[str]], judged: JudgedRows) -> None:
    """Refuse a judge whose columns are empty: who names it means to hear of it."""
    said = {judge for judge, *_ in judged.verdicts}
    for name, columns in judges.items():
        if name not in said:
            raise DataError(
                f"{where} holds no verdict of {name!r}: {' and '.join(columns)} "
                f"{'is' if len(columns) == 1 else 'are'} empty. Fill it, or leave this judge out "
                "of dataset.judges."
            )


def _refuse_misspelled(
    where: str, present: Sequence[str], there: Set[str], none: Set[str], read: Set[str]
) -> None:
    """Refuse a column whose name is that of a missing one with letters swapped or left out.

    Args:
        there, none: what has a column, and what the user says has none.
        read: columns that have a meaning.
    """
    spellings = [(name, one) for name, others in COLUMNS.items() for one in (name, *others)]
    for column in present:
        low = column.strip().lower()
        if column in read or len(low) < 4 or low in {one for _, one in spellings}:
            continue
        near = [(name, one) for name, one in spellings if _alike(low, one)]
        missing = [each for each in near if each[0] not in there]
        if missing and none.isdisjoint(name for name, _ in near):
            name, one = missing[0]
            raise DataError(
                f"{where} has no column {one!r}; there is {column!r}: rename it, or set "
                f"dataset.columns.{name}={column} (false: it is none)."
            )


def _alike(low: str, one: str) -> bool:
    """Whether a name is another one with letters swapped or left out."""
    letters = set(low) <= set(one) and low[0] == one[0] and low not in one and one not in low
    return letters and SequenceMatcher(None, low, one).ratio() >= 0.8
