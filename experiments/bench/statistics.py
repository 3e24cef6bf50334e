"""Item AUC with a bootstrap interval: judgelab.stats against loops over scikit-learn.

The job: 4 mechanisms x 200 items x 30 agents, AUC per item, mean over items, percentile interval
from 1,000 resamples of items. Three sides compute it from the same scores and resamples:

* judgelab: ``item_auc`` and ``macro_auc`` as a study calls them (which also draws the resamples
  and makes a sign-flip test, so this side does more than the others);
* cached loop: ``roc_auc_score`` once per item, then a Python loop that averages every resample:
  what a careful script does;
* naive loop: ``roc_auc_score`` again for every item of every resample. The whole of it takes
  the better part of an hour, so a stated number of resamples of one mechanism is timed and
  scaled up; the JSON holds both figures.

Run: ``python -m experiments.bench.statistics [--out outputs/bench/statistics.json]``
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.command import run_benchmark
from judgelab.stats.discrimination.auc import item_auc, macro_auc
from judgelab.stats.intervals.bootstrap import item_draws

Array = NDArray[np.float64]
Result = list[tuple[Array, float, float, float]]
"""Per mechanism: AUC of every item, their mean, lower and upper end of the interval."""

SEED = 0
TOLERANCE = 1e-12
TARGET = 10.0


@dataclass(frozen=True)
class Setting:
    """Size of the job; ``naive_draws`` resamples of one mechanism are timed naively."""

    mechanisms: int = 4
    items: int = 200
    agents: int = 30
    draws: int = 1000
    repeats: int = 5
    naive_draws: int = 1


@dataclass(frozen=True)
class Job:
    """Scores [mechanisms, items, agents] in steps of .05, so that ties are frequent."""

    scores: Array
    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    resamples: NDArray[np.int64]


def make_job(setting: Setting) -> Job:
    """Good agents score higher on average; one agent belongs to neither group."""
    generator = np.random.default_rng(SEED)
    agents = np.arange(setting.agents)
    positive = (agents > 0) & (agents % 2 == 0)
    negative = agents % 2 == 1
    raw = generator.normal(size=(setting.mechanisms, setting.items, setting.agents))
    scores = np.round((raw + 0.7 * positive) * 4) / 20
    resamples = item_draws(setting.items, setting.draws, SEED)
    return Job(scores, positive, negative, resamples)


def judgelab_side(job: Job) -> Result:
    """The library; it draws the job's resamples again from the same seed."""
    result = []
    for scores in job.scores:
        aucs = item_auc(scores, job.positive, job.negative)
        mean = macro_auc(aucs, draws=len(job.resamples), seed=SEED, interval="percentile")
        result.append((aucs, mean.value, mean.low, mean.high))
    return result


def sklearn_aucs(scores: Array, job: Job) -> Array:
    """AUC of each row by roc_auc_score."""
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped, unused-ignore]

    tested = job.positive | job.negative
    labels = job.positive[tested]
    return np.array([roc_auc_score(labels, row[tested]) for row in scores])


def cached_side(job: Job) -> Result:
    """roc_auc_score once per item, a Python loop over the resamples."""
    result = []
    for scores in job.scores:
        aucs = sklearn_aucs(scores, job)
        means = [float(np.mean(aucs[resample])) for resample in job.resamples]
        low, high = np.percentile(means, [2.5, 97.5])
        result.append((aucs, float(np.mean(aucs)), float(low), float(high)))
    return result


def naive_means(job: Job, draws: int) -> Array:
    """Bootstrap means [draws] of the first mechanism, roc_auc_score for every resampled item."""
    scores = job.scores[0]
    means = [np.mean(sklearn_aucs(scores[resample], job)) for resample in job.resamples[:draws]]
    return np.array(means, dtype=np.float64)


def timed(sides: dict[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Wall times of each side; the sides take turns, so a busy machine slows all of them."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, call in sides.items():
            start = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - start)
    return taken


def difference(job: Job, draws: int) -> float:
    """Largest difference between the sides, over AUCs, means, intervals and naive resamples."""
    ours, theirs = judgelab_side(job), cached_side(job)
    gaps = [
        float(np.max(np.abs(np.append(mine[0], mine[1:]) - np.append(other[0], other[1:]))))
        for mine, other in zip(ours, theirs, strict=True)
    ]
    resampled = np.array([ours[0][0][resample].mean() for resample in job.resamples[:draws]])
    gaps.append(float(np.max(np.abs(resampled - naive_means(job, draws)))))
    return max(gaps)


def measure(setting: Setting) -> dict[str, Any]:
    """Check that all sides agree, time them in turn, and put the figures together."""
    job = make_job(setting)
    gap = difference(job, setting.naive_draws)
    if not gap < TOLERANCE:
        raise SystemExit(f"The sides disagree by {gap:.3g}: no timing is worth reporting.")
    sides: dict[str, Callable[[], object]] = {
        "judgelab": lambda: judgelab_side(job),
        "sklearn_cached": lambda: cached_side(job),
        "sklearn_naive_slice": lambda: naive_means(job, setting.naive_draws),
    }
    times = timed(sides, setting.repeats)  # warm: the check above ran every side once
    median = {side: statistics.median(taken) for side, taken in times.items()}
    whole = median["sklearn_naive_slice"] * setting.mechanisms * setting.draws / setting.naive_draws
    return {
        "job": "item AUC, macro mean and percentile interval over resampled items",
        "setting": vars(setting),
        "max_abs_difference": gap,
        "median_seconds": {
            "judgelab": median["judgelab"],
            "sklearn_cached": median["sklearn_cached"],
            "sklearn_naive_slice_measured": median["sklearn_naive_slice"],
            "sklearn_naive_whole_extrapolated": whole,
        },
        "repeats_seconds": times,
        "ratio": {
            "sklearn_cached": median["sklearn_cached"] / median["judgelab"],
            "sklearn_naive_extrapolated": whole / median["judgelab"],
        },
        "target_ratio": TARGET,
        "machine": {
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        },
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, write; 1 where the ratio to the cached loop misses the target."""
    return run_benchmark(
        argv,
        "Item AUC: judgelab against scikit-learn loops.",
        "outputs/bench/statistics.json",
        Setting,
        measure,
        show,
    )


def show(report: dict[str, Any], setting: Setting) -> bool:
    """The figures as text; whether they meet the target."""
    median, ratio = report["median_seconds"], report["ratio"]
    print(
        f"item AUC + {setting.draws} resamples, {setting.items} items x {setting.agents} agents x "
        f"{setting.mechanisms} mechanisms, medians of {setting.repeats} (same numbers to "
        f"{report['max_abs_difference']:.0e})"
    )
    print(f"  judgelab.stats                      {median['judgelab']:10.4f} s")
    print(
        f"  scikit-learn, AUC once per item     {median['sklearn_cached']:10.4f} s  "
        f"= {ratio['sklearn_cached']:.0f} x"
    )
    print(
        f"  scikit-learn, AUC in every resample "
        f"{median['sklearn_naive_whole_extrapolated']:10.1f} s  "
        f"= {ratio['sklearn_naive_extrapolated']:.0f} x (extrapolated from "
        f"{setting.naive_draws} of {setting.draws * setting.mechanisms} resamples)"
    )
    return bool(ratio["sklearn_cached"] >= TARGET)


if __name__ == "__main__":
    sys.exit(main())
