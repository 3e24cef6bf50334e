"""What study=qualification found, before it is put into tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from judgelab.core.panel import Panel
from judgelab.core.result import Value
from judgelab.engine.context import Context
from judgelab.stats.discrimination.correlation import item_correlations
from judgelab.stats.intervals.bootstrap import bootstrap_mean, item_weights, percentile_interval
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.sign_flip import sign_flip_p
from judgelab.stats.qualification.exams import Marks
from judgelab.stats.qualification.preference import (
    accuracy,
    accuracy_samples,
    alike,
    correct,
    difference,
)
from judgelab.study.qualification.judge_responses import Hearing
from judgelab.study.qualification.pools import HUMAN, Pool, PoolingRules, answer_scores, same_list

Floats = NDArray[np.float64]


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
        cost: [judges] of their verdicts; NaN where nobody knows.
        currency: of all costs.
        annotation_cost: of the human filter; NaN where nobody knows.
        rules: how pools are made.
        missing: sentences on what is not there, and why.
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
    currency: str
    annotation_cost: float
    rules: PoolingRules
    missing: tuple[str, ...]
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

    def accuracy(self, pool: Pool) -> Estimate:
        """On the pairs that people decided."""
        return accuracy(self.right(pool), draws=self.draws, seed=self.seed)

    def rho(self, pool: Pool) -> Estimate:
        """Spearman's rho, mean over items."""
        return bootstrap_mean(rank_agreement(self, pool), self.draws, self.seed)

    def agreement(self, groups: Sequence[tuple[Pool, Pool]]) -> Estimate:
        """Share of pairs decided alike, over these twos; no value without any."""
        if not groups:
            return Estimate(float("nan"), float("nan"), float("nan"), 0, clusters=0)
        cells = np.stack([alike(a.decision.sign, b.decision.sign) for a, b in groups], axis=-1)
        found = accuracy(cells, draws=self.draws, seed=self.seed)
        return replace(found, unscored=int(np.isnan(cells).sum()))


def summary(context: Context, panel: Panel, case: Case) -> dict[str, Value]:
    """Flat entries; those of the chosen pool first."""
    made: dict[str, Value] = {
        "study": "qualification",
        "mechanism": context.mechanism.name,
        "evaluation_lm": context.evaluation_lm.identity,
        "dataset": str(panel.provenance.get("dataset", "")),
        "items": len(panel.items),
        "pairs": int(case.gold.size),
        "judges": len(case.hearing.judges),
        "pool": case.chosen.name,
        "pool/judges": int(case.chosen.members.sum()),
        "pool/ties": case.chosen.decision.ties,
        "pool/p_same_list": same_list(case.chosen),
    }
    made |= _named("judges/agreement", case.agreement(list(combinations(case.singles, 2))))
    members = zip(case.singles, case.chosen.members, strict=True)
    own = [(judge, case.chosen) for judge, inside in members if inside]
    made |= _named("pool/agreement", case.agreement(own))
    if case.known:
        for label, pool in (("pool", case.chosen), ("all", case.pools[0])):
            made |= _named(f"{label}/accuracy", case.accuracy(pool))
        made |= _named("pool/spearman", case.rho(case.chosen))
    return made


def rank_agreement(case: Case, pool: Pool) -> Floats:
    """[items] Spearman's rho over an item's answers: 0 where the pool grades all alike.

    An item whose answers people grade alike, or do not grade, has none.
    """
    scores = answer_scores(case.hearing, pool, len(case.agents))
    human = np.where(np.isnan(scores), np.nan, case.human)
    found = item_correlations(scores, human)
    told = [row[~np.isnan(row)] for row in human]
    spread = np.array([np.ptp(row) if len(row) else 0.0 for row in told])
    return np.where(np.isnan(found) & (spread > 0), 0.0, found)


def gain(case: Case, measure: str, pool: Pool, other: Pool) -> Estimate:
    """What one method has more than another, ``accuracy`` or ``spearman``; tested on items.

    n: pairs (accuracy) or items (spearman) that both have; unscored: those that either lacks;
    p: sign flips of whole items.
    """
    if measure == "accuracy":
        first, second = case.right(pool), case.right(other)
        found = difference(first, second, draws=case.draws, seed=case.seed)
        pairs = int((np.abs(case.gold) == 1).sum()) * (first.size // max(case.gold.size, 1))
        return replace(found, unscored=pairs - found.n)
    gap = rank_agreement(case, pool) - rank_agreement(case, other)
    mean = bootstrap_mean(gap, case.draws, case.seed)
    p = sign_flip_p(gap, case.draws, case.seed)
    return Estimate(mean.value, mean.low, mean.high, mean.n, mean.unscored, p, mean.n)


def anew(case: Case, pool: Pool) -> tuple[float, float]:
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


def cost_of(case: Case, pool: Pool) -> float:
    """Of all verdicts of a pool; the human filter's annotation included. NaN where unknown."""
    extra = case.annotation_cost if pool.name == HUMAN else 0.0
    return float(case.cost[pool.members].sum() + extra)


def _named(label: str, found: Estimate) -> dict[str, Value]:
    parts = {"": found.value, "_low": found.low, "_high": found.high, "_n": found.n}
    return {f"{label}{part}": value for part, value in parts.items()}
