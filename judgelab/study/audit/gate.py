"""Is a judge surely better than every control, however often somebody looks?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable
from judgelab.core.result import Table
from judgelab.stats.trust.betting import betting_p, gate_p, labels_more
from judgelab.study.audit.credits import Credits
from judgelab.study.audit.evidence import Findings
from judgelab.study.audit.part import AuditCase, AuditPart

NOTE = (
    "p: probability of so much credit if the judge were no better than that control, however often "
    "somebody looks; p Holm: adjusted for the number of judges. Labels more: about so many until "
    "it would be shown, if the judge is as good as it seems."
)
ONE_LOOK = (
    "The data do not say in which order labels came (a column named turn would): they count as one "
    "round, so these p values hold for one look at these labels."
)


@dataclass(frozen=True)
class Gate(AuditPart):
    """Bets on every judge's gain over every control, label by label; see stats.trust.betting."""

    name: ClassVar[str] = "gate"
    question: ClassVar[str] = "Is it surely better than something that knows nothing?"

    def run(self, case: AuditCase) -> Findings:
        """The p value of the control that is hardest to beat."""
        judged = [k for k, one in enumerate(case.table.judges) if not one.control]
        credit = case.credits
        if not credit.labelled_clusters.size:
            return Findings(lacking="Labels of people on some of the items that were judged.")
        gains = label_gains(case.table, credit)[judged]
        each, holm = betting_p(gains), gate_p(gains)
        more = labels_more(gains, case.rules.alpha)
        rows: list[dict[str, Any]] = []
        evidence: dict[str, dict[str, Any]] = {}
        for row, k in enumerate(judged):
            who = case.table.judges[k]
            hardest = int(each[row].argmax())
            evidence[who.name] = {
                "gate_p": float(holm[row]),
                "more": float(more[row]),
                "pointwise": who.pointwise or case.table.kind != "preference",
            }
            rows.append(
                {
                    "judge": who.name,
                    "hardest_control": credit.controls[hardest],
                    "p": float(each[row, hardest]),
                    "p_holm": float(holm[row]),
                    "better": bool(holm[row] <= case.rules.alpha),
                    "labels_more": int(more[row]) if math.isfinite(more[row]) else None,
                    "n": int((~np.isnan(gains[row, hardest])).sum()),
                }
            )
        rows.sort(key=lambda one: one["p"])
        known = not np.isnan(case.table.units.turn[case.table.labelled]).any()
        return Findings(
            tables=[Table("gate", "Better than every control", rows, NOTE)],
            evidence=evidence,
            notes=() if known else (ONE_LOOK,),
            summary={"better_than_controls": sum(bool(one["better"]) for one in rows)},
        )


def label_gains(table: JudgmentTable, credit: Credits) -> Floats:
    """[judges, controls, clusters] gains to be bet on, in label order.

    Labels that were likelier to be asked for count for less, by the least likely one, so that the
    mean is that of the whole pool and gains stay in [-1, 1].
    """
    chance = table.units.chance
    if np.isnan(chance[table.labelled]).any():
        return credit.cluster_gains
    count = len(credit.clusters)
    least = np.full(count, np.inf)
    np.minimum.at(least, credit.cluster[credit.place], np.where(np.isnan(chance), np.inf, chance))
    weight = np.nanmin(chance) / least[credit.labelled_clusters]
    return np.asarray(credit.cluster_gains * weight)
