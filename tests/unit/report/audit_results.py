"""A small audit as its study leaves it, for tests of the report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgelab.core.panel import Panel
from judgelab.core.result import Table
from judgelab.stats.intervals.estimate import Estimate
from judgelab.study.audit.agreement import Agreement
from judgelab.study.audit.biases import Biases
from judgelab.study.audit.conclusion import concluded
from judgelab.study.audit.estimate import CorrectedMean
from judgelab.study.audit.evidence import Findings, ProbeOutcome
from judgelab.study.audit.gate import Gate
from judgelab.study.audit.next_labels import NextLabels
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import TrustRules
from tests.judgment_tables import made_pairs


@dataclass(frozen=True)
class Known(AuditPart):
    """What a part that asks judges could find."""

    name: ClassVar[str] = "known"
    question: ClassVar[str] = "What is known?"

    def run(self, case: AuditCase) -> Findings:
        given: dict[str, dict[str, Any]] = {}
        for k, name in enumerate(case.table.names):
            saved = max(2 * float(np.nanmean(case.credits.gains[k, 0])), 0)
            given[name] = {"saving": Estimate(saved, saved - 0.04, saved + 0.04)}
        given[case.table.names[-1]]["probes"] = (
            ProbeOutcome("markers", "falls", Estimate(0.3, 0.2, 0.4)),
        )
        rows = [{"judge": name, "agreement": 0.5} for name in case.table.names]
        return Findings([Table("known", "Known", rows)], (), given, ["A note."])


@dataclass(frozen=True)
class Lacking(AuditPart):
    """A part that has no answer."""

    name: ClassVar[str] = "lacking"
    question: ClassVar[str] = "What is lacking?"

    def run(self, case: AuditCase) -> Findings:
        return Findings(lacking="Two raters of the same items.")


def audit_result(accuracies: tuple[float, ...] = (0.95, 0.78, 0.5, 0.93)) -> dict[str, Any]:
    """What Result.to_json gives after a round through JSON (keys sorted)."""
    none: Any = None
    table = made_pairs(200, accuracies)
    case = AuditCase(table, Panel(()), none, {}, True, TrustRules(minimum=0.8), 0, 100)
    parts: dict[str, AuditPart] = {
        "gate": Gate(),
        "agreement": Agreement(),
        "estimate": CorrectedMean(),
        "biases": Biases(),
        "next_labels": NextLabels(),
        "known": Known(),
        "lacking": Lacking(),
    }
    found = {name: part.run(case) for name, part in parts.items()}
    made = concluded(case, parts, found, ["alone"]).to_json()
    return dict(json.loads(json.dumps(made, sort_keys=True)))
