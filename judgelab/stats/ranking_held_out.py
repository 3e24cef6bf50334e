"""Predicted confidence of pairs of systems whose own annotations were not looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.arrays import Floats
from judgelab.stats.ranking_bootstrap import RankedPairs
from judgelab.stats.ranking_confidence import confidence
from judgelab.stats.system_bias import JudgeFit, fit_judge, system_moments

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
    values = {
        paired: {model: _predicted(model, pairs.delta, fits, size, paired) for model in MODELS}
        for paired in (False, True)
    }
    return Predictions(values[False], values[True], tuple(fits))


def predicted(model: Model, delta: float, fit: JudgeFit, items: int, paired: bool) -> float:
    """Confidence for one difference of human means; NaN where the fit does not carry it."""
    gap, bias = delta, 0.0
    if model == "bias":
        bias = fit.bias_sd
    elif model == "line":
        gap, bias = delta * fit.system_slope, fit.line_bias_sd
    shared = fit.item_correlation if paired else 0.0
    if not (fit.r > 0 and fit.sd > 0) or np.isnan([gap, bias, shared]).any():
        return float("nan")
    if gap == 0:
        return 0.5
    found = confidence(
        min(fit.r, 1.0),
        items,
        gap,
        sd=fit.sd,
        method="closed_form",
        paired=paired,
        item_correlation=shared,
        system_bias_sd=bias,
    )
    value = float(found.value)
    return value if gap > 0 else 1 - value  # a falling line ranks the systems the wrong way round


def _predicted(
    model: Model, delta: Floats, fits: list[JudgeFit], items: int, paired: bool
) -> Floats:
    made = [predicted(model, d, f, items, paired) for d, f in zip(delta, fits, strict=True)]
    return np.array(made, dtype=np.float64)
