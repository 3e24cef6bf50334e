"""Which column of a table says what: by settings, by usual names, and by what its cells hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from judgelab.config.composing import written
from judgelab.core.errors import ChoiceError, DataError, did_you_mean, listed, some
from judgelab.dataset.files import MISSING, Records, cell_text
from judgelab.dataset.meaning import LONGEST, NO, STRAY, YES, is_figure, word

COLUMNS: Mapping[str, Sequence[str]] = {
    "id": (
        *("item", "item_id", "case_id", "example_id", "sample_id", "question_id", "prompt_id"),
        *("task_id", "test_id", "uuid", "idx"),
    ),
    "source": ("input", "question", "prompt", "query", "instruction"),
    "reference": ("expected", "target", "expected_output", "reference_answer"),
    "synopsis": (),
    "agent": ("system", "model"),
    "other": ("other_agent", "other_system"),
    "category": (),
    "text": (
        *("response", "output", "completion", "model_output", "model_response", "actual_output"),
        *("response_a", "output_a", "completion_a", "response_1", "output_1", "completion_1"),
    ),
    "other_text": (
        *("other_response", "other_output", "response_b", "output_b", "completion_b"),
        *("response_2", "output_2", "completion_2"),
    ),
    "rater": ("annotator", "annotator_id", "annotator_name", "rater_id", "rater_name"),
    "human": ("label", "human_score", "human_label", "human_verdict", "gold", "ground_truth"),
    "preference": ("human_preference", "human_winner", "human_choice"),
    "judge": ("judge_name", "judge_model"),
    "order": (),
    "verdict": ("judge_label", "judge_verdict"),
    "score": ("judge_score",),
    "reason": (),
    "run": ("repeat", "epoch", "trial"),
    "criterion": (),
    "words": (),
    "other_words": (),
    "stratum": (),
    "cluster": (),
    "turn": (),
}
"""What a table can say -> other names of the column; ``docs/datasets.md`` says what each means."""

SPOKEN = ("human", "verdict", "score")
"""Columns of what people and judges say: found by their cells, too."""
OFTEN_PEOPLE = ("label", "gold", "gold_label", "ground_truth", "truth")
"""Names of people's labels, where no column says that it holds these."""
EITHER = ("score", "pass", "passed", "grade", "rating", "correct", "prediction", "predicted")
"""Names that people's labels and a judge's verdicts may have."""

PEOPLE, MACHINES, SIZES, SAID = (
    frozenset(words.split())
    for words in (
        "annotator expert human labeler labeller people rater reviewer",
        "ai auto claude critic deepseek evaluator gemini gpt grader judge llama llm mistral qwen "
        "verdict",
        "flash haiku large mini opus pro small sonnet turbo",
        "accuracy annotation choice coherence consistency correct correctness decision eval "
        "evaluation factuality faithfulness fluency grade helpfulness judgement judgment label "
        "overall pass passed preference quality rating relevance safety score verdict vote winner",
    )
)
"""Parts of the names of columns: who labels; who judges, and which of its sizes; what they say."""
TOKEN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
LEVELS = 12
"""More different words than these are no labels; grades may have more."""

Wide = str | Sequence[str | int] | Mapping[str | int, str | Sequence[str]] | None
Names = tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Which column of a table says what.

    Attributes:
        columns: column, as judgelab calls it -> the table's name.
        raters, judges: person or judge -> the columns with what they say.
        numbers: without ``id``: ``rows``, each is an item; or ``sources``, each different one is.
        labels: columns that were not taken for people's labels, and could be.
    """

    columns: dict[str, str]
    raters: Mapping[str, Sequence[str]]
    judges: Mapping[str, Sequence[str]]
    numbers: Literal["", "rows", "sources"] = ""
    labels: Sequence[str] = ()

    @property
    def used(self) -> set[str]:
        """The table's columns that are read."""
        wide = (*self.raters.values(), *self.judges.values())
        return {*self.columns.values(), *(name for names in wide for name in names)}

    @property
    def line(self) -> str:
        """What was taken for what, in one line."""
        roles = {name: [self.columns[name]] for name in COLUMNS if name in self.columns}
        if self.numbers:
            roles = {"id": [f"numbers of {self.numbers}"]} | roles
        people = [*roles.pop("human", ()), *(c for names in self.raters.values() for c in names)]
        spoken = [*roles.pop("verdict", ()), *roles.pop("score", ())]
        spoken += [c for names in self.judges.values() for c in names]
        roles |= {"labels of people": people, "verdicts of judges": spoken}
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
    for name, column in given.items():
        if column is not False:
            _present(str(column), records.columns, f"columns.{name}")
    raters = _wide(raters, "raters", records.columns)
    judges = _wide(judges, "judges", records.columns)
    reading = _Reading(records, where, raters, judges, {k for k, v in given.items() if v is False})
    reading.columns |= {name: str(column) for name, column in given.items() if column}
    reading.find_facts(given.keys())
    if not raters and "human" not in given:
        reading.find_people()
    if not judges and "verdict" not in given:
        reading.find_judges(given.keys())
    reading.find_references(given.keys())
    there = reading.columns.keys() | given.keys()
    used = {name for name in records.columns if name not in reading.free}
    _refuse_misspelled(where, records.columns, there, reading.none, used)
    numbers = reading.find_items(given.get("id"))
    if reading.columns.keys() >= {"preference", "agent"} and "other" not in reading.columns:
        raise DataError(
            f"{where} has preferences between the text of 'agent' and another one, but no "
            "column 'other' that names it (dataset.columns.other=COLUMN)."
        )
    either = [reading.columns[one] for one in ("verdict", "score") if one in reading.columns]
    labels = [name for name in reading.free if reading.speaks(name)]
    labels += [name for name in either if _plain(name) in EITHER]
    return Layout(reading.columns, reading.raters, reading.judges, numbers, labels)


@dataclass
class _Reading:
    """What is known so far."""

    records: Records
    where: str
    raters: dict[str, list[str]]
    judges: dict[str, list[str]]
    none: set[str]  # what the user says has no column
    columns: dict[str, str] = field(default_factory=dict)
    _words: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def free(self) -> list[str]:
        """Columns without a meaning; in whatever order they stand, the same."""
        used = Layout(self.columns, self.raters, self.judges).used
        names = (name for name in self.records.columns if _plain(name) not in self.none)
        return sorted(name for name in names if name not in used)

    def named(self, names: Iterable[str]) -> list[str]:
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
        if not short or STRAY * (words.total() - sum(short.values())) > words.total():
            return False
        figures = sum(n for one, n in short.items() if is_figure(one))
        few = len(short) <= LEVELS and 2 * len(short) <= sum(short.values())
        return 2 * figures > words.total() or few or self.plainly(column)

    def plainly(self, column: str) -> bool:
        """Whether all is yes or no, in words that everybody knows."""
        words = self.words(column)
        return bool(words) and words.keys() <= YES | NO

    def different(self, names: Sequence[str]) -> list[str]:
        """Without columns that hold what an earlier one holds."""
        cells = {
            name: tuple(cell_text(row.get(name)) for _, row in self.records.rows) for name in names
        }
        return [
            name for k, name in enumerate(names) if cells[name] not in map(cells.get, names[:k])
        ]

    def refuse(self, what: str, choices: Mapping[str, Sequence[str]]) -> None:
        """Raise ChoiceError: the table can be read so, or so."""
        raise ChoiceError(f"{self.where}: {what}. Choose:", choices)

    def find_facts(self, given: Set[str]) -> None:
        """Columns that say what is judged, and by whom."""
        wide = {"rater"} if self.raters else set()
        wide |= {"judge", "order", "reason"} if self.judges else set()
        for name, others in COLUMNS.items():
            if name in given or name in wide or name in SPOKEN:
                continue
            own, usual = self.named([name]), self.different(self.named(others))
            if name == "reference":
                usual = []  # people's labels may be called so
            if name == "rater":
                own, usual = ([c for c in cs if not self.plainly(c)] for cs in (own, usual))
            if not own and len(usual) > 1:
                choices = {f"{name} is {one}": (_column(name, one),) for one in usual}
                self.refuse(f"{listed(usual)} are usual names of the column {name!r}", choices)
            for column in (own or usual)[:1]:
                self.columns[name] = column

    def find_people(self) -> None:
        """The column of people's labels, or one for each person."""
        usual = [name for name in self.named(OFTEN_PEOPLE) if self._said(name, "label")]
        people = [name for name in self.free if self._of(name, PEOPLE, "human")]
        people = self.different(people)
        groups = dict[str, list[str]]()
        for name in people:  # annotator_1 and annotator_2 are of one kind, human and expert of two
            kind = " ".join(one for one in _tokens(name) if len(one) > 1 and not one.isdigit())
            groups.setdefault(kind, []).append(name)
        options = list(groups.values()) or [[one] for one in self.different(usual)]
        others = [name for name in self.different([*people, *usual]) if name not in people]
        others = others if people else []
        if len(options) > 1 or (options and others):
            self._refuse_people(options, others)
        for names in options:
            if len(names) > 1:
                self.raters = {name: [name] for name in names}
            else:
                self.columns["human"] = names[0]

    def _refuse_people(self, options: Sequence[Sequence[str]], others: Sequence[str]) -> None:
        every = [name for names in options for name in names] + list(others)
        choices = {f"people: {listed(names)}": _people(names) for names in options}
        choices[f"people: {listed(every)}"] = _people(every)
        if not any(self._of(name, MACHINES, "verdict") for name in self.free):
            for name in others or every:
                rest = [one for names in options for one in names if one != name]
                what = f"people: {listed(rest)}; judge: {name}"
                choices[what] = (*_people(rest), _judges([name]))
        self.refuse(f"people's labels may stand in {listed(every)}", choices)

    def find_judges(self, given: Set[str]) -> None:
        """The column of verdicts, and of scores; or one for each judge."""
        people = self.raters or self.columns.keys() & {"human", "preference"}
        if "judge" in self.columns or "score" in given:
            for name in ("verdict", "score"):
                for column in self.named((name, *COLUMNS[name]))[: name not in given]:
                    self.columns[name] = column
        judges = self.different([c for c in self.free if self._of(c, MACHINES, "verdict")])
        if "judge" in self.columns or "score" in given:
            if len(judges) == 1 and not self.columns.keys() & {"verdict", "score"}:
                self.columns["verdict"] = judges[0]
            self._check_names()
            return
        either = [c for c in self.named(EITHER) if self.speaks(c) or _plain(c) == "score"]
        if not judges and people:
            judges = self.different(either) or self._alike()
            if len(judges) > 1:
                choices = {f"judge: {one}": (_judges([one]),) for one in judges}
                self.refuse(f"a judge's verdicts may stand in {listed(judges)}", choices)
        judges = judges or [one for one in either if _plain(one) == "score"]
        self._check_twice(judges)
        for name in judges:
            role = "score" if _plain(name) == "score" else "verdict"
            known = _plain(name) in map(_plain, ("verdict", *COLUMNS["verdict"], *EITHER))
            if known and not self.columns.keys() & {"verdict", "score"}:
                self.columns[role] = name
            else:
                self.judges[name] = [name]

    def _alike(self) -> list[str]:
        """Columns with a judge's kind of name that hold the words of people, and no numbers."""
        voices = [*self.raters, *filter(None, [self.columns.get("human")])]
        words = {one for name in voices for one in self.words(name) if not is_figure(one)}
        return [
            name
            for name in self.free
            if _tokens(name)[-1:] and _tokens(name)[-1] in SAID and self.words(name)
            if self.words(name).keys() <= words
        ]

    def _check_names(self) -> None:
        """Refuse names of judges that are verdicts, or that stand beside no verdict."""
        judge, spoken = self.columns.get("judge", ""), self.columns.keys() & {"verdict", "score"}
        human = self.columns.get("human")
        saying = self.plainly(judge) or all(map(is_figure, self.words(judge)))
        if not judge or (spoken and not self.plainly(judge)):
            return
        choices = {}
        if saying or not spoken:
            choices[f"one judge's verdicts: {judge}"] = (_judges([judge]),)
            if human:
                choices = {
                    f"people: {human}; one judge's verdicts: {judge}": (
                        *_people([human]),
                        _judges([judge]),
                    )
                }
        for name in sorted(spoken):
            column = self.columns[name]
            choices[f"one judge's verdicts: {column}"] = (_judges([column]),)
        if human and not spoken:
            what = f"names of judges: {judge}; their verdicts: {human}"
            choices[what] = (_column("verdict", human),)
        if len(choices) > 1:
            self.refuse(f"{judge!r} may hold verdicts, or names of judges", choices)
        raise DataError(
            f"{self.where} has a column {judge!r} and none of verdicts: write "
            f"{_judges([judge])} if it holds one judge's verdicts, or, if it names "
            "judges, what they said with dataset.columns.verdict=COLUMN."
        )

    def _check_twice(self, judges: Sequence[str]) -> None:
        """Refuse two columns of one judge."""
        pairs = bool(self.columns.keys() & {"other", "other_text", "preference"})
        whose = dict[tuple[str, ...], list[str]]()
        for name in judges:
            who = [one for one in _tokens(name) if one not in SAID] or [name]
            whose.setdefault(tuple(who[: 1 if pairs else None]), []).append(name)
        for names in whose.values():
            if len(names) > 1:
                choices = {f"judge: {one}": (_judges([one]),) for one in names}
                choices[f"judges: {listed(names)}"] = (_judges(names),)
                if pairs and len(names) == 2:
                    both = f"dataset.judges={written({'judge': names})}"
                    choices[f"one judge, the second shown in the other order: {names}"] = (both,)
                self.refuse(f"{listed(names)} seem to be of one judge", choices)

    def find_references(self, given: Set[str]) -> None:
        """The column of references, unless people's labels may stand there."""
        names = self.different(self.named(COLUMNS["reference"]))
        texts = [one for one in self.named(OFTEN_PEOPLE[1:]) if not self.speaks(one)]
        if "reference" in given or "reference" in self.columns or not (names or texts):
            return
        labels = [one for one in names if self.plainly(one)]
        people = self.raters or self.columns.keys() & {"human", "preference"}
        if labels and not people and (self.judges or self.columns.keys() & {"verdict", "score"}):
            choices = {f"people: {labels[0]}": tuple(_people(labels[:1]))}
            choices[f"reference: {labels[0]}"] = (_column("reference", labels[0]),)
            self.refuse(f"{labels[0]!r} may hold people's labels, or right answers", choices)
        if len(names) > 1:
            choices = {f"reference: {one}": (_column("reference", one),) for one in names}
            self.refuse(f"{listed(names)} are usual names of the column 'reference'", choices)
        self.columns["reference"] = (names or texts)[0]

    def find_items(self, given: object) -> Literal["", "rows", "sources"]:
        """What an item is where no column is called so: a row, or a source."""
        if "id" in self.columns:
            return ""
        keys = [name for name in self.free if "id" in _tokens(name)]
        several = [
            name
            for name in ("agent", "other", "rater", "judge", "run", "criterion")
            if name in self.columns and len(self.words(self.columns[name])) > 1
        ]
        if given is False or not (keys or several):
            return "rows"
        if keys:
            choices = {f"an item is a {one}": (_column("id", one),) for one in keys}
            choices["each row is an item"] = (_column("id", False),)
            self.refuse(f"no column is called 'id', and {listed(keys)} may be it", choices)
        if "source" in self.columns:
            return "sources"
        raise DataError(
            f"{self.where} has no column 'id', which says what an item is: add it, or name it "
            f"with dataset.columns.id=COLUMN ({_column('id', False)}: each row is an item of its "
            f"own). Columns are: {', '.join(self.records.columns)[:300]}."
        )

    def _of(self, column: str, its: Set[str], role: str) -> bool:
        """Whether name and cells are of what these say; a judge may have a size."""
        tokens = {one for one in _tokens(column) if len(one) > 1 and not one.isdigit()}
        more = SIZES if its is MACHINES else set()
        if not tokens & its or not tokens <= its | SAID | more:
            return False
        return self._said(column, role, *COLUMNS[role])

    def _said(self, column: str, *names: str) -> bool:
        """Whether it is called so, or holds what people and judges say."""
        return _plain(column) in map(_plain, names) or self.speaks(column)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _tokens(name: str) -> list[str]:
    """``gpt4_verdict`` and ``gpt4Verdict`` as gpt, 4, verdict."""
    return [one.casefold() for one in TOKEN.findall(name)]


def _column(name: str, column: str | bool) -> str:
    return f"dataset.columns.{name}={written(column)}"


def _people(names: Sequence[str]) -> tuple[str, ...]:
    """The words that say whose labels these columns hold."""
    if len(names) == 1:
        return (_column("human", names[0]),)
    return (f"dataset.raters={written(list(names))}",)


def _judges(names: Sequence[str]) -> str:
    return f"dataset.judges={written(list(names))}"


def _wide(given: Wide, setting: str, present: Sequence[str]) -> dict[str, list[str]]:
    """Name -> its columns, of a setting that lists columns, or maps names to them."""
    many = [given] if isinstance(given, str) else given or ()
    named = many if isinstance(many, Mapping) else {name: str(name) for name in many}
    wide = {str(n): [its] if isinstance(its, str) else list(its) for n, its in named.items()}
    for column in (column for its in wide.values() for column in its):
        _present(column, present, setting)
    return wide


def _present(column: str, present: Sequence[str], setting: str) -> None:
    if column not in present:
        hint = did_you_mean(column, present)
        raise DataError(f"There is no column {column!r} (dataset.{setting}).{hint}")


def _refuse_misspelled(
    where: str, present: Sequence[str], there: Set[str], none: Set[str], read: Set[str]
) -> None:
    """Refuse a column whose name is that of a missing one with letters swapped or left out.

    Args:
        there, none: what has a column, and what the user says has none.
        read: columns that have a meaning.
    """
    spellings = {one: name for name, others in COLUMNS.items() for one in (name, *others)}
    for column in present:
        low = column.strip().lower()
        if column in read or len(low) < 4 or _plain(low) in map(_plain, spellings):
            continue
        near = {one: name for one, name in spellings.items() if _alike(low, one)}
        missing = [one for one, name in near.items() if name not in there]
        if missing and none.isdisjoint(near.values()):
            one = missing[0]
            raise DataError(
                f"{where} has no column {one!r}; there is {column!r}: rename it, or set "
                f"dataset.columns.{near[one]}={column} (false: it is none)."
            )


def _alike(low: str, one: str) -> bool:
    """Whether a name is another one with letters swapped or left out."""
    letters = set(low) <= set(one) and low[0] == one[0] and low not in one and one not in low
    return letters and SequenceMatcher(None, low, one).ratio() >= 0.8
