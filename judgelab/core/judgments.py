"""What people and judges said of the same units: the one long table under an audit, as arrays."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import DataError, did_you_mean

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

Kind = Literal["preference", "grade", "category"]
"""What one judgment is: which of two texts is better, a grade of one text, or its category."""


SLACK = 0.05  # of the range of people's grades by which a grade may lie outside of it
STRAYS = 1 / 30  # share of a judge's grades that may lie farther out: slips, as a 0 among 1 to 5


@dataclass(frozen=True)
class JudgeFacts:
    """Who judged."""

    name: str
    pointwise: bool = False  # grades one text at a time: the order of texts cannot matter to it
    scaled: bool = True  # its grades have a least and a largest value, as nats and words have not


@dataclass(frozen=True)
class Units:
    """What judgments are about, column by column; a unit is a pair of texts, or one text."""

    item: NDArray[np.object_]  # its item
    first: NDArray[np.object_]  # the system of the text that is stored first
    second: NDArray[np.object_]  # of the other one; "" of a single text
    cluster: NDArray[np.object_]  # units of one are not independent (the item, or a document)
    stratum: NDArray[np.object_]  # a set or domain that is reported apart; "" where there is none
    words: Floats  # [units, 2] words of the first and the second text; NaN where unknown
    turn: Floats  # [units] lower of earlier labels; NaN: no label, or not known when it came

    @staticmethod
    def of(
        item: Sequence[str],
        first: Sequence[str],
        second: Sequence[str] | None = None,
        *,
        cluster: Sequence[str] | None = None,
        stratum: Sequence[str] | None = None,
        words: Floats | None = None,
        turn: Floats | None = None,
    ) -> Units:
        """From the columns there are; the cluster is by default the item."""
        n, columns = len(item), (item, first, second, item if cluster is None else cluster, stratum)
        names, ones, others, clusters, strata = (
            np.array([""] * n if column is None else list(column), object) for column in columns
        )
        lengths = np.full((n, 2), np.nan) if words is None else np.asarray(words, float)
        turns = np.full(n, np.nan) if turn is None else np.asarray(turn, float)
        return Units(names, ones, others, clusters, strata, lengths, turns)

    def __len__(self) -> int:
        return len(self.item)

    def at(self, places: NDArray[np.intp] | Mask) -> Units:
        """The units at these places, or under this mask."""
        return Units(**{name: values[places] for name, values in vars(self).items()})


@dataclass(frozen=True)
class JudgmentTable:
    """What people and judges said of the same units.

    Values: of a preference 1 where the text stored first is better, 0 where the other one is, .5
    for neither; of a grade the grade; of a category its place in ``levels``.

    Raises:
        DataError: a unit or judge occurs twice, a value cannot be, or positive is no level.
    """

    kind: Kind
    units: Units
    raters: tuple[str, ...]  # names of the people
    labels: Floats  # [units, raters] what people said; NaN where they did not
    judges: tuple[JudgeFacts, ...]  # who was asked, or whose verdicts came with the data
    # [judges, units, orders] what judges said, in the numbering of the data whatever was shown
    # first; order 0 shows the texts as they are stored, order 1 (of pairs alone) swapped
    verdicts: Floats
    asked: Mask  # of the same shape: who was asked; without a verdict unscored, with no credit
    # judge -> reason -> how many of its verdicts are missing for it
    reasons: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    levels: tuple[str, ...] = ()  # names of categories
    # how the table was made, and how its cells were read (``read``); for the record
    facts: Mapping[str, object] = field(default_factory=dict)
    positive: str = ""  # the level that matters; "" where none does
    # [judges, units, orders, runs] what a judge said when it was asked again; NaN where it was not
    again: Floats = field(default_factory=lambda: np.empty((0, 0, 0, 0)))

    def __post_init__(self) -> None:
        if not self.again.size:
            object.__setattr__(self, "again", np.empty((*self.verdicts.shape, 0)))
        units = zip(self.units.item, self.units.first, self.units.second, strict=True)
        require_unique("unit", (" / ".join(filter(None, names)) for names in units))
        require_unique("judge", self.names)
        values = np.concatenate([x.ravel() for x in (self.labels, self.verdicts, self.again)])
        values = values[~np.isnan(values)]
        if self.kind == "preference" and not np.isin(values, (0.0, 0.5, 1.0)).all():
            raise DataError("Preferences are 1 (first), 0 (second) or .5 (neither).")
        if self.kind == "category" and not np.isin(values, range(len(self.levels))).all():
            raise DataError("Categories are places in levels: whole numbers from 0.")
        if self.positive and self.positive not in self.levels:
            hint = did_you_mean(self.positive, self.levels)
            raise DataError(f"The positive class {self.positive!r} is no category.{hint}")

    @property
    def digest(self) -> str:
        """A hash of the units and what was said of them; not of facts and reasons, which differ
        where the same cells come from another file."""
        head = f"{self.kind}{self.raters}{self.levels}{self.judges}{self.positive}"
        sha = hashlib.sha256(head.encode())
        for column in vars(self.units).values():
            sha.update(repr(column.tolist()).encode())
        for values in (self.labels, self.verdicts, self.asked, self.again):
            sha.update(np.ascontiguousarray(values).tobytes())
        return sha.hexdigest()[:16]

    @property
    def orders(self) -> int:
        """In which two texts can be shown; grades and categories have one."""
        return 2 if self.kind == "preference" else 1

    @property
    def names(self) -> tuple[str, ...]:
        """Of the judges."""
        return tuple(one.name for one in self.judges)

    @property
    def labelled(self) -> Mask:
        """[units] on which somebody gave a label."""
        return np.asarray((~np.isnan(self.labels)).any(axis=1), np.bool_)

    @property
    def truth(self) -> Floats:
        """[units] what people say together: the mean of raters; of categories the most frequent.

        NaN without a label, and where categories are tied.
        """
        labelled = ~np.isnan(self.labels)
        if self.kind != "category":
            return _mean(self.labels, labelled)
        if not self.levels:
            return np.full(len(self.units), np.nan)
        counts = np.stack([(self.labels == k).sum(axis=1) for k in range(len(self.levels))], axis=1)
        top = counts.max(axis=1, initial=0)
        single = (top > 0) & ((counts == top[:, None]).sum(axis=1) == 1)
        return np.where(single, counts.argmax(axis=1), np.nan)

    @property
    def values(self) -> Floats:
        """[judges, units] the judge's value: the mean over the orders that it was asked in.

        NaN where a verdict that was asked for is missing, and where nothing was asked.
        """
        return _mean(self.verdicts, self.asked)

    @property
    def on_scale(self) -> Mask:
        """[judges] whether grades lie on people's scale: at most ``STRAYS`` of them farther out
        than by ``SLACK``, and where some lie outside, others on more than one of people's grades
        (of a judge that gives 0 or 1, almost always 1, all that lies within 1 to 5 is 1)."""
        labels = self.labels[~np.isnan(self.labels)]
        low, high = labels.min(initial=np.inf), labels.max(initial=-np.inf)
        slack = SLACK * (high - low)

        def fits(grades: Floats) -> bool:
            inside = grades[(low <= grades) & (grades <= high)]
            far = (grades < low - slack) | (grades > high + slack)
            whole = 0 < inside.size == grades.size
            return whole or bool(far.sum() <= STRAYS * far.size and len(np.unique(inside)) > 1)

        pairs = zip(self.judges, self.verdicts, strict=True)
        answers = (one.scaled and fits(grades[~np.isnan(grades)]) for one, grades in pairs)
        return np.fromiter(answers, np.bool_, len(self.judges))

    @property
    def clusters(self) -> NDArray[np.intp]:
        """[units] number of the unit's cluster, from 0 in the order of first appearance."""
        import pandas as pd

        return np.asarray(pd.factorize(self.units.cluster)[0], np.intp)

    def at(self, places: NDArray[np.intp] | Mask) -> JudgmentTable:
        """The units at these places, or under this mask; reasons are of the whole."""
        return replace(
            self,
            units=self.units.at(places),
            labels=self.labels[places],
            verdicts=self.verdicts[:, places],
            asked=self.asked[:, places],
            again=self.again[:, places],
        )

    def about(self, items: Collection[str]) -> JudgmentTable:
        """The units of these items alone."""
        ids = frozenset(items)
        return self.at(np.array([item in ids for item in self.units.item], np.bool_))

    def of(self, names: Iterable[str]) -> JudgmentTable:
        """These judges alone, in this order."""
        place = [self.names.index(name) for name in names]
        return replace(
            self,
            judges=tuple(self.judges[k] for k in place),
            verdicts=self.verdicts[place],
            asked=self.asked[place],
            again=self.again[place],
        )


def _mean(values: Floats, valid: Mask) -> Floats:
    """Over the last axis; NaN where nothing counts."""
    total, count = np.where(valid, values, 0.0).sum(axis=-1), valid.sum(axis=-1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), np.float64)


def require_unique(what: str, names: Iterable[str]) -> None:
    """Refuse a name that occurs twice (DataError)."""
    for name, count in Counter(names).items():
        if count > 1:
            raise DataError(f"The {what} {name!r} occurs twice: make it unique.")
