"""The sentences a reader of a ranking's confidence must see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judgelab.engine.provenance import FEW_ITEMS
from judgelab.stats.ranking.pairs import OrderedPairs
from judgelab.study.ranking.empirical import Empirical
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.scored import Scored


def notes(
    scored: Scored,
    judge: RankingJudge,
    seen: Empirical | None,
    pairs: OrderedPairs,
    items: int,
    ignored: Sequence[str] = (),
) -> tuple[str, ...]:
    """Where scores come from, what the judge is, and what limits the confidence."""
    return (
        *scored.said,
        *_judge(scored, judge),
        *_ignored(judge, ignored),
        *_bias(judge),
        *_calibration(judge, seen),
        *_limits(scored, judge, seen, pairs, items),
    )


def _judge(scored: Scored, judge: RankingJudge) -> Iterator[str]:
    if judge.fit is not None:
        yield (
            f"The judge correlates with people at r = {judge.r.value:.3f} (95 % interval over "
            f"items {judge.r.low:.3f} to {judge.r.high:.3f}) on {judge.fit.texts} texts of "
            f"{judge.fit.systems} systems."
        )
        if not judge.usable:
            yield "r is not above 0: Algorithm 1 has no noise level for such a judge."
        return
    lacking = "Human or metric scores do not vary" if scored.annotated else "No human scores"
    if judge.usable:
        yield f"{lacking}: r = {judge.r.value:g} and sd = {judge.sd:g} are as given."
    else:
        yield (
            f"{lacking}, and no study.r: the confidence is that of the metric's own order, not of "
            "people's."
        )


def _ignored(judge: RankingJudge, names: Sequence[str]) -> Iterator[str]:
    if names:
        why = (
            "these data have human scores"
            if judge.fit is not None
            else "human units mean nothing here without study.r"
        )
        yield f"Not used, as {why}: {', '.join(names)}."


def _bias(judge: RankingJudge) -> Iterator[str]:
    if np.isnan(judge.bias_sd):
        yield (
            "How much the judge favours single systems is not known, so every confidence is an "
            "upper bound of people's (annotated data, or study.r with study.system_bias_sd)."
        )
    elif judge.bias_sd > 0 and judge.usable:
        low, high = judge.bias.low, judge.bias.high
        sure = f", 95 % interval over {judge.bias.n} systems {low:.2g} to {high:.2g}"
        sure = "" if np.isnan(low) else sure
        yield (
            f"Errors that a system's texts share have sd {judge.bias_sd:.3g}{sure} (human scores: "
            f"{judge.sd:.3g}). They do not average out: two systems that differ by that much are "
            "ranked right with at most .76 confidence, however many items there are."
        )


def _calibration(judge: RankingJudge, seen: Empirical | None) -> Iterator[str]:
    if seen is None or judge.fit is None:
        return
    error = seen.error()
    plain, bias = error["algorithm_1"], error["bias"]
    if np.isnan(plain.value):
        yield "The judge does not correlate with people on the other systems: no pair is predicted."
    if np.isnan(bias.value):
        return
    smaller = bias.value < plain.value
    yield (
        f"Calibration error on held-out pairs ({bias.n}; {bias.unscored} not predicted): Algorithm "
        f"1 {plain.value:.3f}, with the bias between systems {bias.value:.3f}: "
        f"{'smaller' if smaller else 'not smaller'}."
    )
    if not smaller:
        plainly, biased = (_leaning(seen.lean(model)) for model in ("algorithm_1", "bias"))
        yield (
            f"Why: on average Algorithm 1 is {plainly}, with the bias {biased}: the term can only "
            f"lower a confidence. The means of systems differ {judge.fit.system_slope:.2f} times "
            "as steeply as single texts suggest; about that line the bias is "
            f"{judge.fit.line_bias_sd:.3g}."
        )


def _leaning(by: float) -> str:
    return f"too {'sure' if by > 0 else 'careful'} by {abs(by):.3f}"


def _limits(
    scored: Scored, judge: RankingJudge, seen: Empirical | None, pairs: OrderedPairs, items: int
) -> Iterator[str]:
    if judge.fit is not None and judge.usable and seen is None:
        yield "People scored fewer than four systems: no pair can be predicted from the others."
    if seen is not None:
        yield (
            "Truth and bootstrap use the same items, so small differences carry the sampling "
            "error of the truth."
        )
    if len(scored.metric) < FEW_ITEMS:
        yield f"Only {len(scored.metric)} items: intervals are too narrow below {FEW_ITEMS}."
    if items > len(scored.metric):
        yield f"Curves and bootstrap are for {items} items; {len(scored.metric)} were scored."
    systems = int((~np.isnan(scored.metric)).any(axis=0).sum())
    apart = systems * (systems - 1) // 2 - len(pairs.gap)
    if apart:
        yield f"{apart} pairs of systems share fewer than two scored items: they are not compared."
