"""One question of a planner: two systems, a difference, a confidence, and what is known."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from judgelab.core.errors import ConfigError
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.ranking.confidence import (
    Circumstances,
    Confidence,
    Method,
    confidence,
    minimum_delta,
    required_n,
    required_r,
)
from judgelab.stats.ranking.simulation import Draws


@dataclass(frozen=True)
class Question:
    """The arguments that all answers share.

    Attributes:
        delta: difference of the true means, human units.
        target: confidence asked for.
        sd: of human scores.
        scores: human scores in place of ``sd``.
        item_correlation: of the two systems' metric scores on an item; both answer the same.
        system_bias_sd: of the judge between systems, human units.
        empty: cells of the human scores' column that hold none.
    """

    delta: float
    target: float
    sd: float
    scores: Floats | None = None
    item_correlation: float = 0.0
    system_bias_sd: float = 0.0
    empty: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.delta < math.inf:
            raise ConfigError(f"study.delta={self.delta} must be above 0, and finite.")
        if not 0.5 < self.target < 1:
            raise ConfigError(f"study.confidence={self.target} must be above .5 and below 1.")
        if not 0 < self.sd < math.inf:
            raise ConfigError(f"study.sd={self.sd} must be above 0, and finite.")
        if not 0 <= self.item_correlation < 1:
            raise ConfigError(
                f"study.item_correlation={self.item_correlation} must be 0 or more and below 1."
            )
        if not 0 <= self.system_bias_sd < math.inf:
            raise ConfigError(
                f"study.system_bias_sd={self.system_bias_sd} must not be negative, and finite."
            )

    def items(self, r: float) -> float:
        """Fewest items; infinite where no number is enough."""
        return required_n(r, self.delta, self.target, self.scores, **self._known)

    def correlation(self, n: float) -> float:
        """Least correlation; infinite where none is enough."""
        return required_r(n, self.delta, self.target, self.scores, **self._known)

    def difference(self, r: float, n: float) -> float:
        """Least difference."""
        return minimum_delta(r, n, self.target, self.scores, **self._known)

    def sure(
        self, r: ArrayLike, n: ArrayLike, method: Method = "closed_form", draws: Draws | None = None
    ) -> Confidence:
        """Confidence with these items."""
        return confidence(r, n, self.delta, self.scores, method=method, draws=draws, **self._known)

    @property
    def _known(self) -> Circumstances:
        return {
            "sd": self.sd if self.scores is None else None,
            "paired": True,
            "item_correlation": self.item_correlation,
            "system_bias_sd": self.system_bias_sd,
        }
