"""What a judge makes of each perturbation, and of all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.discernment.score import (
    DiscernmentScores,
    DiscernmentThreshold,
    How,
    LeftOut,
    SummaryThresholds,
    calibrate,
    calibrate_summary,
    discernment,
    discernment_ends,
    left_out,
    level_balanced,
)
from judgelab.stats.discernment.wilcoxon import tidy
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.discernment.expert_weights import ExpertWeights
from judgelab.study.discernment.perturbations import Degraded, SuiteEntry

Counts = NDArray[np.int64]
NAN = float("nan")
NONE = DiscernmentThreshold(NAN, NAN)
"""No calibration was asked for."""

MOST = 1000
"""Shuffled judges behind thresholds of averages and minima: each is tested on everything."""


FEWEST = 5
"""Texts that averages and minima ask of a perturbation: with four, not even a fall of all has a p
below .05. Where the data have fewer, all of them."""


@dataclass(frozen=True)
class PerturbationResult:
    """What the judge makes of one perturbation.

    Attributes:
        perturbation: which.
        changed: how many texts it did not leave as they were, those among them that could not be
            written; where it is 0, nothing else is known.
        score: D without and with weights, and p [metrics].
        weights: [metrics], None for equal ones.
        scored: [metrics] items rated before and after.
        ranked: [metrics] those of them that the test ranks: ``wilcox`` drops the ones rated alike.
        left: D, and the largest there is, on all items and without each of them.
        threshold: what label-shuffled judges reach; NaN without calibration.
    """

    perturbation: SuiteEntry
    changed: int
    score: DiscernmentScores
    weights: list[float] | None
    scored: Counts
    ranked: Counts
    left: LeftOut
    threshold: DiscernmentThreshold

    def counts_among(self, items: int) -> bool:
        """Whether it changed enough of so many texts to have a part in averages and minima."""
        return self.changed >= max(1, min(FEWEST, items))

    def fewest(self, counts: Counts, *, weighted: bool) -> int:
        """The count of the metric with the fewest, of those that have weight."""
        if weighted and self.weights is not None:
            counts = counts[np.array(self.weights) > 0]
        return int(counts.min())

    @property
    def estimate(self) -> Estimate:
        """D with weights; n: items of the metric that has the fewest."""
        n = self.fewest(self.scored, weighted=True)
        low, high = discernment_ends(self.left.d[:, 1], self.left.most[:, 1])
        return Estimate(self.score.d_ew, float(low), float(high), n)

    @property
    def seen(self) -> bool | None:
        """Whether D with weights exceeds its threshold, 1 (p = .05) without; None: unscored."""
        bar = 1.0 if np.isnan(self.threshold.d_ew) else self.threshold.d_ew
        return None if np.isnan(self.score.d_ew) else bool(self.score.d_ew > bar)

    @property
    def seen_in_words(self) -> str:
        """yes, no, or why there is no answer."""
        if not self.changed:
            return "nothing changed"
        return {None: "unscored", True: "yes", False: "no"}[self.seen]


@dataclass(frozen=True)
class Average:
    """One figure over all perturbations, with its interval and what chance reaches.

    Attributes:
        estimate: n: items of the metric and perturbation that has the fewest of them.
        perturbations: over how many it goes; without any nothing is known.
    """

    name: str
    estimate: Estimate
    threshold: float
    perturbations: int


@dataclass(frozen=True)
class Testing:
    """How perturbations are tested; ``replicates`` None for no calibration."""

    how: How
    replicates: int | None
    seed: int

    def results(
        self, degraded: Degraded, ratings: Floats, metrics: Sequence[str], expert: ExpertWeights
    ) -> list[PerturbationResult]:
        """Of ratings [variant, item, metric], the originals' first."""
        found = []
        for place, one in enumerate(degraded.suite.perturbations, start=1):
            own = expert.of((one.name, one.attack.name), metrics) if len(metrics) > 1 else None
            changed = int(degraded.changed(place).sum())
            found.append(self._result(one, changed, (ratings[0], ratings[place]), own))
        return found

    def _result(
        self,
        perturbation: SuiteEntry,
        changed: int,
        ratings: tuple[Floats, Floats],
        weights: list[float] | None,
    ) -> PerturbationResult:
        """Of ratings [item, metric] before and after; of none where nothing was changed."""
        how, seed = self.how, self.seed
        if not changed:
            ratings = np.full_like(ratings[0], NAN), np.full_like(ratings[1], NAN)
        score = discernment(*ratings, weights, how)
        left = left_out(*ratings, weights, how)
        bar = NONE
        if self.replicates is not None:
            bar = calibrate(*ratings, weights, how, replicates=self.replicates, seed=seed)
        change = tidy(ratings[0] - ratings[1])
        scored = ~np.isnan(change)
        ranked = scored & (change != 0) if how.zero_method == "wilcox" else scored
        counts = scored.sum(axis=0), ranked.sum(axis=0)
        return PerturbationResult(perturbation, changed, score, weights, *counts, left, bar)

    def bars(self, ratings: Floats, found: Sequence[PerturbationResult]) -> SummaryThresholds:
        """Thresholds over all perturbations that changed enough texts."""
        items = ratings.shape[1]
        places = [place for place, one in enumerate(found) if one.counts_among(items)]
        if self.replicates is None or not places:
            return SummaryThresholds(NONE, NONE)
        rated = ratings[[0, *(place + 1 for place in places)]]
        levels = [found[place].perturbation.level for place in places]
        own = [found[place].weights for place in places]
        count = min(self.replicates, MOST)
        return calibrate_summary(rated, own, levels, self.how, replicates=count, seed=self.seed)


def averages(
    found: Sequence[PerturbationResult], bars: SummaryThresholds, items: int
) -> list[Average]:
    """Level-balanced averages and minima, each with and without weights.

    Over the perturbations that changed enough texts; NaN where none did.
    """
    found = [one for one in found if one.counts_among(items)]
    if not found:
        names = ("average_ew", "minimum_ew", "average", "minimum")
        return [Average(name, Estimate(NAN, NAN, NAN, 0), NAN, 0) for name in names]
    levels = [one.perturbation.level for one in found]
    made: list[Average] = []
    for place, suffix in ((1, "_ew"), (0, "")):
        values = [getattr(one.score, f"d{suffix}") for one in found]
        d, most = (
            np.stack([getattr(one.left, side)[:, place] for one in found], axis=-1)
            for side in ("d", "most")
        )
        n = min(one.fewest(one.scored, weighted=bool(suffix)) for one in found)
        for name, value, parts in (
            (
                "average",
                level_balanced(values, levels),
                [level_balanced(x, levels) for x in (d, most)],
            ),
            ("minimum", np.min(values), [x.min(axis=-1) for x in (d, most)]),
        ):
            low, high = map(float, discernment_ends(*parts))
            bar = getattr(getattr(bars, name), f"d{suffix}")
            estimate = Estimate(float(value), low, high, n, items - n)
            made.append(Average(f"{name}{suffix}", estimate, bar, len(found)))
    return made


def verdict(found: Sequence[PerturbationResult], mechanism: str, items: int) -> tuple[str, str]:
    """(heading, sentence) that a user needs: which perturbations this judge does not see."""

    def named(wanted: Iterable[PerturbationResult]) -> str:
        return ", ".join(one.perturbation.name for one in wanted)

    changed = [one for one in found if one.changed]
    enough = [one for one in changed if one.counts_among(items)]
    blind = named(one for one in enough if one.seen is False)
    unknown = named(one for one in enough if one.seen is None)
    idle = named(one for one in found if not one.changed)
    few = ", ".join(
        f"{one.perturbation.name} ({one.changed} of {items} texts)"
        for one in changed
        if not one.counts_among(items)
    )
    heading = "Not known what it sees"
    if blind:
        heading = "Does not see every perturbation"
        said = f"This judge ({mechanism}) does not see: {blind}."
    elif any(one.seen for one in enough):
        heading = "Sees every perturbation that was scored"
        said = f"This judge ({mechanism}) sees every perturbation that was scored."
    elif unknown:
        said = f"This judge ({mechanism}) has no scores, so nothing is known of what it sees."
    elif few:
        said = f"Too few texts were changed to say what this judge ({mechanism}) sees: {few}."
    else:
        said = f"No text was changed, so nothing is known of what this judge ({mechanism}) sees."
    said += f" Unscored: {unknown}." if unknown else ""
    said += f" Too few texts to say, and no part of averages: {few}." if few and enough else ""
    said += f" Left out, because they changed no text: {idle}." if idle else ""
    return heading, said
