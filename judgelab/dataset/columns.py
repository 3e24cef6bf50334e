"""Which column of a table says what: by settings, by usual names, and by what its cells hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from typing import Literal, NoReturn

from judgelab.config.composing import written
from judgelab.core.errors import ChoiceError, DataError, did_you_mean, listed, some
from judgelab.dataset.files import MISSING, Records, cell_text
from judgelab.dataset.meaning import LONGEST, NO, STRAY, WORDS, YES, is_figure, word

COLUMNS: Mapping[str, Sequence[str]] = {k: its.split() for k, its in WORDS["columns"].items()}
"""What a table can say -> other names of the column; ``docs/datasets.md`` says what each means."""
OFTEN_PEOPLE, EITHER = (WORDS[name].split() for name in ("often_people", "either"))
PEOPLE, MACHINES, SIZES, SAID, ORDERS = (
    frozenset(WORDS[name].split()) for name in ("people", "machines", "sizes", "said", "orders")
)
SPOKEN = ("human", "verdict", "score")
"""Columns of what people and judges say: found by their cells, too."""
KEY = re.compile(r"(?=\D*\d)\w[\w./:#-]{0,39}")
TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
LEVELS = 12
"""More different words than these are no labels; grades may have more."""

Wide = str | Sequence[str | int] | Mapping[str | int, str | Sequence[str]] | None


@dataclass
class Layout:
    """Which column of a table says what.

    Attributes:
        columns: column, as judgelab calls it -> the table's name.
        raters, judges: person or judge -> the columns with what they say.
        numbers: without ``id``: ``rows``, each is an item; or ``sources``, each different one is.
        sources: where rows are numbered, and rows of one source count as one item, how many.
        labels: columns that were not taken for people's labels, and could be.
        silent: columns that are not read.
    """

    columns: dict[str, str]
    raters: dict[str, Sequence[str]]
    judges: dict[str, Sequence[str]]
    numbers: Literal["", "rows", "sources"] = ""
    sources: int = 0
    labels: Sequence[str] = ()
    silent: Sequence[str] = ()

    @property
    def used(self) -> set[str]:
        """The table's columns that are read."""
        wide = (*self.raters.values(), *self.judges.values())
        return {*self.columns.values(), *(name for names in wide for name in names)}

    @property
    def people(self) -> bool:
        """Whether the labels of people are known."""
        return bool(self.raters or self.columns.keys() & {"human", "preference"})

    @property
    def line(self) -> str:
        """What was taken for what, in one line."""
        roles = {name: [self.columns[name]] for name in COLUMNS if name in self.columns}
        if self.numbers:
            alike = f" (those of one of {self.sources} sources count as one item)"
            roles = {"id": [f"numbers of {self.numbers}{alike if self.sources else ''}"]} | roles
        people = [*roles.pop("human", ()), *(c for names in self.raters.values() for c in names)]
        spoken = [*roles.pop("verdict", ()), *roles.pop("score", ())]
        spoken += [" + ".join(names) for names in self.judges.values()]
        roles |= {"labels of people": people, "verdicts of judges": spoken}
        roles["not read"] = list(self.silent)
        return "; ".join(f"{role}: {some(names)}" for role, names in roles.items() if names)


def layout(
    records: Records,
    columns: Mapping[str, str | bool | None] | None,
    raters: Wide,
    judges: Wide,
    where: str,
) -> Layout:
    """As the settings say; what they leave open, as names and cells say.

    Args:
        where: the table, for messages.

    Raises:
        ChoiceError: there are several ways to read it.
        DataError: a column is missing, or its name is written wrongly.
    """
    given = {k: v for k, v in (columns or {}).items() if v is not None}
    named = {name: str(column) for name, column in given.items() if column is not False}
    for name, column in named.items():
        _present(column, records.columns, f"columns.{name}")
    people, machines = (
        _wide(own, setting, records.columns)
        for own, setting in ((raters, "raters"), (judges, "judges"))
    )
    none = given.keys() - named.keys()
    own = _Reading(named, people, machines, records=records, where=where, none=none)
    own.find_facts(given.keys())
    if not people and "human" not in given:
        own.find_people()
    if not machines and "verdict" not in given:
        own.find_judges("score" in given)
    if "reference" not in given:
        own.find_references()
    own.refuse_misspelled()
    own.find_items()
    own.refuse_both()
    own.labels = [name for name in own.free if own.speaks(name)]
    spoken = (own.columns.get(name, "") for name in ("verdict", "score"))
    own.labels += [name for name in spoken if _plain(name) in EITHER]
    own.silent = [name for name in records.columns if name not in own.used]
    return own


def labels_layout(
    records: Records, main: Mapping[str, str], human: str | bool | None, raters: Wide, where: str
) -> Layout:
    """Which column of a file of labels says what.

    Args:
        main: column, as judgelab calls it -> its name in the table that the labels belong to.
        human, raters: the settings.
        where: the file of labels, for messages.

    Raises:
        ChoiceError: several columns may hold the labels.
        DataError: no column says which item, or holds labels.
    """
    columns: dict[str, str | bool | None] = {"verdict": False, "score": False, "human": human}
    names = ("id", "agent", "other", "criterion")
    columns |= {name: main[name] for name in names if main.get(name) in records.columns}
    if "id" not in columns:
        usual = {_plain(one) for one in ("id", *COLUMNS["id"])}
        ids = [one for one in records.columns if _plain(one) in usual or "id" in _tokens(one)]
        if len(ids) != 1:
            raise DataError(
                f"{where} (dataset.people) does not say which item a label is about: give it a "
                f"column {main.get('id', 'id')!r}. Columns are: "
                f"{', '.join(records.columns)[:300]}."
            )
        columns["id"] = ids[0]
    own = layout(records, columns, raters, None, where)
    if own.people:
        return own
    if len(own.labels) > 1:
        choices = {f"labels: {name}": [_people([name])] for name in own.labels}
        raise ChoiceError(f"{where}: {listed(own.labels)} may each hold labels. Choose:", choices)
    if not own.labels:
        raise DataError(f"{where} (dataset.people) has no column of labels: call it human.")
    return layout(records, columns | {"human": own.labels[0]}, raters, None, where)


@dataclass(kw_only=True)
class _Reading(Layout):
    """What is known so far; in whatever order columns and rows stand, the same."""

    records: Records
    where: str
    none: Set[str]  # what the user says has no column
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def free(self) -> list[str]:
        """Columns without a meaning."""
        used = self.used
        return sorted(
            x for x in self.records.columns if x not in used and _plain(x) not in self.none
        )

    @property
    def verdicts(self) -> Set[str]:
        """``verdict`` and ``score``, as far as their columns are known."""
        return self.columns.keys() & {"verdict", "score"}

    def named(self, *names: str) -> list[str]:
        """The free columns of these names, in the order of the names."""
        free = {_plain(name): name for name in reversed(self.free)}
        return [free[one] for one in map(_plain, names) if one in free]

    def words(self, column: str) -> Counter[str]:
        """What the cells say, but for missing ones; a list or object is no word."""
        if column not in self._words:
            cells = (cell_text(row.get(column)) for _, row in self.records.rows)
            said = (word("{}" * LONGEST if cell is None else cell) for cell in cells)
            self._words[column] = Counter(one for one in said if one not in MISSING)
        return self._words[column]

    def speaks(self, column: str) -> bool:
        """Whether these are grades, or few words, short and often said; one in twenty may stray."""
        words = self.words(column)
        short = {one: n for one, n in words.items() if len(one) <= LONGEST}
        total = sum(short.values())
        if not short or STRAY * (words.total() - total) > words.total():
            return False
        figures = sum(n for one, n in short.items() if is_figure(one))
        few = len(short) <= LEVELS and 2 * len(short) <= total
        return 2 * figures > total or few or self.plainly(column)

    def plainly(self, column: str) -> bool:
        """Whether all is yes or no, in words that everybody knows."""
        words = self.words(column)
        return bool(words) and words.keys() <= YES | NO

    def refuse(self, what: str, choices: Mapping[str, Sequence[str]]) -> NoReturn:
        """Raise ChoiceError: the table can be read so, or so."""
        raise ChoiceError(f"{self.where}: {what}. Choose:", choices)

    def one(self, role: str, names: Sequence[str], words: Callable[[str], str]) -> Sequence[str]:
        """The one column of these, or none; several are refused."""
        if len(names) > 1:
            choices = {f"{role}: {name}": [words(name)] for name in names}
            self.refuse(f"{listed(names)} may each be the column of the {role}", choices)
        return names

    def find_facts(self, given: Set[str]) -> None:
        """Columns that say what is judged, and by whom; those of references come later."""
        needless = {"rater"} if self.raters else set()
        needless |= {"judge", "reason"} if self.judges else set()
        needless |= {"order"} if any(len(names) > 1 for names in self.judges.values()) else set()
        for name in (x for x in COLUMNS if x not in {*given, *needless, *SPOKEN}):
            # people's labels may be called as references are
            usual = [] if name == "reference" else self.named(*COLUMNS[name])
            own = self.named(name) or self.one(name, usual, partial(_column, name))
            if own and not (name == "rater" and self.plainly(own[0])):
                self.columns[name] = own[0]
        answer = self.named("answer")  # beside a text it may well be the right answer
        if answer and "text" not in {*given, *self.columns}:
            self.columns["text"] = answer[0]

    def find_people(self) -> None:
        """The column of people's labels, or one for each person."""
        people = [name for name in self.free if self._of(name, PEOPLE, "human")]
        usual = [name for name in self.named(*OFTEN_PEOPLE) if self._said(name, "label")]
        others = [name for name in usual if name not in people]
        groups = dict[str, list[str]]()
        for name in people:  # annotator_1 and annotator_2 are of one kind, human and expert of two
            groups.setdefault(" ".join(_parts(name)), []).append(name)
        options = list(groups.values()) or [[name] for name in others]
        if len(options) > 1 or (people and others):
            self._refuse_people(options, others if people else [])
        for names in options:
            if len(names) > 1:
                self.raters = {name: [name] for name in names}
            else:
                self.columns["human"] = names[0]

    def _refuse_people(self, options: Sequence[Sequence[str]], others: Sequence[str]) -> NoReturn:
        every = [name for names in options for name in names] + list(others)
        choices = {f"people: {listed(names)}": [_people(names)] for names in (*options, every)}
        if not any(self._of(name, MACHINES, "verdict") for name in self.free):
            for name in others or every:
                rest = [one for names in options for one in names if one != name]
                choices[f"people: {listed(rest)}; judge: {name}"] = [_people(rest), _judges(name)]
        self.refuse(f"people's labels may stand in {listed(every)}", choices)

    def find_judges(self, scored: bool) -> None:
        """The column of verdicts, and of scores; or one for each judge.

        Args:
            scored: whether a setting names the column of scores.
        """
        judges = [name for name in self.free if self._of(name, MACHINES, "verdict")]
        if "judge" in self.columns or scored:
            for name in ("verdict", "score"):
                own = [] if name in self.columns else self.named(name, *COLUMNS[name])
                self.columns |= dict.fromkeys([name], own[0]) if own else {}
            if len(judges) == 1 and not self.verdicts:
                self.columns["verdict"] = judges[0]
            return self._check_names()
        either = [x for x in self.named(*EITHER) if self.speaks(x) or _plain(x) == "score"]
        if not judges and self.people:
            judges = list(self.one("judge", either, _judges))
        judges = judges or [one for one in either if _plain(one) == "score"]
        self._check_twice(judges)
        usual = {*map(_plain, ("verdict", *COLUMNS["verdict"], *EITHER))}
        for name in judges:
            if _plain(name) in usual and not self.verdicts:
                self.columns["score" if _plain(name) == "score" else "verdict"] = name
            else:
                self.judges[name] = [name]

    def _check_names(self) -> None:
        """Refuse names of judges that are verdicts, or that stand beside no verdict."""
        judge, human = self.columns.get("judge", ""), self.columns.get("human")
        if not judge or (self.verdicts and not self.plainly(judge)):
            return
        choices = dict[str, list[str]]()
        if self.plainly(judge) or self.words(judge).keys() & self.words(human or "").keys():
            people = [_people([human])] if human else []
            what = f"people: {human}; judge: {judge}" if human else f"judge: {judge}"
            choices[what] = [*people, _judges(judge)]
        for column in (self.columns[name] for name in sorted(self.verdicts)):
            choices[f"judge: {column}"] = [_judges(column)]
        if human and not self.verdicts:
            what = f"judges are named in {judge}, and said what stands in {human}"
            choices[what] = [_column("verdict", human)]
        if len(choices) > 1:
            self.refuse(f"{judge!r} may hold verdicts, or names of judges", choices)
        raise DataError(
            f"{self.where} has a column {judge!r} and none of verdicts: write {_judges(judge)} if "
            "it holds one judge's verdicts, or, if it names judges, what they said with "
            "dataset.columns.verdict=COLUMN."
        )

    def _check_twice(self, judges: Sequence[str]) -> None:
        """Refuse two columns of one judge."""
        pairs = bool(self.columns.keys() & {"other", "other_text", "preference"})
        whose = dict[tuple[str, ...], list[str]]()
        for name in judges:
            who = [one for one in _tokens(name) if one not in SAID | ORDERS] or [name]
            whose.setdefault(tuple(who[: 1 if pairs else None]), []).append(name)
        for names in (names for names in whose.values() if len(names) > 1):
            choices = {f"judge: {one}": [_judges(one)] for one in names}
            choices[f"{len(names)} judges"] = [_judges(*names)]
            if pairs and len(names) == 2:
                both = f"dataset.judges={written({'judge': names})}"
                choices[f"one judge, which saw the pairs of {names[1]} in the other order"] = [both]
            self.refuse(f"{listed(names)} seem to be of one judge", choices)

    def find_references(self) -> None:
        """The column of references, unless people's labels may stand there."""
        texts = [one for one in self.named(*OFTEN_PEOPLE[1:]) if not self.speaks(one)]
        names = self.named(*COLUMNS["reference"]) or texts
        if "reference" in self.columns or not names:
            return
        if self.plainly(names[0]) and not self.people and (self.judges or self.verdicts):
            choices = {f"people: {names[0]}": [_people(names[:1])]}
            choices[f"reference: {names[0]}"] = [_column("reference", names[0])]
            self.refuse(f"{names[0]!r} may hold people's labels, or right answers", choices)
        [self.columns["reference"]] = self.one("reference", names, partial(_column, "reference"))

    def find_items(self) -> None:
        """What an item is where no column is called so: a row, or a source."""
        if "id" in self.columns:
            return
        rows = self.records.rows
        names = ("agent", "other", "rater", "judge", "run", "criterion")
        several = any(len(self.words(self.columns.get(name, ""))) > 1 for name in names)
        called = [name for name in self.free if "id" in _tokens(name)]
        repeated = [name for name in called if len(self.words(name)) < len(rows)]
        own = repeated or called[:1]  # another one in each row: whichever is meant
        if not (called or several):
            keys = [name for name in self.free if self._names_rows(name)]
            own = keys if len(keys) == 1 else []
        if "id" in self.none:
            own = []
        elif own and (several or not repeated):
            [self.columns["id"]] = self.one("item", own, partial(_column, "id"))
            return
        if own:
            alone = _column("id", False)
            choices = {
                f"rows of one {x} belong together": [alone, _column("cluster", x)] for x in own
            }
            self.refuse("no column is called 'id'", choices | {"each row stands alone": [alone]})
        if not several or "id" in self.none:
            self.numbers = "rows"
            sources = len(self.words(self.columns.get("source", "")))
            self.sources = sources if sources < len(rows) else 0
        elif "source" in self.columns:
            self.numbers = "sources"
        else:
            raise DataError(
                f"{self.where} has no column 'id', which says what an item is: add it, or name it "
                f"with dataset.columns.id=COLUMN ({_column('id', False)}: each row is an item of "
                f"its own). Columns are: {', '.join(self.records.columns)[:300]}."
            )

    def _names_rows(self, column: str) -> bool:
        """Whether each row has another key with a number in it, and without spaces: T-0041."""
        words = self.words(column)
        keys = all(KEY.fullmatch(one) and not is_figure(one) for one in words)
        return keys and len(words) == len(self.records.rows)

    def refuse_misspelled(self) -> None:
        """Refuse a column called as a missing one with letters swapped or left out."""
        spellings = {one: name for name, others in COLUMNS.items() for one in (name, *others)}
        known = {*map(_plain, spellings)}
        there = self.columns.keys() | self.none
        for column in self.free:
            low, plain = column.strip().lower(), _plain(column)
            if len(low) < 4 or {plain, plain.removesuffix("s")} & known:
                continue
            near = {one: name for one, name in spellings.items() if _alike(low, one)}
            missing = [one for one, name in near.items() if name not in there]
            if missing and self.none.isdisjoint(near.values()):
                raise DataError(
                    f"{self.where} has no column {missing[0]!r}; there is {column!r}: rename it, "
                    f"or set dataset.columns.{near[missing[0]]}={column} (false: it is none)."
                )

    def refuse_both(self) -> None:
        """Refuse what is read as labels and as verdicts, and preferences beside nobody's text."""
        people = {name for names in self.raters.values() for name in names}
        people |= {self.columns[one] for one in ("human", "preference") if one in self.columns}
        judges = {name for names in self.judges.values() for name in names}
        judges |= {self.columns[one] for one in self.verdicts}
        if both := sorted(people & judges):
            raise DataError(
                f"{listed(both)} cannot hold people's labels and a judge's verdicts: a judge that "
                "is held against itself is always right."
            )
        if self.columns.keys() >= {"preference", "agent"} and "other" not in self.columns:
            raise DataError(
                f"{self.where} has preferences between the text of 'agent' and another one, but "
                "no column 'other' that names it (dataset.columns.other=COLUMN)."
            )

    def _of(self, column: str, its: Set[str], role: str) -> bool:
        """Whether name and cells are of what these say; a judge may have a size."""
        parts, more = set(_parts(column)), SIZES | ORDERS if its is MACHINES else set[str]()
        return bool(parts & its) and parts <= its | SAID | more and self._said(column, role)

    def _said(self, column: str, role: str) -> bool:
        """Whether it is called so, or holds what people and judges say."""
        names = map(_plain, (role, *COLUMNS.get(role, ())))
        return _plain(column) in names or self.speaks(column)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _tokens(name: str) -> list[str]:
    """``gpt4_verdict`` and ``gpt4Verdict`` as gpt, 4, verdict."""
    return [one.casefold() for one in TOKEN.findall(name)]


def _parts(name: str) -> list[str]:
    """The same without numbers and single letters, which tell apart what is of one kind."""
    return [one for one in _tokens(name) if len(one) > 1 and not one.isdigit()]


def _column(name: str, column: str | bool) -> str:
    return f"dataset.columns.{name}={written(column)}"


def _people(names: Sequence[str]) -> str:
    """The word that says whose labels these columns hold."""
    if len(names) == 1:
        return _column("human", names[0])
    return f"dataset.raters={written(list(names))}"


def _judges(*names: str) -> str:
    return f"dataset.judges={written(list(names))}"


def _wide(given: Wide, setting: str, present: Sequence[str]) -> dict[str, Sequence[str]]:
    """Name -> its columns, of a setting that lists columns, or maps names to them."""
    many = [given] if isinstance(given, str) else given or ()
    named = many if isinstance(many, Mapping) else {name: str(name) for name in many}
    wide = {str(n): [its] if isinstance(its, str) else list(its) for n, its in named.items()}
    for column in (column for its in wide.values() for column in its):
        _present(column, present, setting)
    return dict(wide)


def _present(column: str, present: Sequence[str], setting: str) -> None:
    if column not in present:
        hint = did_you_mean(column, present)
        raise DataError(f"There is no column {column!r} (dataset.{setting}).{hint}")


def _alike(low: str, one: str) -> bool:
    """Whether a name is another one with letters swapped or left out."""
    letters = set(low) <= set(one) and low[0] == one[0] and low not in one and one not in low
    return letters and SequenceMatcher(None, low, one).ratio() >= 0.8
