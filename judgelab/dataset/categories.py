"""How people and judges write categories: which cells mean the same, and what that is called."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from judgelab.core.errors import ConfigError, DataError, did_you_mean, some
from judgelab.dataset.files import MISSING, cell_text, number

YES, NO = (
    frozenset(words.split())
    for words in (
        "1 true yes y pass passed good correct right safe ok okay accept accepted",
        "0 false no n fail failed bad incorrect wrong unsafe reject rejected",
    )
)
PLAIN = frozenset({"1", "0", "true", "false"})
"""Words that name a level only where nobody has a better one."""

RATERS = ""
"""Whose cells are what people said; judges have names."""

MOST = 50
"""More categories than these are free text."""

LONGEST = 40
"""What a judge says in more letters is an explanation, and no category."""

STRAY = 20
"""Numbers that are at most one in so many of somebody's cells do not say what the others mean."""

Cells = Mapping[str, Counter[str]]
"""Who (``RATERS``, or a judge) -> cell -> how often."""


def is_figure(one: str) -> bool:
    """Whether a word is a number."""
    return not math.isnan(number(one))


def word(cell: str, comma: bool = False) -> str:
    """What a cell says, however it is spelled: 1.0 is 1, and True is true."""
    value = number(cell, comma)
    return f"{value + 0.0:.15g}" if abs(value) < 1e12 else cell.strip().casefold()


@dataclass(frozen=True)
class Categories:
    """The classes of a table.

    Attributes:
        levels: names: those of people, by number or letter, then those that only judges say.
        positive: the level that matters; "" where none does.
        values: cell -> place of its level.
        worth: of each level as a grade: of two its number, or 1 and 0; NaN where it has none.
    """

    levels: tuple[str, ...] = ()
    positive: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    worth: tuple[float, ...] = ()

    @staticmethod
    def of(
        where: str,
        cells: Cells,
        categories: Sequence[object] | None = None,
        labels: Mapping[object, object] | None = None,
        positive: object = None,
        comma: bool = False,
    ) -> Categories:
        """What cells say and settings name.

        Where people have one known yes (``YES``) and a judge has one, they are the same, and so
        with no. A short word that judges say twice is a level, though people never say it.

        Args:
            where: the table, for messages.
            categories: names, in order; there are no others.
            labels: name -> its spellings.
            positive: the level that matters; None: of two the yes.

        Raises:
            ConfigError: a setting contradicts itself, or names what there is not.
            DataError: a judge shares no word with people, or cells are free text.
        """
        words = {cell: word(cell, comma) for its in cells.values() for cell in its}
        order, same, names = _settings(categories, labels)
        same = _merged(_said(cells, words, same), order, same)
        said = _said(cells, words, same)
        order = [same.get(one, one) for one in order]
        names = {same.get(one, one): name for one, name in names.items()}
        people = said.pop(RATERS, Counter[str]())
        counts = sum(said.values(), Counter[str]())
        short = {one for one in counts if len(one) <= LONGEST and one not in MISSING}
        own, more = set(people) if people else short, {one for one in short if counts[one] > 1}
        if all(is_figure(one) or one in PLAIN for one in own - MISSING):
            own -= MISSING  # beside words, None may well be a category
        own |= set(order)
        if categories is not None:
            own, more = set(order), set()
        more -= own
        many = own if len(own) > MOST else own | more
        if len(many) > MOST and categories is None:
            first, second = (f"{name[:30]!r}" for name in sorted(many)[:2])
            raise DataError(
                f"{where} has {len(many):,} different labels, such as {first} and {second}, "
                "which look like free text: name the column of labels with "
                "dataset.columns.human=COLUMN (of verdicts: dataset.columns.verdict=COLUMN), or "
                "group them with dataset.labels='{NAME: [SPELLING, ...], ...}'."
            )
        main = people if categories is None else Counter(order)
        for who in _strangers(main, said, own, short):
            _refuse_stranger(where, who, cells, [names.get(one, one) for one in sorted(own)])
        names = _names(cells, words, same, own | more) | names

        def place(one: str) -> tuple[bool, int, float, str]:
            value = number(names[one])
            listed = order.index(one) if one in order else len(order)
            return one in more, listed, value if value == value else math.inf, names[one].casefold()

        ranked = sorted(own | more, key=place)
        two = ranked[:2] if len(own) == 2 or len(ranked) <= 2 else []
        good = _good(two, same)
        top = good if positive is None else _positive(positive, ranked, two, same, names)
        places = {one: float(k) for k, one in enumerate(ranked)}
        return Categories(
            tuple(names[one] for one in ranked),
            names.get(top, ""),
            {
                cell: places[its]
                for cell, one in words.items()
                if (its := same.get(one, one)) in places
            },
            tuple(_worth(one, two, good or top, names) for one in ranked),
        )

    def told(self, cells: Counter[str]) -> str:
        """How often each level was said, and by which words, in one line."""
        parts, lost = dict[float, Counter[str]](), 0
        for cell, n in cells.items():
            if cell in self.values:
                parts.setdefault(self.values[cell], Counter())[word(cell)] += n
            elif cell.strip().lower() not in MISSING:
                lost += n
        said = []
        for k in sorted(parts, key=lambda k: (self.levels[int(k)] != self.positive, k)):
            name = self.levels[int(k)]
            spelled = "/".join(one[:20] for one in sorted(parts[k])[:3] if one != word(name))
            head = f"{spelled} = " if spelled else ""
            said.append(f"{head}{name[:20]} ({parts[k].total()})")
        more = [f"and {len(said) - 6} more"] if len(said) > 6 else []
        return ", ".join([*said[:6], *more, *([f"unreadable ({lost})"] if lost else [])])


def _name(value: object) -> str:
    """A category as a setting writes it."""
    text = str(value).lower() if isinstance(value, bool) else cell_text(value)
    if not text or not text.strip():
        raise ConfigError(f"{value!r} is no name of a category: write a word or a number.")
    return text.strip()


def spellings(value: object) -> set[str]:
    """What a setting means; YAML reads yes and no as true and false."""
    more = {("no", "yes")[value]} if isinstance(value, bool) else set[str]()
    return {word(_name(value))} | more


def _settings(
    categories: Sequence[object] | None, labels: Mapping[object, object] | None
) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The words of the levels in order; word -> level; level -> its name."""
    names, same = dict[str, str](), dict[str, str]()
    for name in map(_name, categories or ()):
        if word(name) in names:
            raise ConfigError(f"dataset.categories names {name!r} twice: leave one out.")
        names[word(name)] = name
    for key, its in (labels or {}).items():
        name = _name(key)
        one = word(name)
        if categories is not None and one not in names:
            hint = did_you_mean(name, names.values())
            raise ConfigError(f"dataset.labels: {name!r} is none of dataset.categories.{hint}")
        names.setdefault(one, name)
        for value in its if isinstance(its, Sequence) and not isinstance(its, str) else [its]:
            for spelling in spellings(value):
                if same.setdefault(spelling, one) != one:
                    raise ConfigError(
                        f"dataset.labels: {spelling!r} is {names[same[spelling]]!r} and {name!r}, "
                        "too: leave it out of one of them."
                    )
    for spelling, one in same.items():
        if spelling in names and spelling != one:
            raise ConfigError(
                f"dataset.labels: {spelling!r} is a category, and a spelling of {names[one]!r}: "
                "leave one of them out."
            )
    return list(names), same, names


def _said(
    cells: Cells, words: Mapping[str, str], same: Mapping[str, str]
) -> dict[str, Counter[str]]:
    """Who -> level -> how often."""
    said = {who: Counter[str]() for who in cells}
    for who, its in cells.items():
        for cell, n in its.items():
            if (one := words[cell]) not in ("", "nan"):
                said[who][same.get(one, one)] += n
    return said


def _polar(said: Counter[str], side: Collection[str]) -> set[str]:
    """Words of one side; 1 and 0 are none where they stand in a scale."""
    odd = sum(n for one, n in said.items() if is_figure(one) and one not in PLAIN)
    scale = odd * STRAY > said.total()
    return {one for one in said if one in side and not (scale and is_figure(one))}


def _merged(
    said: Mapping[str, Counter[str]], order: Iterable[str], same: Mapping[str, str]
) -> dict[str, str]:
    """Word -> level, with the only yes of one and the only yes of another as one level."""
    first = [Counter(order)], [said.get(RATERS, Counter())]
    judges = [its for who, its in said.items() if who != RATERS]
    merged = dict[str, str]()
    for side in (YES, NO):
        voices = [[_polar(its, side) for its in group] for group in (*first, judges)]
        leading = next((group for group in voices if any(group)), [])
        if all(len(its) <= 1 for its in leading):
            single = (its for group in voices for its in group if len(its) == 1)
            joined = set[str]().union(*single)
            merged |= {one: min(joined) for one in joined}
    return merged | {one: merged.get(level, level) for one, level in same.items()}


def _strangers(
    main: Counter[str], said: Mapping[str, Counter[str]], own: set[str], short: set[str]
) -> list[str]:
    """Judges that say nothing of what people say, or have another yes or no."""
    if not main:
        return []
    known, apart, strange = set(own), list[str](), dict[str, set[str]]()
    for who, its in said.items():
        mine = short & its.keys()
        sides = (_polar(its, side) & mine for side in (YES, NO) if _polar(main, side))
        if any(polar and not polar & own for polar in sides):
            apart.append(who)
        elif mine & own:
            known |= mine
        elif mine:
            strange[who] = mine
    return apart + [who for who, mine in strange.items() if not mine & known]


def _refuse_stranger(where: str, who: str, cells: Cells, names: Sequence[str]) -> None:
    """Both sides' words, and the setting that joins them."""

    def quoted(its: Counter[str]) -> str:
        said = sorted((cell for cell in its if cell.strip()), key=lambda cell: (-its[cell], cell))
        return some([f"{cell.strip()[:LONGEST]!r}" for cell in said])

    people = quoted(cells[RATERS]) if cells.get(RATERS) else ", ".join(names[:4])
    groups = ", ".join(f"{name[:20]}: [...]" for name in names[:4])
    numbers = sum(map(is_figure, cells[who])) > 2 and len(names) == 2
    rest = f"; or, if it gives grades, dataset.positive={names[0]} for high ones" if numbers else ""
    raise DataError(
        f"{where}: people say {people}, judge {who!r} says {quoted(cells[who])}, and nothing shows "
        f"which mean the same: write dataset.labels='{{{groups}}}' with the judge's words for each"
        f"{rest}."
    )


def _names(
    cells: Cells, words: Mapping[str, str], same: Mapping[str, str], levels: Collection[str]
) -> dict[str, str]:
    """Level -> its word: of the judge with most verdicts, of other judges, of people."""
    judges = sorted(cells.keys() - {RATERS}, key=lambda who: (-cells[who].total(), who))
    names = dict[str, str]()
    for plain in (False, True):
        for who in [*judges, *({RATERS} & cells.keys())]:
            its = [cell for cell in cells[who] if (words[cell] in PLAIN) == plain]
            of = [(same.get(words[cell], words[cell]), cell) for cell in its]
            kept = [(one, cell) for one, cell in of if one in levels]
            for one, cell in sorted(kept, key=lambda both: (-cells[who][both[1]], both[1])):
                bare = plain or is_figure(words[cell])
                names.setdefault(one, words[cell] if bare else cell.strip())
    return names


def _good(two: Sequence[str], same: Mapping[str, str]) -> str:
    """Of two levels the yes, or what is not the no, by any spelling; "" where neither is known."""
    spelled = Counter([*two, *(one for one, level in same.items() if level in two)])
    yes, no = ({same.get(one, one) for one in _polar(spelled, side)} for side in (YES, NO))
    rest = set(two) - no if not yes and len(no) == 1 else yes
    return rest.pop() if len(rest) == 1 else ""


def _positive(
    positive: object,
    levels: Sequence[str],
    two: Sequence[str],
    same: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """The level that a setting means: by any of its spellings, of two by yes or no."""
    spelled = spellings(positive)
    named = {same.get(one, one) for one in spelled} & set(levels)
    for side in (YES, NO):
        named = named or (_polar(Counter(two), side) if spelled & side else set())
    if len(named) != 1:
        hint = did_you_mean(_name(positive), (names[one] for one in levels))
        raise ConfigError(f"dataset.positive={positive!r} is no category.{hint}")
    return named.pop()


def _worth(one: str, two: Sequence[str], good: str, names: Mapping[str, str]) -> float:
    """A level as a grade."""
    if one not in two:
        return math.nan
    if all(is_figure(names[other]) for other in two):
        return number(names[one])
    return float(one == good) if good else math.nan
