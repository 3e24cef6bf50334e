"""The tables of study=qualification that hold judges and pools against people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.exams import Bools
from judgelab.stats.qualification.pooling import decide
from judgelab.stats.qualification.preference import (
    accuracy,
    correct,
    favour_rate,
    ties_of,
    unscored_pairs,
)
from judgelab.study.qualification.case import Case, anew, cost_of, gain
from judgelab.study.qualification.pools import EVERYBODY, Pool, PoolingRules, admitted


def pools_table(case: Case) -> Table:
    """Accuracy and cost of every judge and pool: the ablation over exams among them."""
    rows: list[Row] = []
    for kind, pool in _everyone(case):
        found, again = case.accuracy(pool), anew(case, pool)
        rows.append(
            {
                "name": pool.name,
                "kind": kind,
                "judges": int(pool.members.sum()),
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "anew_low": again[0],
                "anew_high": again[1],
                "n": found.n,
                "ties": ties_of(pool.decision.sign, case.gold),
                "unscored": unscored_pairs(pool.decision.sign, case.gold),
                "cost": cost_of(case, pool),
            }
        )
    note = (
        "Accuracy on the pairs that people decided, ties 1/2, 95 % interval over items; n, ties "
        "and unscored: of these pairs; anew: "
        f"with the pool chosen anew in each resample. cost: {case.currency}, all verdicts, and "
        "the human filter's annotation; not the exams."
    )
    return Table("pools", "Judges and pools against people", rows, note)


def correlations_table(case: Case) -> Table:
    """Spearman's rho over the answers of each item."""
    rows: list[Row] = []
    for kind, pool in _everyone(case):
        found = case.rho(pool)
        row: dict[str, Value] = {"name": pool.name, "kind": kind, "value": found.value}
        row |= {"low": found.low, "high": found.high, "n": found.n, "unscored": found.unscored}
        rows.append(row)
    note = (
        "Mean over items, signed; 0 where a method grades all answers alike. A judge or pool that "
        "compares answers grades each by the pairs it wins less those it loses."
    )
    return Table("correlations", "Spearman's rho with people's grades", rows, note)


def comparisons_table(case: Case) -> Table:
    """The pool of all exams against every other pool and judge; others against two of them."""
    rows: list[Row] = []
    for pool, kind, other in _contests(case):
        for measure in ("accuracy", "spearman"):
            found = gain(case, measure, pool, other)
            if found.n:
                names = {"pool": pool.name, "against": other.name, "kind": kind}
                rows.append(
                    {"measure": measure, **names, **_estimate(found), "unscored": found.unscored}
                )
    note = (
        "Difference on the same pairs (accuracy) or items (spearman), 95 % interval over items; "
        "p, two-sided and of each test by itself, from flipping the sign of whole items."
    )
    return Table("comparisons", "Pools against one another and against judges", rows, note)


def _contests(case: Case) -> Iterator[tuple[Pool, str, Pool]]:
    """(pool, whether the other is a pool or a judge, the other)."""
    pools = [pool for pool in case.pools if pool.members.any()]
    for pool in pools:
        for other in pools:
            usual = other.name in (EVERYBODY, "C")
            if other is not pool and (pool is case.chosen or usual):
                yield pool, "pool", other
        if pool is case.chosen:
            for judge in case.singles:
                yield pool, "judge", judge


def budgets_table(case: Case) -> Table:
    """The pool of all exams on a budget: its cheapest judges first, then one more at a time."""
    members = np.flatnonzero(case.chosen.members & ~np.isnan(case.cost))
    unknown = np.flatnonzero(case.chosen.members & np.isnan(case.cost))
    rows: list[Row] = []
    votes = case.hearing.votes(case.rules.orders)
    for spent in dict.fromkeys(sorted(case.cost[members].tolist())):
        among = members[case.cost[members] <= spent]
        power = np.zeros(len(case.hearing.judges))
        power[among] = case.chosen.power[among]
        decision = decide(votes, power, case.rules.tolerance)
        found = accuracy(correct(decision.sign, case.gold), draws=case.draws, seed=case.seed)
        rows.append(
            {
                "judges": ", ".join(case.hearing.judges[k] for k in among),
                "value": found.value,
                "low": found.low,
                "high": found.high,
                "n": found.n,
                "unscored": unscored_pairs(decision.sign, case.gold),
                "cost": float(case.cost[among].sum()),
            }
        )
    note = (
        f"Judges of the pool {case.chosen.name}, cheapest first, with their weights in it. cost: "
        f"{case.currency}, all verdicts."
    )
    if len(unknown):
        left_out = ", ".join(case.hearing.judges[k] for k in unknown)
        note += f" Left out, as no price is known of them: {left_out}."
    return Table("budgets", "The pool on a budget", rows if len(rows) > 1 else [], note)


def weightings_table(case: Case) -> Table:
    """The pool of all exams under other weights."""
    if not case.chosen.exams:
        return Table("weightings", "Weights", [])
    rows: list[Row] = []
    for weighting in ("equal", "score", "logit", "mean"):
        rules = PoolingRules(weighting, case.rules.orders, case.rules.tolerance, case.rules.excused)
        pool = admitted(case.hearing, case.marks, case.chosen.exams, rules)
        if pool.members.any():
            sign = pool.decision.sign
            counts = {"ties": ties_of(sign, case.gold), "unscored": unscored_pairs(sign, case.gold)}
            found = _estimate(case.accuracy(pool))
            rows.append({"weights": weighting, "pool": pool.name, **found, **counts})
    return Table("weightings", "The same pool under other weights", rows)


def bias_table(case: Case) -> Table:
    """How often a family wins where people do not prefer it; empty where none is named."""
    inside, mixed = family_pairs(case.agents, case.hearing.pairs, case.family)
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for kind, pool in _everyone(case) if mixed.any() else ():
        sign = pool.decision.sign[:, mixed]
        sign = sign * (side if sign.ndim == 2 else side[:, None])
        favours = np.where(np.isnan(sign), np.nan, (sign > 0).astype(np.float64))
        rate = favour_rate(favours, gold, case.draws, case.seed)
        right = accuracy(correct(sign, gold), draws=case.draws, seed=case.seed)
        row: dict[str, Value] = {"name": pool.name, "kind": kind, **_estimate(rate)}
        asked = np.where(gold <= 0, 1.0, np.nan)
        row |= {"unscored": unscored_pairs(sign, asked), "accuracy": right.value}
        row |= {"accuracy_low": right.low, "accuracy_high": right.high, "accuracy_n": right.n}
        row |= {"accuracy_unscored": unscored_pairs(sign, gold)}
        rows.append(row)
    note = (
        f"Share of the pairs with an answer by {', '.join(case.family)} against another, which "
        "people call a tie or decide for the other, in which the family's answer is preferred "
        "(equation 5). accuracy: on all pairs of that kind that people decided."
    )
    return Table("bias", "Bias toward a family", rows, note)


def family_pairs(
    agents: Sequence[str], pairs: NDArray[np.int64], family: Sequence[str]
) -> tuple[Bools, Bools]:
    """[pairs, 2] whose answers are the family's, and [pairs] where one is and the other is not."""
    inside: Bools = np.isin(np.array(agents)[pairs], np.array(family, dtype=str))
    return inside, np.asarray(inside.sum(axis=1) == 1)


def _everyone(case: Case) -> Iterator[tuple[str, Pool]]:
    """Every judge alone and every pool with a member, and which of the two it is."""
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if pool.members.any():
                yield kind, pool


def _estimate(found: Estimate) -> dict[str, Value]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "n": found.n,
        "items": found.clusters,
    }
