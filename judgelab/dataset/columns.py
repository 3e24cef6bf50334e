"""Which column of a table says what: as settings say, else by its name, else by its cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, NoReturn

from judgelab.config.composing import written
from judgelab.core.errors import ChoiceError, DataError, did_you_mean, listed, some
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC
from judgelab.dataset.files import MISSING, Records, cell_text
from judgelab.dataset.meaning import LONGEST, NO, STRAY, WORDS, YES, is_figure, word

COLUMNS: Mapping[str, Sequence[str]] = {k: its.split() for k, its in WORDS["columns"].items()}
"""What a table can say -> other names of the column; ``docs/datasets.md`` says what each means."""
ROLES = {name: role for role, others in COLUMNS.items() for name in (role, *others)}
SLIPS = {
    slip: name
    for name in ROLES
    for k in range(1, len(name) - 1)
    for slip in (name[:k] + name[k + 1 :], name[:k] + name[k + 1] + name[k] + name[k + 2 :])
    if len(slip) > 3 and slip not in ROLES
}
"""A usual name with a letter left out, or two swapped, but for its first and last -> the name."""
TRUTHS, EITHER = (WORDS[name].split() for name in ("truths", "either"))
PEOPLE, MACHINES, SIZES, SAID = (
    frozenset(WORDS[name].split()) for name in ("people", "machines", "sizes", "said")
)
OPINIONS = ("human", "verdict", "score")
"""Columns of what people and judges say: found by the parts of their names, too."""
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
        labels: columns that were not taken for people's labels, and could be.
        unread: the other columns.
    """

    columns: dict[str, str]
    raters: dict[str, Sequence[str]]
    judges: dict[str, Sequence[str]]
    numbers: Literal["", "rows", "sources"] = ""
    labels: Sequence[str] = ()
    unread: Sequence[str] = ()

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
    def pairs(self) -> bool:
        """Whether a row is of two texts."""
        return bool(self.columns.keys() & {"other", "other_text", "preference"})

    @property
    def line(self) -> str:
        """What was taken for what, in one line."""
        roles = {name: [self.columns[name]] for name in COLUMNS if name in self.columns}
        if self.numbers:
            alike = " (those of one source count as one item)" if "source" in self.columns else ""
            roles = {"id": [f"numbers of {self.numbers}{alike}"]} | roles
        people = [*roles.pop("human", ()), *(c for names in self.raters.values() for c in names)]
        verdicts = [*roles.pop("verdict", ()), *roles.pop("score", ())]
        verdicts += [" + ".join(names) for names in self.judges.values()]
        roles |= {"labels of people": people, "verdicts of judges": verdicts}
        roles["not read"] = list(self.unread)
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
        own.find_judges(long="score" in given or "judge" in own.columns)
    if "reference" not in given:
        own.find_references()
    own.refuse_misspelled()
    if "id" not in own.columns:
        own.find_items()
    own.refuse_both()
    own.labels = [name for name in own.free if own.holds_labels(name)]
    own.labels += [own.columns[x] for x in own.verdicts if _plain(own.columns[x]) in EITHER]
    own.unread = [name for name in records.columns if name not in own.used]
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
        usual = {_plain(one) for one in COLUMNS["id"]}
        ids = [one for one in records.columns if _plain(one) in usual or "id" in _tokens(one)]
        if len(ids) != 1:
            raise DataError(
                f"{where} (dataset.people) does not say which item a label is about: give it a "
                f"column {main.get('id', 'id')!r}. Columns are: {listed(records.columns)[:300]}."
            )
        columns["id"] = ids[0]
    own = layout(records, columns, raters, None, where)
    if own.people:
        return own
    if len(own.labels) == 1:
        return layout(records, columns | {"human": own.labels[0]}, raters, None, where)
    choices = {f"labels: {name}": [_people([name])] for name in own.labels}
    there = f"{listed(own.labels)} may each hold labels" if choices else "none holds labels"
    raise ChoiceError(f"{where} (dataset.people): call a column human; here {there}.", choices)


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
    def verdicts(self) -> list[str]:
        """``score`` and ``verdict``, as far as their columns are known."""
        return sorted(self.columns.keys() & {"verdict", "score"})

    def named(self, *names: str) -> list[str]:
        """The free columns of these names, in the order of the names."""
        free = {_plain(name): name for name in reversed(self.free)}
        return [free[one] for one in map(_plain, names) if one in free]

    def words(self, column: str) -> Counter[str]:
        """What the cells say, but for missing ones; a list or object is no word."""
        if column not in self._words:
            cells = (cell_text(row.get(column)) for _, row in self.records.rows)
            words = (word("{}" * LONGEST if cell is None else cell) for cell in cells)
            self._words[column] = Counter(one for one in words if one not in MISSING)
        return self._words[column]

    def holds_labels(self, column: str) -> bool:
        """Whether these are grades, or few words, short and often said; one in twenty may stray."""
        words = self.words(column)
        short = {one: n for one, n in words.items() if len(one) <= LONGEST}
        total = sum(short.values())
        if not short or STRAY * (words.total() - total) > words.total():
            return False
        figures = sum(n for one, n in short.items() if is_figure(one))
        few = len(short) <= LEVELS and 2 * len(short) <= total
        return 2 * figures > total or few or self.yes_or_no(column)

    def yes_or_no(self, column: str) -> bool:
        """Whether all is a yes or no, in words that everybody knows."""
        words = self.words(column)
        return bool(words) and words.keys() <= YES | NO

    def holds_good_faith(self, column: str) -> bool:
        """Whether it says which agents write in good faith; ``Other`` alone may be a topic."""
        cells = {(cell_text(row.get(column)) or "").strip() for _, row in self.records.rows}
        return "agent" in self.columns and not cells.isdisjoint(GOOD_FAITH | PROBLEMATIC)

    def opinions(self, role: str, whose: Set[str]) -> list[str]:
        """The free columns with a usual name of this role; or called after one of these, as
        ``gpt4_verdict`` and ``annotator_1`` are, and with labels in their cells."""
        usual, beside = {_plain(one) for one in (role, *COLUMNS[role])}, whose | SAID | SIZES

        def called_after(name: str) -> bool:
            parts = set(_parts(name))
            return bool(parts & whose) and parts <= beside

        return [
            name
            for name in self.free
            if _plain(name) in usual or (called_after(name) and self.holds_labels(name))
        ]

    def refuse(self, what: str, choices: Mapping[str, Sequence[str]]) -> NoReturn:
        """Raise ChoiceError: the table can be read so, or so."""
        raise ChoiceError(f"{self.where}: {what}. Choose:", choices)

    def one(self, role: str, names: Sequence[str]) -> list[str]:
        """The one column of these that has this role, or none; several are refused."""
        if len(names) > 1:
            choices = {f"{role}: {name}": [_column(role, name)] for name in names}
            self.refuse(f"{listed(names)} may each be the column of the {role}", choices)
        return list(names)

    def find_facts(self, given: Set[str]) -> None:
        """Columns that say what is judged, and by whom; those of references come later."""
        needless = {"rater"} if self.raters else set()
        needless |= {"judge", "reason"} if self.judges else set()
        needless |= {"order"} if any(len(names) > 1 for names in self.judges.values()) else set()
        for name in (x for x in COLUMNS if x not in {*given, *needless, *OPINIONS}):
            # people's labels may be called as references are
            usual = [] if name == "reference" else self.named(*COLUMNS[name])
            own = self.named(name) or self.one(name, usual)
            for column in own[:1]:
                labels = name == "rater" and self.yes_or_no(column)
                topics = name == "category" and not self.holds_good_faith(column)
                if not (labels or topics):
                    self.columns[name] = column

    def find_people(self) -> None:
        """The column of people's labels, or one for each person."""
        people = self.opinions("human", PEOPLE)
        people += [x for x in self.named(*TRUTHS) if x not in people and self.holds_labels(x)]
        groups = dict[str, list[str]]()
        for name in people:  # annotator_1 and annotator_2 are of one kind, human and expert of two
            groups.setdefault(" ".join(_parts(name)), []).append(name)
        if len(groups) > 1:
            choices = {f"people: {listed(its)}": [_people(its)] for its in groups.values()}
            choices[f"people: {listed(people)}"] = [_people(people)]
            if not self.opinions("verdict", MACHINES):
                for name in people:
                    rest = [one for one in people if one != name]
                    words = [_people(rest), _judges(name)]
                    choices[f"people: {listed(rest)}; judge: {name}"] = words
            self.refuse(f"people's labels may stand in {listed(people)}", choices)
        if len(people) > 1:
            self.raters = {name: [name] for name in people}
        elif people:
            self.columns["human"] = people[0]

    def find_judges(self, long: bool) -> None:
        """The column of verdicts, and of scores; or one for each judge.

        Args:
            long: whether rows name their judge, or a setting names the column of scores.
        """
        if long:
            for name in ("verdict", "score"):
                own = self.named(name, *COLUMNS[name])
                if own and name not in self.columns:
                    self.columns[name] = own[0]
            return self._check_judge()
        judges = self.opinions("verdict", MACHINES)
        if not judges:
            usual = self.named(*(EITHER if self.people else ["score"]))
            judges = [name for name in usual if self.holds_labels(name)]
            if len(judges) > 1:
                choices = {f"judge: {name}": [_judges(name)] for name in judges}
                self.refuse(f"{listed(judges)} may each be a judge's", choices)
        self._check_twice(judges)
        unnamed = {*map(_plain, ("verdict", *COLUMNS["verdict"])), *EITHER}
        for name in judges:
            if _plain(name) in unnamed and not self.verdicts:
                self.columns["score" if _plain(name) == "score" else "verdict"] = name
            else:
                self.judges[name] = [name]

    def _check_judge(self) -> None:
        """Refuse names of judges that may be verdicts, or that stand beside no verdict."""
        judge = self.columns.get("judge", "")
        if not judge or (self.verdicts and not self.yes_or_no(judge)):
            return
        human = [self.columns["human"]] if "human" in self.columns else []
        beside = [self.columns[name] for name in self.verdicts]
        beside = beside or [*human, *filter(self.holds_labels, self.free)][:4]
        choices = {f"verdicts: {judge}": [*map(_column, ["human"], human), _judges(judge)]}
        for name in beside:
            choices[f"judges: {judge}; their verdicts: {name}"] = [_column("verdict", name)]
        self.refuse(f"{judge!r} may hold verdicts, or names of judges beside verdicts", choices)

    def _check_twice(self, judges: Sequence[str]) -> None:
        """Refuse two columns of one judge."""
        whose = dict[tuple[str, ...], list[str]]()
        for name in judges:
            who = [one for one in _tokens(name) if one not in SAID] or [name]
            whose.setdefault(tuple(who[: 1 if self.pairs else None]), []).append(name)
        for names in (names for names in whose.values() if len(names) > 1):
            choices = {f"judge: {one}": [_judges(one)] for one in names}
            choices[f"{len(names)} judges"] = [_judges(*names)]
            if self.pairs and len(names) == 2:
                both = f"dataset.judges={written({'judge': names})}"
                choices[f"one judge, which saw the pairs of {names[1]} in the other order"] = [both]
            self.refuse(f"{listed(names)} seem to be of one judge", choices)

    def find_references(self) -> None:
        """The column of references, unless people's labels may stand there."""
        texts = [name for name in self.named(*TRUTHS) if not self.holds_labels(name)]
        names = self.named(*COLUMNS["reference"]) or texts
        if "reference" in self.columns or not names:
            return
        if self.yes_or_no(names[0]) and not self.people and (self.judges or self.verdicts):
            choices = {f"people: {names[0]}": [_people(names[:1])]}
            choices[f"reference: {names[0]}"] = [_column("reference", names[0])]
            self.refuse(f"{names[0]!r} may hold people's labels, or right answers", choices)
        [self.columns["reference"]] = self.one("reference", names)

    def find_items(self) -> None:
        """What an item is where no column is called so: a row, or a source."""
        rows = self.records.rows
        names = ("agent", "other", "rater", "judge", "run", "criterion")
        several = any(len(self.words(self.columns.get(name, ""))) > 1 for name in names)
        ids = [] if "id" in self.none else [one for one in self.free if "id" in _tokens(one)]
        repeated = [name for name in ids if len(self.words(name)) < len(rows)]
        if repeated and not several:
            alone = _column("id", False)
            choices = {
                f"rows of one {x} belong together": [alone, _column("cluster", x)] for x in repeated
            }
            self.refuse("no column is called 'id'", choices | {"each row stands alone": [alone]})
        if ids:  # those with another one in each row: whichever is meant
            [self.columns["id"]] = self.one("id", repeated or ids[:1])
        elif not several or "id" in self.none:
            self.numbers = "rows"
        elif "source" in self.columns:
            self.numbers = "sources"
        else:
            raise DataError(
                f"{self.where} has no column 'id', which says what an item is: add it, or name it "
                f"with dataset.columns.id=COLUMN ({_column('id', False)}: each row is an item of "
                f"its own). Columns are: {', '.join(self.records.columns)[:300]}."
            )

    def refuse_misspelled(self) -> None:
        """Refuse a column called as a missing one with two letters swapped, or one left out."""
        for column in self.free:
            name = SLIPS.get(column.strip().lower(), "")
            role = ROLES.get(name)
            if role and role not in {*self.columns, *self.none}:
                raise DataError(
                    f"{self.where} has no column {name!r}; there is {column!r}: rename it, or set "
                    f"dataset.columns.{role}={column} (false: it is none)."
                )

    def refuse_both(self) -> None:
        """Refuse a column that is read as labels and as verdicts."""
        people = [self.columns.get("human"), self.columns.get("preference")]
        people += (name for names in self.raters.values() for name in names)
        judges = [self.columns[one] for one in self.verdicts]
        judges += (name for names in self.judges.values() for name in names)
        for name in filter(people.__contains__, judges):
            raise DataError(
                f"{name} cannot hold people's labels and a judge's verdicts: a judge that is held "
                "against itself is always right."
            )


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
