"""What cells mean: preferences, grades or categories, which spellings are one, and the good one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judgelab.core.errors import ConfigError, DataError, did_you_mean, some
from judgelab.core.judgments import Kind
from judgelab.core.resources import words
from judgelab.dataset.files import MISSING, cell_text, number
from judgelab.dataset.provenance import check_keys

RATERS = ""
"""Whose cells are what people said; judges have names."""

Cells = Mapping[str, Counter[str]]
"""Who (``RATERS``, or a judge) -> cell -> how often."""

NO_VERDICT = "no verdict in the data"
NO_NUMBER = "the verdict is no number"
NO_GRADE = "the verdict is beyond 1e12, as no grade is"
NO_TEXT = "the verdict names neither text"
NO_CATEGORY = "the verdict is none of the categories"

MOST_GRADE = 1e12
"""Numbers beyond this are identifiers or faults."""

CODINGS: Mapping[str, Mapping[float, float]] = {
    "1 first, 2 second, 0 or 1.5 neither": {1: 1.0, 2: 0.0, 0: 0.5, 0.5: 0.5, 1.5: 0.5},
    "1 first, 0 second, .5 neither": {1: 1.0, 0: 0.0, 0.5: 0.5},
    "1 first, -1 second, 0 neither": {1: 1.0, -1: 0.0, 0: 0.5},
}
"""What numbers may mean -> number -> 1 where the first text is better, 0 the second, .5 neither."""

NOUNS = "answer|assistant|candidate|model|option|output|response|summary|system|text"
PLACES = {
    1.0: re.compile(rf"(?:(?:{NOUNS})[ _-]?)?[a1]|first|left"),
    0.0: re.compile(rf"(?:(?:{NOUNS})[ _-]?)?[b2]|second|right"),
    0.5: re.compile(r"c|tied?|ties|equal|both|neither|draw|same|tie \(.*\)"),
}
"""The usual words for the first text, the second, and neither."""

MEANINGS: Mapping[str, float] = {"first": 1.0, "second": 0.0, "tie": 0.5}
BETTER = {1.0: "first", 0.0: "second", 0.5: "neither"}

WORDS = words("dataset/words/table.yaml")
YES, NO = (frozenset(WORDS[name].split()) for name in ("yes", "no"))
PLAIN = frozenset({"1", "0", "true", "false"})
"""Words that name a level only where nobody has a better one."""

MOST = 50
"""More categories than these are free text."""

VOID = frozenset({"", "nan"})
"""Cells that name no category; None may well be one."""

LONGEST = 40
"""What a judge says in more letters is an explanation, and no category."""

STRAY = 20
"""Numbers that are at most one in so many of somebody's cells do not say what the others mean."""


def is_figure(one: str) -> bool:
    """Whether a word is a number."""
    return not math.isnan(number(one))


def word(cell: str) -> str:
    """What a cell says, however it is spelled: 1.0 is 1, and True is true."""
    value = number(cell)
    return f"{value + 0.0:.15g}" if abs(value) < MOST_GRADE else cell.strip().casefold()


@dataclass(frozen=True)
class Meaning:
    """How cells are read."""

    kind: Kind  # of all judgments
    # word -> its value: of a pair 1 (the first text is better), 0 or .5; of a category the place of
    # its level
    values: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)  # word -> the grade that it stands for
    # categories: those of people, by number or letter, then those that only judges say
    levels: tuple[str, ...] = ()
    positive: str = ""  # the level that matters; "" where none does
    # of each level as a grade: of two its number, or 1 and 0; NaN where it has none
    grades: tuple[float, ...] = ()
    shown: bool = False  # whether "1" or "A" is the text shown first, and not the one stored first

    def read(self, cell: str, pair: tuple[str, str] | None, order: int) -> float | str:
        """The value; or why there is none.

        Args:
            pair: the systems, first as stored in this row; None where one text is judged.
            order: 1 where the second one of them was shown first.
        """
        if self.kind == "category":
            return self.values.get(word(cell), NO_CATEGORY)
        if pair is None:
            value = number(cell)
            if abs(value) > MOST_GRADE:
                return NO_GRADE
            return value if value == value else self.words.get(word(cell), NO_NUMBER)
        if (text := cell.strip()) in pair:
            return float(text == pair[0])
        value = self.values.get(word(cell), math.nan)
        if value != value:
            return NO_TEXT
        return 1 - value if self.shown and order else value

    def grade(self, value: float) -> float:
        """A value as a grade; NaN where it has none."""
        known = self.kind == "category" and value == value
        return self.grades[int(value)] if known else value

    def missing(self, cell: str) -> bool:
        """Whether nothing is said; a category may well be called none."""
        known = self.kind == "category" and word(cell) in self.values
        return cell.strip().lower() in MISSING and not known

    def reading(self, cell: str, read: float | str, of_pair: bool) -> float | str:
        """What a cell was read as, for ``readings_line``: a grade, or words."""
        if isinstance(read, str):
            return "" if self.missing(cell) else "unreadable"
        if self.kind != "category":
            return BETTER[read] if of_pair else read
        level, one = self.levels[int(read)], word(cell)
        return level[:20] if one == word(level) else f"{one[:20]} = {level[:20]}"


def readings_line(readings: Mapping[str, Counter[float | str]]) -> str:
    """In one line, how cells were read; the same in whatever order rows stand.

    Args:
        readings: who (``RATERS``, or a judge) -> ``Meaning.reading`` -> how often.
    """
    judges = {f"judge {who[:30]}": readings[who] for who in sorted(readings) if who != RATERS}
    if len(judges) > 3:
        judges = {f"{len(judges)} judges": sum(judges.values(), Counter[float | str]())}
    lines = []
    for who, its in ({"people": readings.get(RATERS, Counter[float | str]())} | judges).items():
        grades = {one: n for one, n in its.items() if isinstance(one, float)}
        ordered = sorted((-n, one) for one, n in its.items() if one and isinstance(one, str))
        parts = [f"{one} ({-n})" for n, one in ordered]
        if grades:
            low, high = min(grades), max(grades)
            parts.insert(0, f"grades from {low:g} to {high:g} ({sum(grades.values())})")
        lines += [f"{who}: {some(parts, 6)}"] if parts else []
    line = "; ".join(lines)
    return line if len(line) <= 300 else line[:297] + "..."


def preferences(
    cells: Cells, given: Mapping[str, object] | None, words: Mapping[str, float], shown: bool
) -> Meaning:
    """Preferences as the settings say, or as usual words and numbers that all fit together.

    Args:
        cells: of pairs.
        given: first, second, tie -> what cells say.
        words: word -> its grade, where single texts are graded in words.
        shown: as ``Meaning.shown``.

    Raises:
        ConfigError: numbers are used in ways that do not fit together.
    """
    if given is not None:
        check_keys(given, MEANINGS, "dataset.preferences")
        values = {word(str(cell)): MEANINGS[name] for name, cell in given.items()}
        return Meaning("preference", values, words, shown=shown)
    codings = {
        who or "people": coding
        for who, its in cells.items()
        if (coding := _coding({number(cell) for cell in its}))
    }
    if len(set(codings.values())) > 1:
        fits = "; ".join(f"of {who}: {coding}" for who, coding in codings.items())
        raise ConfigError(
            f"Numbers seem to mean several things ({fits[:300]}): say what cells mean with "
            "'dataset.preferences={first: 1, second: 2, tie: 0}'."
        )
    coding = next(iter(codings.values()), next(iter(CODINGS)))
    distinct = {word(cell) for its in cells.values() for cell in its}
    values = {one: _preference(one, CODINGS[coding]) for one in distinct}
    return Meaning("preference", values, words, shown=shown)


def _coding(numbers: set[float]) -> str | None:
    """How somebody uses numbers; None where it does not show."""
    one_two, one_zero, signs = CODINGS
    if -1.0 in numbers:
        return signs
    if numbers & {2.0, 1.5}:
        return one_two
    return one_zero if 0.0 in numbers else None


def _preference(one: str, numbers: Mapping[float, float]) -> float:
    if is_figure(one):
        return numbers.get(number(one), math.nan)
    bare = one if one.startswith("tie") else one.strip("[]().\"' ")
    return next((v for v, words in PLACES.items() if words.fullmatch(bare)), math.nan)


def kind_of(cells: Cells, ordered: bool) -> Kind:
    """Categories where people (without people: judges) say two things; grades where numbers.

    Two things are two words or whole numbers; a yes or no alone is one of two. They are grades
    where a judge answers them with more than two numbers.

    Args:
        ordered: whether a setting says which of two words the higher number is.
    """
    main = [_words(cells.get(RATERS, Counter()))]
    if not main[0]:
        main = [its for given in cells.values() if (its := _words(given))]
    counts = sum(main, Counter[str]())
    known = bool(main) and all(map(_yes_or_no, main))
    forms = {number(one) % 1 if is_figure(one) else None for one in counts}
    if known or (len(counts) == 2 and forms in ({None}, {0.0})):
        ordered = ordered or known or all(map(is_figure, counts))
        graded = ordered and any(_graded(_words(its), counts) for its in cells.values())
        return "grade" if graded else "category"
    figures = sum(n for one, n in counts.items() if is_figure(one))
    return "grade" if 2 * figures >= counts.total() else "category"


def grades(cells: Cells, positive: object) -> Meaning:
    """Grades; where people say two words as pass and fail, and judges give numbers, 1 and 0.

    Raises:
        ConfigError: positive is none of two words.
    """
    people = set(_words(cells.get(RATERS, Counter())))
    figures = len(people) > 2 or all(map(is_figure, people))
    top, rest = set(YES), set(NO)
    if positive is not None:
        top = _spellings(positive)
        rest = people - top
        if figures or not top & people:
            raise ConfigError(
                f"dataset.positive={positive!r} names a category, but this table holds grades or "
                "preferences: leave it out, or set dataset.kind=category."
            )
    elif figures or not _yes_or_no(people):
        return Meaning("grade")
    return Meaning("grade", words={one: float(one in top) for one in top | rest})


def _words(
    cells: Counter[str], same: Mapping[str, str] | None = None, blank: Collection[str] = MISSING
) -> Counter[str]:
    """What cells say -> how often: words, or the levels that ``same`` makes of them."""
    words = Counter[str]()
    for cell, n in cells.items():
        if (one := word(cell)) not in blank:
            words[(same or {}).get(one, one)] += n
    return words


def _yes_or_no(words: Collection[str]) -> bool:
    """Whether these are a yes, a no, or both, in words that everybody knows."""
    its = set(words)
    return bool(its) and its <= YES | NO and max(len(its & YES), len(its & NO)) == 1


def _graded(words: Counter[str], two: Collection[str]) -> bool:
    """Whether somebody gives numbers, and more than two with those among ``two``."""
    figures = {one: n for one, n in words.items() if is_figure(one)}
    base = sum(map(is_figure, two))
    others = sorted((n for one, n in figures.items() if one not in two), reverse=True)
    beyond = sum(others[max(0, 2 - base) :])
    return 2 * sum(figures.values()) >= words.total() and beyond * STRAY > words.total()


def categories(
    where: str,
    cells: Cells,
    given: Sequence[object] | None,
    labels: Mapping[object, object] | None,
    positive: object,
) -> Meaning:
    """Categories that cells say and settings name.

    Where people have one known yes (``YES``) and a judge has one, they are the same, and so with
    no. A short word that judges say twice is a level, though people never say it.

    Args:
        where: the table, for messages.
        given: names, in order; there are no others.
        labels: name -> its spellings.
        positive: the level that matters; None: of two the yes.

    Raises:
        ConfigError: a setting contradicts itself, or names what there is not.
        DataError: a judge shares no word with people, or cells are free text.
    """
    order, same, names = _settings(given, labels)
    same = _merge([_words(its, same, VOID) for its in cells.values()], order, same)
    order = [same.get(one, one) for one in order]
    counted = {who: _words(its, same, VOID) for who, its in cells.items()}
    own, more = (set(order), set[str]()) if given is not None else _levels(where, counted, order)
    names = {same.get(one, one): name for one, name in names.items()}
    if people := counted.get(RATERS) if given is None else Counter(order):
        _refuse_strangers(where, cells, counted, people, {x: names.get(x, x) for x in own})
    names = _names(cells, same, own | more) | names

    def place(one: str) -> tuple[bool, int, float, str]:
        value = number(names[one])
        listed = order.index(one) if one in order else len(order)
        return one in more, listed, value if value == value else math.inf, names[one].casefold()

    ranked = sorted(own | more, key=place)
    two = ranked[:2] if len(own) == 2 or len(ranked) <= 2 else []
    good = _good(two, same)
    top = good if positive is None else _positive(positive, ranked, two, same, names)
    worth = {one: float(one == (good or top)) for one in two if good or top}
    if all(is_figure(names[one]) for one in two):
        worth = {one: number(names[one]) for one in two}
    levels = {one: one for one in ranked} | same
    return Meaning(
        "category",
        {one: float(ranked.index(level)) for one, level in levels.items() if level in ranked},
        levels=tuple(names[one] for one in ranked),
        positive=names.get(top, ""),
        grades=tuple(worth.get(one, math.nan) for one in ranked),
    )


def same_levels(others: Iterable[str], levels: Sequence[str]) -> dict[str, str]:
    """Name of a level elsewhere -> its name here: the same word, or the only yes or no of these.

    A name that is none of them stays what it is.
    """
    here, found = {word(level): level for level in levels}, dict[str, str]()
    for name in others:
        one = word(name)
        alike = [level for key, level in here.items() for x in (YES, NO) if one in x and key in x]
        found[name] = here.get(one) or (alike[0] if len(alike) == 1 else name)
    return found


def _name(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else cell_text(value)
    if not text or not text.strip():
        raise ConfigError(f"{value!r} is no name of a category: write a word or a number.")
    return text.strip()


def _spellings(value: object) -> set[str]:
    """What a setting means; YAML reads yes and no as true and false."""
    more = {("no", "yes")[value]} if isinstance(value, bool) else set[str]()
    return {word(_name(value))} | more


def _settings(
    categories: Sequence[object] | None, labels: Mapping[object, object] | None
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The words of the levels in order; word -> level; level -> its name."""
    listed = {_name(key): its for key, its in (labels or {}).items()}
    given = [_name(name) for name in categories or listed]
    names = {word(name): name for name in given}
    if len(names) < len(given) or not {word(name) for name in listed} <= names.keys():
        raise ConfigError(
            "dataset.categories must name each category once, and each name of dataset.labels."
        )
    same = dict[str, str]()
    for name, its in listed.items():
        one = word(name)
        for value in its if isinstance(its, Sequence) and not isinstance(its, str) else [its]:
            for spelling in _spellings(value):
                level = same.setdefault(spelling, spelling if spelling in names else one)
                if level != one:
                    raise ConfigError(
                        f"dataset.labels: {spelling!r} is {names[level]!r} and {name!r}, too: "
                        "leave it out of one of them."
                    )
    return list(names), same, names


def _polar(words: Counter[str], side: Collection[str]) -> set[str]:
    """Words of one side; 1 and 0 are none where they stand in a scale."""
    odd = sum(n for one, n in words.items() if is_figure(one) and one not in PLAIN)
    scale = odd * STRAY > words.total()
    return {one for one in words if one in side and not (scale and is_figure(one))}


def _merge(
    voices: Sequence[Counter[str]], order: Iterable[str], same: Mapping[str, str]
) -> dict[str, str]:
    """Word -> level; where nobody says two yeses all of them are one level, and so with no."""
    merged = dict[str, str]()
    for side in (YES, NO):
        polar = [_polar(its, side) for its in (Counter(order), *voices)]
        if all(len(its) <= 1 for its in polar):
            joined = set[str]().union(*polar)
            merged |= {one: min(joined) for one in joined}
    return merged | {one: merged.get(level, level) for one, level in same.items()}


def _levels(
    where: str, counted: Mapping[str, Counter[str]], order: Iterable[str]
) -> tuple[set[str], set[str]]:
    """Levels of people (without people: of judges), and those that only judges say."""
    people = counted.get(RATERS, Counter[str]())
    counts = sum((its for who, its in counted.items() if who != RATERS), Counter[str]())
    short = set(filter(_short, counts))
    own = set(people) if people else short
    if all(is_figure(one) or one in PLAIN for one in own - MISSING):
        own -= MISSING  # beside words, None may well be a category
    own |= set(order)
    more = {one for one in short if counts[one] > 1} - own
    many = own if len(own) > MOST else own | more
    if len(many) > MOST:
        raise DataError(
            f"{where} has {len(many):,} different labels, such as {min(many)[:30]!r}, which look "
            "like free text: name the column of labels with dataset.columns.human=COLUMN (of "
            "verdicts: dataset.columns.verdict=COLUMN), or group them with "
            "dataset.labels='{NAME: [SPELLING, ...], ...}'."
        )
    return own, more


def _short(one: str) -> bool:
    return len(one) <= LONGEST and one not in MISSING


def _refuse_strangers(
    where: str,
    cells: Cells,
    counted: Mapping[str, Counter[str]],
    main: Counter[str],
    own: Mapping[str, str],
) -> None:
    """Refuse a judge that says nothing of what people say, or has another yes or no.

    Args:
        own: level of people -> its name.
    """
    for who in (who for who in counted if who != RATERS):
        mine = set(filter(_short, counted[who]))
        sides = [_polar(counted[who], side) & mine for side in (YES, NO) if _polar(main, side)]
        if not any(words and not words & own.keys() for words in [mine, *sides]):
            continue
        people, judge = (
            some([repr(x.strip()[:LONGEST]) for x, _ in cells[one].most_common() if x.strip()])
            for one in (RATERS, who)
        )
        names = [own[one] for one in sorted(own)[:4]]
        groups = ", ".join(f"{name[:20]}: [...]" for name in names)
        raise DataError(
            f"{where}: people say {people or ', '.join(names)}, judge {who!r} says {judge}, and "
            f"nothing shows which mean the same: write dataset.labels='{{{groups}}}' with the "
            "judge's words for each (or, if it gives grades, dataset.positive=NAME for high ones)."
        )


def _names(cells: Cells, same: Mapping[str, str], levels: Collection[str]) -> dict[str, str]:
    """Level -> its word: of the judge with most verdicts, of other judges, of people."""
    voices = sorted(cells, key=lambda who: (who == RATERS, -cells[who].total(), who))
    ranked = sorted(
        (word(cell) in PLAIN, place, -n, cell)
        for place, who in enumerate(voices)
        for cell, n in cells[who].items()
    )
    names = dict[str, str]()
    for plain, _, _, cell in ranked:
        one = word(cell)
        if (level := same.get(one, one)) in levels:
            names.setdefault(level, one if plain or is_figure(one) else cell.strip())
    return names


def _good(two: Sequence[str], same: Mapping[str, str]) -> str:
    """Of two levels the yes, or what is not the no, by any spelling; "" where neither is known."""
    spelled = Counter([*two, *(one for one, level in same.items() if level in two)])
    yes, no = ({same.get(one, one) for one in _polar(spelled, side)} for side in (YES, NO))
    good = yes or (set(two) - no if len(no) == 1 else set())
    return good.pop() if len(good) == 1 else ""


def _positive(
    positive: object,
    levels: Sequence[str],
    two: Sequence[str],
    same: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """The level that a setting means: by any of its spellings, of two by yes or no."""
    spelled = _spellings(positive)
    named = {same.get(one, one) for one in spelled} & set(levels)
    for side in (YES, NO):
        named = named or (_polar(Counter(two), side) if spelled & side else set())
    if len(named) != 1:
        hint = did_you_mean(_name(positive), (names[one] for one in levels))
        raise ConfigError(f"dataset.positive={positive!r} is no category.{hint}")
    return named.pop()
