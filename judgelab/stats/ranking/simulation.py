"""Algorithm 1 of the ranking-confidence paper, without its loops.

For every difference delta the paper draws M pairs of systems (N true scores each, the second's
density shifted by delta), rates each pair V times with a noisy metric, and counts how often the
means come out in the right order. Two things are drawn here in one go that the paper draws one
by one, with the same distribution: the mean of N Gaussian noises, and the mean of N kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.population import Population, noise_sd

CHUNK = 1 << 19
"""Scores held at a time, so that memory does not grow with N, M or the size of the grid."""

MOST_ITEMS = 10**15
"""N that can be simulated: beyond it sums of scores are no longer exact in 64 bits."""

SLOWER = 8
"""What a count of a value costs, in scores drawn and looked up."""


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
class Tally:
    """Scores, and the same as different values with their shares."""

    scores: Floats
    values: Floats
    shares: Floats


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
        cells: [cells, 3] of r, N and delta, where delta is how far B's density is shifted.
        source: f.
        relation: pairing and bias.
        draws: M, V and the seed.

    Returns:
        The share [cells] and its standard error [cells]. The V evaluations of a pair share its
        texts, so the error is that of M independent shares. Where (almost) all came out alike
        that says nothing, so it is never below what the normal approximation expects of so many
        draws, nor below half a draw.

    Raises:
        ValueError: a correlation is not above 0 and at most 1, or N is above MOST_ITEMS.
    """
    if (cells[:, 1] > MOST_ITEMS).any():
        raise ValueError(f"At most {MOST_ITEMS:.0e} items can be simulated: use the closed form.")
    share, error = np.empty(len(cells)), np.empty(len(cells))
    noise = noise_sd(cells[:, 0], source.sd)
    tally = None if source.scores is None else _tally(source.scores)
    for k, (_, n, delta) in enumerate(cells):
        generator = np.random.default_rng([draws.seed, k])
        gaps = delta + _true_gaps(generator, int(n), source, tally, relation, draws.pairs)
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


def _tally(scores: Floats) -> Tally:
    values, counts = np.unique(scores, return_counts=True)
    return Tally(scores, values, counts / len(scores))


def _true_gaps(
    generator: np.random.Generator,
    n: int,
    source: Population,
    tally: Tally | None,
    relation: Relation,
    pairs: int,
) -> Floats:
    """[pairs] mean of B's N true scores minus mean of A's, before the shift."""
    own = np.full(pairs, n, dtype=np.int64)
    if relation.shared:
        own -= generator.binomial(n, relation.shared, size=pairs)
    kernel = source.sd if tally is None else source.kernel_sd
    gaps = generator.normal(size=pairs) * kernel * np.sqrt(2 * own) / n
    if tally is not None:
        first = _sums(generator, own, n, tally)
        gaps += (_sums(generator, own, n, tally) - first) / n
    return np.asarray(gaps, dtype=np.float64)


def _sums(generator: np.random.Generator, own: NDArray[np.int64], n: int, tally: Tally) -> Floats:
    """[pairs] sum of ``own`` scores drawn with replacement.

    Drawn one by one where N is small, else as how often each value comes up: the same
    distribution, and time and memory stop growing with N.
    """
    counted = n > SLOWER * len(tally.values)
    step = max(1, CHUNK // (len(tally.values) if counted else n))
    sums = np.empty(len(own))
    for start in range(0, len(own), step):
        part = own[start : start + step]
        if counted:
            drawn = generator.multinomial(part, tally.shares) @ tally.values
        else:
            texts = generator.integers(0, len(tally.scores), size=(len(part), n))
            drawn = (tally.scores[texts] * (np.arange(n) < part[:, None])).sum(axis=1)
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
