"""What is a judge worth in labels, and how many labels and items does a question take?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgelab.core.bounds import ConfidenceLevel, Positive
from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.exchange import Saving, saving, worth
from judgelab.stats.trust.planner import (
    LabelPlan,
    design_effect,
    label_plan,
    reliability,
    room_for_width,
    weighted_variance,
)
from judgelab.stats.trust.prediction_powered import Target
from judgelab.study.audit.bias_words import listed
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.free import known_for_free
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.quantities import quantities
from judgelab.study.audit.separating import Apart, separating

NOTE = (
    "saves: share of the labels that verdicts of this judge make unnecessary at best, beyond what "
    "is known without a judge ({free}); saves_in_all: with that included, which looks better than "
    "it is. "
    "one_verdict: labels that one verdict is worth here (n labels among pool units). "
    "as_many_as: the n labels tell as much as so many without the judge; at_most_times: with "
    "verdicts without end, labels tell so many times as much. labels_people_alone and "
    "labels_with_judge: labels for an interval of {width} each way; fewest and most: if it saves "
    "as much, or as little, as its interval allows. verdicts_for_that: items that the judge judges "
    "then: the pool, or where that is too small ten for every label besides it. 95 % intervals "
    "over items."
)


@dataclass(frozen=True)
class ExchangeRate(AuditPart):
    """What one verdict is worth, and labels for a width and for telling two systems apart.

    Args:
        half_width: of the interval that is planned for, of rates and preferences.
        half_width_sd: the same of grades, in standard deviations of people's grades.
        difference: of two systems' shares of wins, or rates, that is to be seen.
        difference_sd: of two systems' mean grades, in the same standard deviations.
        power: probability of seeing it.
        confidence: with which the judge alone is to rank two such systems rightly.
        systems: the two; null: the two best by people.
        target: what the number is of; see ``CorrectedMean``.
    """

    name: ClassVar[str] = "exchange"
    question: ClassVar[str] = "What is a verdict worth, and how many labels do I need?"
    half_width: Positive = 0.05
    half_width_sd: Positive = 0.1
    difference: Positive = 0.05
    difference_sd: Positive = 0.25
    power: ConfidenceLevel = 0.8
    confidence: ConfidenceLevel = 0.95
    systems: Sequence[str] | None = None
    target: Target = "population"

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        table = case.table
        if not table.labelled.any():
            return Findings(lacking="Labels of people on some of the items that were judged.")
        worths = _Worths.of(case, self)
        apart = separating(case, self._apart(table))
        tables = [Table("exchange", "What a verdict is worth in labels", worths.rows, worths.note)]
        return Findings(
            [*tables, *apart.tables],
            evidence=worths.evidence,
            notes=[*worths.notes, *apart.notes],
        )

    def _apart(self, table: JudgmentTable) -> Apart:
        grades = table.kind == "grade"
        return Apart(
            self.difference_sd if grades else self.difference,
            self.power,
            self.confidence,
            None if self.systems is None else tuple(self.systems),
        )


@dataclass(frozen=True)
class _Worths:
    """All judges' savings, and what follows from them."""

    case: AuditCase
    plan: ExchangeRate
    truth: Floats
    values: Floats
    rate: bool
    pooled: Saving
    net: Saving
    free: list[str]

    @staticmethod
    def of(case: AuditCase, plan: ExchangeRate) -> _Worths:
        table, level = case.table, 1 - case.rules.alpha
        if table.kind == "category":
            number = quantities(table)[0]
            truth, values, rate = number.truth, number.values, True
        else:
            truth, values, rate = table.truth, table.values, table.kind == "preference"
        columns, free = known_for_free(table, ~np.isnan(truth))
        clusters, weight = table.clusters, table.weight
        pooled = saving(truth, values, clusters, None, level, weight)
        net = saving(truth, values, clusters, columns, level, weight) if free else pooled
        return _Worths(case, plan, truth, values, rate, pooled, net, free)

    @property
    def judges(self) -> list[int]:
        """Places of those that are no controls."""
        return [k for k, one in enumerate(self.case.table.judges) if not one.control]

    @property
    def half_width(self) -> float:
        """In the unit of the labels."""
        if self.rate:
            return self.plan.half_width
        return self.plan.half_width_sd * float(np.nanstd(self.truth))

    @property
    def note(self) -> str:
        """What the columns are."""
        free = ", ".join(self.free) or "here nothing"
        return NOTE.format(free=free, width=f"{self.half_width:.3g}")

    @property
    def evidence(self) -> dict[str, dict[str, Any]]:
        """Judge -> saving."""
        net, clusters = self.net, self.case.table.clusters
        made = {}
        for k in self.judges:
            there = ~np.isnan(self.truth) & ~np.isnan(self.values[k])
            groups = len(np.unique(clusters[there]))
            value, low, high = (float(x[k]) for x in (net.value, net.low, net.high))
            made[self.case.table.names[k]] = {
                "saving": Estimate(value, low, high, int(net.n[k]), clusters=groups)
            }
        return made

    @property
    def rows(self) -> list[Row]:
        """One for each judge, the best first."""
        made: list[dict[str, Any]] = [self._row(k) for k in self.judges]
        made.sort(key=lambda row: -float(np.nan_to_num(row["saves"], nan=-1.0)))
        return [*made]

    def _row(self, k: int) -> dict[str, Any]:
        net, pooled = self.net, self.pooled
        n, pool = int(net.n[k]), int((~np.isnan(self.values[k])).sum())
        there = ~np.isnan(self.truth) & ~np.isnan(self.values[k])
        effective, each, most = (float(x) for x in worth(net.value[k], n, pool - n))
        spread = weighted_variance(self.truth[there], self.case.table.weight[there])
        effect = design_effect(np.where(there, self.truth, np.nan), self.case.table.clusters)
        room = room_for_width(self.half_width, 1 - self.case.rules.alpha)

        def plan(rho2: float, among: float) -> LabelPlan | None:
            if math.isnan(rho2) or not spread * effect > 0:
                return None
            return label_plan(room, spread * effect, rho2, among, self.plan.target)

        alone = plan(0.0, pool if self.plan.target == "pool" else math.inf)
        likely, best, worst = (plan(float(x[k]), pool) for x in (net.value, net.high, net.low))
        return {
            "judge": self.case.table.names[k],
            "saves": float(net.value[k]),
            "saves_low": float(net.low[k]),
            "saves_high": float(net.high[k]),
            "saves_in_all": float(pooled.value[k]),
            "one_verdict": each,
            "as_many_as": effective,
            "at_most_times": most,
            "labels_people_alone": alone and alone.labels,
            "labels_with_judge": likely and likely.labels,
            "fewest": best and best.labels,
            "most": worst and worst.labels,
            "verdicts_for_that": likely and int(likely.items),
            "n": n,
            "pool": pool,
        }

    @property
    def notes(self) -> list[str]:
        """On what is free, labels of one cluster, raters, and judges that run backwards."""
        table, said = self.case.table, []
        known = ~np.isnan(self.truth)
        effect = design_effect(self.truth, table.clusters)
        if effect > 1.1:
            said.append(
                f"{effect:.2f} labels are worth as much as one from an item of its own, as labels "
                "of one item or document resemble each other; the numbers of labels allow for it."
            )
        repeated = reliability(table.labels[known]) if table.kind != "category" else math.nan
        if repeated == repeated:
            said.append(
                f"People's labels repeat to a share of {repeated:.2f} (of their variance): no "
                "judge can save more than that."
            )
        if looks := self._looks():
            said.append(looks)
        turned = [table.names[k] for k in self.judges if self.net.backwards[k]]
        if turned:
            said.append(
                f"Against people: {listed(turned)}: the higher the judge's values, the lower "
                "people's. As they are these save nothing; turn the values round if that is what "
                "they mean."
            )
        return said

    def _looks(self) -> str:
        """Where a judge seems worth more than it is, as it knows what is free."""
        if not self.free:
            return ""
        gap = self.pooled.value - self.net.value
        worst = max(self.judges, key=lambda k: np.nan_to_num(gap[k], nan=-1.0))
        if not gap[worst] > 0.1:
            return ""
        return (
            f"{self.case.table.names[worst]} seems to save {100 * self.pooled.value[worst]:.0f} % "
            f"of the labels, but {100 * self.net.value[worst]:.0f} % beyond what is known without "
            f"a judge ({', '.join(self.free)})."
        )
