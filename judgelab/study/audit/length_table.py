"""Are longer texts, and those of a judge's own family, preferred at equal human preference?"""

from __future__ import annotations

import numpy as np

from judgelab.core.judgments import JudgmentTable
from judgelab.core.result import Row, Table
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.clustered import interval_p
from judgelab.stats.trust.length_bias import length_bias
from judgelab.stats.trust.linear import clustered_linear
from judgelab.study.audit.bias_words import adjusted, side
from judgelab.study.audit.evidence import Findings

TITLE = "Are longer texts preferred?"
READINGS = ("prefers longer texts", "prefers shorter texts")
OF_GRADES = (
    "effect: change of the grade, in standard deviations, for one standard deviation more of log "
    "words at equal human grade. p: Holm over judges. 95 % intervals over items."
)
OF_PAIRS = (
    "effect: log odds that a text gains by one standard deviation more of log words, at equal "
    "human preference; 0: none. agreement: share of the verdicts that side with people; "
    "at_equal_length: what it would be if both texts had the same length. "
    "People's own preference and length: correlation {:.2f}. n: verdicts that could be read. "
    "p: that there is no effect, Holm over judges. 95 % intervals over items."
)


def length(table: JudgmentTable, alpha: float) -> Findings:
    """The effect of length on every judge, or what it would need."""
    if table.kind == "category":
        return Findings()
    if np.isnan(table.units.words).all():
        return Findings(notes=["Length: the words of the texts are not known (columns words)."])
    if table.kind == "grade":
        return Findings([Table("length", TITLE, grade_effects(table, None, alpha), OF_GRADES)])
    found = length_bias(table.verdicts, table.truth, table.units.words, table.clusters)
    if np.isnan(found.agreement).all():
        return Findings(notes=[f"Length: {found.refused[0]}"])
    p = adjusted(interval_p(found.length_low, found.length_high, found.clusters), ~table.controls)
    rows: list[Row] = [
        {
            "judge": one.name,
            "reading": found.refused[k] or side(found.length[k], p[k], alpha, *READINGS),
            "effect": float(found.length[k]),
            "effect_low": float(found.length_low[k]),
            "effect_high": float(found.length_high[k]),
            "agreement": float(found.agreement[k]),
            "at_equal_length": float(found.controlled[k]),
            "at_equal_length_low": float(found.low[k]),
            "at_equal_length_high": float(found.high[k]),
            "n": int(found.n[k]),
            "clusters": int(found.clusters[k]),
            "p": float(p[k]),
        }
        for k, one in enumerate(table.judges)
        if not one.control
    ]
    return Findings([Table("length", TITLE, rows, OF_PAIRS.format(found.correlation))])


def grade_effects(table: JudgmentTable, own: Floats | None, alpha: float) -> list[Row]:
    """On grades, at equal human grade: of own texts [judges, units], or of length where None."""
    words = np.log(table.units.words[:, 0] + 1)
    shape = table.values.shape
    x = np.broadcast_to(_scaled(words), shape) if own is None else own
    columns = [np.ones(shape), x, np.broadcast_to(table.truth, shape)]
    if own is not None and not np.isnan(words).any() and words.std() > 0:
        columns.append(np.broadcast_to(words, shape))
    values = np.stack([_scaled(one) for one in table.values])
    fit = clustered_linear(values, np.stack(columns, axis=2), table.clusters)
    there = ~table.controls & (True if own is None else own.any(axis=1))
    p = adjusted(interval_p(fit.low[:, 1], fit.high[:, 1], fit.groups), there)
    readings = READINGS if own is None else ("favours its own", "disfavours its own")
    return [
        {
            "judge": one.name,
            "reading": side(fit.coefficients[k, 1], p[k], alpha, *readings),
            "effect": float(fit.coefficients[k, 1]),
            "low": float(fit.low[k, 1]),
            "high": float(fit.high[k, 1]),
            "n": int(fit.n[k]),
            "clusters": int(fit.groups[k]),
            "p": float(p[k]),
        }
        for k, one in enumerate(table.judges)
        if there[k]
    ]


def _scaled(values: Floats) -> Floats:
    """In standard deviations; NaN without a spread."""
    known = values[~np.isnan(values)]
    spread = known.std() if len(known) else 0.0
    return np.asarray((values - known.mean()) / spread if spread > 0 else values * np.nan)
