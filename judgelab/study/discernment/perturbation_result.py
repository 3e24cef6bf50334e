"""What a judge makes of each perturbation, and of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.discernment.null import (
    DiscernmentThreshold,
    How,
    SummaryThresholds,
    calibrate,
    resampled,
)
from judgelab.stats.discernment.score import discernment, level_balanced
from judgelab.stats.discernment.wilcoxon import ZeroMethod, tidy
from judgelab.stats.intervals.bootstrap import percentile_interval
from judgelab.study.discernment.perturbations import SuiteEntry

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
NONE = DiscernmentThreshold(float("nan"), float("nan"))
"""No calibration was asked for."""

MOST = 1000
"""Shuffled judges behind thresholds of averages and minima: each is tested on everything."""


@dataclass(frozen=True)
class Finding:
    """What the judge makes of one perturbation.

    Attributes:
        perturbation: which.
        changed: how many texts it did not leave as they were, those among them that could not be
            written; where it is 0, nothing else is known.
        d, d_ew: discernment without and with weights.
        p: [metrics].
        weights: [metrics], None for equal ones.
        scored: [metrics] items rated before and after.
        ranked: [metrics] those of them that the test rests on: ``wilcox`` drops the ones rated
            alike.
        draws, draws_ew: [bootstrap] the two on resampled items.
        threshold: what label-shuffled judges reach; NaN without calibration.
    """

    perturbation: SuiteEntry
    changed: int
    d: float
    d_ew: float
    p: Floats
    weights: list[float] | None
    scored: Counts
    ranked: Counts
    draws: Floats
    draws_ew: Floats
    threshold: DiscernmentThreshold

    def fewest(self, counts: Counts, *, weighted: bool) -> int:
        """The count of the metric with the fewest, of those that have weight."""
        used = [not weighted or self.weights is None or w > 0 for w in self.weights or counts]
        return int(counts[used].min())

    @property
    def bar(self) -> float:
        """What ``d_ew`` has to exceed: the calibrated threshold, or 1 (p = .05)."""
        return 1.0 if np.isnan(self.threshold.d_ew) else self.threshold.d_ew

    @property
    def seen(self) -> bool | None:
        """Whether the judge sees the perturbation; None where it is unscored."""
        return None if np.isnan(self.d_ew) else bool(self.d_ew > self.bar)


@dataclass(frozen=True)
class Average:
    """One figure over all perturbations, with its interval and what chance reaches.

    Attributes:
        n: items of the metric and perturbation that has the fewest of them.
        perturbations: over how many it goes; without any nothing is known.
    """

    name: str
    value: float
    low: float
    high: float
    threshold: float
    n: int
    perturbations: int

    def unscored(self, items: int) -> int:
        """How many of all items it does not rest on; none where there was nothing to score."""
        return items - self.n if self.perturbations else 0


def nothing_changed(
    perturbation: SuiteEntry, metrics: int, weights: list[float] | None, bootstrap: int
) -> Finding:
    """The finding on a perturbation that left every text as it was: it says nothing of a judge."""
    nan, none, draws = float("nan"), np.zeros(metrics, dtype=np.int64), np.full(bootstrap, np.nan)
    p = np.full(metrics, nan)
    return Finding(perturbation, 0, nan, nan, p, weights, none, none, draws, draws, NONE)


def finding(
    perturbation: SuiteEntry,
    changed: int,
    original: Floats,
    perturbed: Floats,
    weights: list[float] | None,
    how: How,
    *,
    replicates: int | None,
    bootstrap: int,
    seed: int,
) -> Finding:
    """Test [item, metric] ratings; ``replicates`` None for no calibration."""
    pair = original, perturbed
    score = discernment(*pair, weights, how.zero_method, how.combine, how.method)
    draws, draws_ew = resampled(*pair, weights, how, draws=bootstrap, seed=seed)
    bar = NONE
    if replicates is not None:
        bar = calibrate(*pair, weights, how, replicates=replicates, seed=seed)
    counts = _counts(*pair, how.zero_method)
    return Finding(
        perturbation, changed, score.d, score.d_ew, score.p, weights, *counts, draws, draws_ew, bar
    )


def _counts(original: Floats, perturbed: Floats, zero_method: ZeroMethod) -> tuple[Counts, Counts]:
    """Items [metrics] that are scored, and those that are ranked."""
    differences = tidy(original - perturbed)
    scored = ~np.isnan(differences)
    ranked = scored & (differences != 0) if zero_method == "wilcox" else scored
    return scored.sum(axis=0), ranked.sum(axis=0)


def averages(found: Sequence[Finding], bars: SummaryThresholds) -> list[Average]:
    """Level-balanced averages and minima, each without and with weights.

    Over the perturbations that changed any text; NaN where none did.
    """
    found = [one for one in found if one.changed]
    levels = [one.perturbation.level for one in found]
    made: list[Average] = []
    if not found:
        names = ("average_ew", "minimum_ew", "average", "minimum")
        nan = float("nan")
        return [Average(name, nan, nan, nan, nan, n=0, perturbations=0) for name in names]
    for suffix, values, draws in (
        ("_ew", [one.d_ew for one in found], [one.draws_ew for one in found]),
        ("", [one.d for one in found], [one.draws for one in found]),
    ):
        n = min(one.fewest(one.scored, weighted=bool(suffix)) for one in found)
        stacked = np.stack(draws, axis=-1)
        own = {
            "average": (level_balanced(values, levels), level_balanced(stacked, levels)),
            "minimum": (np.min(values), stacked.min(axis=-1)),
        }
        for name, (value, resamples) in own.items():
            low, high = percentile_interval(resamples)
            bar = getattr(bars, name).d_ew if suffix else getattr(bars, name).d
            made.append(Average(f"{name}{suffix}", float(value), low, high, bar, n, len(found)))
    return made


def verdict(found: Sequence[Finding], mechanism: str) -> str:
    """The sentence a user needs: which perturbations this judge does not see."""

    def named(wanted: Iterable[Finding]) -> str:
        return ", ".join(one.perturbation.name for one in wanted)

    blind = named(one for one in found if one.seen is False)
    unknown = named(one for one in found if one.changed and one.seen is None)
    idle = named(one for one in found if not one.changed)
    if blind:
        said = f"This judge ({mechanism}) does not see: {blind}."
    elif any(one.seen for one in found):
        said = f"This judge ({mechanism}) sees every perturbation that was scored."
    elif unknown:
        said = f"This judge ({mechanism}) has no scores, so nothing is known of what it sees."
    else:
        said = f"No text was changed, so nothing is known of what this judge ({mechanism}) sees."
    said += f" Unscored: {unknown}." if unknown else ""
    return f"{said} Left out, because they changed no text: {idle}." if idle else said
