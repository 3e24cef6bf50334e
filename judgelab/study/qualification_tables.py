"""The tables of study=qualification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judgelab.mechanism.judge import position
from judgelab.result import Row, Table, Value
from judgelab.stats.estimate import Estimate
from judgelab.stats.exams import Confidence, spread_of_gap
from judgelab.stats.pooling import decide
from judgelab.stats.preference import (
    accuracy,
    agreement_matrix,
    correct,
    difference,
    favour_rate,
    unscored_pairs,
)
from judgelab.study.pools import EVERYBODY, Rules, admitted, same_list
from judgelab.study.qualification_case import Case, anew, cost_of, rho


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [lists_table(case)]
    if case.known:
        made.append(pools_table(case))
    made.append(exams_table(case))
    if case.known:
        made += [comparisons_table(case), budgets_table(case)]
        made += [correlations_table(case), weightings_table(case)]
        if case.family:
            made.append(bias_table(case))
    made += [agreement_table(case)]
    if case.hearing.verdicts is not None:
        made.append(orders_table(case))
    return [table for table in made if table.rows]


def figures(made: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    names = {table.name for table in made}
    drawn = ["qualification_exams"] if "exams" in names else []
    if "pools" in names:
        drawn.append("qualification_pools")
        rows = next(table.rows for table in made if table.name == "pools")
        if any((row["cost"] or 0) == (row["cost"] or 0) and row["cost"] for row in rows):
            drawn.append("qualification_cost")
    return drawn


def exams_table(case: Case) -> Table:
    """Numbers, bars and how certain the pass is."""
    rows: list[Row] = []
    for exam, marks in case.marks.items():
        answers = case.hearing.exams[exam]
        gap = None
        if isinstance(answers, Confidence):
            gap = spread_of_gap(answers, case.draws, case.seed)
        for k, judge in enumerate(case.hearing.judges):
            row: dict[str, Value] = {
                "exam": exam,
                "judge": judge,
                "value": float(marks.value[k]),
                "low": float(marks.low[k]),
                "high": float(marks.high[k]),
                "bar": marks.bar,
                "passed": _passed(case, exam, k),
                "p_pass": float(marks.p_pass[k]),
                "n": int(marks.n[k]),
                "unscored": int(marks.unscored[k]),
            }
            if gap is not None:
                row |= {"gap": float(gap[0, k])}
                row |= {"gap_low": float(gap[1, k]), "gap_high": float(gap[2, k])}
            rows.append(row)
    note = (
        "Consistency P_c, pertinence P_p, self-confidence P_s, with 95 % intervals over items. "
        "p_pass: share of resamples of the items, bar and all, in which the judge passes: near 0 "
        "or 1 the data decide, near .5 chance. gap: confidence on the easy minus the hard set."
    )
    return Table("exams", "Exams", rows, note)


def lists_table(case: Case) -> Table:
    """Who is in which pool."""
    rows: list[Row] = []
    for pool in case.pools:
        members = [j for j, there in zip(case.hearing.judges, pool.members, strict=True) if there]
        rows.append(
            {
                "pool": pool.name,
                "judges": ", ".join(members) or "nobody",
                "count": len(members),
                "p_same": same_list(pool),
                "ties": pool.decision.ties,
                "undecided": int(np.isnan(pool.decision.sign).sum()),
                "weights": ", ".join(f"{w:.3f}" for w in pool.power[pool.members]),
            }
        )
    note = (
        "p_same: share of resamples of the items that admit exactly these judges. ties: votes "
        f"within {case.rules.tolerance:g} of a draw."
    )
    return Table("lists", "Who passes", rows, note)


def pools_table(case: Case) -> Table:
    """Accuracy and cost of every judge and pool."""
    rows: list[Row] = []
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if not pool.members.any():
                continue
            found = accuracy(case.right(pool), draws=case.draws, seed=case.seed)
            again = anew(case, pool)
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
                    "ties": pool.decision.ties,
                    "unscored": unscored_pairs(pool.decision.sign, case.gold),
                    "cost": cost_of(case, pool),
                }
            )
    note = (
        "Accuracy on the pairs that people decided, ties 1/2, 95 % interval over items; anew: "
        f"with the pool chosen anew in each resample. cost: {case.prices.currency}, all verdicts."
    )
    return Table("pools", "Judges and pools against people", rows, note)


def correlations_table(case: Case) -> Table:
    """Spearman's rho over the answers of each item."""
    rows: list[Row] = []
    for pool in (*case.singles, *case.pools):
        if pool.members.any():
            found = rho(case, pool)
            parts = {"value": found.value, "low": found.low, "high": found.high}
            rows.append({"name": pool.name, **parts, "n": found.n, "unscored": found.unscored})
    note = (
        "Mean over items, signed; 0 where a method grades all answers alike. A judge or pool that "
        "compares answers grades each by the pairs it wins less those it loses."
    )
    return Table("correlations", "Spearman's rho with people's grades", rows, note)


def comparisons_table(case: Case) -> Table:
    """Pools against everybody, and against consistency alone."""
    rows: list[Row] = []
    by_name = {pool.name: pool for pool in case.pools}
    for against in (EVERYBODY, "C"):
        for pool in case.pools:
            if against not in by_name or pool.name == against or not pool.members.any():
                continue
            other = by_name[against]
            if not other.members.any():
                continue
            found = difference(
                case.right(pool), case.right(other), draws=case.draws, seed=case.seed
            )
            rows.append({"pool": pool.name, "against": against, **_estimate(found)})
    note = "Difference of accuracy on the same pairs; p from flipping the sign of whole items."
    return Table("comparisons", "Pools against one another", rows, note)


def budgets_table(case: Case) -> Table:
    """The pool of all exams on a budget: its cheapest judges first, then one more at a time."""
    members = np.flatnonzero(case.chosen.members & ~np.isnan(case.cost))
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
                "cost": float(case.cost[among].sum()),
            }
        )
    note = (
        f"Judges of the pool {case.chosen.name}, cheapest first, with their weights in it. cost: "
        f"{case.prices.currency}, all verdicts."
    )
    return Table("budgets", "The pool on a budget", rows if len(rows) > 1 else [], note)


def weightings_table(case: Case) -> Table:
    """The pool of all exams under other weights."""
    if not case.chosen.exams:
        return Table("weightings", "Weights", [])
    rows: list[Row] = []
    for weighting in ("equal", "score", "logit", "mean"):
        rules = Rules(weighting, case.rules.orders, case.rules.tolerance, case.rules.excused)
        pool = admitted(case.hearing, case.marks, case.chosen.exams, rules)
        if pool.members.any():
            found = accuracy(case.right(pool), draws=case.draws, seed=case.seed)
            ties = pool.decision.ties
            rows.append({"weights": weighting, "pool": pool.name, **_estimate(found), "ties": ties})
    return Table("weightings", "The same pool under other weights", rows)


def bias_table(case: Case) -> Table:
    """How often a family wins where people do not prefer it."""
    inside = np.isin(np.array(case.agents)[case.hearing.pairs], case.family)
    mixed = inside.sum(axis=1) == 1
    if not mixed.any():
        return Table("bias", "Bias", [])
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for pool in (*case.singles, *case.pools):
        if not pool.members.any():
            continue
        sign = pool.decision.sign[:, mixed]
        sign = sign * (side if sign.ndim == 2 else side[:, None])
        favours = np.where(np.isnan(sign), np.nan, (sign > 0).astype(np.float64))
        rate = favour_rate(favours, gold, case.draws, case.seed)
        right = accuracy(correct(sign, gold), draws=case.draws, seed=case.seed)
        rows.append({"name": pool.name, **_estimate(rate), "accuracy": right.value})
    note = (
        f"Share of the pairs with an answer by {', '.join(case.family)} against another, which "
        "people call a tie or decide for the other, in which the family's answer is preferred "
        "(equation 5). accuracy: on all pairs of that kind."
    )
    return Table("bias", "Bias toward a family", rows, note)


def agreement_table(case: Case) -> Table:
    """How far judges and the pool decide alike."""
    chosen = [case.chosen] if case.chosen.members.any() else []
    group = [*case.singles, *chosen]
    share, n = agreement_matrix(np.stack([pool.decision.sign for pool in group]))
    rows: list[Row] = [
        {
            "judge": group[i].name,
            "with": group[j].name if j < len(case.singles) else f"pool {group[j].name}",
            "value": float(share[i, j]),
            "n": int(n[i, j]),
        }
        for i in range(len(case.singles))
        for j in range(i + 1, len(group))
    ]
    return Table("agreement", "Agreement between judges", rows, "Share of pairs decided alike.")


def orders_table(case: Case) -> Table:
    """What the order of the answers does to each judge."""
    assert case.hearing.verdicts is not None
    rows: list[Row] = []
    for judge, cells in zip(case.hearing.judges, case.hearing.verdicts, strict=True):
        shown = np.full((len(cells), len(case.agents), len(case.agents)), np.nan)
        first, second = case.hearing.pairs.T
        shown[:, first, second], shown[:, second, first] = cells[..., 0], 1 - cells[..., 1]
        unread = int(np.isnan(cells).sum())
        rows.append(
            {"judge": judge, **position(shown), "n": cells.size - unread} | {"unscored": unread}
        )
    note = "first_preferred: share of verdicts for the answer shown first, .5 without bias."
    return Table("orders", "Position bias", rows, note)


def _passed(case: Case, exam: str, judge: int) -> bool | str:
    if not case.hearing.sat[exam][judge]:
        return "excused" if case.rules.excused else False
    return bool(case.marks[exam].passed[judge])


def _estimate(found: Estimate) -> dict[str, Value]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "n": found.n,
        "items": found.clusters,
    }
