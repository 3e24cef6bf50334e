"""What judges, and rules that know nothing of quality, say of each unit: credit for each answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.stats.intervals.arrays import divide
from judgelab.study.audit.design import Design

PLACES = (("first", "second"), ("output_1", "output_2"))
"""Names of places, not of systems."""


def shares_of_people(table: JudgmentTable) -> Floats:
    """[units, levels] share of the people who give each category; NaN without a label."""
    counts = (table.labels[:, :, None] == np.arange(len(table.levels))).sum(axis=1)
    return divide(counts, counts.sum(axis=1, keepdims=True))


def answers_of(table: JudgmentTable) -> Floats:
    """What judges said, as credit for each answer [judges, units, answers]; grades [judges, units].

    A reply without a verdict earns nothing, whatever people say.
    """
    verdicts, asked = table.verdicts, table.asked
    if table.kind == "grade":
        return verdicts[..., 0]
    if table.kind == "category":
        return np.asarray(verdicts == np.arange(len(table.levels)), np.float64)
    orders = asked.sum(axis=2)
    sides = (np.where(asked, np.nan_to_num(x), 0.0).sum(axis=2) for x in (verdicts, 1 - verdicts))
    return np.stack([divide(side, orders) for side in sides], axis=2)


def rules_of(table: JudgmentTable) -> Mapping[str, Floats]:
    """Rules that know nothing of quality -> their answers [units, answers]; of grades [units]."""
    n = len(table.units)
    if table.kind == "category":
        size = len(table.levels)
        named = zip(table.levels, np.eye(size), strict=True)
        rows = {"random": np.full(size, 1 / size)} | {f"always {x}": row for x, row in named}
        return {name: np.broadcast_to(row, (n, size)) for name, row in rows.items()}
    words = table.units.words[:, : 1 if table.kind == "grade" else 2]
    known = ~np.isnan(words[table.labelled])
    measured = known.size > 0 and known.mean() >= 0.95
    if table.kind == "grade":
        rules = {"random": np.zeros(n)}
        if measured and np.nanstd(words[table.labelled, 0]) > 0:
            count = np.where(np.isnan(words[:, 0]), np.nanmedian(words[:, 0]), words[:, 0])
            rules |= {"longer": count, "shorter": -count}
        return rules
    rules = {"random": np.full((n, 2), 0.5)}
    if measured and (words[:, 0] != words[:, 1]).any():
        gap = np.nan_to_num(np.sign(words[:, 0] - words[:, 1]))
        longer = np.stack([(1 + gap) / 2, (1 - gap) / 2], axis=1)
        rules |= {"longer": longer, "shorter": 1 - longer}
    for name, row in zip(("first", "second"), np.eye(2), strict=True):
        rules[f"always the {name} as stored"] = np.broadcast_to(row, (n, 2))
    return rules


def systems_of(design: Design) -> tuple[Floats, Floats, NDArray[np.str_]] | None:
    """Values of judges [judges, units] and of people [units], and the system [units] of each text.

    Of pairs: of both systems, and values are wins of the one that comes first by name; of two
    classes the one that comes first. None of places that are no systems, and of three classes or
    more, which have no order.
    """
    table, classes = design.table, design.classes
    values, truth, system = table.values, table.truth, table.units.first.astype(str)
    if table.kind == "category":
        if len(classes) != 2:
            return None
        k = table.levels.index(classes[0])
        values = np.where(np.isnan(values), np.nan, values == k)
        truth = shares_of_people(table)[:, k]
    if table.kind == "preference":
        second = table.units.second.astype(str)
        if tuple(sorted({*system, *second})) in PLACES:
            return None
        swap = system > second
        values, truth = (np.where(swap, 1 - x, x) for x in (values, truth))
        one, other = np.where(swap, second, system), np.where(swap, system, second)
        system = np.char.add(np.char.add(one, " "), other)
    return values, truth, system
