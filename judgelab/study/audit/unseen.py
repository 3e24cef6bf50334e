"""Sets and domains of which a judge's verdicts are, and no label is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Mask

BY_CHANCE = 0.01
"""Probability from which on a random sample may have missed a stratum by chance."""


def left_out(stratum: NDArray[np.object_], judged: Mask, labelled: Mask) -> float:
    """Share of labelled units that a judge was not asked about, of strata that it judged some of.

    A judge of easy items alone would look good. Args as below; nothing labelled: 0.
    """
    there = labelled & np.isin(stratum.astype(str), list(set(stratum[judged].astype(str))))
    return float((there & ~judged).sum() / max(int(there.sum()), 1))


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
