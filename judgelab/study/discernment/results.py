"""What the ratings of a judge say: of each perturbation, and of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.stats.discernment.score import (
    DiscernmentScores,
    How,
    Pair,
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
from judgelab.study.discernment.perturbations import SuiteEntry
from judgelab.study.discernment.rated import RatedVariants

Counts = NDArray[np.int64]
NAN = float("nan")
AVERAGES = ("average_ew", "minimum_ew", "average", "minimum")
"""Level-balanced averages and minima over perturbations; ew: with the weights of the metrics."""

MOST = 1000
"""Shuffled judges behind thresholds of averages and minima: each is tested on everything."""

FEWEST = 5
"""Texts that averages and minima ask of a perturbation: with four, not even a fall of all has a p
below .05. Where the data have fewer, all of them."""


TOO_FEW = "too few references"


@dataclass(frozen=True)
class PerturbationResult:
    """What the judge makes of one perturbation.

    Attributes:
        perturbation: which.
        items: how many texts there are.
        changed: how many of them it did not leave as they were, those among them that could not be
            written; where it is 0, nothing else is known.
        score: D without and with weights, and p [metrics].
        weights: [metrics], None for equal ones.
        scored: [metrics] items rated before and after.
        ranked: [metrics] those of them that the test ranks, which are not rated alike.
        d, most: D and the largest there is, on all items and without each of them, [1 + items, 2]:
            without weights, with weights.
        threshold: what label-shuffled judges reach, of both.
    """

    perturbation: SuiteEntry
    items: int
    changed: int
    score: DiscernmentScores
    weights: list[float] | None
    scored: Counts
    ranked: Counts
    d: Floats
    most: Floats
    threshold: Pair

    @property
    def counts(self) -> bool:
        """Whether it changed enough texts to have a part in averages and minima."""
        return self.changed >= max(1, min(FEWEST, self.items))

    def fewest(self, counts: Counts, *, weighted: bool) -> int:
        """The count of the metric with the fewest, of those that have weight."""
        if weighted and self.weights is not None:
            counts = counts[np.array(self.weights) > 0]
        return int(counts.min())

    @property
    def estimate(self) -> Estimate:
        """D with weights; n: items of the metric that has the fewest."""
        low, high = discernment_ends(self.d[:, 1], self.most[:, 1])
        n = self.fewest(self.scored, weighted=True)
        return Estimate(self.score.d_ew, float(low), float(high), n)

    @property
    def small(self) -> bool:
        """Whether too few texts were rated for D = 1: if all of them fell, p would exceed .05."""
        return bool(self.most[0, 1] < 1.0)

    @property
    def seen(self) -> bool | None:
        """Whether D with weights exceeds its threshold; None: unscored, or too few texts to say."""
        if np.isnan(self.score.d_ew) or self.small:
            return None
        return bool(self.score.d_ew > self.threshold[1])

    @property
    def seen_in_words(self) -> str:
        """yes, no, or why there is no answer."""
        if not self.changed:
            return "nothing changed"
        if self.seen is None:
            return TOO_FEW if self.small else "unscored"
        return "yes" if self.seen else "no"


@dataclass(frozen=True)
class JudgeResult:
    """What the ratings of one judge say of it.

    Attributes:
        rated: what it was asked, and its ratings.
        informative: these, NaN where they say nothing of it.
        found: of each perturbation.
        over: AVERAGES -> value with its interval (n: items of the metric and perturbation that has
            the fewest), and what chance reaches.
    """

    rated: RatedVariants
    informative: Floats
    found: Sequence[PerturbationResult]
    over: Mapping[str, tuple[Estimate, float]]

    @classmethod
    def of(
        cls, rated: RatedVariants, weights: ExpertWeights, how: How, replicates: int
    ) -> JudgeResult:
        """Test each perturbation, against so many label-shuffled judges."""
        ratings, seed = rated.degraded.informative(rated.ratings), rated.context.seed
        found, metrics = [], rated.metrics
        for place, one in enumerate(rated.degraded.suite.perturbations, start=1):
            own = weights.of((one.name, one.attack.name), metrics) if len(metrics) > 1 else None
            changed = int(rated.degraded.changed(place).sum())
            before, after = ratings[0], ratings[place]
            if not changed:
                before, after = np.full_like(before, NAN), np.full_like(after, NAN)
            change = tidy(before - after)
            scored = ~np.isnan(change)
            found.append(
                PerturbationResult(
                    one,
                    len(change),
                    changed,
                    discernment(before, after, own, how),
                    own,
                    scored.sum(axis=0),
                    (scored & (change != 0)).sum(axis=0),
                    *left_out(before, after, own, how),
                    calibrate(before, after, own, how, replicates=replicates, seed=seed),
                )
            )
        return cls(rated, ratings, found, _over(found, ratings, how, replicates, seed))

    @property
    def average(self) -> tuple[Estimate, float]:
        """Of D over levels, with the weights of the metrics, and what chance reaches."""
        return self.over["average_ew"]

    @property
    def answers(self) -> dict[str, list[str]]:
        """Perturbations of enough texts by ``seen_in_words``."""
        named: dict[str, list[str]] = {"yes": [], "no": [], "unscored": [], TOO_FEW: []}
        for one in self.found:
            if one.counts:
                named[one.seen_in_words].append(one.perturbation.name)
        return named

    @property
    def unseen(self) -> list[str]:
        """Perturbations of enough texts that it does not see."""
        return self.answers["no"]

    @property
    def unscored_texts(self) -> int:
        """Texts of which some rating is missing."""
        return int(np.isnan(self.rated.ratings).any(axis=2).sum())


def _over(
    found: Sequence[PerturbationResult],
    ratings: Floats,
    how: How,
    replicates: int,
    seed: int,
) -> dict[str, tuple[Estimate, float]]:
    """AVERAGES over the perturbations that changed enough texts; NaN where none did."""
    places = [place for place, one in enumerate(found) if one.counts]
    if not places:
        return dict.fromkeys(AVERAGES, (Estimate(NAN, NAN, NAN, 0), NAN))
    found = [found[place] for place in places]
    levels = [one.perturbation.level for one in found]
    rated, own = ratings[[0, *(place + 1 for place in places)]], [o.weights for o in found]
    count = min(replicates, MOST)
    bars = calibrate_summary(rated, own, levels, how, replicates=count, seed=seed)
    over = {}
    for name in AVERAGES:
        place, kind = int(name.endswith("_ew")), name.removesuffix("_ew")
        d, most = (
            np.stack([x[:, place] for x in side], axis=-1)
            for side in ([one.d for one in found], [one.most for one in found])
        )
        both = [level_balanced(x, levels) if kind == "average" else x.min(-1) for x in (d, most)]
        low, high = map(float, discernment_ends(*both))
        n = min(one.fewest(one.scored, weighted=bool(place)) for one in found)
        estimate = Estimate(float(both[0][0]), low, high, n, ratings.shape[1] - n)
        over[name] = estimate, bars[kind][place]
    return over
