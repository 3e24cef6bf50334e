"""How the cells of a table are read: as preferences, grades or categories, and what they mean."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from judgelab.core.errors import ConfigError, did_you_mean
from judgelab.core.judgments import Kind
from judgelab.dataset.categories import (
    NO,
    RATERS,
    STRAY,
    YES,
    Categories,
    Cells,
    is_figure,
    spellings,
    word,
)
from judgelab.dataset.files import MISSING, number

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

NUMBERS = frozenset(value for coding in CODINGS.values() for value in coding)
SIDES: Mapping[str, float] = {"a": 1.0, "first": 1.0, "left": 1.0, "1": 1.0} | {
    "b": 0.0, "second": 0.0, "right": 0.0, "2": 0.0
}  # fmt: skip
NOUNS = "answer|assistant|candidate|model|option|output|response|summary|system|text"
SIDE = re.compile(rf"(?:(?:{NOUNS})[ _-]?)?(a|b|1|2)|(first|second|left|right)")
TIE = re.compile(r"c|tied?|ties|equal|both|neither|draw|same|tie \(.*\)")
MEANINGS: Mapping[str, float] = {"first": 1.0, "second": 0.0, "tie": 0.5}


@dataclass(frozen=True)
class Preferences:
    """The meaning of cells.

    Attributes:
        coding: how numbers are read; a key of ``CODINGS``, or "as given".
        numbers: number -> value.
        words: cell, in small letters -> value; before all else but names of systems.
        comma: see CellTable.
    """

    coding: str
    numbers: Mapping[float, float]
    words: Mapping[str, float]
    comma: bool

    @staticmethod
    def of(
        said: Mapping[str, Iterable[str]], given: Mapping[str, object] | None, comma: bool
    ) -> Preferences:
        """As the settings say, or as the numbers of all fit together.

        Args:
            said: who -> cells.
            given: first, second, tie -> what cells say; None: found out.

        Raises:
            ConfigError: numbers are used in ways that do not fit together.
        """
        if given is not None:
            for name in given:
                if name not in MEANINGS:
                    hint = did_you_mean(name, MEANINGS)
                    raise ConfigError(f"dataset.preferences.{name} is not a known key.{hint}")
            words = {str(said).strip().lower(): MEANINGS[name] for name, said in given.items()}
            numbers = {number(said): value for said, value in words.items()}
            return Preferences("as given", numbers, words, comma)
        found = {
            name: coding
            for name, cells in said.items()
            if (coding := _coding({number(cell, comma) for cell in cells} & NUMBERS))
        }
        if len(set(found.values())) > 1:
            (one, its), *rest = found.items()
            two, others = next(pair for pair in rest if pair[1] != its)
            raise ConfigError(
                f"Numbers of {one} seem to mean {its}, those of {two} {others}: say what cells "
                "mean with 'dataset.preferences={first: 1, second: 2, tie: 0}'."
            )
        coding = next(iter(found.values()), next(iter(CODINGS)))
        return Preferences(coding, CODINGS[coding], {}, comma)

    def read(self, cell: str, first: str, second: str) -> tuple[float, bool] | None:
        """1, 0 or .5, and whether a place was named (no system, no tie); None where unreadable."""
        text = cell.strip()
        if text in (first, second):
            return float(text == first), False
        figure, value = number(text, self.comma), self.words.get(text.lower())
        if value is None:
            value = self.numbers.get(figure) if figure == figure else self._named(text.lower())
        return None if value is None else (value, value != 0.5)

    def _named(self, low: str) -> float | None:
        """What the usual words mean, where the settings say no others."""
        if self.words:
            return None
        low = low if low.startswith("tie") else low.strip("[]().\"' ")
        side = SIDE.fullmatch(low)
        return SIDES[side[1] or side[2]] if side else 0.5 if TIE.fullmatch(low) else None


def _coding(numbers: set[float]) -> str | None:
    """How a column uses numbers; None where it does not show."""
    one_two, one_zero, signs = CODINGS
    if -1.0 in numbers:
        return signs
    if numbers & {2.0, 1.5}:
        return one_two
    return one_zero if 0.0 in numbers else None


def kind_of(cells: Cells, ordered: bool, comma: bool) -> Kind:
    """Categories where people (without people: judges) say two things; grades where numbers.

    Two things are two words or whole numbers; a yes or no alone is one of two. They are grades
    where a judge answers them with more than two numbers.

    Args:
        ordered: whether a setting says which of two words the higher number is.
    """
    main = [_words(cells.get(RATERS, Counter()), comma)]
    if not main[0]:
        main = [said for its in cells.values() if (said := _words(its, comma))]
    counts = sum(main, Counter[str]())
    known = bool(main) and all(map(_known, main))
    forms = {number(one) % 1 if is_figure(one) else None for one in counts}
    if known or (len(counts) == 2 and forms in ({None}, {0.0})):
        ordered = ordered or known or all(map(is_figure, counts))
        graded = ordered and any(_graded(_words(its, comma), counts) for its in cells.values())
        return "grade" if graded else "category"
    figures = sum(n for one, n in counts.items() if is_figure(one))
    return "grade" if 2 * figures >= counts.total() else "category"


def figures_of(cells: Cells, positive: object, comma: bool) -> dict[str, float]:
    """Cell -> 1 or 0, where people say two words as pass and fail, and judges give grades.

    Raises:
        ConfigError: positive is none of two words.
    """
    said = set(_words(cells.get(RATERS, Counter()), comma))
    figures = len(said) > 2 or all(map(is_figure, said))
    top, rest = set(YES), set(NO)
    if positive is not None:
        top = spellings(positive)
        rest = said - top
        if figures or not top & said:
            raise ConfigError(
                f"dataset.positive={positive!r} names a category, but this table holds grades or "
                "preferences: leave it out, or set dataset.kind=category."
            )
    elif figures or not _known(said):
        return {}
    words = {cell: word(cell, comma) for its in cells.values() for cell in its}
    return {cell: float(one in top) for cell, one in words.items() if one in top | rest}


def _told_each(cells: Cells, told: Callable[[Counter[str]], str]) -> str:
    """``people: ...; judge a: ...``; of many judges what they say together."""
    judges = {who: its for who, its in sorted(cells.items()) if who != RATERS and its}
    voices = {
        "the judge" if who == "judge" else f"judge {who[:30]}": its for who, its in judges.items()
    }
    if len(judges) > 3:
        voices = {f"{len(judges)} judges": sum(judges.values(), Counter[str]())}
    if cells.get(RATERS):
        voices = {"people": cells[RATERS]} | voices
    return "; ".join(f"{who}: {told(its)}" for who, its in voices.items())


def _told_grades(cells: Counter[str], figures: Mapping[str, float], comma: bool) -> str:
    """From which to which number, and how often."""
    said = {cell: n for cell, n in cells.items() if cell.strip().lower() not in MISSING}
    values = {cell: figures.get(cell, number(cell, comma)) for cell in said}
    known = {cell: value for cell, value in values.items() if abs(value) <= MOST_GRADE}
    count = sum(said[cell] for cell in known)
    lost = sum(said.values()) - count
    ends = f"from {min(known.values()):g} to {max(known.values()):g}" if known else ""
    parts = [f"grades {ends} ({count})"] if known else []
    return ", ".join([*parts, *([f"unreadable ({lost})"] if lost else [])])


def _told_places(places: Counter[str]) -> str:
    """How often each text of a pair, or neither, was better."""
    order = ("first", "second", "neither", "missing")
    return ", ".join(f"{place} ({places[place]})" for place in order if places[place])


def _words(cells: Counter[str], comma: bool) -> Counter[str]:
    """What is said, without missing values."""
    said = Counter[str]()
    for cell, n in cells.items():
        if cell.strip().lower() not in MISSING:
            said[word(cell, comma)] += n
    return said


def _known(said: Collection[str]) -> bool:
    """Whether these are a yes, a no, or both, in words that everybody knows."""
    words = set(said)
    return bool(words) and words <= YES | NO and max(len(words & YES), len(words & NO)) == 1


def _graded(said: Counter[str], two: Collection[str]) -> bool:
    """Whether somebody gives numbers, and more than two with those among ``two``."""
    figures = {one: n for one, n in said.items() if is_figure(one)}
    base = sum(map(is_figure, two))
    others = sorted((n for one, n in figures.items() if one not in two), reverse=True)
    beyond = sum(others[max(0, 2 - base) :])
    return 2 * sum(figures.values()) >= said.total() and beyond * STRAY > said.total()


@dataclass(frozen=True)
class Meaning:
    """How cells are read.

    Attributes:
        kind: of all judgments.
        preferences: which text a cell prefers.
        categories: their levels.
        cells: what is said of single texts.
        figures: cell -> the grade that its word stands for.
        shown: whether "1" or "A" is the text that was shown first, not the one stored first.
        comma: whether 4,5 is the number 4.5.
    """

    kind: Kind
    preferences: Preferences
    categories: Categories
    cells: Cells
    figures: Mapping[str, float]
    shown: bool
    comma: bool

    def read(self, cell: str, pair: tuple[str, str] | None, order: int) -> float | str:
        """The value; or why there is none.

        Args:
            pair: the systems, first as stored in this row; None where one text is judged.
            order: 1 where the second one of them was shown first.
        """
        if self.kind == "category":
            return self.categories.values.get(cell, NO_CATEGORY)
        if pair is None:
            value = number(cell, self.comma)
            if abs(value) > MOST_GRADE:
                return NO_GRADE
            return value if value == value else self.figures.get(cell, NO_NUMBER)
        preferred = self.preferences.read(cell, *pair)
        if preferred is None:
            return NO_TEXT
        value, place_named = preferred
        return 1 - value if self.shown and order and place_named else value

    def missing(self, cell: str) -> bool:
        """Whether nothing is said; a category may well be called none."""
        known = self.kind == "category" and cell in self.categories.values
        return cell.strip().lower() in MISSING and not known

    def told(self, pairs: Cells) -> str:
        """In one line, how cells were read; the same in whatever order rows stand.

        Args:
            pairs: who -> which text of a pair is better -> how often.
        """

        def told(cells: Counter[str]) -> str:
            if self.kind == "category":
                return self.categories.told(cells)
            return _told_grades(cells, self.figures, self.comma)

        lines = _told_each(pairs, _told_places), _told_each(self.cells, told)
        line = "; of texts: ".join(filter(None, lines))
        return line if len(line) <= 300 else line[:297] + "..."
