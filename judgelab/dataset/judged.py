"""Rows of judgments, gathered into a panel: who said what of which text or pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.categories import RATERS
from judgelab.dataset.files import MISSING, number
from judgelab.dataset.jsonl import CATEGORIES, near
from judgelab.dataset.meaning import NO_VERDICT, Meaning

WRITERS = "; if it has several texts, dataset.columns.agent=COLUMN says whose they are"
PLACES = {1.0: "first", 0.0: "second", 0.5: "neither"}

Key = tuple[str, str, str]
"""Item, first and second system; the second is empty where one text is judged."""


class JudgedRow(NamedTuple):
    """One row of a table, long or wide.

    Attributes:
        line: where it stands.
        cells: column, as judgelab calls it -> cell.
        labels: (rater, what they said).
        said: (judge, order, what it said, why nothing); an empty word is a verdict that is missing.
    """

    line: int
    cells: Mapping[str, str]
    labels: Sequence[tuple[str, str]] = ()
    said: Sequence[tuple[str, str, str, str]] = ()

    def get(self, column: str) -> str:
        """The cell without space around it; empty where there is no such column."""
        return self.cells.get(column, "").strip()


@dataclass(slots=True)
class JudgedRows:
    """What the rows said so far, and the faults among them.

    Attributes:
        noun: what a row is called in messages.
        unnamed: whether no column says who wrote a text.
        units: of texts and pairs, numbered as they first appear.
        facts: (what, whose) -> (value, line).
        labels: (unit, rater) -> (value, line).
        verdicts: (judge, unit, order) -> (value, NaN where it is missing; line).
        reasons: judge -> why verdicts are missing.
        pairs: who (``RATERS``, or a judge) -> which text of a row is better -> how often.
    """

    meaning: Meaning
    noun: str = "line"
    unnamed: bool = False
    units: dict[Key, int] = field(default_factory=dict)
    facts: dict[tuple[str, ...], tuple[str, int]] = field(default_factory=dict)
    labels: dict[tuple[int, str], tuple[float, int]] = field(default_factory=dict)
    verdicts: dict[tuple[str, int, int], tuple[float, int]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    pairs: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _seen: dict[object, int] = field(default_factory=dict)

    def add(self, row: JudgedRow) -> None:
        """Take what a row says, or note why it cannot be used."""
        try:
            self._add(row)
        except _BadRow as cause:
            self.faults.append(f"{self.noun} {row.line}: {cause}")

    def _add(self, row: JudgedRow) -> None:
        key, swapped = self._key(row)
        raters, judges = tuple(who for who, _ in row.labels), tuple(one[:2] for one in row.said)
        if not all(raters):
            raise _BadRow("rater is empty, and nobody's label means nothing")
        if not all(judge for judge, _ in judges):
            raise _BadRow("judge is empty, and nobody's verdict means nothing")
        first = self._seen.setdefault((key, swapped, raters, judges), row.line)
        if first != row.line and (raters or judges):  # a row of facts alone may come again
            raise _BadRow(f"says once more what {self.noun} {first} is about: keep one of them")
        unit = self.units.setdefault(key, len(self.units))
        self._facts(row, key, swapped)
        pair = (row.get("agent"), row.get("other")) if key[2] else None
        for rater, cell in row.labels:
            if self.meaning.missing(cell):
                continue
            value = self.meaning.read(cell, pair, 0)
            if isinstance(value, str):
                hint = near(cell.strip(), pair or self.meaning.categories.levels)
                why = value.removeprefix("the verdict ")
                raise _BadRow(f"{rater} said {_short(cell)}, which {why}{hint}")
            self._count(RATERS, value, pair)
            self._keep(self.labels, (unit, rater), 1 - value if swapped else value, row, rater)
        for judge, order, cell, why in row.said:
            place = self._order(order, pair)
            read = self.meaning.read(cell, pair, place) if cell.strip() else (why or NO_VERDICT)
            self._count(judge, read, pair)
            place = 1 - place if swapped else place
            if isinstance(read, str):
                if (judge, unit, place) not in self.verdicts:
                    self.reasons.setdefault(judge, Counter())[read] += 1
                read = np.nan
            value = 1 - read if swapped else read
            self._keep(self.verdicts, (judge, unit, place), value, row, judge)

    def _keep(
        self,
        values: dict[Any, tuple[float, int]],
        where: tuple[object, ...],
        value: float,
        row: JudgedRow,
        who: str,
    ) -> None:
        before, line = values.setdefault(where, (value, row.line))
        if before != value and not (before != before and value != value):
            raise _BadRow(f"{who} said something else of the same in {self.noun} {line}")

    def _key(self, row: JudgedRow) -> tuple[Key, bool]:
        """The unit of a row, and whether the row names its systems the other way round."""
        item, one, two = (row.get(column) for column in ("id", "agent", "other"))
        if not item or not one:
            raise _BadRow(f"{'agent' if item else 'id'} is empty")
        if one == two:
            raise _BadRow(f"agent and other are both {one!r}")
        if two and self.meaning.kind != "preference":
            raise _BadRow(f"a {self.meaning.kind} is of one text: leave other empty")
        swapped = bool(two) and (item, two, one) in self.units
        return ((item, two, one) if swapped else (item, one, two)), swapped

    def _facts(self, row: JudgedRow, key: Key, swapped: bool) -> None:
        """Keep texts and facts; what contradicts an earlier line is a fault."""
        item, one, two = key[0], row.get("agent"), row.get("other")
        self._fact(row, "source", (item,))
        self._fact(row, "reference", (item,))
        self._fact(row, "synopsis", (item,))
        category = row.get("category")
        if category.lower() not in MISSING:
            if category not in CATEGORIES:
                raise _BadRow(f"category {_short(category)} is none of {', '.join(CATEGORIES)}")
            self._fact(row, "category", (one,))
        self._fact(row, "text", (item, one))
        if two:
            self._fact(row, "other_text", (item, two), name="text")
        names = ("other_words", "words") if swapped else ("words", "other_words")
        for column, name in zip(names, ("words", "other_words"), strict=True):
            self._fact(row, column, key, name, lambda value: value >= 0, "is no number of words")
        self._fact(row, "stratum", key)
        self._fact(row, "cluster", key)
        self._fact(row, "turn", key, "turn", lambda value: value == value, "is no number")

    def _fact(
        self,
        row: JudgedRow,
        column: str,
        whose: tuple[str, ...],
        name: str = "",
        check: Callable[[float], bool] | None = None,
        wrong: str = "",
    ) -> None:
        cell = row.cells.get(column, "")
        if not cell.strip() or (check and cell.strip().lower() in MISSING):
            return
        if check and not check(number(cell, self.meaning.comma)):
            raise _BadRow(f"{column} {_short(cell)} {wrong}")
        value, line = self.facts.setdefault((name or column, *whose), (cell, row.line))
        if column == "turn":  # the last label's counts
            self.facts[column, *whose] = (cell, row.line)
        elif value != cell:
            single = self.unnamed and column == "text"
            told = whose[0] + WRITERS if single else " / ".join(filter(None, whose))
            raise _BadRow(f"{column} is not what {self.noun} {line} says of {told}")

    def _count(self, who: str, value: float | str, pair: tuple[str, str] | None) -> None:
        """Note which text of its row is better, whichever is stored first."""
        if pair:
            better = "missing" if isinstance(value, str) else PLACES[value]
            self.pairs.setdefault(who, Counter())[better] += 1

    def _order(self, cell: str, pair: tuple[str, str] | None) -> int:
        place = number(cell, self.meaning.comma) if cell else 0.0
        if place not in (0, 1):
            raise _BadRow(f"order {_short(cell)} is not 0 (agent is shown first) or 1 (other is)")
        if place and not pair:
            raise _BadRow("order 1 is of pairs; this is one text")
        return int(place)

    def panel(self, where: str, facts: Mapping[str, object], limit: int | None, task: str) -> Panel:
        """The first so many items, with their texts, labels and judgments.

        Grades that judges gave to texts are also scores of the items; ``Item.human`` is the mean
        of the raters' grades, or of preferences the share that a text won. Of two categories the
        grades are 1 and 0, or the numbers that they are.

        Args:
            where: the table, for messages.
            facts: of its provenance, ``columns_not_read`` among them.

        Raises:
            DataError: it holds nothing that can be judged.
        """
        items = list(dict.fromkeys(key[0] for key in self.units))[:limit]
        kept = set(items)
        pairs = self.meaning.kind == "preference"
        keys = [key for key in self.units if key[0] in kept]
        units = [key for key in keys if bool(key[2]) == pairs]
        if not units:
            raise DataError(
                f"{where} has no pairs of texts: kind=preference needs the columns agent and other."
            )
        grades = self._grades_of_texts(units) if pairs else {}
        raters = list(dict.fromkeys(rater for _, rater in self.labels))
        table = self._table(units, raters)
        agents = list(dict.fromkeys(name for key in self.units for name in key[1:] if name))
        texts = tuple(tuple(self._cell("text", i, name) for name in agents) for i in items)
        if not (raters or self.verdicts or any(any(row) for row in texts)):
            raise DataError(
                f"{where} holds no label, no verdict and no text: name its columns with "
                "dataset.columns.text=COLUMN, dataset.columns.human=COLUMN or, where each person "
                "or judge has one, with dataset.raters=[...] and dataset.judges=[...]."
                f"{_not_read(facts)}"
            )
        human, scores = grades or self._human(table), self._scores(keys)
        panel_items = (
            Item(
                name,
                self._cell("source", name) or "",
                self._cell("reference", name),
                self._cell("synopsis", name),
                human=human.get(name, {}),
                scores=scores.get(name, {}),
            )
            for name in items
        )
        counts = {"rows": len(items), "units": len(units), "raters": raters}
        counts |= {"judges": list(table.names), "labelled": int(table.labelled.sum())}
        people = tuple(
            Agent(name, (self._cell("category", name) or "").strip() or None) for name in agents
        )
        return Panel(tuple(panel_items), people, texts, task, {**facts, **counts}, table)

    def _table(self, keys: Sequence[Key], raters: Sequence[str]) -> JudgmentTable:
        """The judgments of these units, by all judges of such units."""
        place = {self.units[key]: k for k, key in enumerate(keys)}
        pairs = self.meaning.kind == "preference"
        alike = {unit for key, unit in self.units.items() if bool(key[2]) == pairs}
        judges = list(dict.fromkeys(j for j, unit, _ in self.verdicts if unit in alike))
        labels = np.full((len(keys), len(raters)), np.nan)
        verdicts = np.full((len(judges), len(keys), 1 + pairs), np.nan)
        asked = np.zeros(verdicts.shape, np.bool_)
        column, row = ({name: k for k, name in enumerate(names)} for names in (raters, judges))
        for (unit, rater), (value, _) in self.labels.items():
            if unit in place:
                labels[place[unit], column[rater]] = value
        for (judge, unit, order), (value, _) in self.verdicts.items():
            if unit in place and judge in row:
                at = row[judge], place[unit], order
                verdicts[at], asked[at] = value, True
        return JudgmentTable(
            self.meaning.kind,
            self._units(keys),
            tuple(raters),
            labels,
            tuple(JudgeFacts(name, pointwise=not pairs) for name in judges),
            verdicts,
            asked,
            {name: dict(self.reasons[name]) for name in judges if name in self.reasons},
            self.meaning.categories.levels,
            {"read": self.meaning.told(self.pairs)},
            self.meaning.categories.positive,
        )

    def _units(self, keys: Sequence[Key]) -> Units:
        def cells(name: str, default: Callable[[Key], str] = lambda key: "") -> list[str]:
            return [self.facts.get((name, *key), (default(key), 0))[0].strip() for key in keys]

        def numbers(name: str) -> list[float]:
            return [number(cell, self.meaning.comma) for cell in cells(name)]

        return Units.of(
            *zip(*keys, strict=True),
            cluster=cells("cluster", lambda key: key[0]),
            stratum=cells("stratum"),
            words=np.array([numbers("words"), numbers("other_words")]).T,
            turn=np.array(numbers("turn")),
        )

    def _cell(self, name: str, *whose: str) -> str | None:
        value = self.facts.get((name, *whose))
        return value[0] if value else None

    def _grades_of_texts(self, pairs: Sequence[Key]) -> dict[str, dict[str, float]]:
        """Item -> system -> mean grade, where people graded texts of which judges compared pairs.

        A pair that a rater has not compared gets the sign of the difference of that rater's
        grades.
        """
        given: dict[tuple[str, str], dict[str, float]] = {}
        numbered = {unit: key for key, unit in self.units.items() if not key[2]}
        for (unit, rater), (value, _) in self.labels.items():
            if unit in numbered:
                given.setdefault(numbered[unit][:2], {})[rater] = value
        for key in pairs:
            one, two = (given.get((key[0], name), {}) for name in key[1:])
            for rater in one.keys() & two.keys():
                value = (float(np.sign(one[rater] - two[rater])) + 1) / 2
                self.labels.setdefault((self.units[key], rater), (value, 0))
        return _by_item({key: list(values.values()) for key, values in given.items()})

    def _human(self, table: JudgmentTable) -> dict[str, dict[str, float]]:
        """Item -> system -> the mean grade, or of preferences the share that it won."""
        truth, units = table.truth, table.units
        if table.kind == "category":
            worth = np.array([*self.meaning.categories.worth, np.nan])
            grades = worth[np.where(np.isnan(table.labels), -1, table.labels).astype(int)]
            count = (~np.isnan(grades)).sum(axis=1)
            truth = np.where(count > 0, np.nansum(grades, axis=1) / np.maximum(count, 1), np.nan)
        values: dict[tuple[str, str], list[float]] = {}
        for k in np.flatnonzero(~np.isnan(truth)):
            values.setdefault((units.item[k], units.first[k]), []).append(float(truth[k]))
            if units.second[k]:
                values.setdefault((units.item[k], units.second[k]), []).append(1 - float(truth[k]))
        return _by_item(values)

    def _scores(self, keys: Iterable[Key]) -> dict[str, dict[str, dict[str, float]]]:
        """Item -> judge -> system -> grade, where judges graded texts."""
        numbered = {self.units[key]: key for key in keys if not key[2]}
        scores: dict[str, dict[str, dict[str, float]]] = {}
        for (judge, unit, _), (value, _) in self.verdicts.items():
            if unit not in numbered or value != value:
                continue
            if self.meaning.kind == "category":
                value = self.meaning.categories.worth[int(value)]
            if value == value:
                item, agent, _ = numbered[unit]
                scores.setdefault(item, {}).setdefault(judge, {})[agent] = value
        return scores


def _not_read(facts: Mapping[str, object]) -> str:
    """`` Not read are: ...``, the columns of a table that mean nothing; empty without such."""
    names = facts.get("columns_not_read")
    listed = ", ".join(map(str, names))[:300] if isinstance(names, Sequence) else ""
    return f" Not read are: {listed}." if listed else ""


def _by_item(values: Mapping[tuple[str, str], Sequence[float]]) -> dict[str, dict[str, float]]:
    means: dict[str, dict[str, float]] = {}
    for (item, agent), given in values.items():
        means.setdefault(item, {})[agent] = float(np.mean(given))
    return means


class _BadRow(Exception):
    """Why a row cannot be used."""


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
