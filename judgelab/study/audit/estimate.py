"""What is the number really? The judge's own, people's alone, and the two corrected ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgelab.core.bounds import Natural
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.prediction_powered import Corrected, Target, Tuning
from judgelab.stats.trust.rogan_gladen import TrueRate
from judgelab.study.audit.bias_words import listed
from judgelab.study.audit.estimators import Correction, Estimates
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.quantities import quantities

NOTE = (
    "judge_alone: the mean of its verdicts, with the interval that is usually printed; it does not "
    "hold the truth where the judge errs. people_alone: labels alone. corrected: labels and "
    "verdicts together (PPI++). from_error_rates: from how often the judge errs on either class "
    "(Rogan-Gladen); it holds where labels come from a population with another rate, too. use: "
    "which of them holds here. relied_on: how far the corrected one goes by the judge (0 not at "
    "all, 1 fully; above 1 where its values spread less than people's). tells_apart: how often it "
    "says yes where people do, less how often where they do not, and the lower end of its "
    "interval: at 0 or below error rates say nothing. n: labels; pool: units that the judge "
    "judged; unscored: labelled units without its verdict. 95 % intervals over items."
)


@dataclass(frozen=True)
class CorrectedMean(AuditPart):
    """What the rate or mean is that the judge reports, by four estimators, and which one holds.

    Args:
        target: what the number is of: all items like these (``population``), or these (``pool``).
        tuning: how far the corrected one goes by the judge: ``power`` as far as labels say, from
            not at all to fully, of grades as far as their scale needs; ``unclipped`` also against
            it, for grades that run backwards; ``full`` (PPI); ``none``.
        folds: of the items, so that no label helps to choose how far the judge is relied on for
            itself; 0: none.
        strata: whether labels of strata weigh by the strata's sizes; null: where strata were
            labelled unevenly, with probabilities that nobody kept.
    """

    name: ClassVar[str] = "estimate"
    question: ClassVar[str] = "What is the number really?"
    target: Target = "population"
    tuning: Tuning = "power"
    folds: Natural = 0
    strata: bool | None = None

    def run(self, case: AuditCase) -> Findings:
        """See AuditPart."""
        table = case.table
        if not table.labelled.any():
            return Findings(lacking="Nobody labelled an item: without labels no number is known.")
        how = Correction(self.target, self.tuning, self.folds, self.strata)
        made = [Estimates.of(case, number, how) for number in quantities(table)]
        judges = [k for k, one in enumerate(table.judges) if not one.control]
        rows: list[Row] = [_row(case, found, k) for k in judges for found in made]
        overall = made[:1] if table.kind == "grade" else made
        title = "The number by the judge alone, by people alone, and corrected"
        return Findings(
            [Table("estimate", title, rows, NOTE)],
            figures=["audit_estimates"] if rows else [],
            evidence=_evidence(case, overall, judges),
            notes=[*_notes(rows), *_warned(self.tuning, rows)],
        )


def _row(case: AuditCase, found: Estimates, k: int) -> dict[str, Any]:
    use, why = found.which(case, k)
    hidden = why != "" and use in ("none", "from_error_rates")
    row: dict[str, Any] = {"judge": case.table.names[k], "number": found.number.name}
    row |= _ends("judge_alone", found.alone, k)
    row |= _ends("people_alone", found.people, k)
    row |= _ends("corrected", found.corrected, k, use != "corrected")
    if found.errors is not None:
        row |= _ends("from_error_rates", found.errors, k)
    row["relied_on"] = math.nan if hidden else float(found.corrected.tuning[k])
    if found.errors is not None:
        row["tells_apart"] = float(found.errors.youden[k])
        row["tells_apart_low"] = float(found.errors.youden_low[k])
    row |= {"n": int(found.people.n[k]), "pool": int(found.alone.pool[k])}
    return row | {"unscored": int(found.unscored[k]), "use": use, "why": why}


def _ends(
    name: str, found: Corrected | TrueRate, k: int, hidden: bool = False
) -> Mapping[str, float]:
    parts = {name: found.value[k], f"{name}_low": found.low[k], f"{name}_high": found.high[k]}
    return {key: math.nan if hidden else float(value) for key, value in parts.items()}


def _evidence(
    case: AuditCase, made: list[Estimates], judges: list[int]
) -> dict[str, dict[str, Any]]:
    """How far each judge's mean is off; of several numbers one that surely is, or the widest."""
    evidence: dict[str, dict[str, Any]] = {}
    for k in judges:
        worst = (False, -1.0)
        for found in made:
            if found.which(case, k)[0] not in ("corrected", "people_alone"):
                continue
            off, n = found.off, int(found.off.n[k])
            value, low, high = (float(x[k]) for x in (off.value, off.low, off.high))
            known = found.number.truth[~np.isnan(found.number.truth)]
            spread = float(known.std()) if known.size else math.nan
            margin = case.rules.mean if found.number.rate else case.rules.mean_sd * spread
            if math.isnan(low) or not margin > 0:
                continue
            this = (low > margin or high < -margin, max(-low, high) / margin)
            if this > worst:
                worst = this
                shown = Estimate(value, low, high, n, int(found.unscored[k]))
                evidence[case.table.names[k]] = {"shift": shown, "shift_margin": margin}
    return evidence


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


def _warned(tuning: Tuning, rows: list[Row]) -> list[str]:
    """On judges that are relied on the wrong way round."""
    turned = {str(row["judge"]) for row in rows if float(row["relied_on"] or 0) < 0}
    if tuning != "unclipped" or not turned:
        return []
    return [
        f"Relied on the wrong way round: {listed(sorted(turned))}. That is right where a scale "
        "runs backwards; otherwise the judge disagrees with people, and chance may be all there is."
    ]
