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
    Meaning,
    Said,
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
    cells: Said,
    given: Sequence[object] | None,
    labels: Mapping[object, object] | None,
    positive: object,
) -> Meaning:
    """Categories that cells say and settings name.

    Args:
        where: the table, for messages.
        given: names, in order; there are no others.
        labels: name -> its spellings.
        positive: the level that matters; None: of two the yes.

    Raises:
        ConfigError: a setting contradicts itself, or names what there is not.
        DataError: a judge shares no word with people, or cells are free text.
    """
    named, same = _settings(given, labels)
    said = {who: words_of(its, VOID) for who, its in cells.items()}
    sides = _sides(said.values())
    level_of = _levels_of(named, same, said.values(), sides)
    said = {who: tally(its, level_of.__getitem__) for who, its in said.items()}
    order = {level_of[one]: name for one, name in named.items()}
    people, judges = said.pop(RATERS, Counter[str]()), sum(said.values(), Counter[str]())
    short = set(filter(_short, judges))
    own, more = set(order), set[str]()  # levels of people, and those that only judges say
    if given is None:
        voiced = set(people) or short
        if all(is_figure(one) or one in PLAIN for one in voiced - MISSING):
            voiced -= MISSING  # beside words, None may well be a category
        own |= voiced
        more = {one for one in short if judges[one] > 1} - own
        if len(prose := own if len(own) > MOST else own | more) > MOST:
            raise DataError(
                f"{where} has {len(prose):,} different labels, such as {min(prose)[:30]!r}, which "
                "look like free text: name the column of labels with dataset.columns.human=COLUMN "
                "(of verdicts: dataset.columns.verdict=COLUMN), or group them with "
                "dataset.labels='{NAME: [SPELLING, ...], ...}'."
            )
    names = _names(cells, level_of) | order
    main = set(people if given is None else order)
    for who, its in said.items() if main else ():
        mine = set(filter(_short, its))
        parts = [mine, *(mine & side for side in sides if side & main)]
        if any(part and not part & own for part in parts):
            _refuse_stranger(where, cells, who, {one: names[one] for one in own})

    def place(one: str) -> tuple[bool, int, float, str]:
        value = number(names[one])
        listed = [*order].index(one) if one in order else len(order)
        return one in more, listed, value if value == value else math.inf, names[one].casefold()

    ranked = sorted(own | more, key=place)
    two = ranked[:2] if len(own) == 2 or len(ranked) <= 2 else []
    yes, no = ({level_of[one] for one in side & level_of.keys()} & set(two) for side in sides)
    good = yes or (set(two) - no if len(no) == 1 else set[str]())
    top = best = good if len(good) == 1 and not yes & no else set[str]()
    if positive is not None:
        spelled = {level_of.get(one, one) for one in spellings_of(positive)}
        top = spelled & set(ranked)
        best = best or top
        if len(top) != 1:
            hint = did_you_mean(name_of(positive), (names[one] for one in ranked))
            raise ConfigError(f"dataset.positive={positive!r} is no category.{hint}")
    worth = {one: float(one in best) for one in two if best}
    if all(is_figure(names[one]) for one in two):
        worth = {one: number(names[one]) for one in two}
    return Meaning(
        "category",
        {one: float(ranked.index(its)) for one, its in level_of.items() if its in ranked},
        levels=tuple(names[one] for one in ranked),
        positive="".join(names[one] for one in top),
        grades=tuple(worth.get(one, math.nan) for one in ranked),
    )


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
    listed = {name_of(key): its for key, its in (labels or {}).items()}
    given = [name_of(name) for name in categories or listed]
    names, same = {word(name): name for name in given}, dict[str, str]()
    if len(names) < len(given) or not {word(name) for name in listed} <= names.keys():
        raise ConfigError(
            "dataset.categories must name each category once, and each name of dataset.labels."
        )
    for name, its in listed.items():
        for value in its if isinstance(its, Sequence) and not isinstance(its, str) else [its]:
            for spelling in spellings_of(value):
                level = same.setdefault(spelling, spelling if spelling in names else word(name))
                if level != word(name):
                    raise ConfigError(
                        f"dataset.labels: {spelling!r} is {names[level]!r} and {name!r}, too: "
                        "leave it out of one of them."
                    )
    return names, same


def _sides(said: Collection[Counter[str]]) -> list[frozenset[str]]:
    """The words for yes, and those for no; 1 and 0 are none where somebody uses a scale."""
    odd = (sum(n for one, n in its.items() if is_figure(one) and one not in PLAIN) for its in said)
    scale = any(n * STRAY > its.total() for n, its in zip(odd, said, strict=True))
    return [side - {"1", "0"} if scale else side for side in SIDES]


def _levels_of(
    named: Iterable[str],
    same: Mapping[str, str],
    said: Collection[Counter[str]],
    sides: Iterable[frozenset[str]],
) -> dict[str, str]:
    """Word -> its level; where nobody says two yeses all of them are one, and so with no."""
    level_of = {one: one for its in (named, *said) for one in its} | dict(same)
    voices = [{level_of[one] for one in its} for its in (named, *said)]
    for side in sides:
        spoken = side & set().union(*voices)
        if spoken and all(len(side & voice) <= 1 for voice in voices):
            level_of = dict.fromkeys(side, min(spoken)) | {
                one: min(spoken) if level in side else level for one, level in level_of.items()
            }
    return level_of


def _short(one: str) -> bool:
    return len(one) <= LONGEST and one not in MISSING


def _refuse_stranger(where: str, cells: Said, who: str, own: Mapping[str, str]) -> None:
    """Refuse a judge that says nothing of what people say, or has another yes or no; ``own`` names
    people's levels."""
    theirs, its = (
        some([repr(x.strip()[:LONGEST]) for x in sorted(counts, key=lambda x: (-counts[x], x))])
        for counts in (cells[RATERS], cells[who])
    )
    names = [own[one] for one in sorted(own)[:4]]
    groups = ", ".join(f"{name[:20]}: [...]" for name in names)
    raise DataError(
        f"{where}: people say {theirs or ', '.join(names)}, judge {who!r} says {its}, and "
        f"nothing shows which mean the same: write dataset.labels='{{{groups}}}' with the "
        "judge's words for each (or, if it gives grades, dataset.positive=NAME for high ones)."
    )


def _names(cells: Said, level_of: Mapping[str, str]) -> dict[str, str]:
    """Level -> its usual word: of the judge with most verdicts, of other judges, of people."""
    voices = sorted(cells, key=lambda who: (who == RATERS, -cells[who].total(), who))
    ranked = sorted(
        (word(cell) in PLAIN, place, -n, cell)
        for place, who in enumerate(voices)
        for cell, n in cells[who].items()
    )
    names = dict[str, str]()
    for plain, _, _, cell in ranked:
        one = word(cell)
        names.setdefault(level_of.get(one, ""), one if plain or is_figure(one) else cell.strip())
    return names
