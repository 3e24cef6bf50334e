"""What is the number really? The judge's own, people's alone, and the two corrected ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.stats.trust.judge_shift import shift
from judgelab.stats.trust.labelled_pool import LabelledPool
from judgelab.stats.trust.prediction_powered import Corrected, Target, estimate, judge_alone
from judgelab.stats.trust.rogan_gladen import TrueRate, true_rate
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.quantities import Quantity, quantities
from judgelab.study.audit.unseen import unseen_strata

RARE = 5
"""Labels of the rarer class below which only people alone (Wilson) hold."""
NOTE = (
    "judge_alone: the mean of its verdicts, with the interval that is usually printed; it does not "
    "hold the truth where the judge errs. people_alone: labels alone. corrected: labels and "
    "verdicts together (PPI++). from_error_rates: from how often the judge errs on either class "
    "(Rogan-Gladen); it holds where labels come from a population with another rate, too. use: "
    "which of them holds here. relied_on: how far the corrected one goes by the judge (0 not at "
    "all, 1 fully). n: labels; pool: units that the judge judged; unscored: labelled units without "
    "its verdict. 95 % intervals over items."
)


@dataclass(frozen=True)
class CorrectedMean(AuditPart):
    """What the rate or mean is that the judge reports, by four estimators, and which one holds.

    Args:
        target: what the number is of: all items like these (``population``), or these (``pool``).
        folds: of the items, so that no label helps to choose how far the judge is relied on for
            itself; 0: none.
    """

    name: ClassVar[str] = "estimate"
    question: ClassVar[str] = "What is the number really?"
    target: Target = "population"
    folds: int = 0

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        table = case.table
        if not table.labelled.any():
            return Findings(lacking="Nobody labelled an item: without labels no number is known.")
        rows: list[Row] = []
        evidence: dict[str, dict[str, Any]] = {}
        for number in quantities(table):
            found = _Estimates.of(case, number, self.target, self.folds)
            rows += found.rows
            _add(evidence, found, case)
        rows.sort(key=lambda row: table.names.index(str(row["judge"])))
        title = "The number by the judge alone, by people alone, and corrected"
        return Findings(
            [Table("estimate", title, rows, NOTE)],
            figures=["audit_estimates"] if rows else [],
            evidence=evidence,
            notes=_notes(rows),
        )


@dataclass(frozen=True)
class _Estimates:
    """All estimators of one quantity, [judges] each."""

    number: Quantity
    table: JudgmentTable
    alone: Corrected
    people: Corrected
    corrected: Corrected
    off: Corrected
    errors: TrueRate | None
    why: tuple[str, ...]
    unscored: Floats

    @staticmethod
    def of(case: AuditCase, number: Quantity, target: Target, folds: int) -> _Estimates:
        table, level = case.table, 1 - case.rules.alpha
        cluster = np.unique(table.clusters[number.chosen], return_inverse=True)[1]
        chance = table.units.chance[number.chosen]
        known = not np.isnan(chance[~np.isnan(number.truth)]).any()
        pool = LabelledPool.of(number.truth, number.values, cluster, chance if known else None)
        corrected = estimate(pool, "power", target, folds=folds, level=level, share=number.rate)
        return _Estimates(
            number,
            table,
            judge_alone(pool, level),
            _people(pool, number, target, level),
            corrected,
            shift(pool, level),
            _by_error_rates(pool, level) if number.rate else None,
            tuple(_why_not(case, number, k) for k in range(len(table.judges))),
            (~np.isnan(number.truth) & np.isnan(number.values)).sum(axis=1),
        )

    @property
    def rows(self) -> list[Row]:
        """One for each judge; controls have no number worth correcting."""
        return [self._row(k) for k, one in enumerate(self.table.judges) if not one.control]

    def _row(self, k: int) -> Row:
        refused, errors = self.why[k], self.errors
        held = errors is not None and not errors.refused[k]
        use = "corrected" if not refused else "people_alone" if "fewer" in refused else ""
        if not use:
            use = "from_error_rates" if held and "random" in refused else "none"
        row: dict[str, Any] = {"judge": self.table.names[k], "number": self.number.name}
        row |= _ends("judge_alone", self.alone, k) | _ends("people_alone", self.people, k)
        row |= _ends("corrected", self.corrected, k, bool(refused))
        if errors is not None:
            row |= _ends("from_error_rates", errors, k)
        why = refused or _because(self, k)
        rest = {"n": int(self.people.n[k]), "pool": int(self.alone.pool[k])}
        row |= {"relied_on": math.nan if refused else float(self.corrected.tuning[k])}
        return row | rest | {"unscored": int(self.unscored[k]), "use": use, "why": why}


def _ends(
    name: str, found: Corrected | TrueRate, k: int, hidden: bool = False
) -> Mapping[str, float]:
    parts = {name: found.value[k], f"{name}_low": found.low[k], f"{name}_high": found.high[k]}
    return {key: math.nan if hidden else float(value) for key, value in parts.items()}


def _people(pool: LabelledPool, number: Quantity, target: Target, level: float) -> Corrected:
    """Labels alone; of a rate Wilson's interval over clusters."""
    found = estimate(pool, "none", target, level=level)
    if not number.rate or target == "pool":
        return found
    size = pool.groups[:, None]
    cluster = np.unique(pool.cluster[pool.columns], return_inverse=True)[1]
    influence = pool.errors(np.zeros((len(size), 1)), found.value)
    there = cluster_sums(pool.weight > 0, cluster) > 0
    each = np.where(there, found.value[:, None] + size * cluster_sums(influence, cluster), np.nan)
    low, high = share_ends(each, level)
    return Corrected(found.value, found.error, low, high, found.tuning, found.n, found.pool,
                     found.groups)  # fmt: skip


def _by_error_rates(pool: LabelledPool, level: float) -> TrueRate:
    """Rogan-Gladen: error rates of labelled units, the rate of those without a label."""
    yes, no = (pool.labelled & side for side in (pool.truth > 0.5, pool.truth < 0.5))
    rest = pool.judged & ~pool.labelled
    said = np.nan_to_num(pool.values)

    def mean(where: Any, values: Floats) -> Floats:
        return divide((values * where).sum(axis=1), where.sum(axis=1))

    rates = mean(no, 1 - said), no.sum(axis=1), mean(yes, said), yes.sum(axis=1)
    return true_rate(mean(rest, said), rest.sum(axis=1), *rates, level)


def _why_not(case: AuditCase, number: Quantity, k: int) -> str:
    """Why the corrected number does not hold for a judge; "" where it does."""
    table, there = case.table, ~np.isnan(number.truth) & ~np.isnan(number.values[k])
    items = len(set(table.units.cluster[number.chosen][there]))
    if items < case.rules.labels:
        return f"fewer than {case.rules.labels} labelled items ({items})"
    if case.sampled is not True:
        return "labels are not known to be a random sample (study.sampled)"
    stratum = table.units.stratum[number.chosen]
    if missing := unseen_strata(stratum, ~np.isnan(number.values[k]), there):
        return f"no label is from {missing[0]!r}, of which verdicts are"
    truth = number.truth[there]
    rarer = min(int((truth > 0.5).sum()), int((truth < 0.5).sum()))
    if number.rate and rarer < RARE:
        return f"fewer than {RARE} labels of the rarer kind ({rarer})"
    return ""


def _because(found: _Estimates, k: int) -> str:
    """Why the corrected number is the one to use."""
    n, pool = int(found.corrected.n[k]), int(found.corrected.pool[k])
    if n == pool:
        return "every unit has a label, so verdicts add nothing"
    narrower = 1 - divide(found.corrected.error[k] ** 2, found.people.error[k] ** 2)
    if not narrower > 0.02:
        return "holds; the judge adds next to nothing to the labels"
    return f"holds; as narrow as with {100 * narrower / (1 - narrower):.0f} % more labels"


def _add(evidence: dict[str, dict[str, Any]], found: _Estimates, case: AuditCase) -> None:
    """How far each judge's mean is off; of several numbers the worst."""
    spread = float(np.nanstd(found.number.truth))
    margin = case.rules.mean if found.number.rate else case.rules.mean_sd * spread
    for k, name in enumerate(case.table.names):
        if found.why[k] or math.isnan(found.off.value[k]):
            continue
        parts = (float(x[k]) for x in (found.off.value, found.off.low, found.off.high))
        made = Estimate(*parts, n=int(found.off.n[k]), unscored=int(found.unscored[k]))
        before = evidence.get(name)
        worst = 0.0 if before is None else abs(before["shift"].value) / before["shift_margin"]
        if before is None or abs(made.value) / margin > worst:
            evidence[name] = {"shift": made, "shift_margin": margin}


def _notes(rows: list[Row]) -> list[str]:
    """How often the judge's own interval misses what labels say."""
    told = [row for row in rows if row["use"] == "corrected"]
    missed = [
        row
        for row in told
        if float(row["judge_alone_high"] or 0) < float(row["corrected_low"] or 0)
        or float(row["judge_alone_low"] or 0) > float(row["corrected_high"] or 0)
    ]
    said = []
    if missed:
        said.append(
            f"In {len(missed)} of {len(told)} cases the interval around the judge's own number "
            "lies wholly outside the corrected one: do not report a judge's own average."
        )
    if refused := {str(row["why"]) for row in rows if row["use"] in ("none", "from_error_rates")}:
        said.append(f"No corrected number for some judges: {'; '.join(sorted(refused))}.")
    return said
