"""How sure is the order of two systems that differ by delta, under a metric of correlation r?

Stureborg, Alikaniotis, Suhara: "Characterizing the Confidence of Large Language Model-Based
Automatic Evaluation Metrics", sections 2.2 and appendices B, E, F. Their metric is the human score
plus Gaussian noise of a level that gives the correlation r with people. The mean of N metric scores
then has variance v / N with v = s^2 / r^2 (s: sd of human scores; a kernel density adds its
bandwidth), and

    confidence = Phi( |delta| / sqrt( 2 v (1 - c) / N + 2 b^2 ) )

Two terms are ours. c, the correlation of two systems' metric scores on one item, counts where both
answer the same items, which the paper's text says but its Algorithm 1 does not do. b
is the sd over systems of an error that all scores of one system share: it does not average out, and
caps the confidence at Phi(|delta| / (b sqrt 2)) however large N gets.

Algorithm 1 (``simulate``): for every delta, M pairs of systems are drawn (N true scores each, the
second's density shifted by delta), each rated V times with a noisy metric, and counted how often
the means come out in the right order. The mean of N Gaussian noises is drawn in one go here, and
that of N kernels: the same distribution.

Units: delta, the sd and b are in the unit of the human scores; N counts items. Numbers outside
their range are a ValueError.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, owens_t

from judgelab.stats.intervals.arrays import Floats

Method = Literal["monte_carlo", "closed_form"]

CHUNK = 1 << 19  # scores held at a time: memory does not grow with N, M or the size of the grid
SLOWER = 8  # what a count of a value costs, in scores drawn and looked up


@dataclass(frozen=True)
class Confidence:
    """Probabilities of the right order, in the common shape of r, n and delta."""

    value: Floats
    standard_error: Floats  # of the simulation; 0 in closed form
    ceiling: Floats  # what the value tends to as N grows; 1 without a bias between systems


@dataclass(frozen=True)
class Draws:
    """How much is simulated in each cell, with a generator of its own made from the seed."""

    pairs: int = 100  # M, of systems, two or more
    evaluations: int = 200  # V, of each pair
    seed: int = 0


@dataclass(frozen=True)
class Population:
    """The density f that Algorithm 1 draws true scores from: normal, or a kernel density."""

    sd: float  # s of the human scores, in their unit
    scores: Floats | None = None  # [texts]
    kernel_sd: float = 0.0

    @property
    def variance(self) -> float:
        """Of one draw from f: s^2, and the kernel's on top (the paper's KDE widens H by it)."""
        return self.sd**2 + self.kernel_sd**2


def population(scores: ArrayLike | None = None, sd: float | None = None) -> Population:
    """f from human scores (kernel density, Scott's bandwidth n^(-1/5) s), or normal from an sd.

    A standard normal where neither is given. Scores are of texts, any shape, two or more with some
    spread; NaN is left out.
    """
    if scores is None:
        return Population(1.0 if sd is None else float(sd))
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
    """Noise that a metric of correlation r in (0, 1] adds to the human score: s sqrt(1/r^2 - 1), as
    corr(H, H + noise) = s / sqrt(s^2 + noise^2) (appendix E)."""
    values = np.asarray(r, dtype=np.float64)
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"A correlation with people is above 0 and at most 1: {values.tolist()}.")
    return np.asarray(sd * np.sqrt(1 / values**2 - 1), dtype=np.float64)


def noisy_estimates(scores: ArrayLike, noise: float, draws: int = 1, seed: int = 0) -> Floats:
    """Q(H) = H + N(0, noise^2) (section 2.2.1): [draws, texts] scores of the simulated metric."""
    known = np.asarray(scores, dtype=np.float64).ravel()
    return known + np.random.default_rng(seed).normal(0.0, noise, size=(draws, len(known)))


def confidence(
    r: ArrayLike,
    n: ArrayLike,
    delta: ArrayLike,
    scores: ArrayLike | None = None,
    *,
    sd: float | None = None,
    method: Method = "monte_carlo",
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
    draws: Draws | None = None,
) -> Confidence:
    """Probability that the metric's means rank two systems as people would (appendix B).

    Args:
        r, n: correlation of the metric with people over single texts; items of each system.
        delta: difference of the two systems' true means, not 0; its sign does not matter.
        scores, sd: of people, as of ``population``.
        method: ``monte_carlo`` (Algorithm 1), or ``closed_form``.
        item_correlation: c; 0 where each system answers items of its own.
        system_bias_sd: b, on top of the noise that r implies (an r over texts of several systems
            holds some of it already: its square / N is counted twice).
        draws: size and seed of the simulation; 100 pairs x 200 evaluations as in the paper.
    """
    source = population(scores, sd)
    grid = np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in (r, n, delta)))
    cells = np.stack([part.ravel() for part in grid], axis=-1)
    size, gap = cells[:, 1], np.abs(cells[:, 2])
    if not ((size >= 1) & np.isfinite(size) & (size == np.floor(size))).all():
        raise ValueError("N must be a whole number of items, at least 1.")
    if not (np.isfinite(gap) & (gap != 0)).all():
        raise ValueError("delta must not be 0: with equal systems no order is the right one.")
    if method == "closed_form":
        rated = source.variance + noise_sd(cells[:, 0], source.sd) ** 2
        value = right_order(gap, rated, size, item_correlation, system_bias_sd)
        error = np.zeros(len(cells))
    else:
        above, error = simulate(cells, source, draws or Draws(), item_correlation, system_bias_sd)
        value = np.where(cells[:, 2] > 0, above, 1 - above)
    limit = gap / (system_bias_sd * math.sqrt(2)) if system_bias_sd else np.full(len(gap), np.inf)
    return Confidence(*(part.reshape(grid[0].shape) for part in (value, error, ndtr(limit))))


def required_n(
    r: float,
    delta: float,
    confidence: float = 0.95,
    scores: ArrayLike | None = None,
    *,
    sd: float | None = None,
    item_correlation: float = 0.0,
    system_bias_sd: float = 0.0,
) -> float:
    """Fewest items that give this confidence; infinite where its ceiling is not above it. Arguments
    as of ``confidence``; the target must lie between .5 and 1. In closed form."""
    source = population(scores, sd)
    rated = source.variance + float(noise_sd(r, source.sd)) ** 2
    room = (delta / float(ndtri(confidence))) ** 2 - 2 * system_bias_sd**2
    items = 2 * rated * (1 - item_correlation) / room if room > 0 else math.inf
    # no number of items, or none that can be written down
    return math.inf if math.isinf(items) else float(max(1, math.ceil(items - 1e-9)))


def right_order(
    delta: ArrayLike, rated: ArrayLike, n: ArrayLike, shared: ArrayLike, bias_sd: ArrayLike
) -> Floats:
    """The closed form itself, Phi(delta / sqrt(2 rated (1 - shared) / n + 2 bias_sd^2)), unchecked.

    ``rated`` is the variance of a metric score in human units squared; for a delta below 0 the
    result is the probability of an error.
    """
    gap, v, size, c, b = (
        np.asarray(part, dtype=np.float64) for part in (delta, rated, n, shared, bias_sd)
    )
    return np.asarray(ndtr(gap / np.sqrt(2 * v * (1 - c) / size + 2 * b**2)), dtype=np.float64)


def simulate(
    cells: Floats, source: Population, draws: Draws, shared: float = 0.0, bias_sd: float = 0.0
) -> tuple[Floats, Floats]:
    """Share of evaluations in which B's mean is above A's [cells], and its standard error [cells].

    Of cells [cells, 3] of r, N and delta, the shift of B's density. With probability ``shared`` (c)
    an item gives both systems the same true score, and the noises correlate by it. The error is
    that of M independent shares, as the V evaluations of a pair share its texts; never below what
    the normal approximation expects of so many draws, nor below half a draw.
    """
    share, error = np.empty(len(cells)), np.empty(len(cells))
    noise = noise_sd(cells[:, 0], source.sd)
    for k, (_, n, delta) in enumerate(cells):
        generator = np.random.default_rng([draws.seed, k])
        gaps = delta + _true_gaps(generator, int(n), source, shared, draws.pairs)
        gaps += generator.normal(0.0, bias_sd * np.sqrt(2), size=draws.pairs)
        rated = 2 * noise[k] ** 2 * (1 - shared) / n
        common = 2 * source.variance * (1 - shared) / n + 2 * bias_sd**2
        above = _above(generator, gaps, np.sqrt(rated), draws.evaluations)
        share[k] = above.mean()
        between = above.std(ddof=1) / np.sqrt(draws.pairs)
        error[k] = max(between, _expected_error(delta, common, rated, draws))
    return share, error


def _above(generator: np.random.Generator, gaps: Floats, spread: float, evaluations: int) -> Floats:
    shares = np.empty(len(gaps))
    step = max(1, CHUNK // evaluations)
    for start in range(0, len(gaps), step):
        part = gaps[start : start + step, None]
        rated = part + spread * generator.standard_normal((len(part), evaluations))
        shares[start : start + step] = (rated > 0).mean(axis=1)
    return shares


def _true_gaps(
    generator: np.random.Generator, n: int, source: Population, shared: float, pairs: int
) -> Floats:
    """[pairs] mean of B's N true scores minus mean of A's, before the shift."""
    own = np.full(pairs, n, dtype=np.int64)
    if shared:
        own -= generator.binomial(n, shared, size=pairs)
    kernel = source.sd if source.scores is None else source.kernel_sd
    gaps = generator.normal(size=pairs) * kernel * np.sqrt(2 * own) / n
    if source.scores is not None:
        first = _sums(generator, own, n, source.scores)
        gaps += (_sums(generator, own, n, source.scores) - first) / n
    return np.asarray(gaps, dtype=np.float64)


def _sums(generator: np.random.Generator, own: NDArray[np.int64], n: int, scores: Floats) -> Floats:
    """[pairs] sum of ``own`` scores drawn with replacement: one by one where N is small, else as
    how often each value comes up, which does not grow with N."""
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
    """Standard error of the share if gaps were normal; Owen's T gives how often two evaluations of
    a pair are both above 0."""
    p = ndtr(delta / np.sqrt(common + rated))
    both = p - 2 * owens_t(delta / np.sqrt(common + rated), np.sqrt(rated / (2 * common + rated)))
    within = p * (1 - p) / (draws.pairs * draws.evaluations)
    across = max(both - p**2, 0.0) / draws.pairs * (1 - 1 / draws.evaluations)
    return float(max(np.sqrt(within + across), 0.5 / (draws.pairs * draws.evaluations)))
