"""Tables of judgments from graded texts: as they are, or as pairs of one item's texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import DataError
from judgelab.core.judgments import Floats, JudgmentTable, Mask, Units
from judgelab.core.panel import Panel
from judgelab.study.common.panels import PEOPLE


def judgments_of(panel: Panel) -> JudgmentTable:
    """What people and judges of the data said; of a panel with grades alone, one unit a text.

    References are no units: others are held against them. Words of texts are counted where the
    data do not say them.
    """
    table = panel.judgments
    if table is None:
        texts = [
            (item, agent.name)
            for item, row in zip(panel.items, panel.texts, strict=True)
            for agent, text in zip(panel.agents, row, strict=True)
            if not agent.reference and (text is not None or agent.name in item.human)
        ]
        grades = [item.human.get(name, np.nan) for item, name in texts]
        table = JudgmentTable(
            "grade",
            Units.of([item.id for item, _ in texts], [name for _, name in texts]),
            (PEOPLE,),
            np.array(grades, dtype=np.float64).reshape(-1, 1),
            (),
            np.empty((0, len(texts), 1)),
            np.empty((0, len(texts), 1), np.bool_),
        )
    at, whole = places(table, panel)
    counts = [[np.nan if t is None else len(t.split()) for t in row] for row in panel.texts]
    words = table.units.words.copy()
    for side in (0, 1) if table.kind == "preference" else (0,):
        for k in np.flatnonzero(whole & np.isnan(words[:, side])):
            words[k, side] = counts[at[k, 0]][at[k, 1 + side]]
    return replace(table, units=replace(table.units, words=words))


def as_pairs(table: JudgmentTable) -> JudgmentTable:
    """Graded texts as pairs of one item, of which the higher grade is better (DataError: of
    categories, which have no order)."""
    if table.kind == "preference":
        return table
    table = as_grades(table)
    units, asked, verdicts = table.units, table.asked[:, :, 0], table.verdicts[:, :, 0]
    again = table.again[:, :, 0]
    of_item: dict[object, list[int]] = {}
    for k, item in enumerate(units.item):
        of_item.setdefault(item, []).append(k)
    pairs = [pair for group in of_item.values() for pair in combinations(group, 2)]
    both = np.array(pairs, np.intp).reshape(-1, 2)
    one, two = both.T
    asked, verdicts = asked[:, one] & asked[:, two], better(verdicts[:, one], verdicts[:, two])
    return replace(
        table,
        kind="preference",
        units=replace(
            units.at(one),
            second=units.first[two],
            words=units.words[both, 0],
            turn=units.turn[both].max(axis=1),
        ),
        labels=better(table.labels[one], table.labels[two]),
        verdicts=np.repeat(verdicts[:, :, None], 2, axis=2),
        asked=np.repeat(asked[:, :, None], 2, axis=2),
        again=np.repeat(better(again[:, one], again[:, two])[:, :, None], 2, axis=2),
        facts={**table.facts, "pairs": "of graded texts: the higher grade is better"},
    )


def as_grades(table: JudgmentTable) -> JudgmentTable:
    """Two classes as the grades 1 (the positive one) and 0 (DataError: the classes have no order);
    grades as they are."""
    if table.kind != "category":
        return table
    if len(table.levels) > 2 or table.positive not in table.levels:
        raise DataError(
            "People sorted these texts into classes that have no order, so a judge that grades or "
            "compares texts cannot be held against them: name the better of two with "
            f"dataset.positive=CLASS (classes are {', '.join(table.levels[:5])}), or leave "
            "mechanism and study.judges out."
        )
    good = table.levels.index(table.positive)
    names = ("labels", "verdicts", "again")
    values = {name: getattr(table, name) for name in names}
    values = {name: np.where(np.isnan(x), np.nan, x == good) for name, x in values.items()}
    return replace(table, kind="grade", levels=(), positive="", **values)


def as_classes(
    table: JudgmentTable, before: JudgmentTable, levels: Mapping[str, Sequence[str]]
) -> JudgmentTable:
    """The other way: grades 1 and 0 as the two classes that people's labels were before.

    The table as it is where they were none, or where a judge gave another grade. ``levels``: judge
    -> words that its 0 and 1 stand for; where these are not people's, 1 is the positive class.
    """
    grades = table.verdicts[~np.isnan(table.verdicts)]
    if before.kind != "category" or table.kind != "grade" or not np.isin(grades, (0, 1)).all():
        return table
    classes = [one.casefold() for one in before.levels]
    good = np.full(len(table.names), classes.index(before.positive.casefold()))
    for k, name in enumerate(table.names):
        words = [one.casefold() for one in levels.get(name, ())]
        if sorted(words) == sorted(classes):
            good[k] = classes.index(words[1])
    own = {name: getattr(before, name) for name in ("kind", "levels", "positive", "labels")}
    for name, x in (("verdicts", table.verdicts), ("again", table.again)):
        one = good.reshape(-1, *(1,) * (x.ndim - 1))
        own[name] = np.where(x == 1, one, np.where(x == 0, 1 - one, x))
    return replace(table, **own)


def better(one: Floats, two: Floats) -> Floats:
    """1 where the one value is higher, 0 where the other is, .5 where they are equal; NaN kept."""
    return np.asarray((np.sign(np.round(one - two, 12)) + 1) / 2, np.float64)


def places(table: JudgmentTable, panel: Panel) -> tuple[NDArray[np.intp], Mask]:
    """[units, 3] item, first and second agent in the panel, and which units it holds whole.

    The second agent of a single text is its first; what the panel does not know is -1.
    """
    item = {one.id: k for k, one in enumerate(panel.items)}
    agent = {one.name: k for k, one in enumerate(panel.agents)}
    units = table.units
    second = units.second if table.kind == "preference" else units.first
    rows = [
        (item.get(i, -1), agent.get(a, -1), agent.get(b, -1))
        for i, a, b in zip(units.item, units.first, second, strict=True)
    ]
    whole = [
        min(row) >= 0 and None not in (panel.texts[row[0]][row[1]], panel.texts[row[0]][row[2]])
        for row in rows
    ]
    return np.array(rows, np.intp).reshape(-1, 3), np.array(whole, np.bool_)
