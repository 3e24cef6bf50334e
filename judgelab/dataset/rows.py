"""The row on which all readers meet, and the panel that rows make: who said what of which text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    ValidationError,
    model_validator,
)

from judgelab.core.errors import DataError, did_you_mean, some
from judgelab.core.judgments import JudgeFacts, JudgmentTable, Units
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.files import MISSING, number, refuse
from judgelab.dataset.meaning import NO_VERDICT, RATERS, Meaning, readings_line

Category = Literal["Faithful", "Low Effort", "Other", "Strategic", "Style"]
PEOPLE = "people"  # who gave labels that come without a name
TEXT = "response"  # system of a text that has none
PAIR = ("first", "second")  # systems of a pair that has no names

Key = tuple[str, str, str]
"""Item, first and second system; the second is empty where one text is judged."""


def _finite(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    value = number(cell)
    if value != value and cell.strip().lower() not in MISSING:
        raise ValueError("is no number")
    return value


def _place(cell: object) -> object:
    place = number(cell) if isinstance(cell, str) and cell.strip() else cell or 0
    if place not in (0, 1):
        raise ValueError("is no order, which is 0 (agent is shown first) or 1 (other is)")
    return int(place)


def _full(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text.strip()


Name = Annotated[str, StringConstraints(strip_whitespace=True)]
Number = Annotated[float, BeforeValidator(_finite)]


class Opinion(NamedTuple):
    """A person's label or a judge's verdict."""

    who: Name  # the person or judge
    cell: str  # as it was written; ``Meaning`` reads it. A blank verdict is one that is missing.
    # of a verdict on a pair: 1 where ``other`` was shown first
    order: Annotated[int, BeforeValidator(_place)] = 0
    reason: Name = ""  # why there is no verdict
    run: Name = ""  # which of several times the judge was asked


class JudgedRow(BaseModel):
    """What one row of a table, line of a log or entry of a list says.

    A reader of another format makes these and hands them to ``PanelBuilder``: it needs to know
    nothing else. Facts that are empty are those that the row does not say; a row without
    ``agent`` is of the item alone.
    """

    model_config = ConfigDict(frozen=True)

    line: int  # where it stands, for messages
    id: Annotated[str, AfterValidator(_full)]  # the item
    agent: Name = ""  # agent, other: who wrote the text, and the other one of a pair
    other: Name = ""
    source: str = ""  # source, reference, synopsis: of the item
    reference: str = ""
    synopsis: str = ""
    category: Literal["", Category] = ""  # of the agent
    text: str = ""  # text, other_text: of ``agent`` and ``other``
    other_text: str = ""
    # words, other_words: how many words these have, where they are not there to be counted
    words: Number = np.nan
    other_words: Number = np.nan
    stratum: Name = ""  # stratum, cluster, turn: of the text or pair; see ``core.judgments.Units``
    cluster: Name = ""
    turn: Number = np.nan
    criterion: Name = ""  # what is judged, where a file holds several questions
    labels: tuple[Opinion, ...] = ()  # what people said of it
    verdicts: tuple[Opinion, ...] = ()  # what judges said of it

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if not self.agent and (self.other or self.text or self.labels or self.verdicts):
            raise ValueError("agent is empty")
        if self.agent and self.agent == self.other:
            raise ValueError(f"agent and other are both {self.agent!r}")
        if not all(one.who for one in self.labels):
            raise ValueError("rater is empty, and nobody's label means nothing")
        if not all(one.who for one in self.verdicts):
            raise ValueError("judge is empty, and nobody's verdict means nothing")
        if self.words < 0 or self.other_words < 0:
            raise ValueError("words are fewer than none")
        if not self.other and any(one.order for one in self.verdicts):
            raise ValueError("order 1 is of pairs; this is one text")
        return self


def labels_of(
    rows: Sequence[JudgedRow], people: Sequence[JudgedRow], whose: str
) -> tuple[list[JudgedRow], int]:
    """What people say in another file of the texts and pairs of these rows.

    A label that names no agent is of the only text of its item.

    Args:
        whose: the other file, for messages.

    Returns:
        rows with labels alone; and how many are of items that ``rows`` lack.

    Raises:
        DataError: it is not clear which text, or which criterion, a label is about.
    """
    units: dict[str, dict[tuple[str, str], None]] = {}
    texts = {(row.id, row.agent): row.text for row in rows if row.text}
    criteria = list(dict.fromkeys(row.criterion for row in rows if row.verdicts))
    for row in rows:
        units.setdefault(row.id, {})[row.agent, row.other] = None
    labels, unknown, lines = list[JudgedRow](), 0, dict[object, int]()
    for row in (row for row in people if row.labels):
        where, known = f"{whose}, line {row.line}", list(units.get(row.id, ()))
        own = (row.agent, row.other)
        if not known:
            unknown += 1
            continue
        if own not in known and own[::-1] not in known:
            unnamed = row.agent in (TEXT, PAIR[0])
            if len(known) > 1 or not unnamed:
                those = some([name for name, _ in known])
                why = "say whose in a column agent" if unnamed else f"none is of {row.agent}"
                raise DataError(f"{where}: item {row.id!r} has texts of {those}: {why}.")
            own = known[0]
        if row.text and row.text.split() != texts.get((row.id, own[0]), row.text).split():
            raise DataError(
                f"{where}: the text of item {row.id!r} is another one there: ids of the two files "
                "do not mean the same."
            )
        criterion = row.criterion or (criteria[0] if len(criteria) == 1 else "")
        if criteria and criterion not in criteria:
            raise DataError(
                f"{where}: judges answer {some(criteria)}: say which of them a label answers in a "
                "column criterion."
            )
        for one in row.labels:
            first = lines.setdefault((row.id, own, criterion, one.who), row.line)
            if first != row.line:
                raise DataError(
                    f"{where}: {one.who} labels item {row.id!r} once more than in line {first}: "
                    "keep one of them, or name people in a column rater."
                )
        names = {"agent": own[0], "other": own[1], "criterion": criterion}
        kept = row.model_dump(include={"line", "id", "turn", "labels"})
        labels.append(JudgedRow.model_validate(kept | names))
    return labels, unknown


def fault_of(cause: ValidationError) -> str:
    """The first thing that is wrong with a row, and where in it."""
    error = cause.errors()[0]
    where = ".".join(part for part in map(str, error["loc"]) if not part.isdigit())
    if error["type"] == "missing":
        return f"{where} is missing"
    why = error["msg"].removeprefix("Value error, ")
    if not error["loc"] or why == "is empty":
        return f"{where} {why}".strip()
    why = why.replace("Input should be", "must be")
    return f"{where} {_short(error['input'])} {why[0].lower()}{why[1:]}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 42 else text[:39] + "..."


def near(name: str, known: Iterable[str]) -> str:
    """``, did you mean 'x'?`` where a known name is close; otherwise nothing."""
    hint = did_you_mean(name, known)
    return f", did{hint[4:]}" if hint.startswith(" Did") else ""


def by_criterion(rows: Iterable[JudgedRow], where: str, noun: str) -> dict[str, list[JudgedRow]]:
    """Criterion, sorted -> its rows, and those of texts alone; without criteria the key is "".

    Raises:
        DataError: some labels or verdicts are of a criterion, and others of none.
    """
    rows = list(rows)
    names = sorted({row.criterion for row in rows if row.criterion})
    if not names:
        return {"": rows} if rows else {}
    rest = [row for row in rows if not row.criterion]
    nameless = [row.line for row in rest if row.labels or row.verdicts]
    refuse(where, [f"{noun} {k}: criterion is empty, and other rows have one" for k in nameless])
    return {name: [*rest, *(row for row in rows if row.criterion == name)] for name in names}


@dataclass(slots=True)
class PanelBuilder:
    """What rows say so far, and the panel of it.

    Attributes:
        meaning: how cells are read.
        where, noun: the table, and what a row is called in it, for messages.
    """

    meaning: Meaning
    where: str
    noun: str = "line"
    # items, agents: in the order in which they first appear
    items: dict[str, None] = field(default_factory=dict)
    agents: dict[str, None] = field(default_factory=dict)
    # texts and pairs, numbered as they first appear
    units: dict[Key, int] = field(default_factory=dict)
    # (what, whose) -> (value, line)
    facts: dict[tuple[str, ...], tuple[Any, int]] = field(default_factory=dict)
    # (unit, rater) -> (value, line)
    labels: dict[tuple[int, str], tuple[float, int]] = field(default_factory=dict)
    # (judge, unit, order) -> run -> (value, NaN where it is missing; line)
    verdicts: dict[tuple[str, int, int], dict[str, tuple[float, int]]] = field(default_factory=dict)
    # (judge, unit, order, run) -> why it is missing
    reasons: dict[tuple[str, int, int, str], str] = field(default_factory=dict)
    # who (``RATERS``, or a judge) -> what cells were read as -> how often
    readings: dict[str, Counter[float | str]] = field(default_factory=dict)
    lines: dict[object, int] = field(default_factory=dict)

    def add(self, rows: Iterable[JudgedRow]) -> Self:
        """Take what rows say.

        Raises:
            DataError: rows contradict or repeat each other, or a label cannot be read.
        """
        faults = list[str]()
        for row in rows:
            try:
                self._add(row)
            except DataError as cause:
                faults.append(f"{self.noun} {row.line}: {cause}")
        refuse(self.where, faults)
        return self

    def _add(self, row: JudgedRow) -> None:
        item, one, two = row.id, row.agent, row.other
        if two and self.meaning.kind != "preference":
            raise DataError(f"a {self.meaning.kind} is of one text: leave other empty")
        swapped = bool(two) and (item, two, one) in self.units
        key = (item, two, one) if swapped else (item, one, two)
        raters = tuple(label.who for label in row.labels)
        judges = tuple((verdict.who, verdict.order, verdict.run) for verdict in row.verdicts)
        first = self.lines.setdefault((key, swapped, raters, judges), row.line)
        if first != row.line and (raters or judges):  # a row of facts alone may come again
            ways = ["who wrote it (dataset.columns.agent=COLUMN)"] * (one in (TEXT, PAIR[0]))
            ways += ["which text was shown first (dataset.columns.order=COLUMN)"] * bool(two)
            ways += ["which run it is (dataset.columns.run=COLUMN)"]
            raise DataError(
                f"says once more what {self.noun} {first} is about: keep one of them, or say "
                f"{' or '.join(ways)}"
            )
        self.items[item] = None
        self._add_facts(row, key, swapped)
        if not one:
            return
        self.agents |= dict.fromkeys(filter(None, (one, two)))
        unit = self.units.setdefault(key, len(self.units))
        pair = (one, two) if two else None
        for who, cell, *_ in row.labels:
            if self.meaning.missing(cell):
                continue
            value = self.meaning.read(cell, pair, 0)
            if isinstance(value, str):
                hint = near(cell.strip(), pair or self.meaning.levels)
                why = value.removeprefix("the verdict ")
                raise DataError(f"{who} said {_short(cell)}, which {why}{hint}")
            if (unit, who) not in self.labels:  # once, in however many rows it stands
                self._note(RATERS, cell, value, pair)
            self._keep(self.labels, (unit, who), 1 - value if swapped else value, row.line, who)
        for who, cell, order, reason, run in row.verdicts:
            read: float | str = reason or NO_VERDICT
            if cell.strip():
                read = self.meaning.read(cell, pair, order)
            self._note(who, cell, read, pair)
            place = who, unit, 1 - order if swapped else order
            if isinstance(read, str):
                self.reasons.setdefault((*place, run), read)
                read = np.nan
            runs = self.verdicts.setdefault(place, {})
            self._keep(runs, run, 1 - read if swapped else read, row.line, who)

    def _add_facts(self, row: JudgedRow, key: Key, swapped: bool) -> None:
        """Keep texts and facts; what contradicts an earlier line is a fault."""
        item, one, two = row.id, row.agent, row.other
        words = (row.words, row.other_words)[:: -1 if swapped else 1]
        facts: dict[tuple[str, ...], Any] = {
            ("source", item): row.source,
            ("reference", item): row.reference,
            ("synopsis", item): row.synopsis,
            ("category", one): row.category,
            ("text", item, one): row.text,
            **({("text", item, two): row.other_text} if two else {}),
            ("words", *key): words[0],
            ("other_words", *key): words[1],
            ("stratum", *key): row.stratum,
            ("cluster", *key): row.cluster,
        }
        for (name, *whose), value in facts.items():
            if value != value or not str(value).strip():
                continue
            known, line = self.facts.setdefault((name, *whose), (value, row.line))
            if known != value:
                them = " / ".join(filter(None, whose))
                unnamed = name == "text" and row.agent == TEXT
                more = " (dataset.columns.agent=COLUMN says who wrote it)" if unnamed else ""
                raise DataError(f"{name} is not what {self.noun} {line} says of {them}{more}")
        if row.turn == row.turn:  # the last label's counts
            self.facts["turn", *key] = (row.turn, row.line)

    def _note(self, who: str, cell: str, read: float | str, pair: object) -> None:
        reading = self.meaning.reading(cell, read, pair is not None)
        self.readings.setdefault(who, Counter())[reading] += 1

    def _keep(
        self, values: dict[Any, tuple[float, int]], place: object, value: float, line: int, who: str
    ) -> None:
        before, first = values.setdefault(place, (value, line))
        if before != value and not (before != before and value != value):
            raise DataError(f"{who} said something else of the same in {self.noun} {first}")

    def panel(
        self, facts: Mapping[str, object], limit: int | None, task: str, agents: Sequence[Agent]
    ) -> Panel:
        """The first so many items, with their texts, labels and judgments.

        Grades that judges gave to texts are also scores of the items; ``Item.human`` is the mean
        of the raters' grades, or of preferences the share that a text won. Of two categories the
        grades are 1 and 0, or the numbers that they are.

        Args:
            facts: of its provenance.
            agents: all of them, in order.

        Raises:
            DataError: it holds nothing that can be judged.
        """
        items = list(self.items)[:limit]
        kept = set(items)
        keys = [key for key in self.units if key[0] in kept]
        pairs = self.meaning.kind == "preference"
        units = [key for key in keys if bool(key[2]) == pairs]
        if pairs and not units:
            raise DataError(
                f"{self.where} has no pairs of texts: kind=preference needs the columns agent and "
                "other."
            )
        self._compare(units)
        table = self._table(units)
        human, scores = self._human(keys), self._scores(keys)
        counts = {"rows": len(items), "units": len(units), "raters": list(table.raters)}
        counts |= {"judges": list(table.names), "labelled": int(table.labelled.sum())}
        return Panel(
            tuple(
                Item(
                    name,
                    self.fact("source", name) or "",
                    self.fact("reference", name),
                    self.fact("synopsis", name),
                    human=human.get(name, {}),
                    scores=scores.get(name, {}),
                )
                for name in items
            ),
            tuple(agents),
            tuple(tuple(self.fact("text", item, one.name) for one in agents) for item in items),
            task,
            {**facts, **counts},
            table if units else None,
        )

    def _table(self, keys: Sequence[Key]) -> JudgmentTable:
        """The judgments of these units, by all judges of such units."""
        place = {self.units[key]: k for k, key in enumerate(keys)}
        pairs = self.meaning.kind == "preference"
        alike = {unit for key, unit in self.units.items() if bool(key[2]) == pairs}
        raters = list(dict.fromkeys(rater for _, rater in self.labels))
        judges = list(dict.fromkeys(j for j, unit, *_ in self.verdicts if unit in alike))
        labels = np.full((len(keys), len(raters)), np.nan)
        reasons, most = dict[str, Counter[str]](), max(map(len, self.verdicts.values()), default=1)
        verdicts = np.full((len(judges), len(keys), 1 + pairs, most), np.nan)
        asked = np.zeros(verdicts.shape[:3], np.bool_)
        column, row = ({name: k for k, name in enumerate(names)} for names in (raters, judges))
        for (unit, rater), (value, _) in self.labels.items():
            if unit in place:
                labels[place[unit], column[rater]] = value
        for (judge, unit, order), runs in self.verdicts.items():
            if unit not in alike:
                continue
            first_run, *_ = by_run = sorted(runs, key=_run_place)
            if why := self.reasons.get((judge, unit, order, first_run)):
                reasons.setdefault(judge, Counter())[why] += 1
            if unit in place:
                at = row[judge], place[unit], order
                asked[at] = True
                verdicts[at][: len(runs)] = [runs[run][0] for run in by_run]

        def facts(name: str, default: Any) -> list[Any]:
            return [self.facts.get((name, *key), (default, 0))[0] for key in keys]

        item, first, second = zip(*keys, strict=True) if keys else ((), (), ())
        clusters = zip(facts("cluster", ""), item, strict=True)
        units = Units.of(
            *(item, first, second),
            cluster=[name or whole for name, whole in clusters],
            stratum=facts("stratum", ""),
            words=np.array([facts("words", np.nan), facts("other_words", np.nan)]).T,
            turn=np.array(facts("turn", np.nan)),
        )
        return JudgmentTable(
            self.meaning.kind,
            units,
            tuple(raters),
            labels,
            tuple(JudgeFacts(name, pointwise=not pairs) for name in judges),
            verdicts[..., 0],
            asked,
            {name: dict(reasons[name]) for name in judges if name in reasons},
            self.meaning.levels,
            {"read": readings_line(self.readings)},
            self.meaning.positive,
            verdicts[..., 1:],
        )

    def fact(self, name: str, *whose: str) -> str | None:
        """What rows say of an item, agent or text; None where they say nothing."""
        value = self.facts.get((name, *whose))
        return value[0] if value else None

    def _compare(self, pairs: Sequence[Key]) -> None:
        """Give a pair that a rater has graded, and not compared, to the text of higher grade."""
        for key in filter(lambda key: key[2], pairs):
            one, two = (self.units.get((key[0], name, ""), -1) for name in key[1:])
            for rater in dict.fromkeys(rater for _, rater in self.labels):
                if (one, rater) in self.labels and (two, rater) in self.labels:
                    by = self.labels[one, rater][0] - self.labels[two, rater][0]
                    value = (float(np.sign(by)) + 1) / 2
                    self.labels.setdefault((self.units[key], rater), (value, 0))

    def _human(self, keys: Sequence[Key]) -> dict[str, dict[str, float]]:
        """Item -> system -> the mean grade; without grades, the share of its pairs that it won."""
        given: dict[int, list[float]] = {}
        for (unit, _), (value, _) in self.labels.items():
            if (grade := self.meaning.grade(value)) == grade:
                given.setdefault(unit, []).append(grade)
        units = {key: self.units[key] for key in keys}
        means = {key: float(np.mean(given[k])) for key, k in units.items() if k in given}
        graded = {key: mean for key, mean in means.items() if not key[2]}
        values: dict[str, dict[str, list[float]]] = {}
        for (item, one, two), mean in (graded or means).items():
            values.setdefault(item, {}).setdefault(one, []).append(mean)
            if two:
                values[item].setdefault(two, []).append(1 - mean)
        return {
            item: {name: float(np.mean(its)) for name, its in of.items()}
            for item, of in values.items()
        }

    def _scores(self, keys: Iterable[Key]) -> dict[str, dict[str, dict[str, float]]]:
        """Item -> judge -> system -> grade, where judges graded texts."""
        numbered = {self.units[key]: key for key in keys if not key[2]}
        scores: dict[str, dict[str, dict[str, float]]] = {}
        for (judge, unit, _), runs in self.verdicts.items():
            value, _ = runs[min(runs, key=_run_place)]
            if unit in numbered and (grade := self.meaning.grade(value)) == grade:
                item, agent, _ = numbered[unit]
                scores.setdefault(item, {}).setdefault(judge, {})[agent] = grade
        return scores


def _run_place(run: str) -> tuple[bool, bool, float, str]:
    """Runs stand by number or else by name; the first one is the verdict."""
    return bool(run), isnan(number(run)), number(run), run
