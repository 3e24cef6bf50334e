"""How much longer texts are preferred, and what agreement would be at equal length.

logit P(the text stored first wins) = b0 + b1 h + b2 x with h = 1 where people prefer that text,
else -1, and x = log((words + 1) / (other's words + 1)) in standard deviations. Without h, b2 would
take quality for length. AlpacaEval's length-controlled win rate (2404.04475) is another quantity.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from judgelab.stats.intervals.arrays import Floats

TOO_CLOSE = 0.9
"""Correlation of people's labels with length from which the two cannot be told apart."""
FEWEST = 10
LARGEST = 15.0
"""A coefficient above it is on its way to infinity: labels and length predict every verdict."""

FEW = "There are too few labelled pairs for a regression: it takes at least 10 with known length."
NO_SPREAD = "All pairs have texts of the same length, so length cannot matter."
CONFOUNDED = (
    "People prefer the longer text so consistently (correlation {:.2f}) that length and quality "
    "cannot be told apart: label pairs whose shorter text is better."
)
SEPARATED = (
    "Labels and length predict nearly every verdict, so that no finite effect fits best: it takes "
    "more pairs on which the judge disagrees."
)


@dataclass(frozen=True)
class LengthBias:
    """One judge; NaN where refused.

    Attributes:
        effect, error: b2, and its standard error over clusters. Known to be too small on 50 items
            (its interval holds .88 to .93), so that no interval is made of it.
        agreement: of the same verdicts as they are.
        controlled: agreement at equal length, mean of P(verdict = h | h, x = 0).
        n: verdicts.
        refused: why there is no answer; "" where there is one.
    """

    effect: float = np.nan
    error: float = np.nan
    agreement: float = np.nan
    controlled: float = np.nan
    n: int = 0
    refused: str = ""


def length_bias(
    verdicts: Floats, truth: Floats, words: Floats, cluster: NDArray[np.intp]
) -> LengthBias:
    """The effect of length on one judge; rows are units x orders.

    Args:
        verdicts: [units, 2]; NaN is left out.
        truth: [units] people's preference from 0 to 1; left out where NaN or .5.
        words: [units, 2] of the text stored first, and of the other.
        cluster: [units] numbers from 0.
    """
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_linear_model import GLM

    ratio = np.log((words[:, 0] + 1) / (words[:, 1] + 1))
    used = ~np.isnan(truth) & (truth != 0.5) & ~np.isnan(ratio)
    h, x, group = np.sign(truth[used] - 0.5), ratio[used], cluster[used]
    if len(h) < FEWEST or np.isnan(verdicts[used]).all():
        return LengthBias(refused=FEW)
    if np.ptp(x) == 0:  # the deviation of equals may be 1e-17
        return LengthBias(refused=NO_SPREAD)
    correlation = float(np.asarray(np.corrcoef(h, x))[0, 1]) if np.ptp(h) > 0 else 0.0
    if abs(correlation) > TOO_CLOSE:
        return LengthBias(refused=CONFOUNDED.format(correlation))
    y = verdicts[used].ravel()  # order runs fastest
    known = ~np.isnan(y)
    h, x, group = (np.repeat(v, 2)[known] for v in (h, x / x.std(), group))
    y, design = y[known], np.column_stack([np.ones(len(h)), h, x])
    agreement, n = float((1 - np.abs(y - (h > 0))).mean()), len(y)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of separation, which is refused below
        model = GLM(y, design, family=Binomial())
        try:
            fit = model.fit(cov_type="cluster", cov_kwds={"groups": group})
        except (np.linalg.LinAlgError, ValueError):
            return LengthBias(agreement=agreement, n=n, refused=SEPARATED)
    if not np.isfinite(fit.params).all() or np.abs(fit.params).max() > LARGEST:
        return LengthBias(agreement=agreement, n=n, refused=SEPARATED)
    controlled = float(expit(h * (fit.params[0] + h * fit.params[1])).mean())
    return LengthBias(float(fit.params[2]), float(fit.bse[2]), agreement, controlled, n)
