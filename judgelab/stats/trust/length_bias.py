"""How much longer texts are preferred, and what agreement would be at equal length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.trust.clustered import FEWEST, per_cluster
from judgelab.stats.trust.logit import Logit, clustered_logit

TOO_CLOSE = 0.9
"""Correlation of people's labels with length from which the two cannot be told apart."""

NO_SPREAD = "All pairs have texts of the same length, so length cannot matter."
CONFOUNDED = (
    "People prefer the longer text so consistently (correlation {:.2f}) that length and quality "
    "cannot be told apart: label pairs whose shorter text is better."
)
SEPARATED = (
    "Labels and length predict nearly every verdict, so that no finite effect fits best: it takes "
    "more pairs on which the judge disagrees."
)
ALWAYS = "It always prefers the {} text, also where people prefer the other one."
SILENT = "It gave no verdict on a labelled pair."
FEW = "There are too few labelled pairs for a regression: it takes at least 10 with known length."
FEWEST_PAIRS = 10


@dataclass(frozen=True)
class LengthBias:
    """logit P(the text stored first wins) = b0 + b1 h + b2 x; all [judges].

    Attributes:
        label: b1, h = 1 where people prefer the text stored first, else -1.
        length: b2 of a standard deviation of x = log((words + 1) / (other's words + 1)); its
            interval length_low, length_high, standard error length_error.
        stored_first: b0.
        agreement: of the same verdicts as they are.
        controlled: agreement at equal length, mean of P(verdict = h | h, x = 0); its interval.
        n: verdicts; clusters: of them.
        refused: why there is no answer; "" where there is one.
        correlation: of h and x, the same for all judges.
    """

    label: Floats
    length: Floats
    length_low: Floats
    length_high: Floats
    length_error: Floats
    stored_first: Floats
    agreement: Floats
    controlled: Floats
    low: Floats
    high: Floats
    n: NDArray[np.int64]
    clusters: NDArray[np.int64]
    refused: tuple[str, ...]
    correlation: float


def log_ratio(words: Floats) -> Floats:
    """[units] x = log((w1 + 1) / (w2 + 1)) of words [units, 2]."""
    return np.asarray(np.log((words[:, 0] + 1) / (words[:, 1] + 1)))


def length_bias(
    verdicts: Floats,
    truth: Floats,
    words: Floats,
    cluster: NDArray[np.intp],
    level: float = 0.95,
) -> LengthBias:
    """Length-controlled agreement: rows are units x orders, intervals are over clusters.

    Without h, b2 would take quality for length. AlpacaEval's length-controlled win rate
    (2404.04475) is another quantity.

    Args:
        verdicts: [judges, units, 2]; NaN is left out.
        truth: [units] people's preference from 0 to 1; left out where NaN or .5.
        words: [units, 2] of the text stored first, and of the other.
        cluster: [units] numbers from 0.
    """
    ratio = log_ratio(words)
    used = ~np.isnan(truth) & (truth != 0.5) & ~np.isnan(ratio)
    h, x = np.where(truth[used] > 0.5, 1.0, -1.0), ratio[used]
    spread = float(x.std()) if used.any() and np.ptp(x) > 0 else 0.0  # std of equals may be 1e-17
    x = x / spread if spread > 0 else x
    _, group = np.unique(cluster[used], return_inverse=True)
    both = bool(used.sum() > 2 and spread > 0 and h.std() > 0)
    correlation = float(np.corrcoef(h, x)[0, 1]) if both else float("nan")
    common = _refusal(int(used.sum()), spread, correlation)
    said = verdicts[:, used].reshape(len(verdicts), -1)  # order runs fastest
    h2, x2, group2 = np.repeat(h, 2), np.repeat(x, 2), np.repeat(group, 2)
    if common:
        return _nothing(len(verdicts), common, correlation)
    design = np.column_stack([np.ones(len(h2)), h2, x2])[None]
    fit = clustered_logit(said, design, group2)
    controlled, ends = _at_equal_length(fit, said, h2, group2, level)
    low, high = fit.ends(2, level)
    agreement = row_means(1 - np.abs(said - (h2 > 0)))
    refused = tuple(
        "" if fine else _separated(one, h2, x2)
        for one, fine in zip(said, fit.converged, strict=True)
    )
    return LengthBias(
        fit.coefficients[:, 1],
        fit.coefficients[:, 2],
        low,
        high,
        fit.error[:, 2],
        fit.coefficients[:, 0],
        agreement,
        controlled,
        *ends,
        fit.n,
        fit.groups,
        refused,
        correlation,
    )


def _refusal(pairs: int, spread: float, correlation: float) -> str:
    if pairs < FEWEST_PAIRS:
        return FEW
    if spread == 0:
        return NO_SPREAD
    return CONFOUNDED.format(correlation) if abs(correlation) > TOO_CLOSE else ""


def _separated(said: Floats, h: Floats, x: Floats) -> str:
    """Why no finite effect fits best the verdicts of one judge."""
    if np.isnan(said).all():
        return SILENT
    told = ~np.isnan(said) & (said != 0.5) & (x != 0)
    against = told & (h * x < 0)  # people prefer the shorter text
    for longer, name in ((True, "longer"), (False, "shorter")):
        same = ((said > 0.5) == (x > 0)) == longer
        other = against if longer else told & ~against
        if same[told].all() and other.sum() >= FEWEST_PAIRS:
            return ALWAYS.format(name)
    return SEPARATED


def _at_equal_length(
    fit: Logit, said: Floats, h: Floats, group: NDArray[np.intp], level: float
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Mean of expit(h (b0 + h b1)) [judges], and its ends from what clusters add (delta method).

    Clusters add through the coefficients, and as they differ in how often h = 1.
    """
    b0, b1 = fit.coefficients[:, 0], fit.coefficients[:, 1]
    right = expit(h * b0[:, None] + b1[:, None])
    known = ~np.isnan(said)
    slope = right * (1 - right) * known
    toward = np.stack([(slope * h).sum(axis=1), slope.sum(axis=1)], axis=1) / fit.n[:, None]
    through = np.einsum("jgk,jk->jg", fit.added[:, :, :2], toward)
    spread = per_cluster(np.where(known, right, np.nan), group)
    taking_part = ~np.isnan(spread)
    count = taking_part.sum(axis=1, keepdims=True)
    total = np.where(taking_part, spread + count * through, np.nan)
    mean = np.where(known, right, 0).sum(axis=1) / np.maximum(fit.n, 1)
    enough = fit.converged & (fit.groups >= FEWEST)
    low, high = share_ends(np.where(enough[:, None], total, np.nan), level)
    return np.where(enough, mean, np.nan), (low, high)


def _nothing(judges: int, why: str, correlation: float) -> LengthBias:
    x, zero = np.full(judges, np.nan), np.zeros(judges, np.int64)
    refused = (why,) * judges
    return LengthBias(x, x, x, x, x, x, x, x, x, x, zero, zero, refused, correlation)
