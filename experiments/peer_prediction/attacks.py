"""Table 4: what an attack changes in the scores and in the effect size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.command import Row, Table, point
from experiments.peer_prediction.domain import Domain, FloatArray
from experiments.peer_prediction.effect_sizes import DRAWS, differences, interval_of
from experiments.peer_prediction.rows import MECHANISMS, absent, cell, paper
from experiments.peer_prediction.scores import (
    JUDGES,
    agent_scores,
    align,
    first_wins,
    one_order_scores,
)
from judgelab.stats.discrimination.effect_size import (
    effect_size,
    paired_effect_size,
    resampled_effect_sizes,
    score_changes,
    score_delta,
)
from judgelab.stats.intervals.estimate import Estimate
from judgelab.stats.intervals.means import (
    item_weights,
    percentile_interval,
    resampled_means,
)

ONE_ORDER = " delta d (one order)"
POSITION = " position bias delta"


@dataclass(frozen=True)
class _Change:
    """One mechanism before and after an attack, on the same items."""

    scores: tuple[FloatArray, FloatArray]  # clean and attacked u [items, agents]
    effects: tuple[FloatArray, FloatArray]  # clean and attacked D [items]


def table4(clean: Sequence[Domain], attacked: Sequence[Domain]) -> Table:
    """Every attacked domain at hand whose clean scores are there too."""
    domain: str = paper()["attacked_domain"]
    by_domain = {data.domain: data for data in clean}
    rows: list[Row] = []
    notes: list[str] = []
    pairs = [(by_domain.get(data.domain), data) for data in attacked]
    for before, after in sorted(pairs, key=lambda pair: pair[1].domain != domain):
        label = str(after.attack) if after.domain == domain else f"{after.domain}/{after.attack}"
        if before is None:
            notes.append(f"No clean scores of {after.domain} to compare {after.attack} with.")
        else:
            rows += _attack_rows(label, before, after)
    after_named = {str(d.attack): d for d in attacked if d.domain == domain}
    rows += absent("4", rows)
    average, note = _averages(by_domain.get(domain), after_named)
    title = f"changes of the score and of d under attack ({domain})"
    return Table("4", title, (*rows, *average), (*notes, *note))


def _attack_rows(label: str, clean: Domain, attacked: Domain) -> list[Row]:
    rows = []
    for column, mechanism in MECHANISMS.items():
        sides = [(_change(clean, attacked, mechanism, corrected=c), c) for c in (False, True)]
        rows += [
            cell("4", label, f"{column} delta", *(_score(*side) for side in sides)),
            cell("4", label, f"{column} delta d", *(_effect(*side) for side in sides)),
        ]
        if mechanism in JUDGES:
            rows += [
                cell("4", label, column + ONE_ORDER, None, _one_order(clean, attacked, mechanism)),
                cell("4", label, column + POSITION, None, _position(clean, attacked, mechanism)),
            ]
    return rows


def _change(clean: Domain, attacked: Domain, mechanism: str, *, corrected: bool) -> _Change | None:
    before = agent_scores(clean, mechanism, corrected=corrected)
    after = agent_scores(attacked, mechanism, corrected=corrected)
    if before is None or after is None:
        return None
    ids = clean.ids(mechanism), attacked.ids(mechanism)
    first = differences(clean, before, corrected=corrected)
    second = differences(attacked, after, corrected=corrected)
    assert first is not None and second is not None
    return _Change(
        scores=align(ids[0], before, ids[1], after),
        effects=align(ids[0], first, ids[1], second),
    )


def _score(change: _Change | None, corrected: bool) -> Estimate | None:
    if change is None:
        return None
    return score_delta(*change.scores, draws=DRAWS, interval=interval_of(corrected=corrected))


def _effect(change: _Change | None, corrected: bool) -> Estimate | None:
    """Released, a run whose scores have no spread counts as d = 0."""
    if change is None:
        return None
    interval = interval_of(corrected=corrected)
    before, after = change.effects
    estimate = paired_effect_size(after, DRAWS, interval=interval, less=before)
    if corrected or math.isfinite(estimate.value):
        return estimate
    clean, attacked = (np.nan_to_num(effect_size(side)) for side in change.effects)
    return point(float(attacked - clean), estimate.n)


def _one_order(clean: Domain, attacked: Domain, mechanism: str) -> Estimate | None:
    """The released judge definition without the failed calls."""
    before, after = (
        differences(data, one_order_scores(data, mechanism), corrected=False)
        for data in (clean, attacked)
    )
    if before is None or after is None:
        return None
    first, second = align(clean.ids(mechanism), before, attacked.ids(mechanism), after)
    return paired_effect_size(second, DRAWS, less=first)


def _position(clean: Domain, attacked: Domain, mechanism: str) -> Estimate | None:
    """Change of the share of comparisons that the response shown first wins."""
    before, after = first_wins(clean, mechanism), first_wins(attacked, mechanism)
    if before is None or after is None:
        return None
    aligned = align(clean.ids(mechanism), before, attacked.ids(mechanism), after)
    return score_delta(*aligned, draws=DRAWS)


def _averages(clean: Domain | None, attacked: Mapping[str, Domain]) -> tuple[list[Row], list[str]]:
    """The paper's average over its four attacks; empty where one of them is not at hand."""
    attacks: list[str] = paper()["attacks"]
    lacking = [attack for attack in attacks if attack not in attacked]
    columns = [f"{column} {what}" for column in MECHANISMS for what in ("delta", "delta d")]
    if clean is None or lacking:
        what = ", ".join(lacking) or "the clean run"
        note = f"No average over the four attacks: this folder lacks {what}."
        return [cell("4", "average", column) for column in columns], [note]
    rows = []
    for column, mechanism in MECHANISMS.items():
        released, corrected = (
            [
                change
                for name in attacks
                if (change := _change(clean, attacked[name], mechanism, corrected=fixed))
            ]
            for fixed in (False, True)
        )
        if min(len(released), len(corrected)) < len(attacks):
            rows += [cell("4", "average", f"{column} {what}") for what in ("delta", "delta d")]
            continue
        deltas, effects = ([each(one, False) for one in released] for each in (_score, _effect))
        rows += [
            cell("4", "average", f"{column} delta", _spread(deltas), _mean_score(corrected)),
            cell("4", "average", f"{column} delta d", _spread(effects), _mean_effect(corrected)),
        ]
    return rows, []


def _spread(estimates: Sequence[Estimate | None]) -> Estimate:
    """Mean over attacks; the "interval" is the standard deviation over attacks, as printed."""
    present = [estimate for estimate in estimates if estimate is not None]
    values = np.array([estimate.value for estimate in present])
    mean, spread = float(values.mean()), float(values.std())
    return Estimate(mean, mean - spread, mean + spread, min(each.n for each in present))


def _mean_score(changes: Sequence[_Change]) -> Estimate:
    per_item = [score_changes(*change.scores) for change in changes]
    weights = item_weights(len(per_item[0]), DRAWS, 0)
    values = [float(np.nanmean(each)) if np.isfinite(each).any() else math.nan for each in per_item]
    return _averaged(values, [resampled_means(each, weights) for each in per_item], per_item)


def _mean_effect(changes: Sequence[_Change]) -> Estimate:
    """Mean over attacks of the change of d; attacks share their resampled items."""
    values, samples, per_item = [], [], []
    for change in changes:
        before, after = change.effects
        shared = np.isfinite(before) & np.isfinite(after)
        before, after = np.where(shared, before, np.nan), np.where(shared, after, np.nan)
        weights = item_weights(len(shared), DRAWS, 0)
        values.append(effect_size(after) - effect_size(before))
        samples.append(
            resampled_effect_sizes(after, weights) - resampled_effect_sizes(before, weights)
        )
        per_item.append(after - before)
    return _averaged(values, samples, per_item)


def _averaged(
    values: Sequence[float], samples: Sequence[FloatArray], per_item: Sequence[FloatArray]
) -> Estimate:
    """n counts the items scored under every attack; without a value for one there is no mean."""
    n = int(np.isfinite(np.array(per_item)).all(axis=0).sum())
    unscored = len(per_item[0]) - n
    mean = float(np.mean(values))
    if not math.isfinite(mean):
        return Estimate(math.nan, math.nan, math.nan, n, unscored)
    means = np.mean(samples, axis=0)
    return Estimate(mean, *percentile_interval(means), n, unscored)
