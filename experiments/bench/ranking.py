"""Ranking confidence: the paper's whole grid, and Algorithm 1 written down in plain loops.

The job: 100 differences x 10 correlations x 20,000 draws (100 pairs of systems, 200 evaluations
each) for 100 items and 1,200 human scores. Two sides:

* judgelab: ``confidence`` of the whole grid;
* plain loops: Algorithm 1 line by line (a kernel density of scipy, a loop over pairs, a loop over
  evaluations, numpy for the texts within), on a slice: a few cells and pairs, all evaluations.
  The whole grid takes minutes that way, so the slice is scaled up; the JSON holds both figures.

Before anything is timed, both sides are held against each other on the slice's first cell.

Run: ``python -m experiments.bench.ranking [--out outputs/bench/ranking.json]``
"""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from experiments.command import run_benchmark
from judgelab.stats.ranking.confidence import confidence
from judgelab.stats.ranking.simulation import Draws

Array = NDArray[np.float64]

SEED = 0
TARGET = 100.0
LIMIT = 10.0  # seconds for the whole grid


@dataclass(frozen=True)
class Setting:
    """Size of the job; the plain loops run ``plain_cells`` cells with ``plain_pairs`` pairs."""

    deltas: int = 100
    correlations: int = 10
    pairs: int = 100
    evaluations: int = 200
    items: int = 100
    scores: int = 1200
    repeats: int = 3
    plain_cells: int = 4
    plain_pairs: int = 5


def human_scores(count: int) -> Array:
    """Shares of content units found, in twelfths: skewed, many zeros, as ACU scores are."""
    generator = np.random.default_rng(SEED)
    return np.asarray(generator.binomial(12, generator.beta(1.3, 2.0, size=count)) / 12)


def grid(setting: Setting) -> tuple[Array, Array]:
    """Correlations [correlations, 1] and differences [deltas]."""
    steps = np.arange(1, setting.correlations + 1) / setting.correlations
    return steps[:, None] * 0.95, np.arange(1, setting.deltas + 1) / setting.deltas


def judgelab_side(setting: Setting, human: Array) -> Array:
    """Confidence [correlations, deltas]."""
    r, delta = grid(setting)
    draws = Draws(setting.pairs, setting.evaluations, SEED)
    return confidence(r, setting.items, delta, human, draws=draws).value


def plain_loops(
    setting: Setting, human: Array, cells: Sequence[tuple[float, float]], pairs: int
) -> list[list[float]]:
    """Algorithm 1: for each cell the share of correct evaluations of each pair of systems."""
    generator = np.random.default_rng(SEED)
    density, found = gaussian_kde(human), []
    for r, delta in cells:
        sigma = human.std() * math.sqrt(1 / r**2 - 1)
        shares = []
        for _ in range(pairs):
            a = density.resample(setting.items, seed=generator)[0]
            b = density.resample(setting.items, seed=generator)[0] + delta
            correct = 0
            for _ in range(setting.evaluations):
                first = np.mean(a + generator.normal(0.0, sigma, setting.items))
                second = np.mean(b + generator.normal(0.0, sigma, setting.items))
                correct += (first < second) == (delta > 0)
            shares.append(correct / setting.evaluations)
        found.append(shares)
    return found


def slice_of(setting: Setting) -> list[tuple[float, float]]:
    """The cells that the plain loops run: spread over the grid, in its steep part."""
    r, delta = grid(setting)
    rows = np.linspace(0, setting.correlations - 1, setting.plain_cells).astype(int)
    columns = np.linspace(0, (setting.deltas - 1) // 5, setting.plain_cells).astype(int)
    return [(float(r[i, 0]), float(delta[j])) for i, j in zip(rows, columns, strict=True)]


def difference(setting: Setting, human: Array) -> float:
    """How far the sides are apart on one cell, in standard errors of the difference."""
    cell, pairs = (0.4, 0.05), max(40, setting.plain_pairs)
    shares = np.array(plain_loops(setting, human, [cell], pairs)[0])
    draws = Draws(20 * pairs, setting.evaluations, SEED)
    ours = confidence(cell[0], setting.items, cell[1], human, draws=draws)
    error = math.hypot(float(ours.standard_error), float(shares.std(ddof=1)) / math.sqrt(pairs))
    return abs(float(ours.value) - float(shares.mean())) / error


def measure(setting: Setting) -> dict[str, Any]:
    """Check that the sides agree, time them in turn, and put the figures together."""
    human = human_scores(setting.scores)
    gap = difference(setting, human)
    if not gap < 4:
        raise SystemExit(f"The sides are {gap:.1f} standard errors apart: nothing is reported.")
    cells = slice_of(setting)
    whole: list[float] = []
    part: list[float] = []
    for _ in range(setting.repeats):  # in turn, so a busy machine slows both
        start = time.perf_counter()
        judgelab_side(setting, human)
        middle = time.perf_counter()
        plain_loops(setting, human, cells, setting.plain_pairs)
        whole.append(middle - start)
        part.append(time.perf_counter() - middle)
    scale = setting.deltas * setting.correlations * setting.pairs
    scale_up = scale / (setting.plain_cells * setting.plain_pairs)
    ours, theirs = statistics.median(whole), statistics.median(part) * scale_up
    return {
        "job": "Algorithm 1: confidence over a grid of differences and correlations",
        "setting": vars(setting),
        "difference_in_standard_errors": gap,
        "median_seconds": {
            "judgelab_whole_grid": ours,
            "plain_loops_slice_measured": statistics.median(part),
            "plain_loops_whole_extrapolated": theirs,
        },
        "repeats_seconds": {"judgelab": whole, "plain_loops_slice": part},
        "ratio": theirs / ours,
        "target_ratio": TARGET,
        "limit_seconds": LIMIT,
        "machine": {
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            **{name: version(name) for name in ("numpy", "scipy")},
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where the ratio or the time misses its target."""
    return run_benchmark(
        argv,
        "Algorithm 1: judgelab against plain loops.",
        "outputs/bench/ranking.json",
        Setting,
        measure,
        show,
    )


def show(report: dict[str, Any], setting: Setting) -> bool:
    """The figures as text; whether they meet the targets."""
    median, ratio = report["median_seconds"], report["ratio"]
    seconds, plain = median["judgelab_whole_grid"], median["plain_loops_whole_extrapolated"]
    print(
        f"Algorithm 1, {setting.deltas} deltas x {setting.correlations} correlations x "
        f"{setting.pairs * setting.evaluations} draws, {setting.items} items, medians of "
        f"{setting.repeats} (sides {report['difference_in_standard_errors']:.1f} standard errors "
        "apart)"
    )
    print(f"  judgelab.stats, whole grid   {seconds:10.2f} s  (limit {LIMIT:.0f} s)")
    print(
        f"  plain loops, whole grid      {plain:10.1f} s  = {ratio:.0f} x (extrapolated from "
        f"{setting.plain_cells * setting.plain_pairs} of "
        f"{setting.deltas * setting.correlations * setting.pairs} pairs of systems)"
    )
    return bool(ratio >= TARGET and seconds < LIMIT)


if __name__ == "__main__":
    sys.exit(main())
