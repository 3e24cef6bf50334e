"""The numbers that people report from judgments: a rate, a mean, a share of wins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable, Mask

MOST = 12  # systems that get a row of their own


@dataclass(frozen=True)
class Quantity:
    """One number that verdicts stand for.

    Attributes:
        name: in words.
        chosen: [units] that it is about.
        truth: [chosen] what people say; NaN without a label.
        values: [judges, chosen] what judges say; NaN where not judged.
        rate: whether it is a share between 0 and 1.
    """

    name: str
    chosen: Mask
    truth: Floats
    values: Floats
    rate: bool


def quantities(table: JudgmentTable) -> list[Quantity]:
    """Shares of wins of systems, means of grades, rates of categories."""
    return list({"preference": _wins, "grade": _means, "category": _rates}[table.kind](table))


def _wins(table: JudgmentTable) -> Iterator[Quantity]:
    """The share of pairs that a system wins; of two systems that always meet, of the first."""
    first, second, truth, values = (
        table.units.first, table.units.second, table.truth, table.values,
    )  # fmt: skip
    systems = list(dict.fromkeys([*first, *second]))
    for name in systems[:1] if len(systems) == 2 else systems[:MOST]:
        chosen = np.asarray((first == name) | (second == name), np.bool_)
        flip = (second == name)[chosen]
        told = np.where(flip, 1 - truth[chosen], truth[chosen])
        said = np.where(flip, 1 - values[:, chosen], values[:, chosen])
        yield Quantity(f"{name} is better", chosen, told, said, rate=True)


def _means(table: JudgmentTable) -> Iterator[Quantity]:
    """The mean grade of all texts, and of every system's."""
    truth, values, every = table.truth, table.values, np.ones(len(table.units), np.bool_)
    yield Quantity("mean grade", every, truth, values, rate=False)
    systems = list(dict.fromkeys(table.units.first))
    for name in systems[:MOST] if len(systems) > 1 else []:
        chosen = np.asarray(table.units.first == name, np.bool_)
        yield Quantity(f"mean grade of {name}", chosen, truth[chosen], values[:, chosen], False)


def _rates(table: JudgmentTable) -> Iterator[Quantity]:
    """How often each category is found; of two, the second.

    Where people are split, with no most frequent category, their share: without these units the
    rate would be that of the clear cases.
    """
    truth, values, every = table.truth, table.values, np.ones(len(table.units), np.bool_)
    split = table.labelled & np.isnan(truth)
    people = np.maximum((~np.isnan(table.labels)).sum(axis=1), 1)
    levels = list(enumerate(table.levels))
    for k, name in levels[1:] if len(levels) == 2 else levels[:MOST]:
        told, said = (np.where(np.isnan(x), np.nan, x == k) for x in (truth, values))
        told = np.where(split, (table.labels == k).sum(axis=1) / people, told)
        yield Quantity(f"share of {name}", every, told, said, rate=True)
