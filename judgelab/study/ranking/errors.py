"""The judge's errors on single texts beside the noise of Algorithm 1 (figure 2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.stats.ranking.simulation import noise_sd
from judgelab.study.common.tables import estimate_table
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.scored import Scored

BINS = 12
WIDEST = 3.0  # sds of the noise, where the last bin begins


def error_table(scored: Scored, judge: RankingJudge) -> Table | None:
    """Shares of texts by the size of the judge's error, observed and as Gaussian noise has it.

    The metric is brought to human units by the judge's slope, and its mean to people's, so that
    the error of a text is what Algorithm 1 draws: of sd s sqrt(1 / r^2 - 1). No table for a judge
    without noise.
    """
    noise = float(noise_sd(judge.r.value, judge.sd))
    both = ~np.isnan(scored.human) & ~np.isnan(scored.metric)
    if not (noise > 0 and both.any()):
        return None
    apart = scored.metric / judge.slope - scored.human
    size = np.abs(apart - apart[both].mean())
    edges = np.append(np.linspace(0, WIDEST * noise, BINS), np.inf)
    cells: list[tuple[Row, Estimate]] = []
    for low, high in pairwise(edges):
        inside = np.where(both, (size >= low) & (size < high), np.nan)
        share = 2 * (ndtr(high / noise) - ndtr(low / noise))
        head: Row = {
            "from": float(low),
            "to": float(high) if np.isfinite(high) else None,
            "simulated": float(share),
        }
        cells.append((head, item_mean(row_means(inside), (0.0, 1.0))))
    note = (
        "Absolute errors of single texts in human units, as shares of the texts: value is observed "
        "(mean over items, interval over them; n counts items), simulated is Gaussian "
        f"noise of sd {noise:.3g}, which gives r = {judge.r.value:.2f} (s sqrt(1/r^2 - 1))."
    )
    return estimate_table("errors", "The judge's errors and the noise in their place", cells, note)
