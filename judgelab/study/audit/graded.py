"""Tables of judgments from graded texts: as they are, or as pairs of one item's texts."""

from __future__ import annotations

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

    References are no units: others are held against them.
    """
    if panel.judgments is not None:
        return panel.judgments
    at = [
        (i, a)
        for i, (item, row) in enumerate(zip(panel.items, panel.texts, strict=True))
        for a, agent in enumerate(panel.agents)
        if not agent.reference and (row[a] is not None or agent.name in item.human)
    ]
    items, names = [panel.items[i] for i, _ in at], [panel.agents[a].name for _, a in at]
    grades = [item.human.get(name, np.nan) for item, name in zip(items, names, strict=True)]
    return JudgmentTable(
        "grade",
        Units.of([item.id for item in items], names),
        (PEOPLE,),
        np.array(grades, dtype=np.float64).reshape(-1, 1),
        (),
        np.empty((0, len(at), 1)),
        np.empty((0, len(at), 1), np.bool_),
    )


def as_pairs(table: JudgmentTable) -> JudgmentTable:
    """Graded texts as pairs of one item: of two texts the one with the higher grade is better.

    Raises:
        DataError: the judgments are categories, which have no order.
    """
    if table.kind == "preference":
        return table
    if table.kind == "category":
        raise DataError(
            "People sorted these texts into categories, and a judge that compares two texts says "
            "nothing of those: choose a mechanism that grades texts, or data with grades."
        )
    units = table.units
    groups: dict[object, list[int]] = {}
    for k, item in enumerate(units.item):
        groups.setdefault(item, []).append(k)
    of_item = (combinations(group, 2) for group in groups.values())
    both = np.array([pair for group in of_item for pair in group], np.intp).reshape(-1, 2)
    one, two = both.T
    chance, turn = units.chance[both], units.turn[both]
    asked = table.asked[:, one, 0] & table.asked[:, two, 0]
    verdicts = better(table.verdicts[:, one, 0], table.verdicts[:, two, 0])
    return JudgmentTable(
        "preference",
        Units(
            units.item[one],
            units.first[one],
            units.first[two],
            units.cluster[one],
            units.stratum[one],
            units.words[both, 0],
            np.where(chance[:, 0] == chance[:, 1], chance[:, 0], np.nan),
            turn.max(axis=1),
        ),
        table.raters,
        better(table.labels[one], table.labels[two]),
        table.judges,
        np.repeat(verdicts[:, :, None], 2, axis=2),
        np.repeat(asked[:, :, None], 2, axis=2),
        table.reasons,
        facts={**table.facts, "pairs": "of graded texts: the higher grade is better"},
    )


def better(one: Floats, two: Floats) -> Floats:
    """1 where the one value is higher, 0 where the other is, .5 where they are equal; NaN kept."""
    return np.asarray((np.sign(np.round(one - two, 12)) + 1) / 2, np.float64)


def places(table: JudgmentTable, panel: Panel) -> tuple[NDArray[np.intp], Mask]:
    """[units, 3] item, first and second agent in the panel, and which units it holds whole."""
    item = {one.id: k for k, one in enumerate(panel.items)}
    agent = {one.name: k for k, one in enumerate(panel.agents)}
    pairs = table.kind == "preference"
    units = zip(table.units.item, table.units.first, table.units.second, strict=True)
    rows = [
        (item.get(i, -1), agent.get(a, -1), agent.get(b, -1) if pairs else agent.get(a, -1))
        for i, a, b in units
    ]
    at = np.array(rows, np.intp).reshape(-1, 3)
    held = np.array(
        [
            min(i, a, b) >= 0 and panel.texts[i][a] is not None and panel.texts[i][b] is not None
            for i, a, b in at
        ],
        np.bool_,
    )
    return at, held


def with_words(table: JudgmentTable, panel: Panel) -> JudgmentTable:
    """The table with the words of its texts counted, where the data do not say them."""
    at, held = places(table, panel)
    counts = [[np.nan if t is None else len(t.split()) for t in row] for row in panel.texts]
    words = table.units.words.copy()
    for k in np.flatnonzero(held):
        i, *agents = at[k]
        for side, a in enumerate(agents if table.kind == "preference" else agents[:1]):
            if np.isnan(words[k, side]):
                words[k, side] = counts[i][a]
    return replace(table, units=replace(table.units, words=words))
