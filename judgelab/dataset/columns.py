"""Which column of a table says what: as settings say, else by its name and its cells.

``Layout.role_of`` finds the role that fits a column, by five rules and the words of
``words/table.yaml``; ``layout`` gives each role to its column. A column has one role. Where two
columns fit one role, or one column two, nothing is guessed: ChoiceError offers each reading with
the words of the command line that choose it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NoReturn

from judgelab.config.composing import literal
from judgelab.core.errors import ChoiceError, DataError, did_you_mean, listed, some
from judgelab.core.panel import GOOD_FAITH, PROBLEMATIC
from judgelab.dataset.files import MISSING, Records, cell_text
from judgelab.dataset.meaning import LONGEST, NO, STRAY, WORDS, YES, is_figure, word


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


COLUMNS: Mapping[str, Sequence[str]] = {k: its.split() for k, its in WORDS["columns"].items()}
"""What a table can say -> other names of the column; ``docs/datasets.md`` says what each means."""
NAMES = {_plain(x): (role, x) for role, others in COLUMNS.items() for x in (role, *others)}
"""A usual name, as ``_plain`` -> its role, and how it is written."""
SLIPS = {
    slip: name
    for name in NAMES
    for k in range(1, len(name) - 1)
    for slip in (name[:k] + name[k + 1 :], name[:k] + name[k + 1] + name[k] + name[k + 2 :])
    if len(slip) > 3 and slip not in NAMES
}
"""A usual name with a letter left out, or two swapped, but for its first and last -> the name."""
TRUTHS, EITHER, PEOPLE, MACHINES, SIZES, SAID = (
    frozenset(map(_plain, WORDS[name].split()))
    for name in ("truths", "either", "people", "machines", "sizes", "said")
)
KINDS = GOOD_FAITH | PROBLEMATIC
"""Categories of agents by which a column of categories is known; ``Other`` may be a topic."""
FACTS = [role for role in COLUMNS if role not in ("human", "verdict", "score")]
WHOSE = ("agent", "other", "rater", "judge", "run", "criterion")
"""Columns that tell apart rows of one item."""
TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
LEVELS = 12
"""More different words than these are no labels; grades may have more."""

Wide = str | Sequence[str | int] | Mapping[str | int, str | Sequence[str]] | None


@dataclass(kw_only=True)
class Layout:
    """Which column of a table says what; in whatever order columns and rows stand, the same."""

    records: Records
    where: str  # the table, for messages
    columns: dict[str, str]  # column, as judgelab calls it -> the table's name
    # raters, judges: person or judge -> the columns with what they say
    raters: dict[str, Sequence[str]]
    judges: dict[str, Sequence[str]]
    none: Set[str]  # columns that the table lacks, as a setting says
    # without ``id``: ``rows``, each is an item; or ``sources``, each different one is
    numbers: Literal["", "rows", "sources"] = ""
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    def columns_of(self, *roles: str) -> list[str]:
        """The columns of these roles, as the table calls them."""
        return [self.columns[role] for role in roles if role in self.columns]

    @property
    def people(self) -> list[str]:
        return [*self.columns_of("preference", "human"), *chain(*self.raters.values())]

    @property
    def verdicts(self) -> list[str]:
        return [*self.columns_of("verdict", "score"), *chain(*self.judges.values())]

    @property
    def unread(self) -> list[str]:
        """The columns without a role."""
        with_role = {*self.columns.values(), *self.people, *self.verdicts}
        return [name for name in self.records.columns if name not in with_role]

    @property
    def free(self) -> list[str]:
        """Those that may have one yet."""
        return [name for name in sorted(self.unread) if _plain(name) not in self.none]

    @property
    def labels(self) -> list[str]:
        """Columns that were not taken for people's labels, and could be."""
        either = [name for name in self.columns_of("score", "verdict") if _plain(name) in EITHER]
        right_answers = filter(self.yes_or_no, self.columns_of("reference"))
        return [*filter(self.holds_labels, self.free), *either, *right_answers]

    @property
    def pairs(self) -> bool:
        """Whether a row is of two texts."""
        return bool(self.columns_of("other", "other_text", "preference"))

    @property
    def line(self) -> str:
        """What was taken for what, in one line."""
        roles = {role: self.columns_of(role) for role in FACTS}
        if self.numbers:
            alike = " (those of one source count as one item)" if "source" in self.columns else ""
            roles["id"] = [f"numbers of {self.numbers}{alike}"]
        judges = [" + ".join(names) for names in self.judges.values()]
        roles["labels of people"] = [x for x in self.people if x not in roles["preference"]]
        roles["verdicts of judges"] = self.columns_of("verdict", "score") + judges
        roles["not read"] = self.unread
        return "; ".join(f"{role}: {some(names)}" for role, names in roles.items() if names)

    def words(self, column: str) -> Counter[str]:
        """What the cells say, but for missing ones; a list or object is no word."""
        if column not in self._words:
            cells = (cell_text(row.get(column)) for _, row in self.records.rows)
            words = (word("{}" * LONGEST if cell is None else cell) for cell in cells)
            self._words[column] = Counter(one for one in words if one not in MISSING)
        return self._words[column]

    def yes_or_no(self, column: str) -> bool:
        """Whether all is a yes or no, in words that everybody knows."""
        words = self.words(column)
        return bool(words) and words.keys() <= YES | NO

    def holds_labels(self, column: str) -> bool:
        """Whether these are grades, or few words, short and often said; one in twenty may stray."""
        words = self.words(column)
        short = Counter({one: n for one, n in words.items() if len(one) <= LONGEST})
        if not short or STRAY * (words.total() - short.total()) > words.total():
            return False
        figures = sum(n for one, n in short.items() if is_figure(one))
        few = len(short) <= LEVELS and 2 * len(short) <= short.total()
        return 2 * figures > short.total() or few or self.yes_or_no(column)

    def role_of(self, column: str) -> str:
        """What a column says, by its name, and where that leaves it open by its cells; else "".

        1. A usual name, but for a score, raters that are yes and no, and categories of topics.
        2. A name made of words for people or machines, of their sizes and of what they say, such
           as ``annotator_1`` and ``gpt4_verdict``, above labels: ``human``, or ``verdict``.
        3. A name for the truth: ``human`` above labels, else ``reference``.
        4. A name that either may have, such as ``pass``, above labels: ``either``.
        5. A name with the word id: ``ids``.
        """
        plain, parts, role = _plain(column), set(_parts(column)), usual_role(column)
        cells = (cell_text(row.get(column)) or "" for _, row in self.records.rows)
        topics = role == "category" and KINDS.isdisjoint(map(str.strip, cells))  # as written
        unclear = role in ("", "score") or (role == "rater" and self.yes_or_no(column))
        if not unclear and not topics:
            return role
        labels = self.holds_labels(column)
        for role, whose in (("human", PEOPLE), ("verdict", MACHINES)) if labels else ():
            if parts & whose and parts <= whose | SAID | SIZES:
                return role
        if plain in TRUTHS:
            return "human" if labels else "reference"
        if labels and plain in EITHER:
            return "either"
        return "ids" if "id" in tokens(column) else ""

    def refuse(self, what: str, choices: Mapping[str, Sequence[str]]) -> NoReturn:
        raise ChoiceError(f"{self.where}: {what}. Choose:", choices)

    def take(self, role: str, names: Sequence[str]) -> None:
        """Give the role to the column called so, or to the only one of these; else refuse them."""
        names = [name for name in names if _plain(name) == _plain(role)] or names
        if len(names) > 1:
            choices = {f"{role}: {name}": [_column(role, name)] for name in names}
            self.refuse(f"{listed(names)} may each be the column of the {role}", choices)
        if names:
            self.columns[role] = names[0]

    def take_people(self, names: Sequence[str], machines: Sequence[str]) -> None:
        """The column of people's labels, or one for each person; ``machines`` are judges'."""
        kinds = dict[str, list[str]]()
        for name in names:  # annotator_1 and annotator_2 are of one kind, human and expert of two
            kinds.setdefault(" ".join(_parts(name)), []).append(name)
        if len(kinds) > 1:
            groups = (*kinds.values(), names)
            choices = {f"people: {listed(its)}": [people_word(its)] for its in groups}
            for name in names if not machines else ():  # one of these may be the judge
                rest = [one for one in names if one != name]
                its = f"people: {listed(rest)}; judge: {name}"
                choices[its] = [people_word(rest), _judges([name])]
            self.refuse(f"people's labels may stand in {listed(names)}", choices)
        if len(names) > 1:
            self.raters = {name: [name] for name in names}
        else:
            self.take("human", names)

    def take_judges(self, names: Sequence[str]) -> None:
        """A column for each judge; the first one without a judge's name is of ``judge``."""
        whose = dict[tuple[str, ...], list[str]]()
        for name in names:
            who = tuple(one for one in tokens(name) if one not in SAID)
            whose.setdefault(who[:1] if self.pairs else who, []).append(name)
        for its in (its for its in whose.values() if len(its) > 1):
            choices = {f"judge: {one}": [_judges([one])] for one in its}
            choices[f"{len(its)} judges"] = [_judges(its)]
            if self.pairs and len(its) == 2:
                both_orders = f"one judge, which saw the pairs of {its[1]} in the other order"
                choices[both_orders] = [_judges({"judge": its})]
            self.refuse(f"{listed(its)} seem to be of one judge", choices)
        for name in names:
            unnamed = _plain(name) in EITHER or usual_role(name) == "verdict"
            if unnamed and not self.columns_of("verdict", "score"):
                self.columns["score" if _plain(name) == "score" else "verdict"] = name
            else:
                self.judges[name] = [name]

    def take_verdicts(self) -> None:
        """The columns of verdicts and scores beside one of judges, whose rows these are."""
        for role in ("verdict", "score"):
            if role not in self.columns:
                self.take(role, [x for x in self.unread if usual_role(x) == role])
        for judge in self.columns_of("judge"):
            if not self.verdicts or self.yes_or_no(judge):
                human = [_column("human", name) for name in self.columns_of("human")]
                choices = {f"verdicts: {judge}": [*human, _judges([judge])]}
                for name in self.verdicts or [*self.columns_of("human"), *self.labels][:4]:
                    its = f"judges: {judge}; their verdicts: {name}"
                    choices[its] = [_column("verdict", name)]
                what = f"{judge!r} may hold verdicts, or names of judges beside verdicts"
                self.refuse(what, choices)

    def take_items(self, ids: Sequence[str]) -> None:
        """What an item is where no column is called so: an id, a row, or a source."""
        repeats = [name for name in ids if len(self.words(name)) < len(self.records.rows)]
        several = any(len(self.words(self.columns.get(name, ""))) > 1 for name in WHOSE)
        alone = _column("id", False)
        if repeats and not several:
            choices = {
                f"rows of one {x} belong together": [alone, _column("cluster", x)] for x in repeats
            }
            choices["each row stands alone"] = [alone]
            self.refuse("no column is called 'id'", choices)
        if ids:  # those with another one in each row: whichever is meant
            self.take("id", repeats or ids[:1])
        elif not several or "id" in self.none:
            self.numbers = "rows"
        elif "source" in self.columns:
            self.numbers = "sources"
        else:
            raise DataError(
                f"{self.where} has no column 'id', which says what an item is: add it, or name it "
                f"with dataset.columns.id=COLUMN ({alone}: each row is an item of its own). "
                f"Columns are: {', '.join(self.records.columns)[:300]}."
            )


def layout(
    records: Records,
    columns: Mapping[str, str | bool | None] | None,
    raters: Wide,
    judges: Wide,
    where: str,
) -> Layout:
    """As the settings say; what they leave open, as names and cells of ``where`` say.

    Raises:
        ChoiceError: there are several ways to read it.
        DataError: a column is missing, its name is written wrongly, or it has two roles.
    """
    settings = {name: column for name, column in (columns or {}).items() if column is not None}
    own = _as_set(records, settings, raters, judges, where)
    fits = defaultdict[str, list[str]](list)
    for column in own.free:
        fits[own.role_of(column)].append(column)
    needless = {"rater"} if own.raters else set()  # a column of names, where columns have names
    needless |= {"judge", "reason"} if own.judges else set()
    for role in (x for x in FACTS if x not in {*settings, *needless, "reference"}):
        if role != "category" or "agent" in own.columns:
            own.take(role, fits[role])
    if not own.raters and "human" not in settings:
        own.take_people(fits["human"], fits["verdict"])
    if not own.judges and "verdict" not in settings:
        if "score" in settings or "judge" in own.columns:
            own.take_verdicts()
        else:
            either = [x for x in fits["either"] if own.people or _plain(x) == "score"]
            own.take_judges(fits["verdict"] or either)
    if "reference" not in settings:
        own.take("reference", fits["reference"])
    _refuse_doubts(own)
    if "id" not in own.columns:
        own.take_items([] if "id" in own.none else fits["ids"])
    return own


def _as_set(
    records: Records, columns: Mapping[str, str | bool], raters: Wide, judges: Wide, where: str
) -> Layout:
    """What settings say of columns, and no more; DataError where one that they name is missing."""
    names = {role: str(column) for role, column in columns.items() if column is not False}
    own = Layout(
        records=records,
        where=where,
        columns=names,
        raters=_wide(raters),
        judges=_wide(judges),
        none=columns.keys() - names.keys(),
    )
    settings = [(f"columns.{role}", column) for role, column in names.items()]
    for setting, wide in (("raters", own.raters), ("judges", own.judges)):
        settings += [(setting, column) for column in chain(*wide.values())]
    for setting, column in settings:
        if column not in records.columns:
            hint = did_you_mean(column, records.columns)
            raise DataError(f"There is no column {column!r} (dataset.{setting}).{hint}")
    return own


def _refuse_doubts(own: Layout) -> None:
    """Refuse a column with nearly a usual name, and one that is people's and a judge's."""
    for column in sorted(own.unread):
        role, name = NAMES.get(SLIPS.get(_plain(column), ""), ("", ""))
        if role and role not in {*own.columns, *own.none}:
            raise DataError(
                f"{own.where} has no column {name!r}; there is {column!r}: rename it, or set "
                f"dataset.columns.{role}={column} (false: it is none)."
            )
    for name in filter(own.people.__contains__, own.verdicts):
        raise DataError(
            f"{name} cannot hold people's labels and a judge's verdicts: a judge that is held "
            "against itself is always right."
        )


def usual_role(name: str) -> str:
    """The role of which this is a usual name; else ""."""
    return NAMES.get(_plain(name), ("", ""))[0]


def tokens(name: str) -> list[str]:
    """``gpt4_verdict`` and ``gpt4Verdict`` as gpt, 4, verdict."""
    return [one.casefold() for one in TOKEN.findall(name)]


def _parts(name: str) -> list[str]:
    """The same without numbers and single letters, which tell apart what is of one kind."""
    return [one for one in tokens(name) if len(one) > 1 and not one.isdigit()]


def _column(name: str, column: str | bool) -> str:
    return f"dataset.columns.{name}={literal(column)}"


def people_word(names: Sequence[str]) -> str:
    """The word that says whose labels these columns hold."""
    alone = len(names) == 1
    return _column("human", names[0]) if alone else f"dataset.raters={literal(list(names))}"


def _judges(names: object) -> str:
    return f"dataset.judges={literal(names)}"


def _wide(setting: Wide) -> dict[str, Sequence[str]]:
    """Name -> its columns, of a setting that lists columns, or maps names to them."""
    many = [setting] if isinstance(setting, str) else setting or ()
    columns = many if isinstance(many, Mapping) else {name: str(name) for name in many}
    return {
        str(name): [its] if isinstance(its, str) else list(its) for name, its in columns.items()
    }
