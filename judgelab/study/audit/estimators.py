"""All estimators of one number for all judges, and which of them holds for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgelab.core.judgments import Floats, Mask
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.trust.judge_shift import shift
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import (
    Corrected,
    Target,
    Tuning,
    estimate,
    judge_alone,
    people_alone,
)
from judgelab.stats.trust.rogan_gladen import TrueRate, rate_behind
from judgelab.stats.trust.stratified import by_stratum, strata_of, unevenly_labelled
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.quantities import Quantity
from judgelab.study.audit.unseen import unseen_strata

RARE = 5
"""Labels of the rarer class below which only people alone (Wilson) hold."""

Use = Literal["corrected", "people_alone", "from_error_rates", "none"]


@dataclass(frozen=True)
class Correction:
    """Settings of ``CorrectedMean``."""

    target: Target
    tuning: Tuning
    folds: int
    strata: bool | None


@dataclass(frozen=True)
class Estimates:
    """All estimators of one number, [judges] each.

    Attributes:
        alone, people, corrected: the judge's own mean, people's, and both together.
        off: the judge's own minus the corrected one.
        errors: by Rogan and Gladen; None where the number is no rate.
        strata: whether labels of strata weigh by the strata's shares.
        unscored: labelled units without a verdict of the judge.
    """

    number: Quantity
    alone: Corrected
    people: Corrected
    corrected: Corrected
    off: Corrected
    errors: TrueRate | None
    strata: bool
    unscored: Floats

    @staticmethod
    def of(case: AuditCase, number: Quantity, how: Correction) -> Estimates:
        """From the judgments of a case."""
        units, level = case.table.units.at(number.chosen), 1 - case.rules.alpha
        cluster = case.table.clusters[number.chosen]
        labelled: Mask = ~np.isnan(number.truth)
        known = not np.isnan(units.chance[labelled]).any()

        def pool(chosen: Mask) -> LabelledPool:
            places = np.unique(cluster[chosen], return_inverse=True)[1]
            chance = units.chance[chosen] if known else None
            values = number.values[:, chosen]
            return LabelledPool.of(number.truth[chosen], values, places, chance)

        other_scale = how.tuning == "power" and not number.rate
        tuning: Tuning = "scaled" if other_scale else how.tuning

        def corrected(one: LabelledPool, share: bool = False) -> Corrected:
            return estimate(
                one, tuning, how.target, folds=how.folds, level=level, share=share,
                skewed=not number.rate,
            )  # fmt: skip

        def off(one: LabelledPool) -> Corrected:
            return shift(one, level, number.rate, "power" if number.rate else "scaled")

        whole = pool(np.ones(len(labelled), np.bool_))
        stratum = strata_of(units.stratum, labelled)
        apart = how.strata
        if apart is None:
            alike = not known or all(
                np.ptp(units.chance[labelled & (stratum == k)]) == 0 for k in stratum[labelled]
            )
            apart = alike and unevenly_labelled(units.stratum, labelled)
        apart = apart and stratum.max(initial=0) > 0
        if apart:
            made = by_stratum(pool, corrected, stratum, how.target, level=level, share=number.rate)
            gap = by_stratum(pool, off, stratum, level=level)
        else:
            made = corrected(whole, number.rate)
            gap = off(whole)
        return Estimates(
            number,
            judge_alone(whole, level),
            people_alone(whole, how.target, level, number.rate),
            made,
            gap,
            rate_behind(whole, level) if number.rate else None,
            apart,
            (labelled & np.isnan(number.values)).sum(axis=1),
        )

    def which(self, case: AuditCase, k: int) -> tuple[Use, str]:
        """The estimator that holds for a judge, and why."""
        units = case.table.units.at(self.number.chosen)
        judged = ~np.isnan(self.number.values[k])
        there = ~np.isnan(self.number.truth) & judged
        items, least = len(set(units.cluster[there])), case.rules.labels
        if missing := unseen_strata(units.stratum, judged, there):
            return "none", f"no label is from {missing[0]!r}, of which verdicts are"
        if case.sampled is None:
            return "none", "nobody said whether labels were drawn at random (study.sampled)"
        if not case.sampled:
            return self._not_random(k)
        if items < least:
            return "people_alone", f"fewer than {least} labelled items ({items})"
        weight = case.table.weight[self.number.chosen][there]
        as_many = int(divide(weight.sum() ** 2, (weight**2).sum()))
        if as_many < least <= items:
            return "none", f"few labels count for nearly all: as much as {as_many} drawn evenly"
        truth = self.number.truth[there]
        rarer = min(int((truth > 0.5).sum()), int((truth < 0.5).sum()))
        if self.number.rate and rarer < RARE:
            return "people_alone", f"fewer than {RARE} labels of the rarer kind ({rarer})"
        return "corrected", self._because(k)

    def _not_random(self, k: int) -> tuple[Use, str]:
        start = "labels were not drawn at random"
        if self.errors is None:
            return "none", f"{start}, and error rates are of rates alone"
        if not self.errors.refused[k]:
            return "from_error_rates", (
                f"{start}; holds if the judge errs as often on the other items as on these"
            )
        if self.errors.youden_low[k] <= 0:
            return "none", f"{start}, and the judge may tell the two kinds no better than chance"
        return "none", f"{start}, and error rates take labels of both kinds that are no ties"

    def _because(self, k: int) -> str:
        """Why the corrected number is the one to use."""
        n, pool = int(self.corrected.n[k]), int(self.corrected.pool[k])
        if n == pool:
            return "every unit has a label, so verdicts add nothing"
        said = "holds; "
        if self.strata:
            said += "strata were labelled unevenly, and count by their size; "
        less = 1 - float(divide(self.corrected.error[k] ** 2, self.people.error[k] ** 2))
        if not less > 0.02:
            return said + "the judge adds next to nothing to the labels"
        return said + f"as narrow as with {100 * less / (1 - less):.0f} % more labels"
