"""Human scores of single texts, and the noisy estimator that stands for a metric.

Stureborg, Alikaniotis, Suhara: "Characterizing the Confidence of Large Language Model-Based
Automatic Evaluation Metrics", sections 2.2 and appendices B, E, F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgelab.stats.intervals.arrays import Floats


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

    Args:
        scores: human scores of texts, any shape; NaN is left out.
        sd: in place of scores.

    Returns:
        A standard normal where neither is given: differences are then in standard deviations.

    Raises:
        ValueError: both are given, fewer than two scores, infinities, or no spread.
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

    Appendix E, solved: corr(H, H + noise) = s / sqrt(s^2 + noise^2). Any shape.

    Raises:
        ValueError: r is not above 0 and at most 1 (no noise level gives a correlation of 0 or
            less).
    """
    values = np.asarray(r, dtype=np.float64)
    if not ((values > 0) & (values <= 1)).all():
        raise ValueError(
            f"A correlation with people must be above 0 and at most 1, got {values.tolist()}."
        )
    return np.asarray(sd * np.sqrt(1 / values**2 - 1), dtype=np.float64)


def correlation_at_noise(noise: ArrayLike, sd: float) -> Floats:
    """The inverse of ``noise_sd`` (figure 8): s / sqrt(s^2 + noise^2). Any shape."""
    values = np.asarray(noise, dtype=np.float64)
    return np.asarray(sd / np.hypot(sd, values), dtype=np.float64)


def noisy_estimates(scores: ArrayLike, noise: float, draws: int = 1, seed: int = 0) -> Floats:
    """Q(H) = H + N(0, noise^2) (section 2.2.1): [draws, texts] scores of the simulated metric."""
    known = np.asarray(scores, dtype=np.float64).ravel()
    return known + np.random.default_rng(seed).normal(0.0, noise, size=(draws, len(known)))
