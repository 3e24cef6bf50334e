"""A user's own table of labels and judgments: who said what of which text, or of which pair."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.core.errors import ConfigError, DataError, did_you_mean
from judgelab.core.judgments import Kind
from judgelab.core.panel import Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.cells import CellTable, cell_table, frame_table, number, refuse
from judgelab.dataset.jsonl import PEOPLE, near, refuse_categories
from judgelab.dataset.judged_panel import judged_panel
from judgelab.dataset.judgment_rows import Heard, JudgmentRow, Meaning
from judgelab.dataset.preferences import Preferences
from judgelab.dataset.score_table import MISSING

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": ("item", "item_id"),
    "source": (),
    "reference": (),
    "agent": ("system",),
    "other": ("other_agent", "other_system"),
    "text": ("response", "output"),
    "other_text": ("other_response", "other_output"),
    "rater": ("annotator",),
    "human": ("label", "human_score"),
    "preference": (),
    "judge": (),
    "order": (),
    "verdict": (),
    "score": (),
    "reason": (),
    "words": (),
    "other_words": (),
    "stratum": (),
    "cluster": (),
    "chance": (),
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
        path: .csv, .tsv, .jsonl or .parquet.
        columns: column, as judgelab calls it -> the table's name for it; null: the same name;
            false: it is not read.
        raters: columns, each with the labels of one person; or name -> column.
        judges: columns, each with the verdicts of one judge; or name -> column, or name -> two
            columns, the second of verdicts where ``other`` was shown first.
        kind: preference | grade | category; null: as columns and cells say.
        categories: names, in order; null: those that people gave.
        preferences: first, second, tie -> what cells say; null: as they are usually written.
        numbering: what "1" or "A" is: ``stored``, the text of ``agent`` in either order; or
            ``shown``, the text that was shown first.
        agents: name -> category (Faithful, Style, Strategic, Low Effort, Other) of those that have
            one, for effect sizes and AUC; null: of none.
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
    categories: Sequence[str] | None = None
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
        for name in self.columns or ():
            if name not in COLUMNS:
                hint = did_you_mean(str(name), COLUMNS)
                raise ConfigError(f"dataset.columns.{name} is not a known key.{hint}")

    def _panel(self, limit: int | None) -> Panel:
        if not self.path:
            raise ConfigError("dataset=table needs dataset.path=FILE.")
        file = Path(self.path).expanduser()
        found = cell_table(self.path)
        sha = hashlib.sha256(file.read_bytes()).hexdigest()
        facts = {"dataset": file.stem, "source": "path", "file": self.path, "sha256": sha}
        return self._of_cells(found, repr(self.path), facts, limit)

    def of(self, frame: DataFrame) -> Panel:
        """The panel of a table in memory; path is not read."""
        facts = {"dataset": "table", "source": "memory"}
        return self._of_cells(frame_table(frame), "The table", facts, self.limit)

    def _of_cells(
        self, cells: CellTable, where: str, facts: Mapping[str, object], limit: int | None
    ) -> Panel:
        if not cells.rows:
            refuse(where, cells.faults)
        columns = self._mapped(cells.columns, where)
        wide = {
            "raters": _wide(self.raters, "raters", cells.columns, 1),
            "judges": _wide(self.judges, "judges", cells.columns, 2),
        }
        rows = [_row(line, row, columns, **wide) for line, row in cells.rows]
        meaning = self._meaning(rows, columns, cells.comma)
        used = {*columns.values()} | {
            c for names in wide.values() for v in names.values() for c in v
        }
        odd = [fault for column, fault in cells.odd if column in used]
        heard = Heard(meaning, cells.noun, "agent" not in columns)
        for row in rows:
            heard.hear(row)
        refuse(where, [*cells.faults, *(odd or heard.faults)])
        _refuse_silent(where, wide["judges"], heard)
        facts = dict(facts) | {
            "kind": meaning.kind,
            "preferences": meaning.preferences.coding if meaning.kind == "preference" else None,
            "columns": columns,
            "columns_not_read": [name for name in cells.columns if name not in used],
            "task_description": self.task_description,
        }
        panel = judged_panel(heard, where, facts, limit, self.task)
        return self._categorised(
            panel, {key[1] for key in heard.units} | {k[2] for k in heard.units}
        )

    def _categorised(self, panel: Panel, names: Collection[str]) -> Panel:
        """Its agents with the categories that they were given."""
        given = {str(name): category for name, category in (self.agents or {}).items()}
        for name in given:
            if name not in names:
                hint = near(name, names)
                raise DataError(f"dataset.agents: {name!r} has no text in this table{hint}")
        agents = (replace(one, category=given.get(one.name)) for one in panel.agents)
        return replace(panel, agents=tuple(agents))

    def _mapped(self, present: Sequence[str], where: str) -> dict[str, str]:
        """Column, as judgelab calls it -> the table's name."""
        given = {k: v for k, v in (self.columns or {}).items() if v is not None}
        for name, column in given.items():
            if column is not False and column not in present:
                hint = did_you_mean(str(column), present)
                raise DataError(f"{where} has no column {column!r} (dataset.columns.{name}).{hint}")
        low = {name.strip().lower(): name for name in reversed(present)}
        found = {name: str(column) for name, column in given.items() if column}
        taken = set(found.values())
        for name, others in COLUMNS.items():
            free = (low[one] for one in (name, *others) if one in low and low[one] not in taken)
            if name not in given and (its := next(free, None)):
                found[name] = its
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

    def _meaning(
        self, rows: Sequence[JudgmentRow], columns: Mapping[str, str], comma: bool
    ) -> Meaning:
        """How cells are read, from settings, columns and cells."""
        labels = [cell for row in rows for _, cell in row.labels]
        verdicts = [said[2] for row in rows for said in row.said]
        kind = self.kind or _kind(rows, labels, verdicts, comma)
        heard: dict[str, list[str]] = {}
        levels: Sequence[str] = ()
        if kind == "preference":
            for row in rows:
                if row.get("other"):
                    names = row.get("agent"), row.get("other")
                    said = [("people", cell) for _, cell in row.labels]
                    said += [(judge, cell) for judge, _, cell, _ in row.said]
                    for who, cell in said:
                        if cell.strip() not in names:
                            heard.setdefault(who, []).append(cell)
        if kind == "category":
            levels = self.categories or _levels(labels) or _levels(verdicts)
        read = Preferences.of(heard, self.preferences, comma)
        return Meaning(kind, read, tuple(map(str, levels)), self.numbering == "shown", comma)  # type: ignore[arg-type]


def _row(
    line: int,
    cells: Mapping[str, str],
    columns: Mapping[str, str],
    raters: Mapping[str, Sequence[str]],
    judges: Mapping[str, Sequence[str]],
) -> JudgmentRow:
    """What a row says, its systems named."""
    own = {name: cells[column] for name, column in columns.items()}
    pairs = bool(columns.keys() & {"other", "other_text", "preference"})
    if "agent" not in columns:
        own["agent"] = PAIR[0] if pairs else TEXT
        if pairs and "other" not in columns:
            own["other"] = PAIR[1]
    row = JudgmentRow(line, own)
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
    return JudgmentRow(line, own, labels, said)


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


def _refuse_silent(where: str, judges: Mapping[str, Sequence[str]], heard: Heard) -> None:
    """Refuse a judge whose columns are empty: who names it means to hear of it."""
    said = {judge for judge, *_ in heard.verdicts}
    for name, columns in judges.items():
        if name not in said:
            raise DataError(
                f"{where} holds no verdict of {name!r}: {' and '.join(columns)} "
                f"{'is' if len(columns) == 1 else 'are'} empty. Fill it, or leave this judge out "
                "of dataset.judges."
            )


def _kind(
    rows: Sequence[JudgmentRow], labels: Iterable[str], verdicts: Iterable[str], comma: bool
) -> str:
    """Preferences where there are pairs; grades where what was said are mostly numbers."""
    if any(row.get("other") for row in rows):
        return "preference"
    for cells in (labels, verdicts):
        said = [cell for cell in cells if cell.strip().lower() not in MISSING]
        if said:
            figures = sum(number(cell, comma) == number(cell, comma) for cell in said)
            return "grade" if 2 * figures >= len(said) else "category"
    return "grade"


def _levels(cells: Iterable[str]) -> list[str]:
    """Each category once, as it is written first; numbers by size, words by letters."""
    found: dict[str, str] = {}
    for cell in cells:
        if cell.strip() and cell.strip().lower() != "nan":
            found.setdefault(cell.strip().casefold(), cell.strip())

    def size(name: str) -> tuple[float, str]:
        value = number(name)
        return (value if value == value else np.inf), name.casefold()

    return sorted(found.values(), key=size)
