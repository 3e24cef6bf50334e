"""What is known of a text without a judge: its system, its domain, its length, as columns."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.stats.intervals.arrays import Mask
from judgelab.stats.trust.length_bias import log_ratio

FEWEST = 5  # labelled units of a system or domain that gets a column
LABELS_A_COLUMN = 10


def known_for_free(table: JudgmentTable, labelled: Mask) -> tuple[Floats, list[str]]:
    """[units, columns], and which of ``system``, ``domain`` and ``length`` they tell.

    Of a pair of texts the first counts for and the second against its system. Rare systems share
    what the intercept says. With fewer than ten labels a column the later of these are left out.
    """
    units = table.units
    sides = [(units.first, 1.0)]
    if table.kind == "preference":
        sides.append((units.second, -1.0))
    found = {
        "system": _columns(sides, labelled),
        "domain": _columns([(units.stratum, 1.0)], labelled),
        "length": _length(table, labelled),
    }
    names: list[str] = []
    kept: Floats = np.empty((len(units), 0))
    for name, columns in found.items():
        both = np.column_stack([kept, columns])
        new = columns.size and np.linalg.matrix_rank(_spread(both[labelled])) > kept.shape[1]
        if new and both.shape[1] * LABELS_A_COLUMN <= labelled.sum():
            kept, names = both, [*names, name]
    return kept, names


def _spread(columns: Floats) -> Floats:
    return columns - columns.mean(axis=0) if len(columns) else columns


def _columns(sides: list[tuple[NDArray[np.object_], float]], labelled: Mask) -> Floats:
    """One for each name but the first; of names that enough labelled units have."""
    counts = Counter(name for names, _ in sides for name in names[labelled])
    known = [name for name, n in counts.items() if n >= FEWEST]
    kept = known if len(known) < len(counts) else known[1:]
    made = np.zeros((len(labelled), len(kept)))
    for place, name in enumerate(kept):
        for names, sign in sides:
            made[:, place] += sign * (names == name)
    return made


def _length(table: JudgmentTable, labelled: Mask) -> Floats:
    """Log of words, of pairs the log ratio; the mean where unknown, no column where mostly so."""
    words = table.units.words
    pairs = table.kind == "preference"
    values = log_ratio(words) if pairs else np.log1p(words[:, 0])
    known = ~np.isnan(values)
    if not known[labelled].mean() > 0.5:
        return np.empty((len(values), 0))
    return np.where(known, values, values[known].mean())[:, None]
