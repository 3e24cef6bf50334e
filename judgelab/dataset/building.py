"""The panel and its judgments, as rows say who said what of which text or pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import isnan
from typing import Any, Self

import numpy as np

from judgelab.core.errors import DataError
from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable, Mask, Units
from judgelab.core.panel import Agent, Item, Panel
from judgelab.dataset.files import number, refuse
from judgelab.dataset.meaning import RATERS, Meaning, readings_line
from judgelab.dataset.rows import PAIR, TEXT, JudgedRow, near, shorten

Key = tuple[str, str, str]
"""Item, first and second system; the second is empty where one text is judged."""
Line = int | str


@dataclass(slots=True)
class PanelBuilder:
    """What rows say so far, and the panel of it."""

    meaning: Meaning  # how cells are read
    where: str  # the table, for messages
    noun: str  # what a row is called in them
    # items, agents, texts and pairs, in the order in which they first appear
    items: dict[str, None] = field(default_factory=dict)
    agents: dict[str, None] = field(default_factory=dict)
    units: dict[Key, None] = field(default_factory=dict)
    # (what, whose) -> (value, line)
    facts: dict[tuple[str, ...], tuple[Any, Line]] = field(default_factory=dict)
    # (unit, rater) -> (value, line)
    labels: dict[tuple[Key, str], tuple[float, Line]] = field(default_factory=dict)
    # (judge, unit, order) -> run -> (value, or why it is missing; line)
    verdicts: dict[tuple[str, Key, int], dict[str, tuple[float | str, Line]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    # (item, who: ``RATERS`` or a judge, what a cell was read as) -> how often
    readings: Counter[tuple[str, str, float | str]] = field(default_factory=Counter)
    lines: dict[object, Line] = field(default_factory=dict)

    def add(self, rows: Iterable[JudgedRow]) -> Self:
        """Take what rows say; DataError where they contradict or repeat each other, or a label
        cannot be read."""
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
            ways += ["who said it (dataset.columns.rater=COLUMN)"] * bool(raters)
            ways += ["which run it is (dataset.columns.run=COLUMN)"] * bool(judges)
            raise DataError(
                f"says once more what {self.noun} {first} is about: keep one of them, or say "
                f"{' or '.join(ways)}"
            )
        self.items[item] = None
        self._add_facts(row, key, swapped)
        if one:
            self.agents |= dict.fromkeys(filter(None, (one, two)))
            self.units[key] = None
            self._add_opinions(row, key, swapped)

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
            before, line = self.facts.setdefault((name, *whose), (value, row.line))
            if before != value:
                them = " / ".join(filter(None, whose))
                why = f"{name} is not what {self.noun} {line} says of {them}"
                if name == "text" and row.agent == TEXT:
                    why += " (dataset.columns.agent=COLUMN says who wrote it)"
                if name == "reference":
                    why += " (if it is people's label of a text: dataset.columns.human=COLUMN)"
                raise DataError(why)
        if row.turn == row.turn:  # the last label's counts
            before, _ = self.facts.get(("turn", *key), (row.turn, 0))
            self.facts["turn", *key] = (max(before, row.turn), row.line)

    def _add_opinions(self, row: JudgedRow, key: Key, swapped: bool) -> None:
        """Keep labels, and verdicts or why they are missing."""
        pair = (row.agent, row.other) if row.other else None

        def keep(values: dict[Any, Any], place: object, value: float | str, who: str) -> None:
            value = 1 - value if swapped and not isinstance(value, str) else value
            before, line = values.setdefault(place, (value, row.line))
            if before != value and not (isinstance(before, str) and isinstance(value, str)):
                raise DataError(f"{who} said something else of the same in {self.noun} {line}")

        def note(who: str, cell: str, value: float | str) -> None:
            self.readings[row.id, who, self.meaning.reading(cell, value, pair is not None)] += 1

        for who, cell, *_ in row.labels:
            if self.meaning.is_missing(cell):
                continue
            value = self.meaning.read(cell, pair, 0)
            if isinstance(value, str):
                hint = near(cell.strip(), pair or self.meaning.levels)
                why = value.removeprefix("the verdict ")
                raise DataError(f"{who} said {shorten(cell)}, which {why}{hint}")
            if (key, who) not in self.labels:  # once, in however many rows it stands
                note(RATERS, cell, value)
            keep(self.labels, (key, who), value, who)
        for who, cell, order, reason, run in row.verdicts:
            value = reason or "no verdict in the data"
            if cell.strip():
                value = self.meaning.read(cell, pair, order)
            note(who, cell, value)
            keep(self.verdicts[who, key, 1 - order if swapped else order], run, value, who)

    def fact(self, name: str, *whose: str) -> str | None:
        """What rows say of an item, agent or text; None where they say nothing."""
        value = self.facts.get((name, *whose))
        return value[0] if value else None

    def panel(
        self, facts: Mapping[str, object], limit: int | None, task: str, agents: Sequence[Agent]
    ) -> Panel:
        """The first so many items by all ``agents``, with their texts, labels and judgments.

        Grades that judges gave to texts are also scores of the items; ``Item.human`` is the mean
        of the raters' grades, or of preferences the share that a text won. Of two categories the
        grades are 1 and 0, or the numbers that they are (DataError: as ``judgments``).
        """
        items = list(self.items)[:limit]
        table, human, scores = self.judgments(items), self._human(items), self._scores()

        def item(name: str) -> Item:
            texts = (self.fact(fact, name) for fact in ("source", "reference", "synopsis"))
            source, reference, synopsis = texts
            grades, item_scores = human.get(name, {}), scores.get(name, {})
            return Item(name, source or "", reference, synopsis, grades, scores=item_scores)

        counts = {"rows": len(items), "units": len(table.units), "raters": list(table.raters)}
        counts |= {"judges": list(table.names), "labelled": int(table.labelled.sum())}
        return Panel(
            tuple(item(name) for name in items),
            tuple(agents),
            tuple(tuple(self.fact("text", item, one.name) for one in agents) for item in items),
            task,
            {**facts, **counts},
            table if len(table.units) else None,
        )

    def _compare(self, units: Iterable[Key]) -> None:
        """Give a pair that a rater has graded, and not compared, to the text of higher grade."""
        raters = dict.fromkeys(rater for _, rater in self.labels)
        for (item, *names), rater in product(units, raters):
            texts = [((item, name, ""), rater) for name in names]
            if all(names) and all(text in self.labels for text in texts):
                one, two = (self.labels[text][0] for text in texts)
                value = (float(np.sign(one - two)) + 1) / 2
                self.labels.setdefault(((item, names[0], names[1]), rater), (value, 0))

    def judgments(self, items: Collection[str]) -> JudgmentTable:
        """The judgments of these items' units, by all judges of such units.

        Raises:
            DataError: there are no pairs where preferences are meant.
        """
        ids, pairs = set(items), self.meaning.kind == "preference"
        keys = [key for key in self.units if key[0] in ids and bool(key[2]) == pairs]
        if pairs and not any(two for _, _, two in self.units):
            raise DataError(
                f"{self.where} has no pairs of texts: kind=preference needs the columns agent and "
                "other."
            )
        self._compare(keys)
        raters = tuple(dict.fromkeys(rater for _, rater in self.labels))
        place, column = ({name: k for k, name in enumerate(names)} for names in (keys, raters))
        labels = np.full((len(keys), len(raters)), np.nan)
        for (key, rater), (value, _) in self.labels.items():
            if key in place:
                labels[place[key], column[rater]] = value
        judges, values, asked, reasons = self._verdicts_on(keys, pairs)
        readings = defaultdict[str, Counter[float | str]](Counter)
        for (name, who, reading), count in self.readings.items():
            if name in ids:
                readings[who][reading] += count
        return JudgmentTable(
            self.meaning.kind,
            self._units(keys),
            raters,
            labels,
            tuple(JudgeFacts(name, pointwise=not pairs) for name in judges),
            values[..., 0],
            asked,
            {name: dict(counts) for name, counts in reasons.items() if counts},
            self.meaning.levels,
            {"read": readings_line(readings)},
            self.meaning.positive,
            values[..., 1:],
        )

    def _verdicts_on(
        self, keys: Sequence[Key], pairs: bool
    ) -> tuple[Sequence[str], Floats, Mask, dict[str, Counter[str]]]:
        """The judges of pairs or of texts; their verdicts on these [judges, units, orders, runs],
        NaN where missing; whether they were asked; and judge -> why none -> how often."""
        verdicts = {at: runs for at, runs in self.verdicts.items() if bool(at[1][2]) == pairs}
        judges = list(dict.fromkeys(judge for judge, *_ in verdicts))
        row, place = ({name: k for k, name in enumerate(names)} for names in (judges, keys))
        most = max(map(len, self.verdicts.values()), default=1)
        values = np.full((len(judges), len(keys), 1 + pairs, most), np.nan)
        asked = np.zeros(values.shape[:3], np.bool_)
        reasons: dict[str, Counter[str]] = {name: Counter() for name in judges}
        for (judge, key, order), runs in verdicts.items():
            by_run = [runs[run][0] for run in sorted(runs, key=_run_place)]
            if key in place:
                if isinstance(by_run[0], str):
                    reasons[judge][by_run[0]] += 1
                at = row[judge], place[key], order
                asked[at] = True
                values[at][: len(runs)] = [np.nan if isinstance(x, str) else x for x in by_run]
        return judges, values, asked, reasons

    def _units(self, keys: Sequence[Key]) -> Units:
        """The texts or pairs, with what rows say of them."""

        def facts(name: str, default: Any) -> list[Any]:
            return [self.facts.get((name, *key), (default, 0))[0] for key in keys]

        item, first, second = zip(*keys, strict=True) if keys else ((), (), ())
        return Units.of(
            *(item, first, second),
            cluster=[own or id_ for own, id_ in zip(facts("cluster", ""), item, strict=True)],
            stratum=facts("stratum", ""),
            words=np.array([facts("words", np.nan), facts("other_words", np.nan)]).T,
            turn=np.array(facts("turn", np.nan)),
        )

    def _human(self, items: Collection[str]) -> dict[str, dict[str, float]]:
        """Item -> system -> the mean grade; without grades, the share of its pairs that it won."""
        ids = set(items)
        grades: dict[Key, list[float]] = {key: [] for key in self.units if key[0] in ids}
        for (key, _), (value, _) in self.labels.items():
            if key in grades and (grade := self.meaning.grade(value)) == grade:
                grades[key].append(grade)
        means = {key: float(np.mean(its)) for key, its in grades.items() if its}
        of_texts = {key: mean for key, mean in means.items() if not key[2]}
        won: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for (item, one, two), mean in (of_texts or means).items():
            won[item][one].append(mean)
            if two:
                won[item][two].append(1 - mean)
        return {
            item: {name: float(np.mean(its)) for name, its in own.items()}
            for item, own in won.items()
        }

    def _scores(self) -> dict[str, dict[str, dict[str, float]]]:
        """Item -> judge -> system -> grade, where judges graded texts."""
        scores: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        for (judge, (item, agent, other), _), runs in self.verdicts.items():
            value, _ = runs[min(runs, key=_run_place)]
            grade = np.nan if other or isinstance(value, str) else self.meaning.grade(value)
            if grade == grade:
                scores[item][judge][agent] = grade
        return scores


def _run_place(run: str) -> tuple[bool, bool, float, str]:
    """Runs stand by number or else by name; the first one is the verdict."""
    place = number(run)
    return bool(run), isnan(place), 0.0 if isnan(place) else place, run
