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
    NO,
    RATERS,
    SIDES,
    STRAY,
    YES,
    Counts,
    Meaning,
    Voices,
    is_figure,
    name_of,
    spellings_of,
    tally,
    voices_of,
    word,
    words_of,
)

VOID = frozenset({"", "nan"})  # cells that name no category; None may well be one
PLAIN = frozenset({"1", "0", "true", "false"})
"""Words that name a level only where nobody has a better one."""
Sides = Sequence[Collection[str]]
"""The words for yes, and those for no."""


def categories(
    where: str,
    cells: Counts,
    raters: Counts,
    choices: Sequence[object] | None,
    labels: Mapping[object, object] | None,
    positive: object,
) -> Meaning:
    """Categories that cells say and settings name.

    Args:
        where, raters: the table, for messages; who of people says which cells.
        choices: names, in order; there are no others.
        labels: name -> its spellings.
        positive: the level that matters; None: of two the yes.

    Raises:
        ConfigError: a setting contradicts itself, or names what there is not.
        DataError: nothing shows what a judge's word means, or cells are free text.
    """
    own_names, same = _settings(choices, labels)
    words = {who: words_of(its, VOID) for who, its in cells.items()}
    level_of, sides = _levels_of(own_names, same, words, raters, choices is not None)
    judges = {who: tally(its, level_of.__getitem__) for who, its in words.items()}
    order = list(settled := {level_of[one]: name for one, name in own_names.items()})
    people, counts = judges.pop(RATERS, Counter[str]()), sum(judges.values(), Counter[str]())
    short = set(filter(_short, counts))
    own, more = set(order), set[str]()
    if choices is None:
        theirs, spoken = set(people) or short, set(words[RATERS]) or short
        if all(is_figure(one) or one in PLAIN for one in spoken - MISSING):
            theirs -= MISSING  # beside words, None may well be a category
        own |= theirs
        more = {one for one in short if counts[one] > 1} - own
        _refuse_prose(where, own if len(own) > MOST else own | more)
    names = _names(cells, level_of) | settled
    main = people if choices is None else Counter(order)
    for who, its in judges.items() if main else ():
        its = _of_words(its, words[who], [*own_names, *words[RATERS]], level_of, own)
        if strange := _strange(its, main, own, more, sides):
            people_own, its_own = (_names({one: cells[one]}, level_of) for one in (RATERS, who))
            groups = [(names | people_own | settled)[one] for one in sorted(own)]
            unclear = [its_own[one] for one in sorted(strange)] if own & its.keys() else []
            _refuse_stranger(where, cells, who, groups, unclear)

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


def _vocabularies(voices: Voices) -> Voices:
    """Words that belong together, as somebody says both, or one of them and a third."""
    groups = [Counter[str]()]
    for its in voices:
        shared = [one for one in groups if not one or one.keys() & its.keys()]
        groups = [one for one in groups if one not in shared] + [sum(shared, its)]
    return groups


def _opposites(people: Counter[str]) -> Sides:
    """The words for yes and for no: of two categories of people of which everybody knows one,
    the other is its opposite, whatever its word (of ok and nok, nok)."""
    yes, no = _sides(people)
    rest = {one for one in people.keys() - yes - no if one not in MISSING and not is_figure(one)}
    if len(people) > 2 or len(rest) != 1 or len(yes | no) != 1:
        return SIDES
    return (YES, NO | rest) if yes else (YES | rest, NO)


def _sides(counts: Counter[str], sides: Sides = SIDES) -> list[set[str]]:
    """The words for yes, and those for no; 1 and 0 are none where they stand in a scale."""
    scale = _has_scale(counts)
    words = {one for one in counts if not (scale and is_figure(one))}
    return [words.intersection(side) for side in sides]


def _has_scale(counts: Counter[str]) -> bool:
    odd = sum(n for one, n in counts.items() if is_figure(one) and one not in PLAIN)
    return odd * STRAY > counts.total()


def _of_words(
    counts: Counter[str],
    words: Counter[str],
    named: Iterable[str],
    level_of: Mapping[str, str],
    own: Collection[str],
) -> Counter[str]:
    """Levels of a judge, by its ``words``; without people's where these are all ``named`` in words
    and the judge's are figures of a scale: beside 5 its 1 is no yes."""
    common = [one for one in words if level_of[one] in own]
    if _has_scale(words) and all(map(is_figure, common)) and not any(map(is_figure, named)):
        return Counter({one: n for one, n in counts.items() if one not in own})
    return counts


def _levels_of(
    order: Iterable[str],
    same: Mapping[str, str],
    words: Mapping[str, Counter[str]],
    raters: Counts,
    closed: bool,
) -> tuple[dict[str, str], Sides]:
    """Word -> its level; where nobody says two yeses all of them are one, and so with no. And the
    words for each. ``closed``: whether ``order`` has all categories of people."""
    spellings = [*order, *same, *(one for its in words.values() for one in its)]
    level_of = {one: same.get(one, one) for one in spellings}
    settled = Counter([*order])
    people = [tally(its, level_of.__getitem__) for its in voices_of(raters, VOID)]
    judges = [tally(its, level_of.__getitem__) for who, its in words.items() if who != RATERS]
    voices, common = [settled, *people, *judges], dict[str, str]()
    pairs = [_opposites(settled + its) for its in _vocabularies([] if closed else people)]
    sides = [frozenset[str]().union(*side) for side in zip(*pairs, strict=True)]
    for side in zip(*(_sides(its, sides) for its in voices), strict=True):  # a set of each voice
        if all(len(its) <= 1 for its in side):
            one = set[str]().union(*side)
            common |= dict.fromkeys(one, min(one, default=""))
    return {one: common.get(level, level) for one, level in level_of.items()}, sides


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


def _strange(
    counts: Counter[str],
    main: Counter[str],
    own: Collection[str],
    more: Collection[str],
    sides: Sides,
) -> set[str]:
    """The words of a judge that may well mean a category of people, but nothing shows which.

    Args:
        counts, main: what the judge says, and people.
        own, more: the levels of people, and those that only judges say.
    """
    mine, its_sides = set(filter(_short, counts)), _sides(counts, sides)
    both = zip(its_sides, _sides(main, sides), strict=True)
    for its in (mine, *(its & mine for its, theirs in both if theirs)):
        if its and its.isdisjoint(own):
            return its
    others, two, silent = mine.intersection(more), len(own) == 2, not mine.issuperset(own)
    if two and silent:  # the judge has another word for it, as nok is for 0
        return others
    yes_or_no = others & set[str]().union(*its_sides)  # and no "unsure"
    return yes_or_no if two or silent else set()


def _refuse_stranger(
    where: str, cells: Counts, who: str, own: Sequence[str], unclear: Sequence[str]
) -> None:
    """Refuse a judge. ``own``: people's categories; ``unclear``: its words that may mean one of
    these; none where it shares no word with them."""
    theirs, its = (
        some([repr(x.strip()[:LONGEST]) for x, _ in sorted(cells[one].items(), key=_by_count)])
        for one in (RATERS, who)
    )
    groups = ", ".join(f"{name[:LONGEST]}: [...]" for name in own[:4])
    what, way = "which mean the same", "if it gives grades, dataset.positive=NAME for high ones"
    if unclear:
        what = f"which of people's categories it means by {some([*map(repr, unclear)])}"
        way = f"if it means none, dataset.categories='[{', '.join(own)}]' for all that count"
    raise DataError(
        f"{where}: people say {theirs or ', '.join(own)}, judge {who!r} says {its}, and nothing "
        f"shows {what}: write dataset.labels='{{{groups}}}' with the judge's words for each (or, "
        f"{way})."
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
