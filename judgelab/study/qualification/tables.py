"""The tables of study=qualification: pools, exams, judges and pools against people, agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.stats.qualification.decisions import favour_rate, ties_of, unscored_pairs
from judgelab.study.common.tables import WITHOUT_P, columns, entries
from judgelab.study.qualification.case import Case, family_pairs
from judgelab.study.qualification.exam_tables import (
    INTERVAL,
    confidence_table,
    exams_table,
    leads_table,
    superficial_table,
)
from judgelab.study.qualification.pools import EVERYBODY, HUMAN, PRE, Pool


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [lists_table(case)]
    if case.known:
        made.append(pools_table(case))
    made += [exams_table(case), leads_table(case), superficial_table(case)]
    made.append(confidence_table(case))
    if case.known:
        made += [correlations_table(case), bias_table(case)]
    made.append(agreement_table(case))
    return [table for table in made if table.rows]


def figures(made: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    rows = {table.name: table.rows for table in made}
    drawn = [f"qualification_{name}" for name in ("exams", "confidence", "pools") if name in rows]
    costs = [row["cost"] for row in rows.get("pools", ())]
    if any(isinstance(cost, float) and cost > 0 for cost in costs):
        drawn.append("qualification_cost")  # nothing is to be seen where all is free
    return drawn


def lists_table(case: Case) -> Table:
    """The judges of each pool."""
    named = case.responses.named
    rows: list[Row] = [
        {
            "pool": pool.name,
            "judges": named(pool.members) or "nobody",
            "no_weight": named(pool.weightless) or None,
            "count": int(pool.members.sum()),
            "p_same": pool.same_list,
            "ties": pool.ties,
            "undecided": int(np.isnan(pool.sign).sum()),
            "weights": ", ".join(f"{w:.3f}" for w in pool.power[pool.members]),
        }
        for pool in case.pools
    ]
    note = (
        "p_same: share of resamples of the items that admit exactly these judges. ties: votes at a "
        "draw, up to rounding. no_weight: judges that passed with a weight of 0 "
        "(study.weights=logit, at chance). human: mean weights over the folds."
    )
    return Table("lists", "Who passes", rows, note)


def pools_table(case: Case) -> Table:
    """Accuracy and cost of every judge, pool and method: the ablation over exams among them."""
    named = {EVERYBODY: "PRE (w/o Filter)", PRE: "PRE (Auto-Exam)", HUMAN: "PRE (Human Filter)"}
    named |= {case.chosen.name: "Auto-PRE"} if case.chosen.exams else {}
    rows: list[Row] = []
    contestants = [(head, case, pool) for head, pool in _everyone(case)]
    for name, one in case.methods.items():
        contestants.append(({"name": name, "kind": "method"}, one, one.outcome))
    for head, one, pool in contestants:
        found, (low, high) = case.accuracy(pool.sign), one.anew(pool)
        gain = case.gain(case.chosen, pool)
        against = flat_estimate("gain", columns(gain, *INTERVAL)) | columns(gain, "p")
        other = pool is not case.chosen and case.chosen.members.any()
        costs = one.costs_of(pool)
        rows.append(
            {**head, "called": named.get(pool.name) if head["kind"] == "pool" else None}
            | {**columns(found, *INTERVAL), "n": found.n, "unscored": found.unscored}
            | {"cost": costs["cost"]}
            | {key: value if other else None for key, value in against.items()}
            | {"exam_cost": costs["exam_cost"], "ties": ties_of(pool.sign, case.gold)}
            | {"judges": int(pool.members.sum()), "anew_low": low, "anew_high": high}
            | {"currency": case.currency}
        )
    note = (
        "Accuracy on the pairs that people decided, ties 1/2, 95 % interval over items; n, ties "
        "and unscored: of these pairs; anew: with the pool chosen anew in each resample. called: "
        "as in the paper; PRE has a threshold of .55 for P_c alone, and equal votes. cost: of the "
        "members' verdicts, and of the exams that chose them: all candidates' answers, those that "
        "failed too, and the human filter's annotation (writing the questions of recorded exams "
        f"excepted). gain: accuracy of {case.chosen.name} minus this one's on the same pairs; p: "
        "two-sided, of each test by itself, from flipping the sign of whole items."
    )
    return Table("pools", "Judges and pools against people", rows, note)


def correlations_table(case: Case) -> Table:
    """Spearman's rho over the answers of each item."""
    parts = (*INTERVAL, "n", "unscored")
    rows = [{**head, **columns(case.rho(pool), *parts)} for head, pool in _everyone(case)]
    note = (
        "Mean over items, signed; 0 where a method grades all answers alike. A judge or pool that "
        "compares answers grades each by the pairs it wins less those it loses."
    )
    return Table("correlations", "Spearman's rho with people's grades", rows, note)


def bias_table(case: Case) -> Table:
    """How often a family wins where people do not prefer it; empty where none is named."""
    inside, mixed = family_pairs(case.agents, case.responses.pairs, case.family)
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for head, pool in _everyone(case) if mixed.any() else ():
        sign = pool.sign[:, mixed]
        sign = sign * (side if sign.ndim == 2 else side[:, None])
        rate = favour_rate(np.where(np.isnan(sign), np.nan, (sign > 0).astype(np.float64)), gold)
        found = columns(rate, *INTERVAL, "p", "n") | {"items": rate.clusters}
        lost = unscored_pairs(sign, np.where(gold <= 0, 1.0, np.nan))
        beside = entries("accuracy", case.accuracy(sign, gold), *WITHOUT_P)
        rows.append({**head, **found, "unscored": lost, **beside})
    note = (
        f"Share of the pairs with an answer by {', '.join(case.family)} against another, which "
        "people call a tie or decide for the other, in which the family's answer is preferred "
        "(equation 5). accuracy: on all pairs of that kind that people decided."
    )
    return Table("bias", "Bias toward a family", rows, note)


def agreement_table(case: Case) -> Table:
    """How far judges and the pool decide alike."""
    groups = [(one, two, two.name) for one, two in combinations(case.singles, 2)]
    if case.chosen.members.any():
        groups += [(one, case.chosen, f"pool {case.chosen.name}") for one in case.singles]
    rows: list[Row] = []
    for one, two, label in groups:
        found = columns(case.agreement([(one, two)]), *INTERVAL, "n", "unscored")
        rows.append({"judge": one.name, "with": label, **found})
    note = "Share of pairs decided alike, ties included, with 95 % intervals over items."
    return Table("agreement", "Agreement between judges", rows, note)


def _everyone(case: Case) -> Iterator[tuple[dict[str, Value], Pool]]:
    """Every judge alone and every pool with a member: name and kind, and its decisions."""
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if pool.members.any():
                yield {"name": pool.name, "kind": kind}, pool
