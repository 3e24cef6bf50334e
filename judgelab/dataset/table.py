"""A user's own table of labels and judgments: who said what of which text, or of which pair.

How a table is read, with a file for each step:

1. ``files``: bytes become rows. (``logs`` reads the logs of other tools, whose columns are known.)
2. ``columns``: each column gets its role, by settings, by its name, and where that leaves it open
   by its cells. ``rows``: a row says facts and opinions, whether the table is long or wide.
   ``people``: labels that stand in a file of their own are joined.
3. ``meaning``, ``categories``: what opinions mean: preferences, grades, or categories.
4. ``building``: facts and opinions become the panel and its judgments.

What a step guesses is listed at the top of its file. What can be read in two ways is refused, with
the settings that choose.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from judgelab.core.errors import ConfigError, DataError, did_you_mean, listed, some
from judgelab.core.judgments import Kind
from judgelab.core.panel import Agent, Panel
from judgelab.dataset import LimitedDataset
from judgelab.dataset.building import PanelBuilder
from judgelab.dataset.categories import categories
from judgelab.dataset.columns import COLUMNS, Layout, Wide, layout
from judgelab.dataset.files import Records, of_frame, refuse
from judgelab.dataset.logs import Log, file_facts, read_files
from judgelab.dataset.meaning import (
    RATERS,
    Meaning,
    grades,
    kind_of,
    preferences,
    voices_of,
    words_of,
)
from judgelab.dataset.people import with_labels
from judgelab.dataset.provenance import check_keys
from judgelab.dataset.rows import Category, JudgedRow, in_order, natural, near, table_rows

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class LabelledTable(LimitedDataset):
    """Labels of people and verdicts of judges, a row for each, or many in one row, as
    ``docs/datasets.md`` says.

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
        if self.kind not in (None, "category") and (self.categories or self.labels):
            raise ConfigError(
                f"dataset.kind={self.kind} has no categories: leave it out, or dataset.categories "
                "and dataset.labels."
            )
        check_keys(self.columns or {}, COLUMNS, "dataset.columns")

    def _panel(self, limit: int | None) -> Panel:
        if not self.path:
            raise ConfigError("dataset=table needs dataset.path=FILE.")
        source = read_files(self.path)
        return self.panel(source, repr(self.path), file_facts(self.path), limit)

    def of(self, frame: DataFrame) -> Panel:
        """The panel of a table in memory; path is not read."""
        facts = {"dataset": "table", "source": "memory"}
        return self.panel(of_frame(frame), "The table", facts, None)

    def panel(
        self, source: Records | Log, where: str, facts: Mapping[str, object], limit: int | None
    ) -> Panel:
        """The panel of rows that somebody else has read from ``where``; ``facts`` are for its
        provenance."""
        own, reading, note = None, dict[str, object](), ""
        if isinstance(source, Log):
            noun, rows = "entry", self._log_rows(source, where)
        else:
            own, noun = self._layout(source, where), source.noun
            rows = table_rows(source, own, where)
        if self.people:
            columns, human = own.columns if own else {}, (self.columns or {}).get("human")
            rows, note = with_labels(rows, where, str(self.people), columns, human, self.raters)
        builders = self._build(rows, where, noun)
        if isinstance(source, Log):
            several = {item for (item, *_), its in source.answers.items() if len(its) > 1}
            if note and (first := sorted({row.id for row in rows if row.labels} & several)):
                note += f"; labels of {some(first)} are taken to be of the first answer"
            reading["log"] = source.sentence + (f" {note[0].upper()}{note[1:]}." if note else "")
        elif own:
            _refuse_silent(builders, own)
            none = {name: False for name, column in (self.columns or {}).items() if column is False}
            reading = {"columns": own.columns | none, "columns_not_read": own.unread}
            reading["columns_taken"] = "; ".join(filter(None, [own.line, note]))
            reading["columns_of_labels"] = own.labels
        return self._with_agents(builders, {**facts, **reading}, limit)

    def _layout(self, records: Records, where: str) -> Layout:
        """Which column of a table says what."""
        if not records.rows:
            refuse(where, records.faults)
        if not self.people:
            return layout(records, self.columns, self.raters, self.judges, where)
        settings = {**(self.columns or {}), "human": False, "preference": False}
        # settings of labels are of the file of labels
        own = layout(records, settings, None, self.judges, where)
        if own.numbers:
            raise DataError(
                f"{where} has no column of ids by which labels could be joined: name it with "
                "dataset.columns.id=COLUMN."
            )
        return own

    def _log_rows(self, log: Log, where: str) -> list[JudgedRow]:
        """The rows of another tool's log, whose columns are known."""
        columns = {name for name, own in (self.columns or {}).items() if own is not None}
        settings = {"columns": columns, "judges": self.judges, "raters": self.raters}
        if self.people:
            settings |= {"columns": columns - {"human"}, "raters": None}
        for name in (name for name, value in settings.items() if value):
            raise ConfigError(
                f"dataset.{name} is for tables; {where} was read as {log.tool}, which says who "
                "people and judges are: leave it out."
            )
        return log.rows(where)

    def _build(self, rows: Sequence[JudgedRow], where: str, noun: str) -> dict[str, PanelBuilder]:
        """What rows say by each criterion; of several the texts alone, under "", come first."""
        rows = in_order(rows)
        names = sorted({row.criterion for row in rows if row.criterion})
        nameless = [row for row in rows if not row.criterion and (row.labels or row.verdicts)]
        why = "criterion is empty, and other rows have one"
        refuse(where, [f"{noun} {row.line}: {why}" for row in nameless if names])
        if self.criterion is not None:
            if self.criterion not in names:
                hint = did_you_mean(self.criterion, names)
                raise ConfigError(
                    f"dataset.criterion={self.criterion} is no criterion of {where} "
                    f"({', '.join(names) or 'none'}).{hint}"
                )
            names = [self.criterion]
        builders = dict[str, PanelBuilder]()
        if len(names) > 1:
            texts = [replace(row, labels=(), verdicts=()) for row in rows]
            kind: Kind = "preference" if any(row.other for row in rows) else "grade"
            builders[""] = PanelBuilder(Meaning(kind), where, noun).add(texts)
        for name in names or [""]:
            own = [row for row in rows if row.criterion in ("", name)]
            place = f"{where}, criterion {name!r}" if len(names) > 1 else where
            builders[name] = PanelBuilder(self._meaning(own, place), place, noun).add(own)
        return builders

    def _meaning(self, rows: Sequence[JudgedRow], where: str) -> Meaning:
        """How cells are read, from settings and cells."""
        of_texts, of_pairs = {RATERS: Counter[str]()}, dict[str, Counter[str]]()
        raters = defaultdict[str, Counter[str]](Counter)  # each by itself, of texts
        for row in rows:
            counts, names = (of_pairs, (row.agent, row.other)) if row.other else (of_texts, ())
            opinions = [(RATERS, one.cell) for one in row.labels]
            for who, cell in (*opinions, *((one.who, one.cell) for one in row.verdicts)):
                if cell.strip() and cell.strip() not in names:
                    counts.setdefault(who, Counter())[cell] += 1
            for one in row.labels if not row.other else ():
                raters[one.who][one.cell] += 1
        people = voices_of(raters)
        words = {who: words_of(its) for who, its in of_texts.items()}
        kind = self.kind or ("preference" if any(row.other for row in rows) else None)
        kind = kind or kind_of(words, people, self.positive is not None)
        if kind == "category" or self.categories or self.labels:
            choices = self.categories or None
            return categories(where, of_texts, raters, choices, self.labels, self.positive)
        alone = grades(people, self.positive)
        if kind == "grade":
            return alone
        return preferences(of_pairs, self.preferences, alone.words, self.numbering == "shown")

    def _with_agents(
        self, builders: Mapping[str, PanelBuilder], facts: Mapping[str, object], limit: int | None
    ) -> Panel:
        """The panel with the categories of its agents, and the tables of several criteria."""
        (_, whole), *criteria = builders.items()
        settings = {str(name): category for name, category in (self.agents or {}).items()}
        for name in (name for name in settings if name not in whole.agents):
            hint = near(name, whole.agents)
            raise DataError(f"dataset.agents: {name!r} has no text in this table{hint}")
        names = sorted(whole.agents, key=natural)
        kinds = {name: whole.fact("category", name) for name in names} | settings
        agents = [Agent(name, kinds[name]) for name in dict.fromkeys([*settings, *names])]
        mine = {"kind": whole.meaning.kind, "people": self.people}
        mine["task_description"] = self.task_description
        panel = whole.panel({**facts, **mine}, limit, self.task, agents)
        if not criteria:
            return panel
        items = [item.id for item in panel.items]
        tables = {name: own.judgments(items) for name, own in criteria}
        return replace(panel, judgments=None, criteria=tables)


def _refuse_silent(builders: Mapping[str, PanelBuilder], own: Layout) -> None:
    """Refuse a judge whose columns are empty, and a table that says nothing."""
    whole, *_ = builders.values()
    judges = {judge for one in builders.values() for judge, *_ in one.verdicts}
    for name in (name for name in own.judges if name not in judges):
        raise DataError(
            f"{whole.where} holds no verdict of {name!r} ({listed(own.judges[name])}): fill it, or "
            "leave this judge out of dataset.judges."
        )
    texts = any(name in ("text", "source") for name, *_ in whole.facts)
    if not (judges or texts or any(one.labels for one in builders.values())):
        unread = f" Not read are: {', '.join(own.unread)[:300]}." if own.unread else ""
        raise DataError(
            f"{whole.where} holds no label, no verdict and no text: name its columns with "
            "dataset.columns.text=COLUMN, dataset.columns.human=COLUMN or, where each person or "
            f"judge has one, with dataset.raters=[...] and dataset.judges=[...].{unread}"
        )
