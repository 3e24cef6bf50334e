"""A ranking and all that its tables and notes are about."""

from __future__ import annotations

from dataclasses import dataclass

from judgelab.stats.discrimination.correlation import Method, clustered_correlation
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.ranking.calibration import Model
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.scored import Scored

CORRELATIONS: dict[str, Method] = {"r": "pearson", "rho": "spearman", "tau": "kendall"}


@dataclass(frozen=True)
class Ranked:
    """Scores, the judge behind them, and every pair in the metric's order.

    Attributes:
        model: by which the confidence in people's order is computed; None: it cannot be said.
    """

    scored: Scored
    judge: RankingJudge
    pairs: OrderedPairs
    model: Model | None

    def correlations(self, draws: int, seed: int) -> dict[str, Estimate]:
        """Pearson's r, Spearman's rho and Kendall's tau-b with people over single texts here.

        Nothing where people scored no text here.
        """
        if not self.scored.annotated:
            return {}
        return {
            name: clustered_correlation(self.scored.metric, self.scored.human, method, draws, seed)
            for name, method in CORRELATIONS.items()
        }
