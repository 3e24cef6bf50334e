"""Exams of judges without human labels, and many judges' one decision, held against people's
(Auto-PRE paper, sections 3 and 5).

An exam gives every judge one number. It is kept as sums over each item, so that all resamples of
the items are one product of matrices, and a pass that noise decided shows.

Verdicts are 1 where the first of two answers wins, 0 where the second does, .5 for a tie and NaN
where nothing could be read, for the answers in one fixed order, whichever was shown first. ``gold``
is 1 where people prefer the first answer, -1 for the second, 0 for a tie, NaN where nobody was
asked. Every interval is over items, and every test flips the sign of whole items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, Mask, divide, row_means
from judgelab.stats.intervals.ends import Ends, mean_ends, of_ratio, share_ends
from judgelab.stats.intervals.estimate import Estimate, Estimates
from judgelab.stats.intervals.means import item_weights, sign_flip_p

CHANCE = 0.05
"""A judge is better than a control where its lead is above 0 with a two-sided p of at most this:
one that knows nothing is found better in one of forty exams."""
FLIPS = 2000  # sign flips behind that p, at least
ERRORS = 1.96  # standard errors by which a lead has to be above 0 in a resample
# Votes closer to a draw than this share of all that was cast are ties: sums are rounded.
TOLERANCE = 1e-9
BOX = ("whisker_low", "quartile_1", "median", "quartile_3", "whisker_high")


@dataclass(frozen=True)
class ExamShares:
    """An exam that is a mean over answers: P_c (equation 2) and P_p (equation 3)."""

    total: Floats  # [judges, items] sum over the item's scored answers, each within ``limits``
    count: Floats  # [judges, items] how many they are
    missing: NDArray[np.int64]  # [judges, items] asked for, and not to be read
    # of an answer; those of a lead over a control are others, and confidence has none
    limits: tuple[float, float] | None = (0.0, 1.0)

    def values(self, weights: Floats) -> Floats:
        """[draws, judges] the exam's number in each resample of the items [draws, items]."""
        return divide(weights @ self.total.T, weights @ self.count.T)

    def ends(self) -> Ends:
        """[judges] ends of the 95 % interval over items (``share_ends``)."""
        return share_ends(of_ratio(self.total, self.count))


@dataclass(frozen=True)
class ConfidenceAnswers:
    """P_s (equation 4): 1 where mean confidence is higher on the easy set than on the hard one."""

    easy: ExamShares  # sums and counts of confidence (any unit, higher is more confident)
    hard: ExamShares  # the same items' hard questions

    def gaps(self, weights: Floats) -> Floats:
        """[draws, judges] mean confidence on the easy set minus that on the hard set."""
        return self.easy.values(weights) - self.hard.values(weights)

    def values(self, weights: Floats) -> Floats:
        """[draws, judges] P_s in each resample; NaN where a set has no answer."""
        return _above_0(self.gaps(weights))

    def gap_ends(self) -> Ends:
        """[judges] ends of the gap's 95 % interval over items (``mean_ends``)."""
        both = (self.easy.count > 0) | (self.hard.count > 0)
        easy, hard = (of_ratio(one.total, one.count, both) for one in (self.easy, self.hard))
        return mean_ends(easy - hard)

    def ends(self) -> Ends:
        """[judges] P_s at the ends of the gap's interval."""
        low, high = map(_above_0, self.gap_ends())
        return low, high


def _above_0(gaps: Floats) -> Floats:
    return np.where(np.isnan(gaps), np.nan, np.float64(gaps > 0))


ExamAnswers = ExamShares | ConfidenceAnswers


@dataclass(frozen=True)
class Marks:
    """How the judges did in one exam."""

    estimates: Estimates  # [judges] P over items (n, unscored: answers); NaN without the exam
    passed: Mask  # [judges] at the threshold, and better than every control
    p_pass: Floats  # [judges] share of resamples, threshold, controls and all, in which it passes
    bar: float  # the threshold; NaN where it would be the mean of a single judge, who passes
    samples: Floats  # [draws, judges] the numbers in each resample
    passes: Mask  # [draws, judges] and which pass
    gap: Floats | None = None  # P_s: [3, judges] confidence, easy minus hard set; its interval
    # control -> [judges] mean difference to it on the same answers (n: items)
    leads: Mapping[str, Estimates] = field(default_factory=dict)

    def unbeaten(self, judge: int) -> tuple[str, ...]:
        """The controls that a judge is no better than, the hardest first."""
        leads = {n: lead.value[judge] for n, lead in self.leads.items() if not _ahead(lead)[judge]}
        return tuple(sorted(leads, key=lambda name: leads[name]))


def shares(answers: Floats, asked: Mask | None = None) -> ExamShares:
    """Sums and counts of answers [judges, items, ...] between 0 and 1, NaN where unscored.
    ``asked``: whether the question was put; None: all were."""
    flat = answers.reshape(*answers.shape[:2], -1)
    missing, questions = np.isnan(flat), True if asked is None else asked.reshape(flat.shape)
    count = (~missing).sum(axis=2).astype(np.float64)
    return ExamShares(np.nansum(flat, axis=2), count, (missing & questions).sum(axis=2))


def lead_over_chance(answers: ExamAnswers) -> ExamShares:
    """The lead over a judge that flips a fair coin for each question, by what it gets on average.

    That is .5 of every verdict in P_c and P_p, and as much confidence on the easy as on the hard
    question of an item in P_s. No coin is flipped, which would add its own noise.
    """
    if isinstance(answers, ExamShares):
        total = answers.total - answers.count / 2
        return ExamShares(total, answers.count, answers.missing, (-0.5, 0.5))
    easy, hard = answers.easy, answers.hard
    gap = divide(easy.total, easy.count) - divide(hard.total, hard.count)
    lead = shares(gap[:, :, None])
    return replace(lead, missing=easy.missing + hard.missing, limits=None)


def lead_over(answers: Floats, control: Floats, asked: Mask | None = None) -> ExamShares:
    """The lead over a control that was given the same questions, [judges, items, ...] each."""
    return replace(shares(answers - control, asked), limits=(-1.0, 1.0))


def same_verdicts(before: Floats, after: Floats) -> Floats:
    """1 where verdicts before and after a change agree, as two ties do, 0 where they do not
    (equation 2), NaN where either is unread."""
    return np.where(np.isnan(before + after), np.nan, before == after)


def tie_share(before: Floats, after: Floats) -> float:
    """Share of the cases read both times that are ties both times; NaN without any. Ties agree, so
    a judge that always says "tie" has P_c = 1 and has compared nothing."""
    ties, both = (before == 0.5) & (after == 0.5), ~np.isnan(before + after)
    return float(divide(ties.sum(), both.sum()))


def mark(
    answers: ExamAnswers,
    bar: float | None = None,
    draws: int = 2000,
    seed: int = 0,
    controls: Mapping[str, ExamShares] | None = None,
) -> Marks:
    """Numbers, intervals and passes; for p_pass the threshold is found anew in each resample.

    A judge passes whose number exceeds ``bar``, or reaches the mean of all (None, as in the paper;
    where all have the same number, all pass). P_s has no bar to choose (equation 4). And it must be
    better than every control: its lead is above 0 by flipping the sign of whole items. Judges must
    pass every exam of a pool, so no correction for several exams is due; there is none for several
    judges: each that knows nothing passes an exam with p <= CHANCE / 2. ``controls``: control ->
    the judges' lead over it on every answer; the paper has none.
    """
    sets = [answers] if isinstance(answers, ExamShares) else [answers.easy, answers.hard]
    n, unscored = np.sum([[one.count, one.missing] for one in sets], axis=0).sum(axis=-1)
    items = sets[0].total.shape[1]
    once, weights = np.ones((1, items)), item_weights(items, draws, seed)
    value, samples = answers.values(once)[0], answers.values(weights)
    gap = None
    if isinstance(answers, ConfidenceAnswers):
        bar, gap = 0.5, np.vstack([answers.gaps(once), *answers.gap_ends()])
    has_value = ~np.isnan(value)
    limit = float(row_means(value)) if bar is None else bar
    if alone := bar is None and np.count_nonzero(has_value) == 1:
        limit = float("nan")
    bars = row_means(samples)[:, None] if bar is None else bar
    rounding = -1e-12 if bar is None else 1e-12  # a mean is reached, a fixed bar exceeded
    passed: Mask = (value > limit + rounding) | (has_value & alone)
    passes: Mask = (samples > bars + rounding) | (has_value & alone)
    leads = {name: _leads(lead, draws, seed) for name, lead in (controls or {}).items()}
    for name, lead in (controls or {}).items():
        passed &= _ahead(leads[name])
        numbers = np.nan_to_num(lead.values(weights), nan=-1.0)
        passes &= numbers > ERRORS * numbers.std(axis=0)
    return Marks(
        estimates=Estimates.of(value, answers.ends(), n, unscored),
        passed=passed,
        p_pass=np.where(has_value & (not alone), passes.mean(axis=0), np.nan),
        bar=limit,
        samples=samples,
        passes=passes,
        gap=gap,
        leads=leads,
    )


def _leads(lead: ExamShares, draws: int, seed: int) -> Estimates:
    ends = mean_ends(of_ratio(lead.total, lead.count), bounds=lead.limits)
    has_answer = lead.count > 0
    items = np.where(has_answer, lead.total, np.nan)
    unscored = (~has_answer & (lead.missing > 0)).sum(axis=1)
    value = divide(lead.total.sum(axis=1), lead.count.sum(axis=1))
    p = np.array([sign_flip_p(row, max(draws, FLIPS), seed) for row in items])
    return replace(Estimates.of(value, ends, has_answer.sum(axis=1), unscored), p=p)


def _ahead(lead: Estimates) -> Mask:
    return np.asarray((lead.value > 0) & (lead.p <= CHANCE), dtype=np.bool_)


def votes_of(verdicts: Floats) -> Floats:
    """Verdicts [..., orders] as votes for the first answer, both orders as one, from -2 to 2. An
    order that is a tie or unread adds nothing. NaN where nothing was read."""
    votes = 2 * verdicts - 1
    return np.where(np.isnan(votes).all(axis=-1), np.nan, np.nansum(votes, axis=-1))


def gaps_of(scores: Floats, pairs: NDArray[np.int64]) -> Floats:
    """[..., pairs] the first answer's grade minus the second's, of grades [..., agents]."""
    return np.asarray(scores[..., pairs[:, 0]] - scores[..., pairs[:, 1]])


def decide(votes: Floats, weight: ArrayLike) -> Floats:
    """Weighted majority [...]: 1 first answer, -1 second, 0 a tie (within TOLERANCE), NaN where no
    judge voted.

    Of votes [judges, ...] by ``votes_of`` or ``gaps_of``; NaN abstains, differences of grades count
    by their size. A weight [judges] of 0 or NaN keeps a judge out.
    """
    power, values = np.nan_to_num(np.asarray(weight, dtype=np.float64)), np.nan_to_num(votes)
    turnout = np.tensordot(power, (~np.isnan(votes)).astype(np.float64), axes=1)
    balance = np.tensordot(power, values, axes=1)
    size = np.tensordot(power, np.abs(values), axes=1)
    sign = np.where(np.abs(balance) <= TOLERANCE * size, 0.0, np.sign(balance))
    return np.where(turnout > 0, sign, np.nan)


def pooled_scores(scores: Floats, weight: ArrayLike) -> Floats:
    """[items, agents] weighted mean of the judges' grades [judges, items, agents]; NaN without any.
    Weights are [judges], or [judges, items] where every item has its own."""
    power = np.nan_to_num(np.asarray(weight, dtype=np.float64))
    power = power[:, None, None] if power.ndim == 1 else power[:, :, None]
    return divide(np.nansum(power * scores, axis=0), (power * ~np.isnan(scores)).sum(axis=0))


def correct(sign: Floats, gold: Floats) -> Floats:
    """1 right, 0 wrong, .5 where the decision is a tie; NaN without a decision or preference."""
    has_both = ~np.isnan(sign) & (np.abs(gold) == 1)
    return np.where(has_both, np.where(sign == 0, 0.5, sign == gold), np.nan)


def accuracy(right: Floats, *, change: bool = False) -> Estimate:
    """Mean of ``correct`` [items, ...] with an interval over items (``share_ends``).

    n: pairs; clusters: items with any. ``change``: of a difference of two, within -1 and 1
    (``mean_ends``).
    """
    total, count = _by_item(right)
    parts = of_ratio(total, count)
    ends = mean_ends(parts, bounds=(-1.0, 1.0)) if change else share_ends(parts)
    low, high = map(float, ends)
    value, items = float(divide(total.sum(), count.sum())), int(np.count_nonzero(count))
    return Estimate(value, low, high, int(count.sum()), clusters=items)


def difference(gap: Floats, *, draws: int = 2000, seed: int = 0) -> Estimate:
    """Accuracy of one method minus that of another, of ``correct`` of the one minus the other's.

    Interval: ``mean_ends`` over items. p: two-sided, from flipping the sign of whole items (the
    paper's tests take pairs of answers as independent).
    """
    total, count = _by_item(gap)
    p = sign_flip_p(np.where(count > 0, total, np.nan), draws, seed)
    return replace(accuracy(gap, change=True), p=p)


def favour_rate(favours: Floats, gold: Floats) -> Estimate:
    """Share of the pairs that a family should not have won which it won (equation 5).

    Of [items, ...] 1 where the method prefers the family's answer, 0 where it prefers the other or
    calls it a tie, NaN unscored; gold is 1 where people prefer the family's answer, and their ties
    count (T_h = 0).
    """
    return accuracy(np.where(gold <= 0, favours, np.nan))


def _by_item(values: Floats) -> tuple[Floats, Floats]:
    flat = values.reshape(len(values), -1)
    return np.nansum(flat, axis=1), (~np.isnan(flat)).sum(axis=1).astype(np.float64)


def box(values: Floats) -> dict[str, float]:
    """Quartiles of the values that are known, and whiskers to the last within 1.5 times their gap
    (Tukey); NaN without any."""
    numbers = values[~np.isnan(values)]
    if not len(numbers):
        return dict.fromkeys(BOX, float("nan"))
    low, middle, high = np.quantile(numbers, (0.25, 0.5, 0.75))
    near = numbers[np.abs(numbers - np.clip(numbers, low, high)) <= 1.5 * (high - low)]
    parts = min(near.min(), low), low, middle, high, max(near.max(), high)
    return dict(zip(BOX, map(float, parts), strict=True))
