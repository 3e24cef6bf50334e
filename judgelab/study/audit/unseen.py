"""Sets and domains that were labelled less than others, or not at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from judgelab.core.judgments import JudgmentTable
from judgelab.stats.intervals.arrays import Mask
from judgelab.stats.trust.stratified import strata_of, unevenly_labelled

BY_CHANCE = 0.01
"""Probability from which on a random sample may have missed a stratum by chance."""


def left_out(stratum: NDArray[np.object_], judged: Mask, labelled: Mask) -> float:
    """Share of labelled units that a judge was not asked about, of strata that it judged some of.

    A judge of easy items alone would look good. Args as below; nothing labelled: 0.
    """
    there = labelled & np.isin(stratum.astype(str), list(set(stratum[judged].astype(str))))
    return float((there & ~judged).sum() / max(int(there.sum()), 1))


def with_chances(table: JudgmentTable, sampled: bool | None) -> JudgmentTable:
    """The table with a chance of a label by stratum, where strata were labelled unevenly.

    Labels that were drawn at random within strata, 200 of 500 here and 19 of 500 there: without
    chances agreement and savings would be those of the stratum that was labelled most.

    Args:
        sampled: whether labels were drawn at random; else, and where chances are told, as it is.
    """
    units, labelled = table.units, table.labelled
    untold = bool(np.isnan(units.chance[labelled]).all())
    if not (sampled and untold and unevenly_labelled(units.stratum, labelled)):
        return table
    place = strata_of(units.stratum, labelled)
    share = np.bincount(place, labelled) / np.bincount(place)
    chance = np.where(share[place] > 0, share[place], np.nan)
    return replace(table, units=replace(units, chance=chance))


def unseen_strata(stratum: NDArray[np.object_], judged: Mask, labelled: Mask) -> tuple[str, ...]:
    """Strata with verdicts and without a label, too large for a random sample to have missed them.

    Labels of other strata tell nothing of these (labels on news, target blogs: no estimator holds).

    Args:
        stratum, judged, labelled: [units].
    """
    n, labels = int(judged.sum()), int((judged & labelled).sum())
    seen = set(stratum[judged & labelled])
    names = [name for name in dict.fromkeys(stratum[judged]) if name not in seen]
    share = {name: float((stratum[judged] == name).sum()) / max(n, 1) for name in names}
    return tuple(str(name) for name in names if (1 - share[name]) ** labels < BY_CHANCE)
