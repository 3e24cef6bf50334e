"""The tables of study=qualification: pools, exams, judges and pools against people, agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from judgelab.core.result import Row, Table, Value, flat_estimate
from judgelab.mechanism.judge import position
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.qualification.boxes import box
from judgelab.stats.qualification.decisions import (
    accuracy,
    decide,
    favour_rate,
    ties_of,
    unscored_pairs,
)
from judgelab.study.common.tables import WITHOUT_P, columns, entries
from judgelab.study.qualification.case import Case, family_pairs
from judgelab.study.qualification.exam_tables import (
    INTERVAL,
    exams_table,
    leads_table,
    superficial_table,
)
from judgelab.study.qualification.pools import EVERYBODY, HUMAN, PRE, Pool, admitted


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [lists_table(case)]
    if case.known:
        made.append(pools_table(case))
    made += [exams_table(case), leads_table(case), superficial_table(case)]
    made.append(confidence_table(case))
    if case.known:
        made += [comparisons_table(case), budgets_table(case)]
        made += [correlations_table(case), weightings_table(case), bias_table(case)]
    made += [agreement_table(case), orders_table(case)]
    return [table for table in made if table.rows]


def figures(made: Sequence[Table]) -> list[str]:
    """Drawings that the tables allow."""
    rows = {table.name: table.rows for table in made}
    drawn = [f"qualification_{name}" for name in ("exams", "confidence") if name in rows]
    if "pools" in rows:
        drawn.append("qualification_pools")
        if drawn_costs(rows["pools"]):
            drawn.append("qualification_cost")
    return drawn


def drawn_costs(rows: Sequence[Row]) -> bool:
    """Whether there is a figure of accuracy against cost: nothing to be seen where all is free."""
    return any(isinstance(row["cost"], float) and row["cost"] > 0 for row in rows)


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
        "p_same: share of resamples of the items that admit exactly these judges. ties: votes "
        f"within {case.rules.tolerance:g} of a draw. no_weight: judges that passed with a weight "
        "of 0 (study.weights=logit, at chance). human: mean weights over the folds."
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
        gain = case.gain("accuracy", case.chosen, pool)
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


def comparisons_table(case: Case) -> Table:
    """The pool of all exams against every other pool and judge; others against two of them."""
    rows: list[Row] = []
    for pool, kind, other in _contests(case):
        for measure in ("accuracy", "spearman"):
            found = case.gain(measure, pool, other)
            if found.n:
                names = {"pool": pool.name, "against": other.name, "kind": kind}
                rows.append(
                    {"measure": measure, **names, **_tested(found), "unscored": found.unscored}
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
            yield from ((pool, "judge", judge) for judge in case.singles)


def budgets_table(case: Case) -> Table:
    """The pool of all exams on a budget: its cheapest judges first, then one more at a time."""
    unknown = case.chosen.members & np.isnan(case.cost)
    known = case.chosen.members & ~unknown
    votes = case.responses.votes(case.rules.orders)
    rows: list[Row] = []
    for spent in np.unique(case.cost[known]):
        among = known & (case.cost <= spent)
        sign = decide(votes, np.where(among, case.chosen.power, 0.0), case.rules.tolerance)
        found = case.accuracy(sign)
        rows.append(
            {
                "judges": case.responses.named(among),
                **columns(found, *INTERVAL, "n", "unscored"),
                "cost": float(case.cost[among].sum()),
            }
        )
    note = (
        f"Judges of the pool {case.chosen.name}, cheapest first, with their weights in it. cost: "
        f"{case.currency}, all verdicts."
    )
    if unknown.any():
        note += f" Left out, as no price is known of them: {case.responses.named(unknown)}."
    return Table("budgets", "The pool on a budget", rows if len(rows) > 1 else [], note)


def confidence_table(case: Case) -> Table:
    """How sure each judge is on the easy and on the hard set: the boxes of Figure 4."""
    rows: list[Row] = []
    answers = case.responses.confidences
    right = {pool.name: case.accuracy(pool.sign).value for pool in case.singles if case.known}
    for judge, sets in answers.items():
        levels = any(np.nanmax(cells, initial=-np.inf) > 0 for cells in sets)  # else ln p
        for name, cells in zip(("easy", "hard"), sets, strict=True):
            shown = cells if levels else -cells
            found = accuracy(shown, draws=case.draws, seed=case.seed)  # mean over answers
            rows.append(
                {"judge": judge, "set": name, "unit": "level" if levels else "-ln p"}
                | columns(found, *INTERVAL)
                | {"n": int(np.count_nonzero(~np.isnan(cells)))}
                | {"unscored": int(np.count_nonzero(np.isnan(cells)))}
                | {"sd": float(np.nanstd(shown)), **box(shown)}
                | {"accuracy": right.get(judge, float("nan"))}
            )
    note = (
        "Unit -ln p: uncertainty, of the label that the judge emitted; level: confidence in words, "
        "from 1. A judge is fit that is less uncertain, or at a higher level, on the easy set. "
        "value: mean over answers, 95 % interval over items; whiskers reach to the last value "
        "within 1.5 times the quartiles' gap. accuracy: on the pairs that people decided."
    )
    return Table("confidence", "Confidence on easy and on hard pairs", rows, note)


def weightings_table(case: Case) -> Table:
    """The pool of all exams under other weights."""
    rows: list[Row] = []
    for weighting in ("equal", "score", "logit", "mean") if case.chosen.exams else ():
        rules = replace(case.rules, weighting=weighting)
        pool = admitted(case.responses, case.marks, case.chosen.exams, rules)
        if pool.members.any():
            found = case.accuracy(pool.sign)
            counts = {"ties": ties_of(pool.sign, case.gold), "unscored": found.unscored}
            rows.append({"weights": weighting, "pool": pool.name, **_tested(found), **counts})
    return Table("weightings", "The same pool under other weights", rows)


def bias_table(case: Case) -> Table:
    """How often a family wins where people do not prefer it; empty where none is named."""
    inside, mixed = family_pairs(case.agents, case.responses.pairs, case.family)
    side = np.where(inside[mixed, 0], 1.0, -1.0)
    gold = case.gold[:, mixed] * side
    rows: list[Row] = []
    for head, pool in _everyone(case) if mixed.any() else ():
        sign = pool.sign[:, mixed]
        sign = sign * (side if sign.ndim == 2 else side[:, None])
        favours = np.where(np.isnan(sign), np.nan, (sign > 0).astype(np.float64))
        rate = favour_rate(favours, gold, case.draws, case.seed)
        asked = unscored_pairs(sign, np.where(gold <= 0, 1.0, np.nan))
        beside = entries("accuracy", case.accuracy(sign, gold), *WITHOUT_P)
        rows.append({**head, **_tested(rate), "unscored": asked, **beside})
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


def orders_table(case: Case) -> Table:
    """What the order of the answers does to each judge; empty where answers are graded."""
    responses = case.responses
    if responses.verdicts is None:
        return Table("orders", "Position bias", [])
    rows: list[Row] = []
    for judge, cells in zip(responses.judges, responses.verdicts, strict=True):
        shown = np.full((len(cells), len(case.agents), len(case.agents)), np.nan)
        first, second = responses.pairs.T
        shown[:, first, second], shown[:, second, first] = cells[..., 0], 1 - cells[..., 1]
        share = accuracy(shown, draws=case.draws, seed=case.seed)
        share = replace(share, unscored=int(np.isnan(cells).sum()))
        rows.append({"judge": judge, **position(shown), **columns(share, *WITHOUT_P)})
    note = (
        "first_preferred: share of verdicts for the answer shown first, .5 without bias; low and "
        "high are its 95 % interval over items."
    )
    return Table("orders", "Position bias", rows, note)


def _everyone(case: Case) -> Iterator[tuple[dict[str, Value], Pool]]:
    """Every judge alone and every pool with a member: name and kind, and its decisions."""
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if pool.members.any():
                yield {"name": pool.name, "kind": kind}, pool


def _tested(found: Estimate) -> dict[str, Value]:
    return columns(found, *INTERVAL, "p", "n") | {"items": found.clusters}
