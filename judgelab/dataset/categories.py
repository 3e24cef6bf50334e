"""Categories: which words are one level, whose words count, and which level is the good one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from judgelab.core.errors import ConfigError, DataError, did_you_mean, some
from judgelab.dataset.files import MISSING, number
from judgelab.dataset.meaning import (
    LONGEST,
    MOST,
    RATERS,
    SIDES,
    STRAY,
    Counts,
    Meaning,
    is_figure,
    name_of,
    spellings_of,
    tally,
    word,
    words_of,
)

VOID = frozenset({"", "nan"})  # cells that name no category; None may well be one
PLAIN = frozenset({"1", "0", "true", "false"})
"""Words that name a level only where nobody has a better one."""


def categories(
    where: str,
    cells: Counts,
    choices: Sequence[object] | None,
    labels: Mapping[object, object] | None,
    positive: object,
) -> Meaning:
    """Categories that cells say and settings name.

    Args:
        where: the table, for messages.
        choices: names, in order; there are no others.
        labels: name -> its spellings.
        positive: the level that matters; None: of two the yes.

    Raises:
        ConfigError: a setting contradicts itself, or names what there is not.
        DataError: a judge shares no word with people, or cells are free text.
    """
    own_names, same = _settings(choices, labels)
    words = {who: words_of(its, VOID) for who, its in cells.items()}
    level_of = _levels_of(own_names, same, words)
    judges = {who: tally(its, level_of.__getitem__) for who, its in words.items()}
    names = {level_of[one]: name for one, name in own_names.items()}
    order = list(names)
    people, counts = judges.pop(RATERS, Counter[str]()), sum(judges.values(), Counter[str]())
    short = set(filter(_short, counts))
    own, more = set(order), set[str]()
    if choices is None:
        voices = set(people) or short
        if all(is_figure(one) or one in PLAIN for one in voices - MISSING):
            voices -= MISSING  # beside words, None may well be a category
        own |= voices
        more = {one for one in short if counts[one] > 1} - own
        _refuse_prose(where, own if len(own) > MOST else own | more)
    names = _names(cells, level_of) | names
    main = people if choices is None else Counter(order)
    for who, its in judges.items() if main else ():
        _refuse_stranger(where, cells, (who, its), main, {one: names[one] for one in own})

    def place(one: str) -> tuple[bool, int, float, str]:
        value = number(names[one])
        rank = order.index(one) if one in order else len(order)
        return one in more, rank, value if value == value else math.inf, names[one].casefold()

    levels = sorted(own | more, key=place)
    two = levels[:2] if len(own) == 2 or len(levels) <= 2 else []
    top, worth = _grading(two, levels, level_of, names, positive)
    return Meaning(
        "category",
        {one: float(levels.index(its)) for one, its in level_of.items() if its in levels},
        levels=tuple(names[one] for one in levels),
        positive="".join(names[one] for one in top),
        grades=tuple(worth.get(one, math.nan) for one in levels),
    )


def _grading(
    two: Sequence[str],
    levels: Sequence[str],
    level_of: Mapping[str, str],
    names: Mapping[str, str],
    positive: object,
) -> tuple[set[str], dict[str, float]]:
    """The level that matters, if any; and level -> grade where there are ``two`` levels of people:
    the numbers that they are, else 1 for the good one and 0."""
    spellings = Counter(one for one, level in level_of.items() if level in two)
    yes, no = ({level_of[one] for one in side} for side in _sides(spellings))
    good = yes or (set(two) - no if len(no) == 1 else set[str]())
    top = good if len(good) == 1 else set[str]()
    if positive is not None:
        top = _positive(positive, level_of, levels, two, names)
    best = good if len(good) == 1 else top
    worth = {one: float(one in best) for one in two if best}
    if all(is_figure(names[one]) for one in two):
        worth = {one: number(names[one]) for one in two}
    return top, worth


def same_levels(others: Iterable[str], levels: Sequence[str]) -> dict[str, str]:
    """Name of a level elsewhere -> its name here: the same word, or the only yes or no of these.

    A name that is none of them stays what it is.
    """
    here, same = {word(level): level for level in levels}, dict[str, str]()
    for name in others:
        one = word(name)
        alike = [level for key, level in here.items() for side in SIDES if {one, key} <= side]
        same[name] = here.get(one) or (alike[0] if len(alike) == 1 else name)
    return same


def _settings(
    categories: Sequence[object] | None, labels: Mapping[object, object] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Word of a level -> its name, in order; spelling -> word of its level."""
    by_name = {name_of(key): its for key, its in (labels or {}).items()}
    order = [name_of(name) for name in categories or by_name]
    names, same = {word(name): name for name in order}, dict[str, str]()
    if len(names) < len(order) or not {word(name) for name in by_name} <= names.keys():
        raise ConfigError(
            "dataset.categories must name each category once, and each name of dataset.labels."
        )
    for name, its in by_name.items():
        for value in its if isinstance(its, Sequence) and not isinstance(its, str) else [its]:
            for spelling in spellings_of(value):
                level = same.setdefault(spelling, spelling if spelling in names else word(name))
                if level != word(name):
                    raise ConfigError(
                        f"dataset.labels: {spelling!r} is {names[level]!r} and {name!r}, too: "
                        "leave it out of one of them."
                    )
    return names, same


def _sides(counts: Counter[str]) -> list[set[str]]:
    """The words for yes, and those for no; 1 and 0 are none where they stand in a scale."""
    odd = sum(n for one, n in counts.items() if is_figure(one) and one not in PLAIN)
    scale = odd * STRAY > counts.total()
    words = {one for one in counts if not (scale and is_figure(one))}
    return [words & side for side in SIDES]


def _levels_of(
    order: Iterable[str], same: Mapping[str, str], words: Mapping[str, Counter[str]]
) -> dict[str, str]:
    """Word -> its level; where nobody says two yeses all of them are one, and so with no."""
    spellings = [*order, *same, *(one for its in words.values() for one in its)]
    level_of = {one: same.get(one, one) for one in spellings}
    voices = [Counter([*order]), *(tally(its, level_of.__getitem__) for its in words.values())]
    common = dict[str, str]()
    for side in zip(*map(_sides, voices), strict=True):  # a set of each voice
        if all(len(its) <= 1 for its in side):
            one = set[str]().union(*side)
            common |= dict.fromkeys(one, min(one, default=""))
    return {one: common.get(level, level) for one, level in level_of.items()}


def _by_count(count: tuple[str, int]) -> tuple[int, str]:
    return -count[1], count[0]


def _short(one: str) -> bool:
    return len(one) <= LONGEST and one not in MISSING


def _refuse_prose(where: str, levels: Collection[str]) -> None:
    if len(levels) > MOST:
        raise DataError(
            f"{where} has {len(levels):,} different labels, such as {min(levels)[:30]!r}, which "
            "look like free text: name the column of labels with dataset.columns.human=COLUMN (of "
            "verdicts: dataset.columns.verdict=COLUMN), or group them with "
            "dataset.labels='{NAME: [SPELLING, ...], ...}'."
        )


def _refuse_stranger(
    where: str,
    cells: Counts,
    judge: tuple[str, Counter[str]],
    main: Counter[str],
    own: Mapping[str, str],
) -> None:
    """Refuse a judge that says nothing of what people say, or has another yes or no.

    Args:
        judge: its name and words.
        main: the levels of people.
        own: level of people -> its name.
    """
    who, counts = judge
    mine = set(filter(_short, counts))
    sides = [its & mine for its, theirs in zip(_sides(counts), _sides(main), strict=True) if theirs]
    if any(its_side and not its_side & own.keys() for its_side in [mine, *sides]):
        theirs, its = (
            some([repr(x.strip()[:LONGEST]) for x, _ in sorted(cells[one].items(), key=_by_count)])
            for one in (RATERS, who)
        )
        names = [own[one] for one in sorted(own)[:4]]
        groups = ", ".join(f"{name[:20]}: [...]" for name in names)
        raise DataError(
            f"{where}: people say {theirs or ', '.join(names)}, judge {who!r} says {its}, and "
            f"nothing shows which mean the same: write dataset.labels='{{{groups}}}' with the "
            "judge's words for each (or, if it gives grades, dataset.positive=NAME for high ones)."
        )


def _names(cells: Counts, level_of: Mapping[str, str]) -> dict[str, str]:
    """Level -> its usual word: of the judge with most verdicts, of other judges, of people."""
    voices = sorted(cells, key=lambda who: (who == RATERS, -cells[who].total(), who))
    spellings = sorted(
        (word(cell) in PLAIN, place, -n, cell)
        for place, who in enumerate(voices)
        for cell, n in cells[who].items()
    )
    names = dict[str, str]()
    for plain, _, _, cell in spellings:
        one = word(cell)
        names.setdefault(level_of.get(one, ""), one if plain or is_figure(one) else cell.strip())
    return names


def _positive(
    positive: object,
    level_of: Mapping[str, str],
    levels: Sequence[str],
    two: Sequence[str],
    names: Mapping[str, str],
) -> set[str]:
    """The level that a setting means: by any of its spellings, of two by yes or no."""
    spellings = spellings_of(positive)
    matches = {level_of.get(one, one) for one in spellings} & set(levels)
    for side, its in zip(SIDES, _sides(Counter(two)), strict=True):
        matches = matches or (its if spellings & side else set())
    if len(matches) != 1:
        hint = did_you_mean(name_of(positive), (names[one] for one in levels))
        raise ConfigError(f"dataset.positive={positive!r} is no category.{hint}")
    return matches
