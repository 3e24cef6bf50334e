"""The page of an audit: verdicts in words first, then the evidence, then each part's section."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from judgelab.core.judgments import Floats, JudgmentTable, Mask
from judgelab.core.result import PageSection, Result, Table, Value, flat_estimate
from judgelab.engine.provenance import origin_of
from judgelab.stats.intervals.arrays import divide
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.clustered import cluster_sums
from judgelab.study.audit.coverage import said
from judgelab.study.audit.evidence import Evidence, Findings, joined
from judgelab.study.audit.openings import openings
from judgelab.study.audit.part import AuditCase, AuditPart
from judgelab.study.audit.rules import TrustRules
from judgelab.study.audit.stopped import asked_until
from judgelab.study.audit.unseen import left_out, unseen_strata
from judgelab.study.audit.verdict import STANDINGS, TrustVerdict, decide
from judgelab.study.audit.words import agreement_bar

CARDS = 6  # judges whose agreement stands in the summary
VERDICTS = "One verdict for each judge, by the rules in study.rules; the first that matches counts."
EVIDENCE = (
    "Shares are between 0 and 1. Agreement: with people; people: with each other, on the same "
    "target; needed: the least for trust. Control: what knows nothing of quality, and its "
    "agreement with people together; gain: the judge's minus that. p: that it is no better than "
    "some control, after Holm, at any number of looks. Average off: the judge's own average minus "
    "the one corrected by labels. First wins: share of comparisons that the text shown first wins. "
    "Labels saved: at best, beyond what is known for free. The best of many judges looks better "
    "than it is: before its agreement is quoted, label other items."
)


def concluded(
    case: AuditCase,
    parts: Mapping[str, AuditPart],
    found: Mapping[str, Findings],
    left: Sequence[str],
) -> Result:
    """Everything that was found as one result.

    Args:
        parts: name -> those that were answered, in the order to be read.
        left: names of those that were not.
    """
    judges = [one.name for one in case.table.judges if not one.control]
    known = {name: one | {"left": tuple(left)} for name, one in facts(case).items()}
    evidence = joined(list(found.values()), judges, known)
    verdicts = decide(evidence, case.rules)
    order = sorted(judges, key=lambda name: _rank(verdicts[name], evidence[name]))
    own = [_verdicts(order, verdicts), _evidence(order, verdicts, evidence, case.rules)]
    notes = [f"Not answered here: {', '.join(left)} (study.parts)."] if left else []
    return Result(
        summary=_summary(order, verdicts, evidence, case)
        | {key: value for one in found.values() for key, value in one.summary.items()},
        primary="trusted",
        tables=[
            *own,
            *(_ranked(said(table), case, order) for one in found.values() for table in one.tables),
        ],
        figures=["audit"]
        if any(math.isfinite(one.agreement.low) for one in evidence.values())
        else [],
        notes=notes,
        provenance={"clean": origin_of(case.panel, case.table.facts)},
        estimators=list(dict.fromkeys(case.estimators.values())),
        answer=openings({name: verdicts[name] for name in order}, evidence, case.rules),
        sections=[
            PageSection(
                parts[name].question,
                [table.name for table in one.tables],
                list(one.figures),
                list(one.notes),
                one.lacking,
            )
            for name, one in found.items()
        ],
    )


def _ranked(table: Table, case: AuditCase, order: Sequence[str]) -> Table:
    """A table in the data's order of judges in that of their verdicts; any other as it is."""
    judges = list(dict.fromkeys(str(row.get("judge")) for row in table.rows))
    known = [name for name in case.table.names if name in judges]
    if judges != known or not set(judges) <= set(order):
        return table
    return replace(table, rows=sorted(table.rows, key=lambda row: order.index(str(row["judge"]))))


def facts(case: AuditCase) -> dict[str, dict[str, Any]]:
    """Judge -> what the table alone says of it: clusters with labels, in all, missing verdicts."""
    table, clusters, count = case.table, case.table.clusters, len(set(case.table.units.cluster))
    judged: Mask = np.asarray(table.asked.any(axis=2), np.bool_)
    sums = [cluster_sums(part, clusters) for part in (judged & table.labelled, judged)]
    labelled, pool = ((each[:, :count] > 0).sum(axis=1) for each in sums)
    asked = np.maximum(table.asked.sum(axis=(1, 2)), 1)
    missing = (table.asked & np.isnan(table.verdicts)).sum(axis=(1, 2))
    effective = _effective(table, judged)
    in_turn = not bool(np.isnan(table.units.turn[table.labelled]).any())
    return {
        one.name: {
            "labelled": int(labelled[k]),
            "pool": int(pool[k]),
            "sampled": case.sampled,
            "unseen": unseen_strata(table.units.stratum, judged[k], table.labelled),
            "unparsed": float(missing[k] / asked[k]),
            "in_turn": in_turn,
            "lost": _commonest(table.reasons.get(one.name, {})),
            "effective": float(effective[k]),
            "left_out": left_out(
                table.units.stratum,
                judged[k],
                asked_until(table, judged[k]) if case.stop.on else table.labelled,
            ),
        }
        for k, one in enumerate(table.judges)
    }


def _commonest(reasons: Mapping[str, int]) -> str:
    return max(reasons, key=lambda one: reasons[one], default="")


def _effective(table: JudgmentTable, judged: Mask) -> Floats:
    """[judges] labels drawn with equal chances that tell as much (Kish): (sum w)^2 / sum w^2."""
    weight = np.where(judged & table.labelled, table.weight, 0.0)
    each = np.zeros((len(weight), int(table.clusters.max(initial=-1)) + 1))
    for row, own in zip(each, weight, strict=True):
        np.maximum.at(row, table.clusters, own)
    return divide(each.sum(axis=1) ** 2, (each**2).sum(axis=1))


def _rank(verdict: TrustVerdict, e: Evidence) -> tuple[int, float]:
    """Best verdict first, then by agreement."""
    place = STANDINGS.index(verdict.verdict)
    return place, -e.agreement.value if e.agreement.value == e.agreement.value else math.inf


def _verdicts(order: Sequence[str], verdicts: Mapping[str, TrustVerdict]) -> Table:
    rows = [
        {
            "judge": name,
            "verdict": verdicts[name].verdict,
            "because": verdicts[name].reason,
            "why": verdicts[name].why,
            "what_next": verdicts[name].next,
        }
        for name in order
    ]
    return Table("verdicts", "Verdicts", rows, VERDICTS, by="verdict")


def _evidence(
    order: Sequence[str],
    verdicts: Mapping[str, TrustVerdict],
    evidence: Mapping[str, Evidence],
    rules: TrustRules,
) -> Table:
    rows: list[dict[str, Value]] = [
        {"judge": name, "verdict": verdicts[name].verdict}
        | _row(evidence[name], rules)
        | {"labels_more": verdicts[name].more}
        for name in order
    ]
    return Table("evidence", "Evidence, side by side", rows, EVIDENCE)


def _row(e: Evidence, rules: TrustRules) -> dict[str, Value]:
    """The evidence about one judge; columns that nobody fills are not shown."""
    probed = [f"{one.probe}: {one.outcome}" for one in e.probes]
    return {
        **_ends("agreement", e.agreement),
        "people": e.ceiling,
        "needed": agreement_bar(e, rules),
        "control": e.gain_over or None,
        "its_agreement": e.control,
        **_ends("gain", e.gain),
        "p_holm": e.gate_p,
        "replaces_a_person": e.omega,
        **_ends("average_off", e.shift),
        **_ends("first_wins", e.position),
        "both_orders": e.averaged if e.position.value == e.position.value else None,
        "manipulation": ", ".join(probed) or None,
        **_ends("labels_saved", e.saving),
        "labelled": e.labelled,
        "judged": e.pool,
        "without_verdict": e.unparsed,
    }


def _ends(key: str, found: Estimate) -> dict[str, Value]:
    return {key: found.value, f"{key}_low": found.low, f"{key}_high": found.high}


def _summary(
    order: Sequence[str],
    verdicts: Mapping[str, TrustVerdict],
    evidence: Mapping[str, Evidence],
    case: AuditCase,
) -> dict[str, Any]:
    """What a sweep and a tracker show: one judge's verdict, or how many have which."""
    counts = Counter(verdicts[name].verdict for name in order)
    said = ", ".join(f"{counts[one]} {one}" for one in STANDINGS if counts[one])
    controls = case.table.controls
    lost = (case.table.asked & np.isnan(case.table.verdicts))[~controls]
    made: dict[str, Any] = {
        "study": "audit",
        "dataset": str(case.panel.provenance.get("dataset", "")),
        "items": len(set(case.table.units.item)),
        "judges": len(order),
        "verdict": verdicts[order[0]].verdict if len(order) == 1 else said,
        "trusted": counts["trust"],
        "trusted_after_correction": counts["trust after correction"],
        "not_trusted": counts["do not trust"],
        "undecided": counts["cannot say yet"],
        "labelled": int(case.table.labelled.sum()),
        "judged_verdicts": int(case.table.asked[~controls].sum()),
        "unscored_verdicts": int(lost.sum()),
    }
    for name in order if len(order) <= CARDS else ():
        made[f"{name}/verdict"] = verdicts[name].verdict
        if evidence[name].agreement.value == evidence[name].agreement.value:
            made |= flat_estimate(f"{name}/agreement", evidence[name].agreement.as_dict())
    return made
