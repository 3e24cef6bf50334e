"""Rows of judgments: who said what of which text or pair, gathered into one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from judgelab.core.judgments import JudgeFacts, JudgmentTable, Kind, Units
from judgelab.dataset.cells import number
from judgelab.dataset.jsonl import near
from judgelab.dataset.preferences import Preferences
from judgelab.dataset.score_table import MISSING

NO_VERDICT = "no verdict in the data"
NO_NUMBER = "the verdict is no number"
NO_TEXT = "the verdict names neither text"
NO_CATEGORY = "the verdict is none of the categories"

WRITERS = "; if it has several texts, dataset.columns.agent=COLUMN says whose they are"

Key = tuple[str, str, str]
"""Item, first and second system; the second is empty where one text is judged."""


@dataclass(frozen=True, slots=True)
class JudgmentRow:
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


@dataclass(frozen=True)
class Meaning:
    """How cells are read.

    Attributes:
        kind: of all judgments.
        preferences: which text a cell prefers.
        levels: names of categories.
        shown: whether "1" or "A" is the text that was shown first, not the one stored first.
        comma: see CellTable.
    """

    kind: Kind
    preferences: Preferences
    levels: Sequence[str]
    shown: bool
    comma: bool

    @cached_property
    def _place(self) -> dict[str, float]:
        """Name of a category, in small letters -> its place."""
        return {name.strip().casefold(): float(k) for k, name in enumerate(self.levels)}

    def number(self, cell: str) -> float:
        """A finite number; NaN for all else."""
        return number(cell, self.comma)

    def read(self, cell: str, pair: tuple[str, str] | None, order: int) -> float | str:
        """The value; or why there is none.

        Args:
            pair: the systems, first as stored in this row; None where one text is judged.
            order: 1 where the second one of them was shown first.
        """
        if self.kind == "category":
            return self._place.get(cell.strip().casefold(), NO_CATEGORY)
        if pair is None:
            value = self.number(cell)
            return value if value == value else NO_NUMBER
        read = self.preferences.read(cell, *pair)
        if read is None:
            return NO_TEXT
        value, place_named = read
        return 1 - value if self.shown and order and place_named else value

    def missing(self, cell: str) -> bool:
        """Whether nothing is said; a category may well be called none."""
        low = cell.strip().lower()
        return low in ("", "nan") if self.kind == "category" else low in MISSING


@dataclass(slots=True)
class Heard:
    """What the rows said so far, and the faults among them.

    Attributes:
        noun: what a row is called in messages.
        unnamed: whether no column says who wrote a text.
        units: of texts and pairs, numbered as they first appear.
        facts: (what, whose) -> (value, line).
        labels: (unit, rater) -> (value, line).
        verdicts: (judge, unit, order) -> (value, NaN where it is missing; line).
        reasons: judge -> why verdicts are missing.
    """

    meaning: Meaning
    noun: str = "line"
    unnamed: bool = False
    units: dict[Key, int] = field(default_factory=dict)
    facts: dict[tuple[str, ...], tuple[str, int]] = field(default_factory=dict)
    labels: dict[tuple[int, str], tuple[float, int]] = field(default_factory=dict)
    verdicts: dict[tuple[str, int, int], tuple[float, int]] = field(default_factory=dict)
    reasons: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    _seen: dict[object, int] = field(default_factory=dict)

    def hear(self, row: JudgmentRow) -> None:
        """Add what a row says."""
        try:
            self._hear(row)
        except _BadRow as cause:
            self.faults.append(f"{self.noun} {row.line}: {cause}")

    def _hear(self, row: JudgmentRow) -> None:
        key, swapped = self._key(row)
        if any(not name for name, _ in row.labels):
            raise _BadRow("rater is empty, and nobody's label means nothing")
        if any(not said[0] for said in row.said):
            raise _BadRow("judge is empty, and nobody's verdict means nothing")
        whose = tuple(name for name, _ in row.labels), tuple(said[:2] for said in row.said)
        first = self._seen.setdefault((key, swapped, whose), row.line)
        if first != row.line and any(whose):  # a row of facts alone may come again
            raise _BadRow(f"says once more what {self.noun} {first} is about: keep one of them")
        unit = self.units.setdefault(key, len(self.units))
        self._note(row, key, swapped)
        pair = (row.get("agent"), row.get("other")) if key[2] else None
        for rater, cell in row.labels:
            if not self.meaning.missing(cell):
                self._label(row, unit, rater, cell, pair, swapped)
        for judge, order, cell, why in row.said:
            self._verdict(row, unit, judge, order, cell, why, pair, swapped)

    def _key(self, row: JudgmentRow) -> tuple[Key, bool]:
        """The unit of a row, and whether the row names its systems the other way round."""
        for column in ("id", "agent"):
            if not row.get(column):
                raise _BadRow(f"{column} is empty")
        item, one, two = (row.get(column) for column in ("id", "agent", "other"))
        if one == two:
            raise _BadRow(f"agent and other are both {one!r}")
        if two and self.meaning.kind != "preference":
            raise _BadRow(f"a {self.meaning.kind} is of one text: leave other empty")
        swapped = bool(two) and (item, two, one) in self.units
        return ((item, two, one) if swapped else (item, one, two)), swapped

    def _note(self, row: JudgmentRow, key: Key, swapped: bool) -> None:
        """Keep texts and facts; what contradicts an earlier line is a fault."""
        item = key[0]
        words = ("other_words", "words") if swapped else ("words", "other_words")
        self._fact(row, "source", item)
        self._fact(row, "reference", item)
        self._fact(row, "text", item, row.get("agent"))
        if key[2]:
            self._fact(row, "other_text", item, row.get("other"), name="text")
        self._fact(row, words[0], *key, name="words", check=_count)
        self._fact(row, words[1], *key, name="other_words", check=_count)
        self._fact(row, "stratum", *key)
        self._fact(row, "cluster", *key)
        self._fact(row, "chance", *key, check=_chance, last=True)  # of a later draw
        self._fact(row, "turn", *key, check=_any, last=True)

    def _fact(
        self,
        row: JudgmentRow,
        column: str,
        *whose: str,
        name: str = "",
        check: Callable[[float], str | None] | None = None,
        last: bool = False,
    ) -> None:
        cell = row.cells.get(column, "")
        if not cell.strip() or (check and cell.strip().lower() in MISSING):
            return
        wrong = check and check(self.meaning.number(cell))
        if wrong:
            raise _BadRow(f"{column} {_short(cell)} {wrong}")
        value, line = self.facts.setdefault((name or column, *whose), (cell, row.line))
        if last:
            self.facts[name or column, *whose] = (cell, row.line)
        elif value != cell:
            single = self.unnamed and column == "text"
            raise _BadRow(
                f"{column} is not what {self.noun} {line} says of "
                + (whose[0] + WRITERS if single else " / ".join(filter(None, whose)))
            )

    def _label(
        self,
        row: JudgmentRow,
        unit: int,
        rater: str,
        cell: str,
        pair: tuple[str, str] | None,
        swapped: bool,
    ) -> None:
        value = self.meaning.read(cell, pair, 0)
        if isinstance(value, str):
            known = pair or self.meaning.levels
            said = value.removeprefix("the verdict ")
            raise _BadRow(f"{rater} said {_short(cell)}, which {said}{near(cell.strip(), known)}")
        value = 1 - value if swapped else value
        before, line = self.labels.setdefault((unit, rater), (value, row.line))
        if before != value:
            raise _BadRow(f"{rater} said something else of the same in {self.noun} {line}")

    def _verdict(
        self,
        row: JudgmentRow,
        unit: int,
        judge: str,
        order: str,
        cell: str,
        why: str,
        pair: tuple[str, str] | None,
        swapped: bool,
    ) -> None:
        place = self._order(order, pair)
        read = (why or NO_VERDICT) if not cell.strip() else self.meaning.read(cell, pair, place)
        value = np.nan if isinstance(read, str) else 1 - read if swapped else read
        key = judge, unit, 1 - place if swapped else place
        if key not in self.verdicts:
            self.verdicts[key] = (value, row.line)
            if isinstance(read, str):
                self.reasons.setdefault(judge, Counter())[read] += 1
            return
        before, line = self.verdicts[key]
        if before != value and not (before != before and value != value):
            raise _BadRow(f"{judge} said something else of the same in {self.noun} {line}")

    def _order(self, cell: str, pair: tuple[str, str] | None) -> int:
        place = 0.0 if not cell else self.meaning.number(cell)
        if place not in (0, 1):
            raise _BadRow(f"order {_short(cell)} is not 0 (agent is shown first) or 1 (other is)")
        if place and not pair:
            raise _BadRow("order 1 is of pairs; this is one text")
        return int(place)

    def table(
        self, keys: Sequence[Key], raters: Sequence[str], judges: Sequence[str]
    ) -> JudgmentTable:
        """The judgments of these units."""
        place = {self.units[key]: k for k, key in enumerate(keys)}
        n, orders = len(keys), 2 if self.meaning.kind == "preference" else 1
        labels = np.full((n, len(raters)), np.nan)
        verdicts = np.full((len(judges), n, orders), np.nan)
        asked = np.zeros(verdicts.shape, np.bool_)
        column, row = ({name: k for k, name in enumerate(names)} for names in (raters, judges))
        for (unit, rater), (value, _) in self.labels.items():
            if unit in place:
                labels[place[unit], column[rater]] = value
        for (judge, unit, order), (value, _) in self.verdicts.items():
            if unit in place and judge in row:
                at = row[judge], place[unit], order
                verdicts[at], asked[at] = value, True
        facts = tuple(JudgeFacts(name, pointwise=orders == 1) for name in judges)
        reasons = {name: dict(self.reasons[name]) for name in judges if name in self.reasons}
        return JudgmentTable(
            self.meaning.kind,
            self._units(keys),
            tuple(raters),
            labels,
            facts,
            verdicts,
            asked,
            reasons,
            tuple(self.meaning.levels),
        )

    def _units(self, keys: Sequence[Key]) -> Units:
        def cells(name: str, default: Callable[[Key], str] = lambda key: "") -> list[str]:
            return [self.facts.get((name, *key), (default(key), 0))[0].strip() for key in keys]

        def numbers(name: str) -> list[float]:
            return [self.meaning.number(cell) for cell in cells(name)]

        items, first, second = zip(*keys, strict=True)
        return Units.of(
            items,
            first,
            second,
            cluster=cells("cluster", lambda key: key[0]),
            stratum=cells("stratum"),
            words=np.array([numbers("words"), numbers("other_words")]).T,
            chance=np.array(numbers("chance")),
            turn=np.array(numbers("turn")),
        )


class _BadRow(Exception):
    """Why a row cannot be used."""


def _any(value: float) -> str | None:
    return None if value == value else "is no number"


def _count(value: float) -> str | None:
    return None if value >= 0 else "is no number of words"


def _chance(value: float) -> str | None:
    return None if 0 < value <= 1 else "is no probability above 0, and at most 1"


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
