"""How often judges that know nothing are qualified, and judges that know something.

    python -m experiments.auto_pre.null_judges [--panels 500] [--items 12 30 100]

Verdicts and confidence of simulated judges on simulated panels go through the exams' own
arithmetic: P_c over all pairs of AGENTS answers, P_p over PAIRS matched pairs of an item, P_s over
an easy and a hard pair of an item, everything in both orders. A judge is qualified that passes all
three. No model is asked. Shows for each judge, company and number of items in what share of the
panels it is qualified: by the thresholds alone (the paper), and with controls.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from experiments.command import aligned
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.qualification.exams import (
    Bools,
    ExamAnswers,
    Threshold,
    ThresholdRule,
    confidence,
    mark,
    over,
    over_chance,
    shares,
    unchanged,
)

AGENTS = 6
PAIRS = 4
DRAWS = 200
"""Resamples behind what is no part of the decision."""

NULL = ("coin", "biased coin", "whim", "always one", "always tie", "by length")
"""A coin for every question; one that falls on the first answer in 8 of 10; a number for every text
(consistent, and about nothing); one verdict whatever is shown; the longer answer."""

ABLE = {
    "able .7": (0.70, 0.85, 0.55, 0.5),
    "able .7, each order anew": (0.70, 0.85, 0.55, 0.0),
    "able .9": (0.90, 0.97, 0.75, 0.5),
}
"""Shares of right verdicts, and on the easy and hard pairs; share of the variance of what it errs
by that both orders have in common (P_c of .71, .58 and .87)."""

COMPANY: dict[str, tuple[str, ...]] = {
    "coins alone": ("coin", "coin", "coin", "biased coin", "biased coin"),
    "judges that know nothing": NULL,
    "and two of .7": (*NULL, "able .7", "able .7, each order anew"),
    "and two of .7, two of .9": (*NULL, *ABLE, "able .9"),
}


@dataclass(frozen=True)
class Answered:
    """Verdicts of one judge: 1 where the first of two answers, or the relevant one, wins.

    Attributes:
        pairs: [items, pairs, 2] on the panel, both orders.
        relevant: [items, PAIRS, 2] in the pertinence exam, both orders.
        easy, hard: [items, 2] confidence.
    """

    pairs: Floats
    relevant: Floats
    easy: Floats
    hard: Floats


def answered(kind: str, longer: Floats, rng: np.random.Generator) -> Answered:
    """What a judge says on one panel.

    Args:
        kind: of NULL or ABLE.
        longer: [items, PAIRS] whether the relevant answer is the longer one.
        rng: of the judge.
    """
    items, pairs = len(longer), AGENTS * (AGENTS - 1) // 2
    shape = ((items, pairs, 2), (items, PAIRS, 2))
    level = [rng.standard_normal((items, 2)) for _ in range(2)]
    if kind in ABLE:
        share, easy, hard, common = ABLE[kind]
        better = rng.choice([-1.0, 1.0], size=(items, pairs, 1))
        said = [(_evidence(share, size, common, rng) > 0).astype(np.float64) for size in shape]
        of = np.where(better > 0, said[0], 1 - said[0])
        strong = [np.abs(_evidence(one, (items, 2), common, rng)) for one in (easy, hard)]
        sure = [np.log(expit(each)) for each in strong]  # ln p of the verdict
        return Answered(of, said[1], sure[0], sure[1])
    if kind == "whim":
        text = rng.standard_normal((items, AGENTS))
        first, second = np.triu_indices(AGENTS, 1)
        one = (text[:, first] > text[:, second]).astype(np.float64)
        two = (rng.standard_normal(longer.shape) > 0).astype(np.float64)
        return Answered(*(np.repeat(x[..., None], 2, axis=-1) for x in (one, two)), *level)
    if kind == "by length":
        one = (rng.random(shape[0][:2]) > 0.5).astype(np.float64)
        return Answered(*(np.repeat(x[..., None], 2, axis=-1) for x in (one, longer)), *level)
    if kind == "always tie":
        return Answered(*(np.full(size, 0.5) for size in shape), *(np.zeros_like(x) for x in level))
    first_wins = {"coin": 0.5, "biased coin": 0.8, "always one": 1.0}[kind]
    wins = [(rng.random(size) < first_wins).astype(np.float64) for size in shape]
    turned = [np.stack([x[..., 0], 1 - x[..., 1]], axis=-1) for x in wins]
    return Answered(*turned, *level)


def _evidence(
    share: float, size: tuple[int, ...], common: float, rng: np.random.Generator
) -> Floats:
    """Normal around what makes this share of it positive; the last axis is the order shown."""
    both, each = rng.standard_normal((*size[:-1], 1)), rng.standard_normal(size)
    noise = np.sqrt(common) * both + np.sqrt(1 - common) * each
    return np.asarray(norm.ppf(share) + noise, dtype=np.float64)


def qualified(
    kinds: Sequence[str], items: int, rng: np.random.Generator, rule: ThresholdRule = "mean"
) -> tuple[Floats, Floats]:
    """[exams, judges] who passes on one simulated panel: by thresholds alone, and with controls."""
    half = np.repeat([[1.0, 0.0]], PAIRS // 2, axis=0).ravel()
    longer = np.stack([rng.permutation(half) for _ in range(items)])
    said = [answered(kind, longer, rng) for kind in kinds]
    same = np.stack([unchanged(one.pairs[..., 0], one.pairs[..., 1]) for one in said])
    relevant = np.stack([one.relevant for one in said])
    sure = confidence(np.stack([one.easy for one in said]), np.stack([one.hard for one in said]))
    exams: dict[str, ExamAnswers] = {"c": shares(same), "p": shares(relevant), "s": sure}
    fixed = {"c": 0.55, "p": 0.5, "s": 0.5}
    plain, held = [], []
    for name, answers in exams.items():
        controls = {"random": over_chance(answers)}
        if name == "p":
            controls["length"] = over(relevant, longer[:, :, None])
        bar = Threshold(rule, None if rule == "mean" else fixed[name])
        plain.append(mark(answers, bar, DRAWS).passed)
        held.append(mark(answers, bar, DRAWS, controls=controls).passed)
    return np.array(plain, dtype=np.float64), np.array(held, dtype=np.float64)


SETTINGS: tuple[tuple[ThresholdRule, str], ...] = (
    ("mean", "coins alone"),
    ("mean", "judges that know nothing"),
    ("mean", "and two of .7"),
    ("mean", "and two of .7, two of .9"),
    ("fixed", "and two of .7, two of .9"),
)
"""Threshold and company; fixed: .55 for P_c, .5 for P_p."""


def rates(panels: int, sizes: Sequence[int] = (12, 30, 100), seed: int = 0) -> Iterator[Row]:
    """One row for each threshold, company, number of items and judge."""
    for place, (rule, company) in enumerate(SETTINGS):
        kinds = COMPANY[company]
        for items in sizes:
            rng = np.random.default_rng([seed, place, items])
            runs = [qualified(kinds, items, rng, rule) for _ in range(panels)]
            plain, held = (np.stack(each) for each in zip(*runs, strict=True))
            where = (f"{company}, {rule}", items)
            for kind in dict.fromkeys(kinds):
                k = kinds.index(kind)
                parts = (plain[:, :, k].all(axis=1), held[:, :, k].all(axis=1))
                yield Row(*where, kind, *parts, tuple(held[:, :, k].mean(axis=0)))
            null = slice(len(NULL))
            parts = tuple(each[:, :, null].all(axis=1).any(axis=1) for each in (plain, held))
            yield Row(*where, "any that knows nothing", *parts)


@dataclass(frozen=True)
class Row:
    """How often a judge is qualified.

    Attributes:
        plain, held: [panels] by the thresholds alone, and with controls.
        exams: shares of panels in which it passes P_c, P_p and P_s, with controls.
    """

    company: str
    items: int
    judge: str
    plain: Bools
    held: Bools
    exams: tuple[float, ...] = ()

    def cells(self) -> dict[str, str]:
        """Column -> text; intervals by Wilson."""
        low, high = proportion_confint(int(self.held.sum()), len(self.held), method="wilson")
        names = zip(("P_c", "P_p", "P_s"), self.exams, strict=False)
        return {
            "company, threshold": self.company,
            "items": str(self.items),
            "judge": self.judge,
            "thresholds alone": f"{self.plain.mean():.3f}",
            "with controls": f"{self.held.mean():.3f} [{low:.3f}, {high:.3f}]",
            **{name: f"{share:.3f}" for name, share in names},
        }


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.auto_pre.null_judges",
        description="How often judges that know nothing are qualified.",
    )
    parser.add_argument("--panels", type=int, default=500, help="simulated panels of each kind")
    parser.add_argument("--items", type=int, nargs="+", default=[12, 30, 100], help="of a panel")
    given = parser.parse_args(argv)
    rows = [row.cells() for row in rates(given.panels, given.items)]
    note = f"{given.panels} panels a row. P_c, P_p, P_s: share passed, with controls."
    print(aligned("Share of simulated panels in which a judge is qualified", rows, [note]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
