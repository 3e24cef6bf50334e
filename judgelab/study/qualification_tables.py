"""The tables of study=qualification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.mechanism.judge import position
from judgelab.panel import Panel
from judgelab.result import Row, Table, Value
from judgelab.stats.bootstrap import bootstrap_mean, item_weights, percentile_interval
from judgelab.stats.correlation import item_correlations
from judgelab.stats.estimate import Estimate
from judgelab.stats.exams import Confidence, Marks, spread_of_gap
from judgelab.stats.preference import (
    accuracy,
    accuracy_samples,
    agreement_matrix,
    correct,
    difference,
    favour_rate,
    unscored_pairs,
)
from judgelab.study.hearing import Hearing
from judgelab.study.judge_prices import JudgePrices
from judgelab.study.lab import Lab
from judgelab.study.pools import EVERYBODY, HUMAN, Pool, Rules, admitted, answer_scores, same_list

Floats = NDArray[np.float64]

TITLES = {"consistency": "P_c", "pertinence": "P_p", "self_confidence": "P_s"}


@dataclass(frozen=True)
class Case:
    """Everything that the tables are made of.

    Attributes:
        hearing: what the judges said.
        agents: names, of ``pairs``.
        marks: exam -> how they did.
        singles: every judge alone.
        pools: everybody, every subset of the exams (the full one last), and the human filter.
        gold: [items, pairs] people's preference.
        human: [items, agents] people's grade.
        family: agents whose bias rate is asked for.
        cost: [judges] of their verdicts.
        prices: where that comes from.
        rules: how pools are made.
        draws: resamples.
        seed: of the resamples.
    """

    hearing: Hearing
    agents: Sequence[str]
    marks: Mapping[str, Marks]
    singles: Sequence[Pool]
    pools: Sequence[Pool]
    gold: Floats
    human: Floats
    family: Sequence[str]
    cost: Floats
    prices: JudgePrices
    rules: Rules
    draws: int
    seed: int

    @property
    def known(self) -> bool:
        """Whether people prefer any answer to another."""
        return bool((np.abs(self.gold) == 1).any())

    @property
    def chosen(self) -> Pool:
        """The pool of all exams."""
        return [pool for pool in self.pools if pool.name != HUMAN][-1]

    def right(self, pool: Pool) -> Floats:
        """[items, pairs(, orders)] credit."""
        return correct(pool.decision.sign, self.gold)


def all_tables(case: Case) -> list[Table]:
    """In the order to be read."""
    made = [exams_table(case), lists_table(case)]
    if case.known:
        made += [pools_table(case), comparisons_table(case), weightings_table(case)]
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
                "passed": _passed(case, marks, k),
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
    """Accuracy, rank correlation and cost of every judge and pool."""
    rows: list[Row] = []
    for kind, group in (("judge", case.singles), ("pool", case.pools)):
        for pool in group:
            if not pool.members.any():
                continue
            found = accuracy(case.right(pool), draws=case.draws, seed=case.seed)
            rho = _rho(case, pool)
            anew = _anew(case, pool)
            rows.append(
                {
                    "name": pool.name,
                    "kind": kind,
                    "judges": int(pool.members.sum()),
                    "value": found.value,
                    "low": found.low,
                    "high": found.high,
                    "anew_low": anew[0],
                    "anew_high": anew[1],
                    "n": found.n,
                    "items": found.clusters,
                    "ties": pool.decision.ties,
                    "unscored": unscored_pairs(pool.decision.sign, case.gold),
                    "spearman": rho.value,
                    "spearman_low": rho.low,
                    "spearman_high": rho.high,
                    "spearman_n": rho.n,
                    "cost": _cost(case, pool),
                }
            )
    note = (
        "Accuracy on the pairs that people decided, ties 1/2, 95 % interval over items; anew: "
        "with the pool chosen anew in each resample. Spearman's rho signed, mean over items, 0 "
        f"where a method grades all alike. cost: {case.prices.currency} for all verdicts."
    )
    return Table("pools", "Judges and pools against people", rows, note)


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


def summary(lab: Lab, panel: Panel, case: Case) -> dict[str, Value]:
    """Flat entries; those of the chosen pool first."""
    made: dict[str, Value] = {
        "study": "qualification",
        "mechanism": lab.mechanism.name,
        "evaluation_lm": lab.evaluation_lm.identity,
        "dataset": str(panel.provenance.get("dataset", "")),
        "items": len(panel.items),
        "pairs": int(case.gold.size),
        "judges": len(case.hearing.judges),
        "pool": case.chosen.name,
        "pool/judges": int(case.chosen.members.sum()),
        "pool/ties": case.chosen.decision.ties,
        "pool/p_same_list": same_list(case.chosen),
    }
    group = [*case.singles, *([case.chosen] if case.chosen.members.any() else [])]
    share, _ = agreement_matrix(np.stack([pool.decision.sign for pool in group]))
    between = share[np.triu_indices(len(case.singles), 1)]
    made["judges/agreement"] = float(np.nanmean(between)) if len(between) else float("nan")
    own = case.chosen.members if case.chosen.members.any() else np.zeros(0, dtype=np.bool_)
    with_pool = share[: len(own), -1][own] if len(own) else np.array([])
    made["pool/agreement"] = float(np.nanmean(with_pool)) if len(with_pool) else float("nan")
    if case.known:
        for label, pool in (("pool", case.chosen), ("all", case.pools[0])):
            found = accuracy(case.right(pool), draws=case.draws, seed=case.seed)
            made |= _named(f"{label}/accuracy", found)
        made |= _named("pool/spearman", _rho(case, case.chosen))
    return made


def _passed(case: Case, marks: Marks, judge: int) -> bool | str:
    if np.isnan(marks.value[judge]):
        return "excused" if case.rules.excused else False
    return bool(marks.passed[judge])


def _rho(case: Case, pool: Pool) -> Estimate:
    """Mean over items; an item whose answers people grade alike has none."""
    scores = answer_scores(case.hearing, pool, len(case.agents))
    human = np.where(np.isnan(scores), np.nan, case.human)
    rho = item_correlations(scores, human)
    level = ~np.isnan(scores) & ~np.isnan(case.human)
    graded = np.where(level, case.human, np.nan)
    spread = np.array(
        [np.ptp(row[~np.isnan(row)]) if (~np.isnan(row)).any() else 0 for row in graded]
    )
    rho = np.where(np.isnan(rho) & (spread > 0), 0.0, rho)
    return bootstrap_mean(rho, case.draws, case.seed)


def _anew(case: Case, pool: Pool) -> tuple[float, float]:
    """Interval of the accuracy with the pool chosen anew in each resample."""
    if pool.power_samples is None:
        return float("nan"), float("nan")
    votes = case.hearing.votes(case.rules.orders)
    gold = case.gold
    if votes.ndim == 4:
        gold = np.repeat(gold, votes.shape[-1], axis=1)
        votes = votes.reshape(*votes.shape[:2], -1)
    weights = item_weights(len(gold), case.draws, case.seed)
    drawn = accuracy_samples(votes, gold, pool.power_samples, weights, case.rules.tolerance)
    return percentile_interval(drawn)


def _cost(case: Case, pool: Pool) -> float:
    extra = case.prices.annotation if pool.name == HUMAN else 0.0
    return float(case.cost[pool.members].sum() + extra)


def _estimate(found: Estimate) -> dict[str, Value]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "n": found.n,
        "items": found.clusters,
    }


def _named(label: str, found: Estimate) -> dict[str, Value]:
    parts = {"": found.value, "_low": found.low, "_high": found.high, "_n": found.n}
    return {f"{label}{part}": value for part, value in parts.items()}
