"""What study=qualification found, before it is put into tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.panel import Panel
from judgelab.result import Value
from judgelab.stats.arrays import row_means
from judgelab.stats.bootstrap import bootstrap_mean, item_weights, percentile_interval
from judgelab.stats.correlation import item_correlations
from judgelab.stats.estimate import Estimate
from judgelab.stats.exams import Marks
from judgelab.stats.preference import accuracy, accuracy_samples, agreement_matrix, correct
from judgelab.study.hearing import Hearing
from judgelab.study.judge_prices import JudgePrices
from judgelab.study.lab import Lab
from judgelab.study.pools import HUMAN, Pool, Rules, answer_scores, same_list

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
    made |= _agreements(case)
    if case.known:
        for label, pool in (("pool", case.chosen), ("all", case.pools[0])):
            found = accuracy(case.right(pool), draws=case.draws, seed=case.seed)
            made |= _named(f"{label}/accuracy", found)
        made |= _named("pool/spearman", rho(case, case.chosen))
    return made


def _agreements(case: Case) -> dict[str, Value]:
    """Mean share of pairs decided alike: between judges, and of the pool's judges with it."""
    group = [*case.singles, *([case.chosen] if case.chosen.members.any() else [])]
    share, _ = agreement_matrix(np.stack([pool.decision.sign for pool in group]))
    between = share[np.triu_indices(len(case.singles), 1)]
    own = share[: len(case.singles), -1][case.chosen.members]
    return {
        "judges/agreement": float(row_means(between)) if len(between) else float("nan"),
        "pool/agreement": float(row_means(own)) if len(own) else float("nan"),
    }


def rho(case: Case, pool: Pool) -> Estimate:
    """Spearman's rho, mean over items; an item whose answers people grade alike has none."""
    scores = answer_scores(case.hearing, pool, len(case.agents))
    human = np.where(np.isnan(scores), np.nan, case.human)
    found = item_correlations(scores, human)
    level = ~np.isnan(scores) & ~np.isnan(case.human)
    graded = np.where(level, case.human, np.nan)
    spread = np.array(
        [np.ptp(row[~np.isnan(row)]) if (~np.isnan(row)).any() else 0 for row in graded]
    )
    found = np.where(np.isnan(found) & (spread > 0), 0.0, found)
    return bootstrap_mean(found, case.draws, case.seed)


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
    """Of all verdicts of a pool; the human filter's annotation included."""
    extra = case.prices.annotation if pool.name == HUMAN else 0.0
    return float(case.cost[pool.members].sum() + extra)


def _named(label: str, found: Estimate) -> dict[str, Value]:
    parts = {"": found.value, "_low": found.low, "_high": found.high, "_n": found.n}
    return {f"{label}{part}": value for part, value in parts.items()}
