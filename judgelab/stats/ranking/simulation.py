"""Human scores, a noisy metric of them, and Algorithm 1 of the ranking-confidence paper.

Stureborg, Alikaniotis, Suhara: "Characterizing the Confidence of Large Language Model-Based
Automatic Evaluation Metrics", sections 2.2 and appendices B, E, F.

For every difference delta the paper draws M pairs of systems (N true scores each, the second's
density shifted by delta), rates each pair V times with a noisy metric, and counts how often the
means come out in the right order. Two things are drawn here in one go that the paper draws one
by one, with the same distribution: the mean of N Gaussian noises, and the mean of N kernels.

Numbers outside their range are a ValueError.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, owens_t

from judgelab.stats.intervals.arrays import Floats

CHUNK = 1 << 19
"""Scores held at a time, so that memory does not grow with N, M or the size of the grid."""

MOST_ITEMS = 10**15
"""N that can be simulated: beyond it sums of scores are no longer exact in 64 bits."""

SLOWER = 8
"""What a count of a value costs, in scores drawn and looked up."""


@dataclass(frozen=True)
class Population:
    """The density f that Algorithm 1 draws true scores from.

    Attributes:
        sd: standard deviation s of the human scores, in their unit.
        scores: [texts] the scores themselves, smoothed by a Gaussian kernel; None for a normal
            distribution of that sd.
        kernel_sd: standard deviation of the kernel; 0 without scores.
    """

    sd: float
    scores: Floats | None = None
    kernel_sd: float = 0.0

    @property
    def variance(self) -> float:
        """Of one draw from f: s^2, and the kernel's on top (the paper's KDE widens H by it)."""
        return self.sd**2 + self.kernel_sd**2


def population(scores: ArrayLike | None = None, sd: float | None = None) -> Population:
    """f from human scores (kernel density, Scott's bandwidth n^(-1/5) s), or normal from an sd.

    A standard normal where neither is given: differences are then in standard deviations.

    Args:
        scores: human scores of texts, any shape, two or more with some spread; NaN is left out.
        sd: in place of scores.
    """
    if scores is not None and sd is not None:
        raise ValueError("Give human scores or their sd, not both.")
    if scores is None:
        spread = 1.0 if sd is None else float(sd)
        if not (np.isfinite(spread) and spread > 0):
            raise ValueError(f"The sd of the human scores must be above 0, got {spread}.")
        return Population(spread)
    known = np.asarray(scores, dtype=np.float64).ravel()
    known = known[~np.isnan(known)]
    if len(known) < 2 or not np.isfinite(known).all():
        raise ValueError(f"At least two finite human scores are needed, got {len(known)}.")
    spread = float(known.std())
    if spread <= 1e-12 * float(np.abs(known).max()):
        raise ValueError("All human scores are equal: no metric can correlate with them.")
    bandwidth = len(known) ** -0.2 * float(known.std(ddof=1))
    return Population(spread, known, bandwidth)


def noise_sd(r: ArrayLike, sd: float) -> Floats:
    """Noise that a metric of correlation r adds to the human score: s sqrt(1/r^2 - 1).

    Appendix E, solved: corr(H, H + noise) = s / sqrt(s^2 + noise^2). Any shape of r in (0, 1];
    no noise level gives a correlation of 0 or less.
    """
    values = np.asarray(r, dtype=np.float64)
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            f"A correlation with people must be above 0 and at most 1, got {values.tolist()}."
        )
    return np.asarray(sd * np.sqrt(1 / values**2 - 1), dtype=np.float64)


def noisy_estimates(scores: ArrayLike, noise: float, draws: int = 1, seed: int = 0) -> Floats:
    """Q(H) = H + N(0, noise^2) (section 2.2.1): [draws, texts] scores of the simulated metric."""
    known = np.asarray(scores, dtype=np.float64).ravel()
    return known + np.random.default_rng(seed).normal(0.0, noise, size=(draws, len(known)))


@dataclass(frozen=True)
class Draws:
    """How much is simulated in each cell.

    Attributes:
        pairs: M, pairs of systems.
        evaluations: V, ratings of each pair.
        seed: every cell of a grid has a generator of its own, made from it.
    """

    pairs: int = 100
    evaluations: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.pairs < 2 or self.evaluations < 1:
            raise ValueError("At least two pairs of systems and one evaluation are needed.")


@dataclass(frozen=True)
class Relation:
    """How two systems and the errors of their scores hang together.

    Attributes:
        shared: correlation of the two systems' metric scores on one item: 0 where they answer
            different items, and as the paper's algorithm has it.
        bias_sd: sd over systems of an error that all scores of a system share, in the unit of
            the human scores; 0 as the paper has it.
    """

    shared: float = 0.0
    bias_sd: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.shared < 1:
            raise ValueError(f"item_correlation must be 0 or more and below 1, got {self.shared}.")
        if not (self.bias_sd >= 0 and np.isfinite(self.bias_sd)):
            raise ValueError(f"system_bias_sd must not be negative, got {self.bias_sd}.")


def simulate(
    cells: Floats, source: Population, relation: Relation, draws: Draws
) -> tuple[Floats, Floats]:
    """Share of evaluations in which B's mean is above A's, for each cell.

    Sharing: with probability ``shared`` an item gives both systems the same true score (B's
    shifted by delta), and the noises correlate by ``shared``, so each system on its own is as in
    the paper and the metric scores correlate by ``shared``.

    Args:
        cells: [cells, 3] of r, N (at most MOST_ITEMS) and delta, the shift of B's density.
        source: f.

    Returns:
        The share [cells] and its standard error [cells]: that of M independent shares, as the V
        evaluations of a pair share its texts; never below what the normal approximation expects
        of so many draws, nor below half a draw, as shares that are (almost) alike say nothing.
    """
    if (cells[:, 1] > MOST_ITEMS).any():
        raise ValueError(f"At most {MOST_ITEMS:.0e} items can be simulated: use the closed form.")
    share, error = np.empty(len(cells)), np.empty(len(cells))
    noise = noise_sd(cells[:, 0], source.sd)
    for k, (_, n, delta) in enumerate(cells):
        generator = np.random.default_rng([draws.seed, k])
        gaps = delta + _true_gaps(generator, int(n), source, relation, draws.pairs)
        gaps += generator.normal(0.0, relation.bias_sd * np.sqrt(2), size=draws.pairs)
        rated = 2 * noise[k] ** 2 * (1 - relation.shared) / n
        common = 2 * source.variance * (1 - relation.shared) / n + 2 * relation.bias_sd**2
        above = _above(generator, gaps, np.sqrt(rated), draws.evaluations)
        share[k] = above.mean()
        between = above.std(ddof=1) / np.sqrt(draws.pairs)
        error[k] = max(between, _expected_error(delta, common, rated, draws))
    return share, error


def _above(generator: np.random.Generator, gaps: Floats, spread: float, evaluations: int) -> Floats:
    """[pairs] share of evaluations whose gap, noise included, is above 0."""
    shares = np.empty(len(gaps))
    step = max(1, CHUNK // evaluations)
    for start in range(0, len(gaps), step):
        part = gaps[start : start + step, None]
        rated = part + spread * generator.standard_normal((len(part), evaluations))
        shares[start : start + step] = (rated > 0).mean(axis=1)
    return shares


def _true_gaps(
    generator: np.random.Generator,
    n: int,
    source: Population,
    relation: Relation,
    pairs: int,
) -> Floats:
    """[pairs] mean of B's N true scores minus mean of A's, before the shift."""
    own = np.full(pairs, n, dtype=np.int64)
    if relation.shared:
        own -= generator.binomial(n, relation.shared, size=pairs)
    kernel = source.sd if source.scores is None else source.kernel_sd
    gaps = generator.normal(size=pairs) * kernel * np.sqrt(2 * own) / n
    if source.scores is not None:
        first = _sums(generator, own, n, source.scores)
        gaps += (_sums(generator, own, n, source.scores) - first) / n
    return np.asarray(gaps, dtype=np.float64)


def _sums(generator: np.random.Generator, own: NDArray[np.int64], n: int, scores: Floats) -> Floats:
    """[pairs] sum of ``own`` scores drawn with replacement.

    Drawn one by one where N is small, else as how often each value comes up, which has the same
    distribution and does not grow with N.
    """
    values, counts = np.unique(scores, return_counts=True)
    counted = n > SLOWER * len(values)
    step = max(1, CHUNK // (len(values) if counted else n))
    sums = np.empty(len(own))
    for start in range(0, len(own), step):
        part = own[start : start + step]
        if counted:
            drawn = generator.multinomial(part, counts / len(scores)) @ values
        else:
            texts = generator.integers(0, len(scores), size=(len(part), n))
            drawn = (scores[texts] * (np.arange(n) < part[:, None])).sum(axis=1)
        sums[start : start + step] = drawn
    return sums


def _expected_error(delta: float, common: float, rated: float, draws: Draws) -> float:
    """Standard error of the share if gaps were normal.

    Two evaluations of a pair are both above 0 with the probability of a bivariate normal with
    equal limits, which Owen's T gives.
    """
    p = ndtr(delta / np.sqrt(common + rated))
    both = p - 2 * owens_t(delta / np.sqrt(common + rated), np.sqrt(rated / (2 * common + rated)))
    within = p * (1 - p) / (draws.pairs * draws.evaluations)
    across = max(both - p**2, 0.0) / draws.pairs * (1 - 1 / draws.evaluations)
    return float(max(np.sqrt(within + across), 0.5 / (draws.pairs * draws.evaluations)))
