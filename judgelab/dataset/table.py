"""A user's own table of labels and judgments: who said what of which text, or of which pair."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from judgelab.core.errors import ConfigError, DataError, did_you_mean, listed, some
from judgelab.core.judgments import Kind
from judgelab.core.panel import Agent, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.columns import COLUMNS, Layout, Wide, labels_layout, layout
from judgelab.dataset.files import MISSING, Records, cell_text, of_frame, refuse
from judgelab.dataset.logs import Log, file_facts, opened
from judgelab.dataset.meaning import RATERS, Meaning, categories, grades, kind_of, preferences
from judgelab.dataset.provenance import check_keys
from judgelab.dataset.rows import (
    PAIR,
    PEOPLE,
    TEXT,
    Category,
    JudgedRow,
    PanelBuilder,
    by_criterion,
    fault_of,
    labels_of,
    near,
)

if TYPE_CHECKING:
    from pandas import DataFrame

FIGURES = {"human", "preference", "order", "verdict", "score", "words", "other_words", "turn"}
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class LabelledTable(LimitedDataset):
    """Labels of people and verdicts of judges, a row for each, or many in one row.

    A row names its text (``id``, ``agent``) or pair (and ``other``), and holds what a rater said
    (``human``, or ``preference``), what a judge said (``verdict``, or ``score``), both, or
    neither. Texts need to stand once. Empty cells are missing; a judge's row without a verdict is
    one that it was asked for and did not give.

    Raises:
        ConfigError: a setting names what does not exist.
        DataError: the file cannot be read, or rows are not as described; the first ten are named.
    """

    path: str | Sequence[str] = ""
    people: str | None = None
    columns: Mapping[str, str | bool | None] | None = None
    raters: Wide = None
    judges: Wide = None
    kind: Kind | None = None
    categories: Sequence[Any] | None = None
    labels: Mapping[Any, Any] | None = None
    positive: Any = None
    preferences: Mapping[str, object] | None = None
    criterion: str | None = None
    numbering: Literal["stored", "shown"] = "stored"
    agents: Mapping[str, Category | None] | None = None
    task: str = "summarization"
    task_description: str = "Summarise a text"
    noun: str = "text"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in (None, "category") and (self.categories or self.labels):
            raise ConfigError(
                f"dataset.kind={self.kind} has no categories: leave it out, or dataset.categories "
                "and dataset.labels."
            )
        check_keys(self.columns or {}, COLUMNS, "dataset.columns")

    def _panel(self, limit: int | None) -> Panel:
        if not self.path:
            raise ConfigError("dataset=table needs dataset.path=FILE.")
        source, where = opened(self.path), repr(self.path)
        if isinstance(source, Log):
            return self._of_log(source, where, limit)
        return self.panel(source, where, file_facts(self.path), limit)

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
        given, raters = self.columns or {}, self.raters
        if self.people:
            given, raters = {**given, "human": False, "preference": False}, None
        own = layout(records, given, raters, self.judges, where)
        rows = table_rows(records, own, where)
        if self.people and own.numbers:
            raise DataError(
                f"{where} has no column of ids by which labels could be joined: name it with "
                "dataset.columns.id=COLUMN."
            )
        rows, joined = self._with_people(rows, where, own.columns)
        judged = self._judged(rows, where, records.noun)
        _refuse_silent(judged, own.judges, own.unread)
        unread = {name: False for name, column in (self.columns or {}).items() if column is False}
        facts = dict(facts) | {
            "columns": own.columns | unread,
            "columns_not_read": own.unread,
            "columns_taken": "; ".join(filter(None, [own.line, joined])),
            "columns_of_labels": own.labels,
        }
        return self._named(judged, facts, limit)

    def _of_log(self, log: Log, where: str, limit: int | None) -> Panel:
        """The panel of another tool's log, whose columns are known."""
        columns = {name for name, own in (self.columns or {}).items() if own is not None}
        settings = {"columns": columns, "raters": self.raters, "judges": self.judges}
        if self.people:  # settings of labels are of its file
            settings |= {"columns": columns - {"human"}, "raters": None}
        for name in (name for name, given in settings.items() if given):
            raise ConfigError(
                f"dataset.{name} is for tables; {where} was read as {log.tool}, which says who "
                "people and judges are: leave it out."
            )
        rows, joined = self._with_people(log.rows(where), where, {}, log)
        sentence = f"{log.sentence} {joined[:1].upper()}{joined[1:]}.".removesuffix(" .")
        judged = self._judged(rows, where, "entry")
        return self._named(judged, file_facts(self.path) | {"log": sentence}, limit)

    def _with_people(
        self,
        rows: list[JudgedRow],
        where: str,
        columns: Mapping[str, str],
        log: Log | None = None,
    ) -> tuple[list[JudgedRow], str]:
        """The rows, labelled by ``people`` alone where it is given; and in words what it added.

        Args:
            columns: of the table, as ``Layout.columns``.
        """
        if not self.people:
            return rows, ""
        source, whose, read = opened(self.people), repr(self.people), ""
        if isinstance(source, Log):
            own = source.rows(whose)
        else:
            human = (self.columns or {}).get("human")
            layout = labels_layout(source, columns, human, self.raters, whose)
            own, read = table_rows(source, layout, whose), f" ({layout.line})"
        rows = [row.model_copy(update={"labels": ()}) for row in rows]
        labels, unknown = labels_of(rows, own, whose)
        if not labels:
            raise DataError(
                f"{whose} (dataset.people) labels no item of {where}: ids there are "
                f"{some([row.id for row in rows])}, and here {some([row.id for row in own])}."
            )
        left = f"; {unknown} rows of items that are not judged are left out" if unknown else ""
        several = {item for (item, *_), its in log.answers.items() if len(its) > 1} if log else ()
        if first := sorted({row.id for row in labels} & {*several}):
            left += f"; labels of {some(first)} are taken to be of the first answer"
        name = Path(self.people).name
        return [*rows, *labels], f"labels: {len(labels)} rows of {name}{read}{left}"

    def _judged(self, rows: Sequence[JudgedRow], where: str, noun: str) -> dict[str, PanelBuilder]:
        """What rows say by each criterion; of several the texts alone, under "", come first.

        Raises:
            ConfigError: ``criterion`` is none of theirs.
            DataError: rows contradict each other.
        """
        by_name = by_criterion(rows, where, noun)
        if self.criterion is not None and self.criterion not in by_name:
            hint = did_you_mean(self.criterion, by_name)
            known = ", ".join(name for name in by_name if name) or "none"
            raise ConfigError(
                f"dataset.criterion={self.criterion} is no criterion of {where} ({known}).{hint}"
            )
        if self.criterion is not None or len(by_name) == 1:
            own = by_name[self.criterion or next(iter(by_name))]
            return {"": PanelBuilder(self._meaning(own, where), where, noun).add(own)}
        texts = [row.model_copy(update={"labels": (), "verdicts": ()}) for row in rows]
        kind: Kind = "preference" if any(row.other for row in rows) else "grade"
        judged = {"": PanelBuilder(Meaning(kind), where, noun).add(texts)}
        for name, own in by_name.items():
            place = f"{where}, criterion {name!r}"
            judged[name] = PanelBuilder(self._meaning(own, place), place, noun).add(own)
        return judged

    def _named(
        self, judged: Mapping[str, PanelBuilder], facts: Mapping[str, object], limit: int | None
    ) -> Panel:
        """The panel with the categories of its agents, and the tables of several criteria."""
        whole, *_ = judged.values()
        given = {str(name): category for name, category in (self.agents or {}).items()}
        for name in given:
            if name not in whole.agents:
                hint = near(name, whole.agents)
                raise DataError(f"dataset.agents: {name!r} has no text in this table{hint}")
        names = dict.fromkeys([*given, *whole.agents])
        categories = {name: whole.fact("category", name) for name in names} | given
        facts = dict(facts) | {
            "kind": whole.meaning.kind,
            "people": self.people,
            "task_description": self.task_description,
        }
        agents = [Agent(name, categories[name]) for name in names]
        panel = whole.panel(facts, limit, self.task, agents)
        if len(judged) == 1:
            return panel
        tables = {
            name: one.panel({}, None, self.task, ()).judgments
            for name, one in judged.items()
            if name
        }
        known = {name: table for name, table in tables.items() if table is not None}
        return replace(panel, judgments=None, criteria=known).head(len(panel.items))

    def _meaning(self, rows: Sequence[JudgedRow], where: str) -> Meaning:
        """How cells are read, from settings and cells."""
        cells: dict[str, Counter[str]] = {RATERS: Counter()}
        of_pairs: dict[str, Counter[str]] = {}
        for row in rows:
            for who, cell in [
                *((RATERS, one.cell) for one in row.labels),
                *((one.who, one.cell) for one in row.verdicts),
            ]:
                if not row.other and cell.strip():
                    cells.setdefault(who, Counter())[cell] += 1
                elif row.other and cell.strip() not in (row.agent, row.other):
                    of_pairs.setdefault(who, Counter())[cell] += 1
        kind: Any = self.kind or ("preference" if any(row.other for row in rows) else None)
        if self.categories or self.labels:
            kind = "category"
        kind = kind or kind_of(cells, self.positive is not None)
        if kind == "category":
            return categories(where, cells, self.categories or None, self.labels, self.positive)
        alone = grades(cells, self.positive)
        if kind == "grade":
            return alone
        return preferences(of_pairs, self.preferences, alone.words, self.numbering == "shown")


def _refuse_silent(
    judged: Mapping[str, PanelBuilder], judges: Mapping[str, Sequence[str]], not_read: Sequence[str]
) -> None:
    """Refuse a judge whose columns are empty, and a table that says nothing."""
    whole, *_ = judged.values()
    heard = {judge for one in judged.values() for judge, *_ in one.verdicts}
    for name in (name for name in judges if name not in heard):
        raise DataError(
            f"{whole.where} holds no verdict of {name!r} ({listed(judges[name])}): fill it, or "
            "leave this judge out of dataset.judges."
        )
    texts = any(name in ("text", "source") for name, *_ in whole.facts)
    if not (heard or texts or any(one.labels for one in judged.values())):
        unread = f" Not read are: {', '.join(not_read)[:300]}." if not_read else ""
        raise DataError(
            f"{whole.where} holds no label, no verdict and no text: name its columns with "
            "dataset.columns.text=COLUMN, dataset.columns.human=COLUMN or, where each person or "
            f"judge has one, with dataset.raters=[...] and dataset.judges=[...].{unread}"
        )


def table_rows(records: Records, layout: Layout, where: str) -> list[JudgedRow]:
    """What the rows of a table say, long or wide.

    Raises:
        DataError: rows are no records or not as a row must be; cells are no text.
    """
    used = [name for name in records.columns if name in layout.used]
    words = {column for name, column in layout.columns.items() if name not in FIGURES}
    rows, faults, sources = list[JudgedRow](), list[str](), dict[str, int]()
    for k, (line, record) in enumerate(records.rows, start=1):
        cells = dict[str, str]()
        for name in used:
            cell = cell_text(record.get(name))
            if cell is None:
                why = "is no number and no Unicode text"
                faults.append(f"{records.noun} {line}: the cell {name!r} {why}")
            elif records.comma and name not in words and COMMA.fullmatch(cell.strip()):
                cell = cell.replace(",", ".")
            cells[name] = cell or ""
        own = {name: cells[column] for name, column in layout.columns.items()}
        if layout.numbers:
            source = own.get("source", "").strip()
            number = sources.setdefault(source or f"row {k}", len(sources) + 1)
            own["id"] = str(number)
            if layout.numbers == "rows":
                own["id"] = str(k)
                own.setdefault("cluster", f"source {number}")  # such rows are not independent
        nobody = "agent" in own and not own.get("other", "").strip()
        if nobody and own.get("preference", "").strip():
            why = "preference is between two texts, and no other is named (dataset.columns.other)"
            faults.append(f"{records.noun} {line}: {why}")
        try:
            rows.append(_row(line, own, cells, layout))
        except ValidationError as cause:
            faults.append(f"{records.noun} {line}: {fault_of(cause)}")
    refuse(where, list(dict.fromkeys([*records.faults, *faults])))
    return rows


def _row(line: int, own: dict[str, str], cells: Mapping[str, str], layout: Layout) -> JudgedRow:
    """What a row says, its systems named."""
    if "agent" not in own:
        own["agent"] = PAIR[0] if layout.pairs else TEXT
        if layout.pairs and "other" not in own:
            own["other"] = PAIR[1]
    if own.get("category", "").strip().lower() in MISSING:
        own.pop("category", None)
    human, preference = own.pop("human", None), own.pop("preference", None)
    rater, judge = own.pop("rater", PEOPLE), own.pop("judge", None)
    verdict, score = own.pop("verdict", ""), own.pop("score", "")
    order, reason, run = (own.pop(name, "") for name in ("order", "reason", "run"))
    label = human if preference is None or not own.get("other", "").strip() else preference
    labels = [(name, cells[column]) for name, its in layout.raters.items() for column in its]
    if label is not None and (rater.strip() or label.strip()):
        labels.append((rater, label))
    verdicts: list[tuple[Any, ...]] = [
        (name, cells[column], place if len(its) > 1 else order, "", run)
        for name, its in layout.judges.items()
        for place, column in enumerate(its)
        if cells[column].strip()
    ]
    if (judge or "").strip() or (verdict or score).strip():
        verdicts.append(("judge" if judge is None else judge, verdict or score, order, reason, run))
    return JudgedRow.model_validate(own | {"line": line, "labels": labels, "verdicts": verdicts})
