"""How much information could be certified at all, and how appendix F's measures go together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from judgelab.core.errors import ConfigError
from judgelab.core.result import Result, Row, Table
from judgelab.engine.context import Context, estimators
from judgelab.engine.study import Study
from judgelab.mechanism.mi import pointwise_mi
from judgelab.mechanism.tvd_mi import ACCEPT, TvdMi
from judgelab.stats.discrimination.information import (
    DIVERGENCES,
    MEASURES,
    ceiling,
    divergence,
    f_information,
    measures,
    over_items,
)
from judgelab.stats.intervals.arrays import Floats, row_means
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import item_mean
from judgelab.study.common.panels import ScoredPanel, groups, score_panels
from judgelab.study.common.tables import WITHOUT_P, about, columns, entries
from judgelab.study.common.templates import paragraphs

K = 20  # trades the height of the ceiling against its failure probability
DELTA = 0.05  # 1 - confidence of the lower bounds that the ceiling is of
CELLS = ("true_positive", "false_negative", "false_positive", "true_negative")
RELATIONS = (
    "Intervals over items. J: TPR + TNR - 1; AUC of the decision: (1 + J) / 2; the TVD of the "
    "joint from the product of its marginals equals 2 pi (1 - pi) |J|; kappa, equal to J at "
    "prevalence 1/2, is never above TVD / (1 - p_e), of which the printed bound is twice."
)

Estimates = dict[tuple[str, str], Estimate]
"""(of what, by which f) -> information."""


@dataclass(frozen=True)
class Ceiling(Study):
    """Theorem 3.3's ceiling beside the estimates, and appendix F on tables of truth by decision.

    No distribution-free lower bound from N samples certifies more information than the ceiling,
    but with probability delta + 1/k. Estimates are of the same information: what the critic's
    grades tell of "same source?" (D_f, at most I_f by data processing), nats of pointwise MI, or
    what decisions tell of the truth. Decisions: a pair accepted or not; which of a good-faith and
    a problematic text wins.
    """

    def ask(self, context: Context) -> None:
        """See Study."""
        context.no_attack("ceiling")
        context.measure(context.panels()["clean"])

    def run(self, context: Context) -> Result:
        """Estimate information, and hold it against the ceiling.

        Raises:
            ConfigError: the mechanism estimates no information, and decides nothing.
        """
        context.no_attack("ceiling")
        part = score_panels(context, {"clean": context.panels()["clean"]}, "corrected")["clean"]
        decisions, estimates = _decisions(context, part), _estimates(context, part)
        for what, counts in decisions.items():
            for name, by in DIVERGENCES.items():
                one = over_items(counts, partial(f_information, f=by.f), 0.0, by.most)
                estimates[what, name] = one
        if not estimates:
            raise ConfigError(
                f"study=ceiling needs estimates of information, and {context.mechanism.name} makes "
                "none: choose mechanism=tvd_mi, mi, gppm or judge."
            )
        summary = about(context, part.panel, "ceiling") | {"k": K, "delta": DELTA}
        for (what, name), one in estimates.items():
            summary |= entries(f"{what}/{name}", one, *WITHOUT_P)
        rows: list[Row] = []
        above: dict[str, list[str]] = {"finite": [], "infinite": []}
        for (what, name), one in estimates.items():
            top = ceiling(name, K, one.n) if one.n >= 2 else math.nan
            row = {"what": what, "f": name, **columns(one, "value", *WITHOUT_P), "ceiling": top}
            rows.append(row | {"above": "yes" if one.value > top else "no"})
            if one.value > top:
                above["infinite" if math.isinf(one.value) else "finite"].append(f"{what} ({name})")
        note = (
            f"With k = {K} and delta = {DELTA:g} a lower bound is above the ceiling with "
            f"probability {min(1.0, DELTA + 1 / K):.3g} at most. N: items, samples of "
            "each pair's joint law. An estimate above its ceiling may be right, but not be "
            "certified without assumptions; it is infinite where an outcome occurs on one side "
            "alone."
        )
        tables = [Table("ceiling", "Information, and what could be certified", rows, note)]
        if decisions:
            tables += _decision_tables(decisions)
        return Result(
            summary=summary,
            primary="/".join(next(iter(estimates))),
            tables=tables,
            notes=[f"Evaluation LM: {context.evaluation_lm.identity}."],
            answer=paragraphs(__package__, "ceiling.md.j2", above=above),
            provenance={"clean": part.origin},
            estimators=estimators(part.scores),
        )


def _decision_tables(decisions: dict[str, Floats]) -> list[Table]:
    counted: list[Row] = []
    measured: list[Row] = []
    for what, counts in decisions.items():
        cells = zip(CELLS, map(int, counts.sum(axis=0).ravel()), strict=True)
        counted.append({"what": what, **dict(cells)})
        for name, ends in MEASURES.items():
            one = over_items(counts, partial(_measure, name=name), *ends)
            measured.append({"what": what, "measure": name, **columns(one, "value", *WITHOUT_P)})
    return [
        Table("counts", "Truth by decision", counted),
        Table("relations", "Appendix F on these tables", measured, RELATIONS),
    ]


def _measure(counts: Floats, name: str) -> float:
    return measures(counts)[name]


def _decisions(context: Context, part: ScoredPanel) -> dict[str, Floats]:
    """What was decided -> [items, 2, 2]: truth down, decision across, positive first."""
    decisions, group = dict[str, Floats](), groups(part.panel, "corrected")
    if isinstance(context.mechanism, TvdMi):
        p, q = (test.values for test in context.mechanism.tests(part.measured))
        sides = [_decided(p >= ACCEPT, p), _decided(q >= ACCEPT, q)]
        decisions["same source"] = np.stack(sides, 1)
    if group.known and "verdict" in part.measured:
        verdict = part.measured["verdict"].values
        both = verdict[:, group.good][:, :, group.bad], verdict[:, group.bad][:, :, group.good]
        sides = [_decided(v == 1, np.where(v == 0.5, np.nan, v)) for v in both]
        decisions["better text is shown first"] = np.stack(sides, 1)
    return decisions


def _decided(yes: NDArray[np.bool_], values: Floats) -> Floats:
    known, axes = ~np.isnan(values), tuple(range(1, values.ndim))
    return np.stack([(yes & known).sum(axis=axes), (~yes & known).sum(axis=axes)], 1).astype(float)


def _estimates(context: Context, part: ScoredPanel) -> Estimates:
    """What the mechanism itself estimates."""
    data, items = part.measured, len(part.panel.items)
    if isinstance(context.mechanism, TvdMi):
        p, q = (test.values.reshape(items, -1) for test in context.mechanism.tests(data))
        grades = np.unique(np.concatenate([p[~np.isnan(p)], q[~np.isnan(q)]]))
        sides = [(v[:, :, None] == grades).sum(axis=1) for v in (p, q)]
        counts = np.stack(sides, axis=1).astype(np.float64)
        return {
            ("critic's grades", name): over_items(
                counts, partial(divergence, name=name), 0.0, by.most
            )
            for name, by in DIVERGENCES.items()
        }
    if {"conditional", "marginal", "tokens"} <= set(data):
        gain = pointwise_mi(data, "sum").values.reshape(items, -1)
        return {("pointwise MI of texts", "kl"): item_mean(row_means(gain))}
    return {}
