"""A critic that accepts or rejects "same source": what its rates say about information.

TVD-MI paper, section 3.4: with P the law of pairs on one source and Q that of pairs on
different sources, a critic that accepts with probability h(pair) in [0, 1] satisfies
E_P[h] - E_Q[h] <= TV(P, Q), and for a yes/no critic the left side is TPR + TNR - 1. Graded
verdicts (1, .25, 0) are such an h too, so their difference is a lower bound just as well.

The paper states the bound (its equation 3) for a test on N pairs against TV of a single pair.
A test on N pairs bounds TV(P^N, Q^N), which is larger: only N = 1 gives the bound as written.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats, row_means

ROUNDING = 1e-9
"""How far a rate may leave [0, 1]: an average of ones can come out just above 1."""


def acceptance_rate(verdicts: ArrayLike) -> Floats:
    """Mean verdict over the last axis; NaN verdicts are left out, NaN where none is left.

    Raises:
        ValueError: no axis to average over, or a verdict outside [0, 1].
    """
    array = _rates(verdicts, "A verdict")
    if array.ndim == 0:
        raise ValueError("Verdicts need at least one axis to average over.")
    return row_means(array)


def critic_information(p_accept: ArrayLike, q_accept: ArrayLike) -> Floats:
    """TPR + TNR - 1 = P(accept | same source) - P(accept | different sources).

    Elementwise, with broadcasting. A lower bound of the total variation between the two laws
    when the rates are exact; an estimate from few calls has sampling noise of either sign, and
    a negative value is kept: cutting it at 0 would bias the mean upwards.

    Args:
        p_accept: [...] acceptance of same-source pairs, in [0, 1]; NaN where unscored.
        q_accept: [...] acceptance of different-source pairs, in [0, 1]; NaN where unscored.

    Returns:
        [...] in [-1, 1]; NaN where either side is unscored.

    Raises:
        ValueError: a rate lies outside [0, 1].
    """
    return _rates(p_accept, "An acceptance rate") - _rates(q_accept, "An acceptance rate")


def _rates(values: ArrayLike, what: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if ((array < -ROUNDING) | (array > 1 + ROUNDING)).any():
        raise ValueError(
            f"{what} lies between 0 and 1, but got {np.nanmin(array)}..{np.nanmax(array)}."
        )
    return array
