"""Judges that know nothing, beside which all others are seen: length and random."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import Floats, JudgeFacts, JudgmentTable
from judgelab.core.panel import rng_for
from judgelab.study.audit.graded import better

CONTROLS = ("length", "random")


def with_controls(table: JudgmentTable, seed: int) -> JudgmentTable:
    """The table with the controls that fit: length where texts are compared or graded.

    Length prefers the longer text, or grades by words; random grades every text by a number that
    depends on seed, item and system alone.
    """
    found = {
        "length": table.units.words,
        "random": np.stack(
            [_drawn(table, names, seed) for names in (table.units.first, table.units.second)],
            axis=1,
        ),
    }
    for name in CONTROLS:
        if table.kind == "category" and name == "length":
            continue
        values = _verdicts(table, found[name])
        known = ~np.isnan(values)
        if known.any():
            who = JudgeFacts(_free(name, table), control=True, pointwise=True)
            table = table.with_judge(who, values, known)
    return table


def _verdicts(table: JudgmentTable, values: Floats) -> Floats:
    """[units, orders] of values [units, 2] of the first and second text."""
    if table.kind == "preference":
        return np.repeat(better(values[:, 0], values[:, 1])[:, None], 2, axis=1)
    if table.kind == "category":
        return np.floor(values[:, :1] * len(table.levels))
    return values[:, :1]


def _drawn(table: JudgmentTable, names: NDArray[np.object_], seed: int) -> Floats:
    units = zip(table.units.item, names, strict=True)
    drawn = [rng_for(seed, "random", str(item), str(name)).random() for item, name in units]
    return np.array(drawn, np.float64)


def _free(name: str, table: JudgmentTable) -> str:
    """The control's name; another where a judge of the data has it."""
    return f"{name} (control)" if name in table.names else name
