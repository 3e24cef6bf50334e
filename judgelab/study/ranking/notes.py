"""The sentences a reader of a ranking's confidence must see."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from judgelab.stats.ranking.calibration import Model
from judgelab.study.ranking.empirical import Empirical
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.ranked import Ranked
from judgelab.study.ranking.scored import Scored
from judgelab.study.ranking.tables import MODEL_NAMES


def notes(
    ranked: Ranked, seen: Empirical | None, items: int, ignored: Sequence[str] = ()
) -> tuple[str, ...]:
    """Where scores come from, what the judge is, and what limits the confidence."""
    scored, judge = ranked.scored, ranked.judge
    return (
        *scored.said,
        *_judge(scored, judge),
        *_ignored(judge, ignored),
        *_bias(judge, ranked.model),
        *_calibration(ranked, seen),
        *_limits(ranked, seen, items),
    )


def _judge(scored: Scored, judge: RankingJudge) -> Iterator[str]:
    if judge.fit is not None and judge.fit.systems:
        where = " of the training data" if judge.elsewhere else ""
        yield (
            f"The judge correlates with people at r = {judge.r.value:.3f} (95 % interval over "
            f"items {judge.r.low:.3f} to {judge.r.high:.3f}) on {judge.fit.texts} texts of "
            f"{judge.fit.systems} systems{where}."
        )
    elif judge.fit is not None:
        yield (
            f"r = {judge.r.value:g} is as given, sd = {judge.sd:.3g} "
            f"{'is that of the human scores here' if judge.scores is not None else 'too'}."
        )
    if judge.elsewhere:
        yield "Human scores of these data test the judge's predictions; they take no part in them."
    if judge.fit is not None:
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
            "the judge is fitted on human scores"
            if judge.origin != "settings"
            else "human units mean nothing here without study.r"
        )
        yield f"Not used, as {why}: {', '.join(names)}."


def _bias(judge: RankingJudge, model: Model | None) -> Iterator[str]:
    if np.isnan(judge.bias_sd):
        yield (
            "How much the judge favours single systems is not known, so every confidence is an "
            "upper bound of people's (annotated data, or study.r with study.system_bias_sd)."
        )
    elif judge.bias_sd > 0 and judge.usable and model == "bias":
        low, high = judge.bias.low, judge.bias.high
        sure = f", 95 % interval over {judge.bias.n} systems {low:.2g} to {high:.2g}"
        sure = "" if np.isnan(low) else sure
        yield (
            f"Errors that a system's texts share have sd {judge.bias_sd:.3g}{sure} (human scores: "
            f"{judge.sd:.3g}). They do not average out: two systems that differ by that much are "
            "ranked right with at most .76 confidence, however many items there are."
        )


def _calibration(ranked: Ranked, seen: Empirical | None) -> Iterator[str]:
    judge = ranked.judge
    if seen is None or judge.fit is None:
        return
    error = seen.error()
    plain = error["algorithm_1"]
    if np.isnan(plain.value):
        yield "The judge does not correlate with people on the other systems: no pair is predicted."
        return
    said = ", ".join(f"{MODEL_NAMES[model]} {one.value:.3f}" for model, one in error.items())
    held = "pairs of these data" if judge.elsewhere else "held-out pairs"
    yield f"Calibration error on {held} ({plain.n}; {plain.unscored} not predicted): {said}."
    if ranked.model is not None:
        given = ranked.model != min(error, key=lambda model: error[model].value)
        yield (
            f"The confidence in people's order is by {MODEL_NAMES[ranked.model]}"
            f"{', as study.system_bias_sd asks' if given else ', which has the smallest error'}."
        )
    if judge.falls_by(ranked.model):
        yield (
            "Single texts agree with people, but the metric's means of systems fall as people's "
            f"rise (slope {judge.fit.system_slope:.2f}, 1 where texts and systems agree): take "
            "people's order for the opposite of the metric's."
        )
    if "bias" in error and not error["bias"].value < plain.value:
        plainly, biased = (_leaning(seen.lean(model)) for model in ("algorithm_1", "bias"))
        yield (
            f"Why the bias does not help: on average Algorithm 1 is {plainly}, with the bias "
            f"{biased}: the term can only lower a confidence. The means of systems differ "
            f"{judge.fit.system_slope:.2f} times as steeply as single texts suggest; about that "
            f"line the bias is {judge.fit.line_bias_sd:.3g}."
        )


def _leaning(by: float) -> str:
    return f"too {'sure' if by > 0 else 'careful'} by {abs(by):.3f}"


def _limits(ranked: Ranked, seen: Empirical | None, items: int) -> Iterator[str]:
    scored, judge, pairs = ranked.scored, ranked.judge, ranked.pairs
    if judge.fit is not None and judge.usable and seen is None:
        yield "People scored fewer than four systems: no pair can be predicted from the others."
    if seen is not None:
        yield (
            "Truth and bootstrap use the same items, so small differences carry the sampling "
            "error of the truth."
        )
    if items > len(scored.metric):
        yield f"Curves and bootstrap are for {items} items; {len(scored.metric)} were scored."
    systems = int((~np.isnan(scored.metric)).any(axis=0).sum())
    apart = systems * (systems - 1) // 2 - len(pairs.gap)
    if apart:
        yield f"{apart} pairs of systems share fewer than two scored items: they are not compared."
