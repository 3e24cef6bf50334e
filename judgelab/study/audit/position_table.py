"""Does the text that is shown first win? The table, and what it means for trust."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from judgelab.core.judgments import JudgeFacts
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.trust.position import PositionBias, position_bias
from judgelab.study.audit.bias_words import adjusted, listed, side
from judgelab.study.audit.evidence import UNKNOWN, Findings
from judgelab.study.audit.part import AuditCase
from judgelab.study.audit.rules import TrustRules

TITLE = "Does the text that is shown first win?"
NOTE = (
    "first_wins: share of the two orders won by the text that is shown first; .5: no bias. n: "
    "pairs with a verdict in both orders; unscored: pairs of which one could not be read. flips: "
    "pairs that the same place wins in both orders, so that the judge contradicts itself; "
    "flips_to_first: of those won by the first place; p: exact binomial test that they favour "
    "neither place, Holm over judges. 95 % intervals over items."
)
TIES = (
    "{}: graded one text at a time, so the order cannot matter; pairs whose verdict goes by the "
    "place, all to the same one, are equal grades. They count as ties (half a credit), not as a "
    "bias."
)
ONCE = "Position: {} judged no pair in both orders, which it takes."
SINGLE = "Position: each text was judged by itself, so the order of texts cannot matter."


def position(case: AuditCase) -> Findings:
    """Of judges of pairs; judges of single texts have no position to prefer."""
    table = case.table
    judges = [(k, one) for k, one in enumerate(table.judges) if not one.control]
    if table.kind != "preference":
        return Findings(
            evidence={one.name: {"averaged": True} for _, one in judges}, notes=[SINGLE]
        )
    pointwise = np.array([one.pointwise for one in table.judges], np.bool_)
    found = position_bias(table.verdicts, table.asked, table.clusters, pointwise)
    both = np.asarray(table.asked.all(axis=2), np.bool_)
    once = np.asarray(table.asked.any(axis=2), np.bool_) & ~both
    averaged = np.asarray(both.any(axis=1) & ~once.any(axis=1), np.bool_)
    evidence: dict[str, dict[str, Any]] = {
        one.name: {
            "position": UNKNOWN if one.pointwise else _share(found, k),
            "averaged": bool(averaged[k]) or one.pointwise,
        }
        for k, one in judges
    }
    ties = [one.name for k, one in judges if found.ties[k]]
    never = [one.name for k, one in judges if not both[k].any()]
    notes = [TIES.format(listed(ties))] if ties else []
    notes += [ONCE.format(listed(never))] if never else []
    p = adjusted(found.p, ~(table.controls | pointwise))
    rows = [_row(found, k, one, float(p[k]), case.rules) for k, one in judges]
    return Findings([Table("position", TITLE, rows, NOTE)], evidence=evidence, notes=notes)


def _row(found: PositionBias, k: int, who: JudgeFacts, p: float, rules: TrustRules) -> Row:
    return {
        "judge": who.name,
        "reading": _reading(found, k, who.pointwise, p, rules),
        "first_wins": float(found.share[k]),
        "first_wins_low": float(found.low[k]),
        "first_wins_high": float(found.high[k]),
        "n": int(found.n[k]),
        "unscored": int(found.unscored[k]),
        "flips": int(found.flips[k]),
        "flip_rate": float(found.rate[k]),
        "flip_rate_low": float(found.rate_low[k]),
        "flip_rate_high": float(found.rate_high[k]),
        "flips_to_first": int(found.to_first[k]),
        "p": p,
    }


def _share(found: PositionBias, k: int) -> Estimate:
    return Estimate(
        float(found.share[k]),
        float(found.low[k]),
        float(found.high[k]),
        int(found.n[k]),
        int(found.unscored[k]),
        float(found.p[k]),
        int(found.clusters[k]),
    )


def _reading(found: PositionBias, k: int, pointwise: bool, p: float, rules: TrustRules) -> str:
    low, high = float(found.low[k]), float(found.high[k])
    if pointwise:
        return "equal grades" if found.ties[k] else "cannot matter"
    if math.isnan(low):
        return "not known"
    if low >= 0.5 - rules.position and high <= 0.5 + rules.position:
        return "no bias"
    return side(found.share[k] - 0.5, p, rules.alpha, "favours the first", "favours the second")
