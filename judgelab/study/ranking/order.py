"""The ranking that the metric gives, with a confidence for every two systems."""

from __future__ import annotations

import numpy as np

from judgelab.core.result import Row, Table, Value
from judgelab.stats.intervals.arrays import row_means
from judgelab.stats.intervals.bootstrap import bootstrap_mean
from judgelab.stats.ranking.pairs import OrderedPairs, ordered_pairs
from judgelab.study.ranking.judge import RankingJudge
from judgelab.study.ranking.scored import Scored


def bias_known(judge: RankingJudge) -> bool:
    """Whether it can be said how sure people's order is, and not the metric's own alone."""
    return judge.slope > 0 and not np.isnan(judge.bias_sd)


def order(scored: Scored, judge: RankingJudge) -> OrderedPairs:
    """Confidence in the metric's order; with the judge's bias between systems where it is known."""
    bias = judge.bias_sd * judge.slope if bias_known(judge) else 0.0
    return ordered_pairs(scored.metric, bias)


def systems_table(
    scored: Scored, judge: RankingJudge, pairs: OrderedPairs, draws: int, seed: int
) -> Table:
    """Mean score of each system, best first, and how sure it is above the next (figure 1).

    Systems without a score come last and have no rank.
    """
    means = [bootstrap_mean(scored.metric[:, k], draws, seed) for k in range(len(scored.systems))]
    human = row_means(scored.human.T)
    known = [k for k, mean in enumerate(means) if mean.n]
    ranked = sorted(known, key=lambda k: -means[k].value)
    absent = [k for k, mean in enumerate(means) if not mean.n]
    sure = _lookup(pairs)
    rows: list[Row] = []
    for place, k in enumerate(ranked):
        row: dict[str, Value] = {"rank": place + 1, "system": scored.systems[k]}
        below = ranked[place + 1] if place + 1 < len(ranked) else None
        if below is not None and (k, below) in sure:
            row["above_next_same_metric"] = sure[k, below][0]
            if bias_known(judge):
                row["above_next_people"] = sure[k, below][1]
        if not np.isnan(human[k]):
            row["human_mean"] = float(human[k])
        rows.append({**row, **means[k].as_dict()})
    rows += [{"rank": None, "system": scored.systems[k], **means[k].as_dict()} for k in absent]
    note = (
        "Mean metric score with its interval over items, and confidence that a system is above the "
        "next one: for the same metric on more items, and (where its bias is known) for people."
    )
    return Table("systems", "Ranking by the metric", rows, note)


def order_table(scored: Scored, judge: RankingJudge, pairs: OrderedPairs) -> Table:
    """Every two systems."""
    human = row_means(scored.human.T)
    rows: list[Row] = []
    for k in np.argsort(-pairs.agreed, kind="stable"):
        high, low = int(pairs.first[k]), int(pairs.second[k])
        row: dict[str, Value] = {
            "higher": scored.systems[high],
            "lower": scored.systems[low],
            "gap": float(pairs.gap[k]),
            "shared_items": int(pairs.shared[k]),
            "same_metric": float(pairs.sampled[k]),
        }
        if bias_known(judge):
            row["people"] = float(pairs.agreed[k])
        if judge.slope > 0:
            row["gap_human_units"] = float(pairs.gap[k]) / judge.slope
        if not np.isnan(human[high] - human[low]):
            row["human_gap"] = float(human[high] - human[low])
        rows.append(row)
    note = "same_metric: confidence that this metric keeps the order on more items (paired t). " + (
        f"people: with the judge's bias between systems (sd {judge.bias_sd:.3g} in human "
        "units), which more items do not cure."
        if bias_known(judge)
        else "People's order is less sure: the judge's bias between systems is not known."
    )
    return Table("ranking", "Confidence in every pair of the metric's ranking", rows, note)


def _lookup(pairs: OrderedPairs) -> dict[tuple[int, int], tuple[float, float]]:
    """(higher, lower) -> confidences; a tie is found under both orders."""
    found = {}
    for k, (high, low) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        said = float(pairs.sampled[k]), float(pairs.agreed[k])
        found[int(high), int(low)] = said
        # means over each system's own items may order two systems otherwise than shared items do
        found.setdefault((int(low), int(high)), (1 - said[0], 1 - said[1]))
    return found
