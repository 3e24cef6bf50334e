"""Predicted confidence of pairs of systems whose own annotations were not looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.bootstrap import RankedPairs
from judgelab.stats.ranking.confidence import right_order
from judgelab.stats.ranking.system_bias import JudgeFit, fit_judge
from judgelab.stats.ranking.system_gaps import system_moments

Model = Literal["algorithm_1", "bias", "line"]
MODELS: tuple[Model, ...] = ("algorithm_1", "bias", "line")
"""The paper's; with the bias between systems; with that bias about the systems' own line."""


@dataclass(frozen=True)
class Predictions:
    """What was predicted for pairs of systems.

    Attributes:
        unpaired, paired: model -> [pairs] predicted confidence; NaN where the judge does not
            correlate with people on the systems it was fitted on.
        fits: [pairs] the judge behind each prediction.
    """

    unpaired: Mapping[Model, Floats]
    paired: Mapping[Model, Floats]
    fits: tuple[JudgeFit, ...]


def predict_pairs(
    human: ArrayLike,
    metric: ArrayLike,
    pairs: RankedPairs,
    items: int | None = None,
    *,
    held_out: bool = True,
) -> Predictions:
    """Confidence for every pair of systems, to be held against how often it was ranked right.

    Only the difference of a pair's human means comes from the pair; correlation, spread, bias and
    pairing come from the other systems (``held_out``), or from all.

    Args:
        human, metric: [items, systems], NaN where unscored.
        pairs: of the same scores (``ranked_pairs``).
        items: N; None for the items there are.
        held_out: whether the pair's two systems are left out of the fit.

    Raises:
        ValueError: shapes differ, or infinities.
    """
    size = items or len(np.asarray(human))
    moments = system_moments(human, metric)
    whole, fits = fit_judge(moments), []
    for first, second in zip(pairs.first, pairs.second, strict=True):
        keep = np.ones(len(moments.sums), dtype=np.bool_)
        keep[[first, second]] = False
        fits.append(fit_judge(moments, keep) if held_out else whole)
    unpaired, paired = (
        {model: predicted(model, pairs.delta, fits, size, same) for model in MODELS}
        for same in (False, True)
    )
    return Predictions(unpaired, paired, tuple(fits))


def predicted(
    model: Model, delta: Floats, fits: Sequence[JudgeFit], items: int, paired: bool
) -> Floats:
    """Confidence [pairs] for differences of human means.

    Args:
        model: which errors of the judge count.
        delta: [pairs] above 0.
        fits: [pairs] the judge.
        items: N.
        paired: whether both systems answer the same items.

    Returns:
        NaN where the fit does not carry it: no correlation above 0, or too few systems. Below .5
        where system means fall as people's rise.
    """
    r, sd, shared = (
        np.array([getattr(fit, name) for fit in fits], dtype=np.float64)
        for name in ("r", "sd", "item_correlation")
    )
    usable = (r > 0) & (sd > 0)
    rated = np.where(usable, sd**2 / np.where(usable, np.minimum(r, 1.0), 1.0) ** 2, np.nan)
    slope, bias = np.ones(len(fits)), np.zeros(len(fits))
    if model == "bias":
        bias = np.array([fit.bias_sd for fit in fits])
    elif model == "line":
        slope = np.array([fit.system_slope for fit in fits])
        bias = np.array([fit.line_bias_sd for fit in fits])
    return right_order(delta * slope, rated, items, shared if paired else 0.0, bias)
