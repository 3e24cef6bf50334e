"""What is known of each judge: from its credits estimates, from these conditions and a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgelab.stats.intervals.arrays import ROUNDING, Floats
from judgelab.stats.intervals.ends import above_p
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import holm_levels
from judgelab.stats.trust.agreement import Places, cohens_kappa
from judgelab.stats.trust.biases import position_bias
from judgelab.stats.trust.partial_correlation import partial_correlation
from judgelab.study.audit.conditions import Condition, Evidence, Figures, conditions_of, verdict_of
from judgelab.study.audit.credits import Credit, Credits, credits_of
from judgelab.study.audit.design import LEVEL, Design


def evidence(
    design: Design, probes: Mapping[str, Sequence[Condition]] | None = None
) -> list[Evidence]:
    """Everything that is known of every judge, and its verdict.

    Args:
        probes: judge -> conditions of manipulations that were tried.
    """
    names = design.table.names
    credits = [credits_of(design, k) for k in range(len(names))]
    levels = _levels(credits, steps=design.turn is None)
    return [
        _of_judge(design, name, own, level, (probes or {}).get(name, ()))
        for name, own, level in zip(names, credits, levels, strict=True)
    ]


def _levels(credits: Sequence[Credits], *, steps: bool) -> list[float]:
    """[judges] level of the intervals of advantages over rules, adjusted for the judges.

    By Holm's steps, or all alike (Bonferroni) where somebody looks after each turn.
    """
    if not steps:
        return [1 - (1 - LEVEL) / len(credits)] * len(credits)
    gains = [
        [x.own.adds - x.other.adds for x in one.each if x.name == "control" and x.other]
        for one in credits
    ]
    return [float(x) for x in holm_levels(above_p(np.array(gains), -1.0).max(axis=1), 1 - LEVEL)]


def _of_judge(
    design: Design, name: str, credits: Credits, level: float, probes: Sequence[Condition]
) -> Evidence:
    figures = [_figures(one, level, design.turn) for one in credits.each]
    kappa = position = system = None
    misaligned = False
    if credits.shares is not None:
        people, judge, weight, cluster = credits.shares
        kappa = cohens_kappa(people, judge, weight, cluster)
    if credits.numbers is not None:
        values, truth, group, cluster = credits.numbers
        system, alarm = _system(values, truth, group, cluster)
        misaligned = alarm and design.table.kind == "grade"
    if credits.orders is not None:
        verdicts, asked = credits.orders
        position = position_bias(verdicts[None], asked[None], design.cluster).at(0)
    conditions = [*conditions_of(design, figures, system, position, credits.averaged), *probes]
    agreement = next(one.own for one in figures if one.name == "agreement")
    guess = next(one.gap for one in figures if (one.name, one.about) == ("control", "random"))
    opposite = guess.high < 0 and (kappa is None or kappa.high < -ROUNDING)
    recall_of_people = {one.about: one.other for one in figures if one.name == "class"}
    known = Evidence(
        name,
        credits.counts,
        agreement,
        controls={one.about: one.other.value for one in figures if one.name == "control"},
        people=next(((one.own, one.other) for one in figures if one.name == "people"), None),
        conditions=conditions,
        classes={
            one.about: (one.own, recall_of_people.get(one.about))
            for one in figures
            if one.name == "recall"
        },
        kappa=kappa,
        confusion=credits.confusion,
        misaligned=misaligned,
        reversed=opposite and len(design.classes) <= 2,
    )
    return replace(known, verdict=verdict_of(known, design.bars, design.to_find))


def _figures(one: Credit, level: float, turn: Floats | None) -> Figures:
    """The level is of advantages over rules; all other intervals have one."""
    level = level if one.name == "control" else LEVEL
    own = one.own.estimate_share(turn=turn)
    if one.other is None:
        return Figures(one.name, one.about, own)
    # rules have their share of all credit, also where turns count alike
    other = one.other.estimate_share(turn=None if one.name == "control" else turn)
    return Figures(one.name, one.about, own, other, one.own.estimate_share(one.other, level, turn))


def _system(values: Floats, truth: Floats, group: Places, cluster: Places) -> tuple[Estimate, bool]:
    """The correlation with people given the system, and whether rows of grades look misaligned.

    They do where the means of three systems or more go together while within systems nothing does,
    as where one file lost its order.
    """
    within = partial_correlation(values, truth, group, cluster)
    sizes = np.bincount(group)
    if all(np.ptp(values[group == k]) == 0 for k in range(len(sizes))):
        return Estimate(0.0, 0.0, 0.0, within.n), False  # one grade for each system
    if len(sizes) < 3 or not within.low <= 0 <= within.high:
        return within, False
    whole = partial_correlation(values, truth, np.zeros_like(group), cluster)
    means = np.stack([np.bincount(group, x) / sizes for x in (values, truth)])
    apart = float(np.ptp(means, axis=1).min()) > 0
    together = apart and float(np.asarray(np.corrcoef(means))[0, 1]) > 0.6
    return within, whole.low > 0 and together
