"""What the cells of labels and verdicts mean, in four rules.

1. Of pairs they are preferences: names of the two texts, usual words, or numbers of one coding.
2. Of texts they are categories where people say a yes or a no, or two words, or two whole numbers,
   unless a judge answers these with more than two numbers; else grades, if most are numbers.
3. A word is what a cell says, however it is spelled (``word``). Where nobody, no judge and no
   rater, says two words for yes all of these are one category, and so with no; of two categories
   of people one of which is such a word the other is its opposite, whatever its word.
4. A category is what people say, and a short word that judges say twice.

A judge that shares no word with people is refused, and one whose word may be one of people's two
categories, but nothing shows which: ``dataset.labels`` says which mean the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from judgelab.core.errors import ConfigError, some
from judgelab.core.judgments import Kind
from judgelab.core.resources import words
from judgelab.dataset.files import MISSING, cell_text, number
from judgelab.dataset.provenance import check_keys

RATERS = ""
"""Whose cells are what people said; judges have names."""

Counts = Mapping[str, Counter[str]]
"""Who (``RATERS``, or a judge) -> cell, or word -> how often."""

Voices = Sequence[Counter[str]]
"""Word -> how often, of each who may have words of its own."""

MOST_GRADE = 1e12  # numbers beyond this are identifiers or faults
MOST = 50  # more categories than these are free text
LONGEST = 40  # what a judge says in more letters is an explanation, and no category
STRAY = 20  # one in so many cells of somebody may be another number, and the others keep meaning

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
SIDES = YES, NO = tuple(frozenset(WORDS[name].split()) for name in ("yes", "no"))


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
            return self.values.get(word(cell), "the verdict is none of the categories")
        if pair is None:
            value = number(cell)
            if abs(value) > MOST_GRADE:
                return "the verdict is beyond 1e12, as no grade is"
            grade = self.words.get(word(cell), "the verdict is no number")
            return value if value == value else grade
        if (text := cell.strip()) in pair:
            return float(text == pair[0])
        value = self.values.get(word(cell), math.nan)
        if value != value:
            return "the verdict names neither text"
        return 1 - value if self.shown and order else value

    def grade(self, value: float) -> float:
        """A value as a grade; NaN where it has none."""
        has_level = self.kind == "category" and value == value
        return self.grades[int(value)] if has_level else value

    def is_missing(self, cell: str) -> bool:
        """Whether nothing is said; a category may well be called none."""
        is_level = self.kind == "category" and word(cell) in self.values
        return cell.strip().lower() in MISSING and not is_level

    def reading(self, cell: str, value: float | str, of_pair: bool) -> float | str:
        """What a cell was read as, for ``readings_line``: a grade, or words."""
        if isinstance(value, str):
            return "" if self.is_missing(cell) else "unreadable"
        if self.kind != "category":
            return BETTER[value] if of_pair else value
        level, one = self.levels[int(value)], word(cell)
        return level[:20] if one == word(level) else f"{one[:20]} = {level[:20]}"


def readings_line(readings: Mapping[str, Counter[float | str]]) -> str:
    """In one line, how cells were read: who -> ``Meaning.reading`` -> how often."""
    its = {f"judge {who[:30]}": readings[who] for who in sorted(readings) if who != RATERS}
    if len(its) > 3:
        its = {f"{len(its)} judges": sum(its.values(), Counter[float | str]())}
    lines = []
    for who, counts in ({"people": readings.get(RATERS, Counter[float | str]())} | its).items():
        grades = {one: n for one, n in counts.items() if isinstance(one, float)}
        by_count = sorted((-n, one) for one, n in counts.items() if one and isinstance(one, str))
        parts = [f"{one} ({-n})" for n, one in by_count]
        if grades:
            span = f"grades from {min(grades):g} to {max(grades):g}"
            parts.insert(0, f"{span} ({sum(grades.values())})")
        lines += [f"{who}: {some(parts, 6)}"] if parts else []
    line = "; ".join(lines)
    return line if len(line) <= 300 else line[:297] + "..."


def kind_of(counts: Counts, people: Voices, has_order: bool) -> Kind:
    """Whether texts have grades or categories, by the words of people (without people: of judges).

    ``has_order``: whether a setting says which of two words the higher number is.
    """
    main = people or [its for its in counts.values() if its]
    total = sum(main, Counter[str]())
    figures = Counter({one: n for one, n in total.items() if is_figure(one)})
    yes_or_no = bool(main) and all(map(_yes_or_no, main))
    whole = len(figures) == 2 and all(number(one) % 1 == 0 for one in figures)
    if yes_or_no or (len(total) == 2 and (whole or not figures)):
        has_order = has_order or yes_or_no or whole
        of_grades = has_order and any(_has_grades(its, figures) for its in counts.values())
        return "grade" if of_grades else "category"
    return "grade" if 2 * figures.total() >= total.total() else "category"


def tally(counts: Mapping[str, int], name: Callable[[str], str]) -> Counter[str]:
    """How often things are said under other names, of which several may be one."""
    totals = Counter[str]()
    for one, n in counts.items():
        totals[name(one)] += n
    return totals


def words_of(cells: Mapping[str, int], blank: Collection[str] = MISSING) -> Counter[str]:
    """Word -> how often, of cells that are not blank."""
    return Counter({one: n for one, n in tally(cells, word).items() if one not in blank})


def voices_of(raters: Counts, blank: Collection[str] = MISSING) -> Voices:
    """What each rater says, by cells; those of one word together, who show no pair of words."""
    people = [words_of(its, blank) for its in raters.values()]
    rest = sum((its for its in people if len(its) < 2), Counter[str]())
    return [its for its in people if len(its) > 1] + [rest] * bool(rest)


def _yes_or_no(answers: Collection[str]) -> bool:
    """Whether these are a yes, a no, or both, in words that everybody knows."""
    its = set(answers)
    return bool(its) and its <= YES | NO and max(len(its & YES), len(its & NO)) == 1


def _has_grades(counts: Counter[str], two: Collection[str]) -> bool:
    """Whether these are mostly numbers, and more than two with the figures ``two`` of people."""
    figures = {one: n for one, n in counts.items() if is_figure(one)}
    others = sorted((n for one, n in figures.items() if one not in two), reverse=True)
    beyond = sum(others[max(0, 2 - len(two)) :])
    return 2 * sum(figures.values()) >= counts.total() and beyond * STRAY > counts.total()


def grades(voices: Voices, positive: object) -> Meaning:
    """Grades; where each of people says two words as pass and fail, and judges give numbers, 1 and
    0; ConfigError where positive is none of two words."""
    people, yes_or_no = set[str]().union(*voices), all(map(_yes_or_no, voices))
    if positive is None:
        sides = YES | NO if yes_or_no and not all(map(is_figure, people)) else ()
        return Meaning("grade", words={one: float(one in YES) for one in sides})
    top = spellings_of(positive)
    if yes_or_no:  # whoever says it in another word
        top = top.union(*(side for side in SIDES if top & side))
    # a number is its own grade, whatever a setting says
    scale = any(map(is_figure, people)) or (len(people) > 2 and not yes_or_no)
    if scale or not top & people:
        raise ConfigError(
            f"dataset.positive={positive!r} names a category, but this table holds grades or "
            "preferences: leave it out, or set dataset.kind=category."
        )
    return Meaning("grade", words={one: float(one in top) for one in top | people})


def preferences(
    cells: Counts, setting: Mapping[str, object] | None, words: Mapping[str, float], shown: bool
) -> Meaning:
    """Preferences as the settings say, or as usual words and numbers that all fit together.

    Args:
        setting: first, second, tie -> what cells say.
        words, shown: as of ``Meaning``.

    Raises:
        ConfigError: numbers are used in ways that do not fit together.
    """
    if setting is not None:
        check_keys(setting, MEANINGS, "dataset.preferences")
        values = {word(str(cell)): MEANINGS[name] for name, cell in setting.items()}
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
    numbers = CODINGS[next(iter(codings.values()), next(iter(CODINGS)))]
    values = {}
    for one in {word(cell) for its in cells.values() for cell in its}:
        bare = one if one.startswith("tie") else one.strip("[]().\"' ")
        places = (value for value, usual in PLACES.items() if usual.fullmatch(bare))
        by_word = next(places, math.nan)
        values[one] = numbers.get(number(one), math.nan) if is_figure(one) else by_word
    return Meaning("preference", values, words, shown=shown)


def _coding(numbers: set[float]) -> str | None:
    """How somebody uses numbers; None where it does not show."""
    one_two, one_zero, signs = CODINGS
    if -1.0 in numbers:
        return signs
    if numbers & {2.0, 1.5}:
        return one_two
    return one_zero if 0.0 in numbers else None


def name_of(value: object) -> str:
    """A category as a setting names it."""
    text = str(value).lower() if isinstance(value, bool) else cell_text(value)
    if not text or not text.strip():
        raise ConfigError(f"{value!r} is no name of a category: write a word or a number.")
    return text.strip()


def spellings_of(value: object) -> set[str]:
    """What a setting means; YAML reads yes and no as true and false."""
    more = {("no", "yes")[value]} if isinstance(value, bool) else set[str]()
    return {word(name_of(value))} | more
