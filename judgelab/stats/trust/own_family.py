"""Do judges prefer texts of their own model family, where people see equal quality?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, row_means
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.trust.clustered import per_cluster
from judgelab.stats.trust.logit import clustered_logit

FEWEST_PAIRS = 20
"""Pairs of an own text with another's below which nothing is said."""

SEPARATED = (
    "These pairs predict nearly every verdict: it takes more on which judge and label differ."
)


@dataclass(frozen=True)
class OwnFamily:
    """logit P(the text stored first wins) = a + g own + n h + b x; all [judges].

    Attributes:
        favour: g: log odds that an own text gains at equal human preference and length (own is
            1 where only the first text is the judge's, -1 where only the second is); low, high.
        wrongly: P(own text wins | people prefer the other); wrongly_low, wrongly_high.
        clusters: of the regression, which all labelled units enter.
        pairs: labelled units with exactly one own text.
        against: those of them in which people prefer the other text.
        refused: why there is no answer; "" where there is one.
    """

    favour: Floats
    low: Floats
    high: Floats
    clusters: NDArray[np.int64]
    wrongly: Floats
    wrongly_low: Floats
    wrongly_high: Floats
    pairs: NDArray[np.int64]
    against: NDArray[np.int64]
    refused: tuple[str, ...]


def own_side(first: Floats, second: Floats) -> Floats:
    """[judges, units] 1 where only the first text is the judge's own, -1 only the second, else 0.

    Args:
        first, second: [judges, units] whether that text is of the judge's family.
    """
    return np.asarray(first, np.float64) - np.asarray(second, np.float64)


def own_family(
    verdicts: Floats,
    truth: Floats,
    own: Floats,
    ratio: Floats,
    cluster: NDArray[np.intp],
    level: float = 0.95,
) -> OwnFamily:
    """Favour for the own family at matched quality (2404.13076, 2504.03846).

    Args:
        verdicts: [judges, units, 2].
        truth: [units] people's preference from 0 to 1; units without it are left out.
        own: [judges, units], see ``own_side``.
        ratio: [units] log ratio of words; where some are NaN, length is left out for all.
        cluster: [units] numbers from 0.
    """
    judged = ~np.isnan(truth) & ~np.isnan(verdicts).all(axis=2)
    one_own = judged & (own != 0)
    prefers_other = one_own & ((truth - 0.5) * own < 0)
    pairs, against = one_own.sum(axis=1), prefers_other.sum(axis=1)
    h = np.repeat(2 * truth - 1, 2)
    columns = [np.ones_like(h), h]
    known = ratio[~np.isnan(truth)]
    if len(known) and not np.isnan(known).any() and known.std() > 0:
        columns.append(np.repeat(ratio / known.std(), 2))
    shared = np.broadcast_to(np.stack(columns, axis=1), (len(own), len(h), len(columns)))
    design = np.concatenate([np.repeat(own, 2, axis=1)[..., None], shared], axis=2)
    fit = clustered_logit(verdicts.reshape(len(own), -1), design, np.repeat(cluster, 2))
    enough = pairs >= FEWEST_PAIRS
    favour = np.where(enough, fit.coefficients[:, 0], np.nan)
    low, high = (np.where(enough, end, np.nan) for end in fit.ends(0, level))
    told = against >= FEWEST_PAIRS
    wins = _own_wins(verdicts, own, prefers_other, cluster, level)
    wrongly, wrongly_low, wrongly_high = (np.where(told, one, np.nan) for one in wins)
    return OwnFamily(
        favour,
        low,
        high,
        fit.groups,
        wrongly,
        wrongly_low,
        wrongly_high,
        pairs,
        against,
        tuple(_refusal(n, fine) for n, fine in zip(pairs, fit.converged, strict=True)),
    )


def _own_wins(
    verdicts: Floats, own: Floats, among: Mask, cluster: NDArray[np.intp], level: float
) -> tuple[Floats, Floats, Floats]:
    """Share of these units [judges, units] that the own text wins, and its ends."""
    wins = np.where(own[..., None] > 0, verdicts, 1 - verdicts).mean(axis=2)
    wins = np.where(among, wins, np.nan)
    return row_means(wins), *share_ends(per_cluster(wins, cluster), level)


def _refusal(pairs: int, converged: bool) -> str:
    if pairs < FEWEST_PAIRS:
        return (
            f"There are {pairs} labelled pairs of an own text with another's, and it takes "
            f"{FEWEST_PAIRS}."
        )
    return "" if converged else SEPARATED
