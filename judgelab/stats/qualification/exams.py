"""Qualification exams of judges, without human labels (Auto-PRE paper, section 3).

An exam gives every judge one number. It is kept as sums over each item, so that all resamples of
the items are one product of matrices, and a pass that noise decided shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgelab.stats.intervals.arrays import Floats, divide, row_means
from judgelab.stats.intervals.bootstrap import item_weights
from judgelab.stats.intervals.ends import Ends, mean_ends, of_ratio, share_ends

ThresholdRule = Literal["mean", "fixed", "quantile"]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Shares:
    """An exam that is a mean over answers: P_c (equation 2) and P_p (equation 3).

    Attributes:
        total: [judges, items] sum over the item's scored answers, each between 0 and 1.
        count: [judges, items] how many they are.
        unscored: [judges] answers that could not be read.
    """

    total: Floats
    count: Floats
    unscored: NDArray[np.int64]

    def of(self, rows: NDArray[np.int64]) -> Shares:
        """Those of these judges."""
        return Shares(self.total[rows], self.count[rows], self.unscored[rows])

    def values(self, weights: Floats) -> Floats:
        """[draws, judges] the exam's number in each resample of the items [draws, items]."""
        return divide(weights @ self.total.T, weights @ self.count.T)

    def ends(self) -> Ends:
        """[judges] ends of the 95 % interval over items (``share_ends``)."""
        return share_ends(of_ratio(self.total, self.count))

    @property
    def n(self) -> NDArray[np.int64]:
        """[judges] scored answers."""
        return np.asarray(self.count.sum(axis=1), dtype=np.int64)

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.total.shape[1])


@dataclass(frozen=True)
class ConfidenceAnswers:
    """P_s (equation 4): 1 where mean confidence is higher on the easy set than on the hard one.

    Attributes:
        easy: [judges, items] sums and counts of confidence (any unit, higher is more confident).
        hard: the same items' hard questions.
    """

    easy: Shares
    hard: Shares

    def of(self, rows: NDArray[np.int64]) -> ConfidenceAnswers:
        """Those of these judges."""
        return ConfidenceAnswers(self.easy.of(rows), self.hard.of(rows))

    def gaps(self, weights: Floats) -> Floats:
        """[draws, judges] mean confidence on the easy set minus that on the hard set."""
        return self.easy.values(weights) - self.hard.values(weights)

    def values(self, weights: Floats) -> Floats:
        """[draws, judges] P_s in each resample; NaN where a set has no answer."""
        gap = self.gaps(weights)
        return np.where(np.isnan(gap), np.nan, (gap > 0).astype(np.float64))

    def gap_ends(self) -> Ends:
        """[judges] ends of the gap's 95 % interval over items (``mean_ends``)."""
        both = (self.easy.count > 0) | (self.hard.count > 0)
        easy, hard = (of_ratio(one.total, one.count, both) for one in (self.easy, self.hard))
        return mean_ends(easy - hard)

    def ends(self) -> Ends:
        """[judges] P_s at the ends of the gap's interval."""
        low, high = (np.where(np.isnan(x), np.nan, np.float64(x > 0)) for x in self.gap_ends())
        return low, high

    @property
    def n(self) -> NDArray[np.int64]:
        """[judges] scored answers, both sets together."""
        return self.easy.n + self.hard.n

    @property
    def unscored(self) -> NDArray[np.int64]:
        """[judges] answers that could not be read, both sets together."""
        return self.easy.unscored + self.hard.unscored

    @property
    def items(self) -> int:
        """How many items there are."""
        return self.easy.items


ExamAnswers = Shares | ConfidenceAnswers


@dataclass(frozen=True)
class Threshold:
    """Threshold of an exam: the judges' ``mean`` (as in the paper), or by a ``value``.

    That is a ``fixed`` number, or the ``quantile`` of the judges' numbers that is the threshold.

    Raises:
        ValueError: a quantile outside 0 to 1, or no value where the rule needs one.
    """

    rule: ThresholdRule = "mean"
    value: float | None = None

    def __post_init__(self) -> None:
        if self.rule != "mean" and self.value is None:
            raise ValueError(f"A {self.rule} threshold needs a value.")
        if self.rule == "quantile" and not 0 <= float(self.value or 0.0) <= 1:
            raise ValueError(f"A quantile lies between 0 and 1, got {self.value}.")

    def bar(self, values: Floats) -> Floats:
        """[draws] the threshold in each row of [draws, judges]; NaN where no judge has a number."""
        if self.rule == "fixed":
            return np.full(len(values), float(self.value or 0.0))
        if self.rule == "mean":
            return row_means(values)
        return _quantiles(values.T, [float(self.value or 0.0)]).ravel()


@dataclass(frozen=True)
class Marks:
    """How the judges did in one exam.

    Attributes:
        value: [judges] P; NaN where a judge did not take the exam.
        low, high: [judges] 95 % interval over items.
        passed: [judges]; false without a number, true of the judge that ``alone`` has one.
        p_pass: [judges] share of resamples, threshold and all, in which the judge passes; NaN
            without a number.
        bar: the threshold.
        n, unscored: [judges] answers.
        samples, passes: [draws, judges] the numbers, and which pass, in each resample.
        alone: [judges] the only one with a number, where the threshold is made from the judges'.
        gap: P_s: [3, judges] confidence on the easy minus the hard set, and its 95 % interval.
    """

    value: Floats
    low: Floats
    high: Floats
    passed: Bools
    p_pass: Floats
    bar: float
    n: NDArray[np.int64]
    unscored: NDArray[np.int64]
    samples: Floats
    passes: Bools
    alone: Bools
    gap: Floats | None = None


def shares(answers: ArrayLike) -> Shares:
    """Sums and counts of answers [judges, items, ...] between 0 and 1, NaN where unscored.

    Raises:
        ValueError: fewer than two dimensions, or infinities.
    """
    values = np.asarray(answers, dtype=np.float64)
    if values.ndim < 2 or np.isinf(values).any():
        raise ValueError(f"An exam needs finite answers [judges, items, ...], got {values.shape}.")
    flat = values.reshape(*values.shape[:2], -1)
    unscored = np.isnan(flat)
    count = (~unscored).sum(axis=2).astype(np.float64)
    return Shares(np.nansum(flat, axis=2), count, np.count_nonzero(unscored, axis=(1, 2)))


def unchanged(before: ArrayLike, after: ArrayLike, *, unread: float = np.nan) -> Floats:
    """1 where verdicts before and after a change agree, 0 where they do not (equation 2).

    Verdicts are 1 for the first answer, 0 for the second, .5 for neither, NaN unread.

    Args:
        unread: what a case counts in which either verdict is unread, or (as the authors' code
            has it, with .5) neither answer was chosen. NaN leaves out unread cases alone, and
            two ties agree.
    """
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    missing = np.isnan(x) | np.isnan(y)
    if not np.isnan(unread):
        missing |= (x == 0.5) | (y == 0.5)
    return np.where(missing, unread, (x == y).astype(np.float64))


def tied(before: ArrayLike, after: ArrayLike) -> float:
    """Share of the cases read both times that are ties both times; NaN without any.

    Ties agree, so a judge that always says "tie" has P_c = 1 and has compared nothing.
    """
    x, y = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    both = np.count_nonzero(~np.isnan(x) & ~np.isnan(y))
    return float(divide(np.count_nonzero((x == 0.5) & (y == 0.5)), both))


def confidence(easy: ArrayLike, hard: ArrayLike) -> ConfidenceAnswers:
    """From confidence per answer [judges, items, ...], higher is more confident, NaN unscored."""
    return ConfidenceAnswers(shares(easy), shares(hard))


def mark(answers: ExamAnswers, threshold: Threshold, draws: int = 2000, seed: int = 0) -> Marks:
    """Numbers, intervals and passes; for p_pass the threshold is found anew in each resample.

    A judge passes whose number exceeds the threshold. P_s has none to choose: a judge that is more
    confident on the easy set passes (equation 4). The same seed resamples the same items.
    """
    once, weights = np.ones((1, answers.items)), item_weights(answers.items, draws, seed)
    value, samples = answers.values(once)[0], answers.values(weights)
    bar, gap = threshold, None
    if isinstance(answers, ConfidenceAnswers):
        bar = Threshold("fixed", 0.5)
        gap = np.vstack([answers.gaps(once), *answers.gap_ends()])
    known = ~np.isnan(value)
    alone: Bools = known & (bar.rule != "fixed") & (np.count_nonzero(known) == 1)
    limit = float("nan") if alone.any() else float(bar.bar(value[None])[0])
    passes = _above(samples, bar.bar(samples)[:, None])
    low, high = answers.ends()
    return Marks(
        value=value,
        low=low,
        high=high,
        passed=_above(value, limit) | alone,
        p_pass=np.where(known & ~alone, passes.mean(axis=0), np.nan),
        bar=limit,
        n=answers.n,
        unscored=answers.unscored,
        samples=samples,
        passes=passes | alone,
        alone=alone,
        gap=gap,
    )


def _above(values: Floats, bar: ArrayLike) -> Bools:
    """Whether a number exceeds the threshold by more than rounding."""
    return np.asarray(values > np.asarray(bar) + 1e-12, dtype=np.bool_)


def _quantiles(samples: Floats, shares: Sequence[float]) -> Floats:
    """[shares, columns] of what is scored in each column; NaN for one without any."""
    found = np.full((len(shares), samples.shape[1]), np.nan)
    some = ~np.isnan(samples).all(axis=0)
    if some.any():
        found[:, some] = np.nanquantile(samples[:, some], shares, axis=0)
    return found
